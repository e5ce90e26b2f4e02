"""Closed copies: filtered, newest first, paged by key, with the totals of everything that the filters match."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum

from copytrade.models import TrackingOrder, User

from .orders import NO_FILTERS, Filters, filtered, orders_of

ZERO = Decimal(0)
NEWEST_FIRST = ("-close_time", "-tracking_no", "-pk")


@dataclass(frozen=True)
class HistoryTotals:
    """Of everything that the filters match, not of one page."""

    n: int
    net: Decimal
    gross: Decimal
    wins: int
    losses: int
    undated: int = 0  # closed copies without a closing time, in none of the other figures


@dataclass(frozen=True)
class HistoryPage:
    """`next` is the key of the older page (give it as `after`), `previous` that of the newer one (give it as
    `before`); "" where there is none."""

    orders: list[TrackingOrder]
    totals: HistoryTotals
    next: str
    previous: str = ""


def undated(user: User, filters: Filters = NO_FILTERS, limit: int = 20) -> list[TrackingOrder]:
    """Closed copies that the exchange told of without a closing time: they fit no page, and must not be hidden."""
    rows = filtered(orders_of(user).filter(closed=True, close_time=None), filters)
    return list(rows.select_related("trader").order_by("-tracking_no", "-pk")[:limit])


def history_page(
    user: User, filters: Filters = NO_FILTERS, after: str = "", limit: int = 50, before: str = ""
) -> HistoryPage:
    """Closed copies, newest close first, ties by tracking number; two queries, whatever the page.

    `after` gives the page of older ones, `before` that of newer ones. Raises ValueError for a key that no
    page gave out.
    """
    rows, totals = history(user, filters), _totals(_closed(user, filters))
    page = rows.select_related("trader", "account").order_by(*NEWEST_FIRST)
    if before and not after:
        found = list(page.filter(_beyond(before, "gt")).reverse()[: limit + 1])
        if len(found) > limit:
            shown = found[limit - 1 :: -1]
            return HistoryPage(shown, totals, _key_of(shown[-1]), _key_of(shown[0]))
        # Fewer than a page are newer: that is the first page.
    if after:
        page = page.filter(_beyond(after, "lt"))
    found = list(page[: limit + 1])
    shown = found[:limit]
    older = _key_of(shown[-1]) if len(found) > limit else ""
    return HistoryPage(shown, totals, older, _key_of(shown[0]) if after and shown else "")


def history(user: User, filters: Filters) -> QuerySet[TrackingOrder]:
    """The closed copies with a closing time that the filters match, in no order."""
    return _closed(user, filters).filter(close_time__isnull=False)


def _closed(user: User, filters: Filters) -> QuerySet[TrackingOrder]:
    rows = filtered(orders_of(user).filter(closed=True), filters)
    if filters.since:
        rows = rows.filter(close_time__gte=filters.since)
    if filters.until:
        rows = rows.filter(close_time__lt=filters.until)
    results = {"gain": Q(net_profit__gt=0), "loss": Q(net_profit__lt=0), "even": Q(net_profit=0)}
    return rows.filter(results[filters.result]) if filters.result in results else rows


def _totals(closed: QuerySet[TrackingOrder]) -> HistoryTotals:
    dated = Q(close_time__isnull=False)
    found = closed.aggregate(
        n=Count("pk", filter=dated),
        net=Sum("net_profit", filter=dated),
        gross=Sum("realized_pnl", filter=dated),
        wins=Count("pk", filter=dated & Q(net_profit__gt=0)),
        losses=Count("pk", filter=dated & Q(net_profit__lt=0)),
        undated=Count("pk", filter=~dated),
    )
    sums = {name: found[name] or ZERO for name in ("net", "gross")}
    return HistoryTotals(**(found | sums))


def _key_of(order: TrackingOrder) -> str:
    """closing time, tracking number, our key: two connections may read the same exchange account."""
    return f"{order.close_time.isoformat() if order.close_time else ''}_{order.tracking_no}_{order.pk}"


def _beyond(key: str, side: str) -> Q:
    """What stands beyond the row that this key names, older ("lt") or newer ("gt"). ValueError for no key."""
    at, *numbers = key.split("_")
    time = datetime.fromisoformat(at)
    number, pk = (int(text) for text in numbers)
    if time.tzinfo is None or not all(-(2**63) <= value < 2**63 for value in (number, pk)):
        raise ValueError("not the key of a page")
    return (
        Q(**{f"close_time__{side}": time})
        | Q(close_time=time, **{f"tracking_no__{side}": number})
        | Q(close_time=time, tracking_no=number, **{f"pk__{side}": pk})
    )
