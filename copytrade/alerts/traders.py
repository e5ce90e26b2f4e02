"""Of traders: how far below the high point, how much margin, how long quiet, and gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import connection

from copytrade.models import Account, Alert, Trader
from copytrade.rollups import capital_of
from copytrade.statistics.exact import ratio_or_none
from copytrade.statistics.summary import share_of_fall

from . import words
from .kinds import PERCENT
from .raising import Found
from .rules import Book, Rule

Kind = Alert.Kind
HUNDRED = Decimal(100)
ROUGHLY = Decimal("0.99")
# A trader who left is told within this time of it; a desk that was off for a week does not tell the week.
GONE_LATELY = timedelta(days=1)

# The summary of all time holds the current fall and the high point's time; its home is rollups/summaries.py. Roughly
# (`least` percent of the base, somewhat less than the lowest limit there is), so that few rows are fetched to be
# looked at exactly.
_FALLEN = """
SELECT a.owner_id, t.account_id, t.id, t.name, t.trader_id, t.capital_base, t.total_investment, s.net,
    s.figures ->> 'current_drawdown', s.figures ->> 'peak_margin', s.figures ->> 'last_peak'
FROM copytrade_periodsummary s JOIN copytrade_trader t ON t.id = s.trader_id
JOIN copytrade_account a ON a.id = t.account_id
CROSS JOIN LATERAL (SELECT (s.figures ->> 'current_drawdown')::numeric AS fall) f
WHERE s.period = 'all' AND t.copied AND s.closed_copies > 0 AND f.fall > 0
  AND f.fall * 100 >= %(least)s * (f.fall + s.net + CASE WHEN t.capital_base > 0 THEN t.capital_base
      WHEN t.total_investment > 0 THEN t.total_investment ELSE (s.figures ->> 'peak_margin')::numeric END)
"""
# The margin of what the last reading found open (as reports/orders.py adds it up).
_MARGIN = """
SELECT a.owner_id, t.account_id, t.id, t.name, t.trader_id, t.copy_trading_balance, o.margin
FROM (SELECT trader_id, sum(open_margin_amount) AS margin FROM copytrade_trackingorder
      WHERE NOT closed AND missing_since IS NULL AND lost_since IS NULL GROUP BY trader_id) o
JOIN copytrade_trader t ON t.id = o.trader_id JOIN copytrade_account a ON a.id = t.account_id
WHERE o.margin > 0
"""
# Quiet counts up to the last reading of the open list, not up to now: what was not read is not quiet. Without any
# copy it counts from when the trader was first seen.
_QUIET = """
SELECT a.owner_id, t.account_id, t.id, t.name, t.trader_id,
       coalesce(greatest(c.at, o.at), t.first_seen_at) AS last, least(j.last_success_at, %(now)s)
FROM copytrade_trader t JOIN copytrade_account a ON a.id = t.account_id
JOIN copytrade_syncjob j ON j.account_id = t.account_id AND j.kind = 'open' AND j.last_success_at IS NOT NULL
JOIN copytrade_syncjob h ON h.account_id = t.account_id AND h.kind = 'history'
 AND NOT h.cursor ? 'back' AND h.cursor ? 'until'
CROSS JOIN LATERAL (SELECT max(close_time) AS at FROM copytrade_trackingorder
                    WHERE trader_id = t.id AND closed) c
CROSS JOIN LATERAL (SELECT max(coalesce(open_time, first_seen_at)) AS at FROM copytrade_trackingorder
                    WHERE trader_id = t.id AND NOT closed) o
