"""Closed copies: filtered, newest first, paged by key, with the totals of everything that the filters match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Func, OuterRef, Q, QuerySet

from copytrade.models import Account, SyncJob, TrackingOrder, Trader, User
from copytrade.rollups.read import symbols_asked, symbols_told
from copytrade.together import Hidden, Prepared, Query, refer

from .freshness import jobs_of
from .history_totals import HistoryTotals, days_of, totals_asked, totals_told
from .orders import NO_FILTERS, Filters, filtered, orders_of

MOST_UNDATED = 20
NEWEST_FIRST = ("-close_time", "-tracking_no", "-pk")
OLDEST_FIRST = ("close_time", "tracking_no", "pk")
UNDATED_LAST = (F("close_time").desc(nulls_last=True), *NEWEST_FIRST[1:])


@dataclass(frozen=True)
class HistoryPage:
    """`next` is the key of the older page (give it as `after`), `previous` that of the newer one (give it as
    `before`); "" where there is none. `jobs` (each with its account) and `symbols`, as filters offer them, are there
    where they were asked for."""

    orders: list[TrackingOrder]
    totals: HistoryTotals
    next: str
    previous: str = ""
    undated: list[TrackingOrder] = field(default_factory=list)  # they fit no page, and must not be hidden
    traders: list[Trader] = field(default_factory=list)  # all of the person's, as filters offer them
    jobs: list[SyncJob] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)

    @property
    def undated_more(self) -> int:
        """How many copies without a closing time there are beside those of `undated`."""
        return max(0, self.totals.undated - len(self.undated))


def history_page(
    user: User,
    filters: Filters = NO_FILTERS,
    after: str = "",
    limit: int = 50,
    before: str = "",
    whole: bool = False,
) -> HistoryPage:
    """Closed copies, newest close first, ties by tracking number; one query, whatever the page.

    `after` gives the page of older ones, `before` that of newer ones. Raises ValueError for a key that no
    page gave out. `whole`: with what a page tells around the list.
    """
    way = "after" if after else "before" if before else ""
    place = dict(zip(_PLACE, _place(after or before), strict=True)) if way else {}
    asked = {name: value for name, value in vars(filters).items() if value not in (None, "")}
    days = days_of(user, filters)
    shape = _Shape(
        frozenset(asked),
        filters.result,
        way,
        limit + 1,
        days and tuple(day is not None for day in days),
        whole,
    )
    first, last = days or (None, None)
    totals, above, found, left_out, traders, *around = _asked_of(shape)(
        user=user.pk, first=first, last=last, **asked, **place
    )
    totals = totals_told(totals, by_days=days is not None)
    refer([*above, *found, *left_out], "trader", {trader.pk: trader for trader in traders})
    told = {"undated": left_out, "traders": traders, **_around(*around)}
    if len(above) > limit:  # else fewer than a page are newer: that is the first page
        shown = above[limit - 1 :: -1]
        return HistoryPage(shown, totals, _key_of(shown[-1]), _key_of(shown[0]), **told)
    shown = found[:limit]
    more = _key_of(shown[-1]) if len(found) > limit else ""
    return HistoryPage(shown, totals, more, _key_of(shown[0]) if after and shown else "", **told)


_PLACE = ("time", "number", "key")
_TIMES = ("since", "until")
_BOUNDS = (
    ("first", "date"), ("last", "date"), ("time", "timestamptz"), ("number", "bigint"), ("key", "bigint"),
)  # fmt: skip


@dataclass(frozen=True)
class _Shape:
    """What the text of a page's queries hangs on: which filters are set, and from where on they look. `days`: whether
    the daily sums begin and end somewhere; None where the totals are not made of them."""

    asked: frozenset[str]
    result: str
    way: str
    limit: int
    days: tuple[bool, ...] | None
    whole: bool


@lru_cache(512)
def _asked_of(shape: _Shape) -> Prepared:
    """The totals, the copies of the page before, those of the page, those without a closing time, and all traders; for
    a whole page readings, accounts and symbols, too. At once: so all of it is of one moment."""

    def build(user: Any, **asked: Any) -> Sequence[Query]:
        first, last, time, number, key = (Hidden(*one) for one in _BOUNDS)
        asked |= {name: Hidden(name, "timestamptz") for name in _TIMES if name in asked}
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
        around = (jobs_of(user), Account.objects.filter(owner=user), symbols_asked(user))
        return (
            totals_asked(filters, shape.days, user=user, first=first, last=last),
            newer,
            _shown(user, filters, older, shape.limit),
            every.filter(close_time=None).only(*_SHOWN).order_by(*NEWEST_FIRST[1:])[:MOST_UNDATED],
            Trader.objects.filter(account__owner=user).order_by("-copied", "name", "pk"),
            *(around if shape.whole else ()),
        )

    return Prepared(build, ["user", *shape.asked])


def _around(
    jobs: Sequence[SyncJob] = (), accounts: Sequence[Account] = (), symbols: Sequence[Any] = (None,)
) -> dict[str, Any]:
    refer(jobs, "account", {account.pk: account for account in accounts})
    return {"jobs": list(jobs), "symbols": symbols_told(symbols)}


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
    """What stands beyond such a row, older ("lt") or newer ("gt"). Its time bounds all of it, so
    the walk over the index begins there, and not at the newest row."""
    return Q(**{f"close_time__{side}e": time}) & (
        Q(**{f"close_time__{side}": time})
        | Q(close_time=time, **{f"tracking_no__{side}": number})
        | Q(close_time=time, tracking_no=number, **{f"pk__{side}": pk})
    )
