"""Closed copies: filtered, newest first, paged by key, with the totals of everything that the filters match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Func, OuterRef, Q, QuerySet

from copytrade.asking import kept_cursor
from copytrade.models import Account, TrackingOrder, Trader, User
from copytrade.rollups.days import day_of, first_moment
from copytrade.together import Prepared

from .orders import NO_FILTERS, Filters, filtered, orders_of
from .zones import zone_of

MOST_UNDATED = 20
MOST_COUNTED = 1000  # where the daily sums do not help: a page must not wait for a million rows
NEWEST_FIRST = ("-close_time", "-tracking_no", "-pk")
OLDEST_FIRST = ("close_time", "tracking_no", "pk")
UNDATED_LAST = (F("close_time").desc(nulls_last=True), *NEWEST_FIRST[1:])


@dataclass(frozen=True)
class HistoryTotals:
    """Of everything that the filters match, not of one page."""

    n: int
    net: Decimal
    gross: Decimal
    wins: int
    losses: int
    undated: int = 0  # closed copies without a closing time, in none of the other figures
    lost: int = 0  # closed beyond the exchange's history: without a time or a result
    newest: bool = False  # there are more, and these are the totals of the newest ones alone


@dataclass(frozen=True)
class HistoryPage:
    """`next` is the key of the older page (give it as `after`), `previous` that of the newer one (give it as
    `before`); "" where there is none."""

    orders: list[TrackingOrder]
    totals: HistoryTotals
    next: str
    previous: str = ""
    undated: list[TrackingOrder] = field(default_factory=list)  # they fit no page, and must not be hidden
    traders: list[Trader] = field(default_factory=list)  # all of the person's, as filters offer them

    @property
    def undated_more(self) -> int:
        """How many copies without a closing time there are beside those of `undated`."""
        return max(0, self.totals.undated - len(self.undated))


def history_page(
    user: User, filters: Filters = NO_FILTERS, after: str = "", limit: int = 50, before: str = ""
) -> HistoryPage:
    """Closed copies, newest close first, ties by tracking number; two queries, whatever the page.

    `after` gives the page of older ones, `before` that of newer ones. Raises ValueError for a key that no
    page gave out.
    """
    way = "after" if after else "before" if before else ""
    place = dict(zip(_PLACE, _place(after or before), strict=True)) if way else {}
    asked = {name: value for name, value in vars(filters).items() if value not in (None, "")}
    totals = _totals(user, filters)
    rows = _rows_of(_Shape(frozenset(asked), filters.result, way, limit + 1))
    above, found, left_out, traders = rows(user=user.pk, **asked, **place)
    known = {trader.pk: trader for trader in traders}
    for order in [*above, *found, *left_out]:
        order.trader = known[order.trader_id]
    told = {"undated": left_out, "traders": traders}
    if len(above) > limit:  # else fewer than a page are newer: that is the first page
        shown = above[limit - 1 :: -1]
        return HistoryPage(shown, totals, _key_of(shown[-1]), _key_of(shown[0]), **told)
    shown = found[:limit]
    more = _key_of(shown[-1]) if len(found) > limit else ""
    return HistoryPage(shown, totals, more, _key_of(shown[0]) if after and shown else "", **told)


_PLACE = ("time", "number", "key")


@dataclass(frozen=True)
class _Shape:
    """What the text of a page's queries hangs on: which filters are set, and from where on they look."""

    asked: frozenset[str]
    result: str
    way: str
    limit: int


@lru_cache(512)
def _rows_of(shape: _Shape) -> Prepared:
    """The copies of a page, those of the page before it, those without a closing time, and all traders."""

    def build(
        user: Any, time: Any = None, number: Any = None, key: Any = None, **asked: Any
    ) -> Sequence[QuerySet]:
        filters = Filters(**(asked | {"result": shape.result}))
        every = history(user, filters)
        rows = older = every.filter(close_time__isnull=False)
        newer = TrackingOrder.objects.none()
        if shape.way == "before":
            newer = _shown(
                user, filters, rows.filter(_beyond("gt", time, number, key)), shape.limit, OLDEST_FIRST
            )
        elif shape.way == "after":
            older = rows.filter(_beyond("lt", time, number, key))
        return (
            newer,
            _shown(user, filters, older, shape.limit),
            every.filter(close_time=None).only(*_SHOWN).order_by(*NEWEST_FIRST[1:])[:MOST_UNDATED],
            Trader.objects.filter(account__owner=user).order_by("-copied", "name", "pk"),
        )

    return Prepared(build, ["user", *shape.asked, *(_PLACE if shape.way else ())])


