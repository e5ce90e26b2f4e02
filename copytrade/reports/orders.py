"""Open copies with their totals, and the filters that open copies and history share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, DivisionByZero, InvalidOperation
from functools import lru_cache
from typing import Any

from django.db.models import Count, F, QuerySet, Window
from django.utils import timezone

from copytrade.models import TrackingOrder, Trader, User
from copytrade.statistics.exact import EXACT, total
from copytrade.together import Prepared

ZERO = Decimal(0)
GONE_SHOWN = 20
# What lists show of a copy, and no more: rows of forty columns cost more to read than to find.
OPEN_SHOWN = (
    "trader", "account", "tracking_no", "symbol", "position_side", "status", "open_leverage", "open_time",
    "open_price_avg", "open_size", "open_fill_size", "open_margin_amount", "tp_trigger_price", "sl_trigger_price",
)  # fmt: skip
BRIEFLY = ("symbol", "position_side", "open_leverage", "close_time", "net_profit")


@dataclass(frozen=True)
class Filters:
    """What the address asks for; None or "" means all. `trader` and `account` are primary keys of our rows.

    `since` and `until` bound the closing time (until excluded); `result` is "", "gain", "loss" or "even".
    """

    trader: int | None = None
    symbol: str = ""
    account: int | None = None
    side: str = ""
    since: datetime | None = None
    until: datetime | None = None
    result: str = ""


NO_FILTERS = Filters()


@dataclass(frozen=True)
class OpenOrder:
    """One open copy as a page shows it. Money in USDT; distances are fractions of the open price.

    `notional` is open price times filled size. `filled` is the filled share of the ordered size, None where
    unknown. A distance is positive when the price has to rise to reach the trigger.
    """

    order: TrackingOrder
    trader: Trader
    margin: Decimal
    notional: Decimal | None
    age: timedelta | None
    tp_distance: Decimal | None
    sl_distance: Decimal | None
    filled: Decimal | None
    partial: bool


@dataclass(frozen=True)
class Totals:
    n: int
    margin: Decimal
    notional: Decimal


@dataclass(frozen=True)
class Group:
    """A total by trader (`key` is the Trader) or by symbol (`key` is its name); share of all margin."""

    key: object
    n: int
    margin: Decimal
    notional: Decimal
    share: Decimal


@dataclass(frozen=True)
class OpenOverview:
    orders: list[OpenOrder]
    totals: Totals
    by_trader: list[Group]
    by_symbol: list[Group]
    missing: int  # gone from the open list and being looked up in the history; not among `orders`
    lost: int  # LOST_WINDOW: looked for in all of the history there is, and not found; not among `missing`
    gone: list[TrackingOrder]  # both, the newest of them first and at most GONE_SHOWN
    traders: list[Trader]  # all of the person's, copied or not: what one may ask for


def orders_of(user: Any) -> QuerySet[TrackingOrder]:
    return TrackingOrder.objects.filter(account__owner=user)


def filtered(rows: QuerySet[TrackingOrder], filters: Filters) -> QuerySet[TrackingOrder]:
    if filters.trader is not None:
        rows = rows.filter(trader_id=filters.trader)
    if filters.account is not None:
        rows = rows.filter(account_id=filters.account)
    if filters.symbol:
        rows = rows.filter(symbol=filters.symbol)
    if filters.side:
        rows = rows.filter(position_side=filters.side)
    return rows


def open_overview(user: User, filters: Filters = NO_FILTERS, now: datetime | None = None) -> OpenOverview:
    """The copies that the exchange's open list held at its last reading, newest first, and what left it
    without a result. One query."""
    now = now or timezone.now()
    asked = {name: value for name, value in vars(filters).items() if value not in (None, "")}
    present, left, traders = _open(frozenset(asked))(user=user.pk, **asked)
    known = {trader.pk: trader for trader in traders}
    for order in [*present, *left]:
        order.trader = known[order.trader_id]
    n, n_lost = (left[0].all_gone, left[0].all_lost) if left else (0, 0)
    return overview_of([open_order(order, now) for order in present], n - n_lost, n_lost, left, traders)


@lru_cache(64)
def _open(asked: frozenset[str]) -> Prepared:
    """The open copies of these filters, those that left the list, and all traders."""

    def build(user: Any, **values: Any) -> Sequence[QuerySet[Any]]:
        filters = Filters(**values)
        rows = filtered(orders_of(user).filter(closed=False), filters)
        return (
            open_rows(user, filters).only(*OPEN_SHOWN),
            _gone(rows.exclude(missing_since=None, lost_since=None)),
            Trader.objects.filter(account__owner=user)
            .only("trader_id", "name", "account")
            .order_by("-copied", "name", "pk"),
        )

    return Prepared(build, ["user", *asked])


def overview_of(
    shown: list[OpenOrder],
    missing: int = 0,
    lost: int = 0,
    gone: Sequence[TrackingOrder] = (),
    traders: Sequence[Trader] = (),
) -> OpenOverview:
    """Open copies with their totals and groups."""
    totals = Totals(len(shown), _sum(row.margin for row in shown), _sum(row.notional for row in shown))
    return OpenOverview(
        orders=shown,
        totals=totals,
        by_trader=_grouped(shown, lambda row: row.trader, totals.margin),
        by_symbol=_grouped(shown, lambda row: row.order.symbol, totals.margin),
        missing=missing,
        lost=lost,
        gone=list(gone),
        traders=list(traders),
    )


def open_rows(user: Any, filters: Filters = NO_FILTERS) -> QuerySet[TrackingOrder]:
    """The copies that the exchange's open list held at its last reading, newest first."""
    present = orders_of(user).filter(closed=False, missing_since=None, lost_since=None)
    return filtered(present, filters).order_by(F("open_time").desc(nulls_last=True), "-tracking_no", "-pk")


