"""Of copies: opened, closed, closed with a loss, and filled in part."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection

from copytrade.models import Account, Alert, SyncJob, TrackingOrder, Trader

from . import words
from .kinds import LOUDNESS, OFF
from .raising import Found
from .rules import Book, Rule

Kind = Alert.Kind
# What happened earlier is no news: a desk that was off for a week does not tell the week.
NEWS = timedelta(days=1)
# A market order takes moments to fill; what is still open in part after this will stay so, or take long.
FILLING = timedelta(minutes=5)


class _Row(NamedTuple):
    """A copy with what its sentences tell, and which of its alerts are there."""

    owner: int
    account: int
    trader: int
    name: str
    uid: int
    order: int
    symbol: str
    side: str
    leverage: int | None
    margin: Decimal | None
    net: Decimal | None
    opened: datetime | None
    closed: datetime | None
    told: bool
    told_as_loss: bool

    def __str__(self) -> str:
        trader = Trader(name=self.name, trader_id=self.uid)
        return f"{trader}: {words.copy_of(TrackingOrder(symbol=self.symbol, position_side=self.side))}"


# Only accounts whose past is read: what the first walk brings is no news. From `since` on of each: the connection, or
# a day ago. `most`: the highest net that is still a loss to tell; `closed`: every close is wanted.
_WANTED = """
WITH wanted AS (
    SELECT w.* FROM unnest(%(accounts)s::bigint[], %(owners)s::bigint[], %(since)s::timestamptz[], %(closed)s::bool[],
                           %(most)s::numeric[]) AS w(account, owner, since, closed, most)
    JOIN copytrade_syncjob j ON j.account_id = w.account AND j.kind = 'history'
     AND NOT j.cursor ? 'back' AND j.cursor ? 'until'
)"""
_COLUMNS = """w.owner, w.account, t.id, t.name, t.trader_id, o.id, o.symbol, o.position_side, o.open_leverage,
    o.open_margin_amount, o.net_profit, o.open_time, o.close_time"""
_CLOSED = f"""{_WANTED}
SELECT {_COLUMNS}, k.closed, k.loss
FROM wanted w CROSS JOIN LATERAL (
    SELECT * FROM copytrade_trackingorder o WHERE o.account_id = w.account AND o.closed
       AND o.close_time > w.since AND o.close_time <= %(now)s AND (w.closed OR o.net_profit <= w.most)
) o CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM copytrade_alert a WHERE a.key = 'closed:' || o.id) AS closed,
           EXISTS (SELECT FROM copytrade_alert a WHERE a.key = 'loss:' || o.id) AS loss
) k JOIN copytrade_trader t ON t.id = o.trader_id
WHERE NOT k.loss AND (NOT k.closed OR o.net_profit <= w.most)
"""  # noqa: S608 - parts of our own; values are parameters
_OPENED = f"""{_WANTED}
SELECT {_COLUMNS}, false, false
FROM wanted w CROSS JOIN LATERAL (
    SELECT * FROM copytrade_trackingorder o WHERE o.account_id = w.account AND NOT o.closed
       AND o.open_time > w.since AND o.open_time <= %(now)s
    UNION ALL
    SELECT * FROM copytrade_trackingorder o WHERE o.account_id = w.account AND o.closed
       AND o.close_time > w.since AND o.close_time <= %(now)s AND o.open_time > w.since
) o JOIN copytrade_trader t ON t.id = o.trader_id
WHERE NOT EXISTS (SELECT FROM copytrade_alert a WHERE a.key = 'opened:' || o.id)
"""  # noqa: S608 - the same
_PARTIAL = """
SELECT a.owner_id, o.account_id, t.id, t.name, t.trader_id, o.id, o.symbol, o.position_side, o.open_fill_size,
    o.open_size, o.open_time
FROM copytrade_trackingorder o JOIN copytrade_trader t ON t.id = o.trader_id
JOIN copytrade_account a ON a.id = o.account_id
WHERE NOT o.closed AND o.missing_since IS NULL AND o.lost_since IS NULL AND o.open_size > 0
  AND o.open_fill_size >= 0 AND o.open_fill_size < o.open_size AND coalesce(o.open_time, o.first_seen_at) <= %s