# What the list shows of a copy, and what the next page is told by.
_SHOWN = (
    "tracking_no", "trader", "symbol", "position_side", "open_leverage", "open_time",
    "close_time", "open_margin_amount", "open_price_avg", "close_avg_price", "realized_pnl", "net_profit",
)  # fmt: skip


def newest(
    user: User,
    rows: QuerySet[TrackingOrder],
    limit: int,
    order: Sequence[str] = NEWEST_FIRST,
    trader: int | None = None,
) -> QuerySet[TrackingOrder]:
    """The first `limit` and more of a person's orders, in order, to be cut by the caller: by a walk over an index for
    each connection, so no more are looked at than are shown. `trader`: whose orders they are, where they are one's."""
    own = rows.filter(account=OuterRef("pk")).order_by(*order).values("pk")[:limit]
    accounts = Account.objects.filter(owner=user).order_by()
    if trader is not None:
        accounts = accounts.filter(traders=trader)
    keys = accounts.annotate(key=Func(ArraySubquery(own), function="unnest")).values("key")
    return TrackingOrder.objects.filter(pk__in=keys).order_by(*order)


def _shown(
    user: User,
    filters: Filters,
    rows: QuerySet[TrackingOrder],
    limit: int,
    order: Sequence[str] = NEWEST_FIRST,
) -> QuerySet[TrackingOrder]:
    return newest(user, rows, limit, order, filters.trader).only(*_SHOWN)[:limit]


def history(user: User, filters: Filters) -> QuerySet[TrackingOrder]:
    """The closed copies that the filters match, in no order. One rule for those without a closing time, too: a span
    of time lets none of them through, a result those of that result. Page, totals and file go by it."""
    rows = filtered(orders_of(user).filter(closed=True), filters)
    if filters.since:
        rows = rows.filter(close_time__gte=filters.since)
    if filters.until:
        rows = rows.filter(close_time__lt=filters.until)
    results = {"gain": Q(net_profit__gt=0), "loss": Q(net_profit__lt=0), "even": Q(net_profit=0)}
    return rows.filter(results[filters.result]) if filters.result in results else rows


_ROWS = """count(*) FILTER (WHERE o.close_time IS NOT NULL) AS n,
    coalesce(sum(o.net_profit) FILTER (WHERE o.close_time IS NOT NULL), 0) AS net,
    coalesce(sum(coalesce(o.realized_pnl, o.net_profit)) FILTER (WHERE o.close_time IS NOT NULL), 0) AS gross,
    count(*) FILTER (WHERE o.close_time IS NOT NULL AND o.net_profit > 0) AS wins,
    count(*) FILTER (WHERE o.close_time IS NOT NULL AND o.net_profit < 0) AS losses,
    count(*) FILTER (WHERE o.close_time IS NULL) AS undated"""
# What is in the daily sums, what is not, and what is not known at all.
_TOTALS = """
WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(user)s)
SELECT s.n + u.n, s.net + u.net, s.gross + u.gross, s.wins + u.wins, s.losses + u.losses, u.undated, l.n
FROM (SELECT {sums} AND d.account_id IN (TABLE mine)) s,
    (SELECT {rows} FROM copytrade_trackingorder o WHERE o.account_id IN (TABLE mine) AND {which}) u,
    (SELECT count(*) AS n FROM copytrade_trackingorder o
        WHERE o.account_id IN (TABLE mine) AND NOT o.closed AND o.lost_since IS NOT NULL{lost}) l
"""
_SUMS = """coalesce(sum(d.n), 0)::bigint AS n, coalesce(sum(d.net), 0) AS net, coalesce(sum(d.gross), 0) AS gross,
    coalesce(sum(d.wins), 0)::bigint AS wins, coalesce(sum(d.losses), 0)::bigint AS losses"""
_UNCOUNTED = "o.closed AND (o.close_time IS NULL OR o.open_time IS NULL OR o.net_profit IS NULL)"
_RESULTS = {"gain": "o.net_profit > 0", "loss": "o.net_profit < 0", "even": "o.net_profit = 0"}