def _gone(rows: QuerySet[TrackingOrder]) -> QuerySet[TrackingOrder]:
    """Those that are still being looked up before those that are lost, the last to leave first. Each knows how
    many there are beyond GONE_SHOWN: `all_gone`, and `all_lost` of them."""
    order = (F("lost_since").desc(nulls_first=True), F("missing_since").desc(nulls_last=True), "-pk")
    counted = rows.annotate(all_gone=Window(Count("pk")), all_lost=Window(Count("lost_since")))
    return counted.order_by(*order)[:GONE_SHOWN]


def lost(user: User, filters: Filters = NO_FILTERS) -> int:
    """How many copies closed beyond the exchange's history, of these filters. They have no closing time and no
    result, so filters of those do not apply."""
    return filtered(orders_of(user).filter(closed=False, lost_since__isnull=False), filters).count()


def generations(order: TrackingOrder) -> list[TrackingOrder]:
    """The other orders to which the exchange gave the same number, the oldest first."""
    same = TrackingOrder.objects.filter(account=order.account_id, tracking_no=order.tracking_no)
    return list(same.exclude(pk=order.pk).order_by(F("open_time").asc(nulls_last=True), "pk"))


def open_order(order: TrackingOrder, now: datetime | None = None) -> OpenOrder:
    """The derived figures of one order. It needs `order.trader` loaded."""
    now, size = (
        now or timezone.now(),
        order.open_fill_size if order.open_fill_size is not None else order.open_size,
    )
    price = order.open_price_avg
    filled = _ratio(order.open_fill_size, order.open_size)
    return OpenOrder(
        order=order,
        trader=order.trader,
        margin=order.open_margin_amount or ZERO,
        notional=EXACT.multiply(price, size) if price is not None and size is not None else None,
        age=now - order.open_time if order.open_time else None,
        tp_distance=_distance(order.tp_trigger_price, price),
        sl_distance=_distance(order.sl_trigger_price, price),
        filled=filled,
        partial=filled is not None and filled < 1,
    )


def _grouped(shown: list[OpenOrder], key, margin: Decimal) -> list[Group]:
    """Totals per key, largest margin first."""
    groups: dict[object, list[OpenOrder]] = {}
    for row in shown:
        groups.setdefault(key(row), []).append(row)
    made = []
    for name, rows in groups.items():
        own = _sum(row.margin for row in rows)
        made.append(
            Group(name, len(rows), own, _sum(row.notional for row in rows), _ratio(own, margin) or ZERO)
        )
    return sorted(made, key=lambda group: (-group.margin, str(group.key)))


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return total(value for value in values if value is not None)


def _distance(trigger: Decimal | None, price: Decimal | None) -> Decimal | None:
    """(trigger - price) / price; None without a trigger (the exchange writes 0 or nothing)."""
    if not trigger or price is None:
        return None
    return _ratio(trigger - price, price)


def _ratio(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
    if part is None or not whole:
        return None
    try:
        return part / whole
    except (DivisionByZero, InvalidOperation):
        return None