"""


def look(accounts: list[Account], jobs: list[SyncJob], rules: Book, now: datetime) -> Iterator[Found]:
    """`jobs`: of all accounts, each with its account."""
    yield from _opened(accounts, rules, now)
    yield from _closed(accounts, rules, now)
    yield from _partly_filled(now)
    yield from _partly_read(jobs, now)


def _opened(accounts: list[Account], rules: Book, now: datetime) -> Iterator[Found]:
    wanted = [one for one in accounts if rules.wanted(one.owner_id, Kind.OPENED)]
    for row in _rows(_OPENED, wanted, [(True, None) for _ in wanted], now):
        yield _found(Kind.OPENED, row, _opened_words(row), row.opened)


def _opened_words(row: _Row) -> str:
    leverage = f" at {row.leverage}x" if row.leverage else ""
    margin = f" with {words.usdt(row.margin)} of margin" if row.margin else ""
    return f"{row} opened{leverage}{margin}."


def _closed(accounts: list[Account], rules: Book, now: datetime) -> Iterator[Found]:
    """A close as itself or as a loss: a loss is told in its place, unless a mere close would be told louder."""
    wants = [
        (one, rules.wanted(one.owner_id, Kind.CLOSED), rules.least(one.owner_id, Kind.LOSS))
        for one in accounts
    ]
    wants = [(one, closed, least) for one, closed, least in wants if closed or least is not None]
    how = [(closed, None if least is None else -least) for _, closed, least in wants]
    for row in _rows(_CLOSED, [one for one, _, _ in wants], how, now):
        as_close = _in_force(rules.of(row.owner, Kind.CLOSED, row.trader), row)
        loss = rules.of(row.owner, Kind.LOSS, row.trader)
        as_loss = LOUDNESS[OFF]
        if loss.limit is not None and row.net is not None and row.net <= -loss.limit:
            as_loss = _in_force(loss, row)
        if as_loss:
            end = f" Your limit is {words.limit(loss.limit, loss.unit)}." if loss.limit is not None else ""
            yield _found(Kind.LOSS, row, f"{_closed_words(row)}{end}", row.closed)
        if not row.told and as_close > as_loss:
            yield _found(Kind.CLOSED, row, _closed_words(row), row.closed)


def _in_force(rule: Rule, row: _Row) -> int:
    """How loud the rule is about this close; 0 for one that is older than the rule."""
    old = rule.since is not None and row.closed is not None and row.closed < rule.since
    return LOUDNESS[OFF] if old else LOUDNESS[rule.mode]


def _closed_words(row: _Row) -> str:
    result = "result not told yet" if row.net is None else f"{words.usdt(row.net, signed=True)} net"
    held = f" after {words.length(row.closed - row.opened)}" if row.closed and row.opened else ""
    return f"{row} closed{held}, {result}."


def _found(kind: str, row: _Row, sentence: str, at: datetime | None) -> Found:
    return Found(
        kind, f"{kind}:{row.order}", row.owner, sentence,
        account=row.account, trader=row.trader, order=row.order, at=at,
    )  # fmt: skip


def _rows(
    statement: str, accounts: list[Account], how: list[tuple[bool, Decimal | None]], now: datetime
) -> list[_Row]:
    """One query; none where nobody wants to know."""
    if not accounts:
        return []
    values: dict[str, Any] = {
        "accounts": [one.pk for one in accounts], "owners": [one.owner_id for one in accounts],
        "since": [max(one.created_at, now - NEWS) for one in accounts], "now": now,
        "closed": [closed for closed, _ in how], "most": [most for _, most in how],
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [_Row(*line) for line in cursor.fetchall()]


def _partly_filled(now: datetime) -> Iterator[Found]:
    with connection.cursor() as cursor:
        cursor.execute(_PARTIAL, [now - FILLING])
        lines = cursor.fetchall()
    for owner, account, trader, name, uid, order, symbol, side, filled, size, opened in lines:
        copy = words.copy_of(TrackingOrder(symbol=symbol, position_side=side))
        yield Found(
            Kind.PARTIAL, f"{Kind.PARTIAL}:{order}", owner,
            f"{Trader(name=name, trader_id=uid)}: {copy} is filled to {words.percent(filled / size)} only, "
            f"{filled.normalize():f} of {size.normalize():f}.",
            account=account, trader=trader, order=order, at=opened,
        )  # fmt: skip


def _partly_read(jobs: list[SyncJob], now: datetime) -> Iterator[Found]:
    """The list of open orders, where two passes over it have not agreed for some minutes."""
    for job in jobs:
        since = job.partial_since
        if job.kind == SyncJob.Kind.OPEN and since and now - since >= FILLING:
            yield Found(
                Kind.PARTIAL, f"{Kind.PARTIAL}:list:{job.account_id}:{since:%Y%m%dT%H%M%S.%f}", job.account.owner_id,
                f"{job.account.label}: the list of open orders changed while it was read, or did not end, since "
                f"{since:%Y-%m-%d %H:%M} UTC. What is shown as open may have closed.",
                account=job.account_id, at=since,
            )  # fmt: skip