def _totals(user: User, filters: Filters) -> HistoryTotals:
    """From the daily sums, and the few orders that are in none of them; filters that the sums do not know are
    counted in the orders, the newest of them. One query."""
    days = _whole_days(user, filters)
    values = {
        "user": user.pk, "account": filters.account, "trader": filters.trader, "symbol": filters.symbol,
        "side": filters.side, "since": filters.since, "until": filters.until, "most": MOST_COUNTED + 1,
        "first": days and days[0], "last": days and days[1],
    }  # fmt: skip
    whose = "".join(
        f" AND o.{name}_id = %({name})s" for name in ("account", "trader") if values[name] is not None
    )
    whose += " AND o.symbol = %(symbol)s" if filters.symbol else ""
    lost = whose + (" AND o.position_side = %(side)s" if filters.side else "")
    times = " AND o.close_time >= %(since)s" if filters.since else ""
    times += " AND o.close_time < %(until)s" if filters.until else ""
    if filters.side or filters.result or days is None:
        return _newest(values, lost, times, filters.result)
    table = "dayresult" if filters.symbol else "traderresult" if filters.trader is not None else "accountday"
    within = " AND d.day >= %(first)s" if days[0] else ""
    within += " AND d.day <= %(last)s" if days[1] else ""
    sums = f"{_SUMS} FROM copytrade_{table} d WHERE true{within}{whose.replace(' o.', ' d.')}"
    return HistoryTotals(
        *_asked(_TOTALS.format(sums=sums, rows=_ROWS, which=_UNCOUNTED + whose + times, lost=lost), values)
    )


def _newest(values: dict, lost: str, times: str, result: str) -> HistoryTotals:
    """Of the newest orders that the filters match, one by one."""
    told = f" AND {_RESULTS[result]}" if result in _RESULTS else ""
    his = (
        " AND id IN (SELECT account_id FROM copytrade_trader WHERE id = %(trader)s)"
        if values["trader"]
        else ""
    )
    found = _asked(
        f"""WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(user)s{his}),
        newest AS MATERIALIZED (
            SELECT o.* FROM mine CROSS JOIN LATERAL (
                SELECT o.close_time, o.tracking_no, o.net_profit, o.realized_pnl FROM copytrade_trackingorder o
                WHERE o.account_id = mine.id AND o.closed AND o.close_time IS NOT NULL{lost}{times}{told}
                ORDER BY o.close_time DESC, o.tracking_no DESC LIMIT %(most)s
            ) o ORDER BY o.close_time DESC, o.tracking_no DESC LIMIT %(most)s
        ), undated AS (
            SELECT o.close_time, 0::bigint, o.net_profit, o.realized_pnl FROM copytrade_trackingorder o
            WHERE o.account_id IN (TABLE mine) AND o.closed AND o.close_time IS NULL{lost}{times}{told}
        )
        SELECT o.*, l.n FROM (SELECT {_ROWS} FROM (TABLE newest UNION ALL TABLE undated) o) o,
            (SELECT count(*) AS n FROM copytrade_trackingorder o
                WHERE o.account_id IN (TABLE mine) AND NOT o.closed AND o.lost_since IS NOT NULL{lost}) l""",  # noqa: S608
        values,
    )
    return HistoryTotals(*found, newest=found[0] > MOST_COUNTED)


def _asked(statement: str, values: dict) -> tuple:
    with kept_cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def _whole_days(user: User, filters: Filters) -> tuple[date | None, date | None] | None:
    """The first and the last day that the filters let through; None where they begin or end within a day."""
    zone, bounds = zone_of(user), []
    for moment in (filters.since, filters.until):
        try:
            day = None if moment is None else day_of(moment, zone)
            if day is not None and first_moment(day, zone) != moment:
                return None
        except OverflowError:  # before the first day that there is, seen from a zone that is ahead
            return None
        bounds.append(day)
    return bounds[0], bounds[1] and bounds[1] - timedelta(days=1)


def _key_of(order: TrackingOrder) -> str:
    """closing time, tracking number, our key: two connections may read the same exchange account."""
    return f"{order.close_time.isoformat() if order.close_time else ''}_{order.tracking_no}_{order.pk}"


def _place(key: str) -> tuple[datetime, int, int]:
    """(closing time, tracking number, our key) of the row that this key of a page names. ValueError for no key."""
    at, *numbers = key.split("_")
    time = datetime.fromisoformat(at)
    number, pk = (int(text) for text in numbers)
    if time.tzinfo is None or not all(-(2**63) <= value < 2**63 for value in (number, pk)):
        raise ValueError("not the key of a page")
    return time, number, pk


def _beyond(side: str, time: Any, number: Any, pk: Any) -> Q:
    """What stands beyond such a row, older ("lt") or newer ("gt")."""
    return (
        Q(**{f"close_time__{side}": time})
        | Q(close_time=time, **{f"tracking_no__{side}": number})
        | Q(close_time=time, tracking_no=number, **{f"pk__{side}": pk})
    )