WHERE t.copied AND coalesce(greatest(c.at, o.at), t.first_seen_at) < %(before)s
"""


def look(accounts: list[Account], rules: Book, now: datetime) -> Iterator[Found]:
    owners = {account.owner_id for account in accounts}
    yield from _fallen(owners, rules, now)
    yield from _much_margin(rules, now)
    yield from _quiet(owners, rules, now)
    yield from _gone(now)


def _fallen(owners: set[int], rules: Book, now: datetime) -> Iterator[Found]:
    """One for each high point that is fallen from; over when the fall is smaller than the limit again."""
    least = min((rules.lowest(owner, Kind.DRAWDOWN) for owner in owners), default=HUNDRED)
    lines = _lines(_FALLEN, {"least": least * ROUGHLY})
    for owner, account, pk, name, uid, entered, invested, net, fall, margin, peak in lines:
        rule = rules.of(owner, Kind.DRAWDOWN, pk)
        capital, _ = capital_of(Trader(capital_base=entered, total_investment=invested))
        part = share_of_fall(Decimal(fall), net, capital, Decimal(margin or 0))
        if part is None or rule.limit is None or part * HUNDRED < rule.limit:
            continue
        below = f"{words.percent(part)} below the high point, {words.usdt(Decimal(fall))}"
        yield Found(
            Kind.DRAWDOWN,
            f"{Kind.DRAWDOWN}:{pk}:{peak}:{_plain(rule)}",
            owner,
            f"{Trader(name=name, trader_id=uid)}: {below}; your limit is {words.limit(rule.limit, rule.unit)}. "
            "Closed copies only.",
            account=account,
            trader=pk,
            at=now,
        )


def _much_margin(rules: Book, now: datetime) -> Iterator[Found]:
    """One a day at most for each trader; where no balance is told, a limit in percent says nothing."""
    for owner, account, pk, name, uid, balance, margin in _lines(_MARGIN, {}):
        rule = rules.of(owner, Kind.MARGIN, pk)
        part = ratio_or_none(margin, balance if balance and balance > 0 else None)
        value = None if rule.unit == PERCENT and part is None else margin
        if rule.unit == PERCENT and part is not None:
            value = part * HUNDRED
        if value is None or rule.limit is None or value < rule.limit:
            continue
        share = f", {words.percent(part)} of the copy balance" if part is not None else ""
        yield Found(
            Kind.MARGIN,
            f"{Kind.MARGIN}:{pk}:{_plain(rule)}:{now:%Y%m%d}",
            owner,
            f"{Trader(name=name, trader_id=uid)}: {words.usdt(margin)} of margin in use{share}; your limit is "
            f"{words.limit(rule.limit, rule.unit)}.",
            account=account,
            trader=pk,
            at=now,
        )


def _quiet(owners: set[int], rules: Book, now: datetime) -> Iterator[Found]:
    """One for each pause; over with the next copy."""
    least = min((rules.lowest(owner, Kind.QUIET) for owner in owners), default=HUNDRED)
    before = now - timedelta(days=float(least))
    for owner, account, pk, name, uid, last, read in _lines(_QUIET, {"now": now, "before": before}):
        rule = rules.of(owner, Kind.QUIET, pk)
        if rule.limit is None or read - last < timedelta(days=float(rule.limit)):
            continue
        yield Found(
            Kind.QUIET,
            f"{Kind.QUIET}:{pk}:{last:%Y%m%dT%H%M%S.%f}:{_plain(rule)}",
            owner,
            f"{Trader(name=name, trader_id=uid)}: no copy opened or closed since {last:%Y-%m-%d}, for "
            f"{words.length(read - last)}.",
            account=account,
            trader=pk,
            at=now,
        )


def _gone(now: datetime) -> Iterator[Found]:
    """One for each time that a trader left the list; what is left of it is kept until he is back."""
    rows = Trader.objects.filter(copied=False, left_at__isnull=False).select_related("account")
    for trader in rows.only("account__owner", "account__label", "name", "trader_id", "left_at"):
        yield Found(
            Kind.GONE,
            f"{Kind.GONE}:{trader.pk}:{trader.left_at:%Y%m%dT%H%M%S.%f}",
            trader.account.owner_id,
            f"{trader}: not among the traders of {trader.account.label} any more. Either you left, or the "
            "trader stopped. The copies stay in the ledger.",
            account=trader.account_id,
            trader=trader.pk,
            at=trader.left_at,
            holds_only=trader.left_at is not None and now - trader.left_at > GONE_LATELY,
        )


def _plain(rule: Rule) -> str:
    """The limit, as part of a key: another limit is another occasion."""
    return words.limit(rule.limit, rule.unit).replace(words.THIN, "") if rule.limit is not None else ""


def _lines(statement: str, values: dict) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
