"""A lead trader's own orders, and the same figures of them as a follower's copies get.

The interface gives no closing time of these orders and no meaning of their fields beyond the names. An order whose
status is CLOSED is taken to have closed at its last update, and its netProfit for its result: both are inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal

from django.db.models import Count, Max, Q, QuerySet, Sum

from copytrade import statistics
from copytrade.models import Account, LeadOrder, SyncJob
from copytrade.statistics import Copy, Summary
from copytrade.statistics.exact import ratio_or_none
from copytrade.steps import walk

CLOSED, OPEN = "CLOSED", "HAVE_OPEN"
MOST_COPIES = 5000  # of the newest closed ones, in the figures of a page
NEWEST_FIRST = ("-update_time", "-tracking_no")


@dataclass(frozen=True)
class LeadFilters:
    symbol: str = ""
    status: str = ""
    since: datetime | None = None


@dataclass(frozen=True)
class LeadPage:
    """`uncounted`: closed orders without a result or a time, in no figure. `left_out`: older ones beyond the newest
    5,000. `odd`: orders whose status is neither of the two that the interface names. `followers`: (mean, most).
    `closed_on`: the days on which one closed."""

    summary: Summary
    curve: list[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
    by_symbol: list[statistics.Row]
    open_count: int
    odd: int
    uncounted: int
    left_out: int
    followers: tuple[Decimal | None, int | None]


@dataclass(frozen=True)
class LeadReach:
    """`state`: "not_lead" (the key is no copy-trade key), "waiting", "walking" or "read"."""

    state: str
    complete_from: datetime | None
    gaps: list[tuple[datetime | None, datetime, str]]


def orders_of(account: Account, filters: LeadFilters = LeadFilters()) -> QuerySet[LeadOrder]:
    """The orders that the filters match, in no order. `since` is of the last update."""
    rows = LeadOrder.objects.filter(account=account)
    if filters.symbol:
        rows = rows.filter(symbol=filters.symbol)
    if filters.status:
        rows = rows.filter(status=filters.status)
    return rows.filter(update_time__gte=filters.since) if filters.since else rows


def choices(account: Account) -> tuple[list[str], list[str]]:
    """The symbols and the statuses that were met; an empty word is none to choose."""
    rows = LeadOrder.objects.filter(account=account).order_by()
    met = [rows.values_list(name, flat=True).distinct() for name in ("symbol", "status")]
    return sorted(filter(None, met[0])), sorted(filter(None, met[1]))


def page_of(account: Account, since: datetime | None, now: datetime, zone: tzinfo) -> LeadPage:
    """Figures of what closed since then. A fixed number of queries."""
    rows = LeadOrder.objects.filter(account=account)
    shown = rows.filter(update_time__gte=since) if since else rows
    known = Q(status=CLOSED, update_time__isnull=False, open_time__isnull=False, net_profit__isnull=False)
    counts = shown.aggregate(
        closed=Count("pk", filter=known),
        uncounted=Count("pk", filter=Q(status=CLOSED) & ~known),
        told=Count("follow_count", filter=Q(status=CLOSED)),
        followed=Sum("follow_count", filter=Q(status=CLOSED)),
        most=Max("follow_count", filter=Q(status=CLOSED)),
    )
    states = rows.aggregate(
        open=Count("pk", filter=Q(status=OPEN)), odd=Count("pk", filter=~Q(status__in=[OPEN, CLOSED]))
    )
    copies = [copy_of(row) for row in shown.filter(known).order_by(*NEWEST_FIRST)[:MOST_COPIES]]
    return LeadPage(
        summary=statistics.summarise(copies, capital=None, zone=zone, now=now),
        curve=statistics.equity(copies),
        daily=statistics.daily(copies, zone),
        closed_on=frozenset(copy.close_time.astimezone(zone).date() for copy in copies),
        by_symbol=statistics.breakdown(copies, "symbol", zone),
        open_count=states["open"],
        odd=states["odd"],
        uncounted=counts["uncounted"],
        left_out=max(0, counts["closed"] - len(copies)),
        followers=(ratio_or_none(counts["followed"] or 0, counts["told"]), counts["most"]),
    )


def copy_of(row: LeadOrder) -> Copy:
    """An own order as the figures take a copy: closed at its last update; what was not told weighs nothing."""
    zero = Decimal(0)
    assert row.open_time and row.update_time and row.net_profit is not None
    return Copy(
        tracking_no=row.tracking_no,
        symbol=row.symbol,
        side=row.position_side,
        leverage=row.open_leverage or 0,
        open_time=min(row.open_time, row.update_time),
        close_time=row.update_time,
        margin=row.open_margin_amount or zero,
        open_fee=row.open_fee or zero,
        realized=row.net_profit if row.realized_pnl is None else row.realized_pnl,
        net=row.net_profit,
    )


def reach_of(account: Account, job: SyncJob | None) -> LeadReach:
    if job is None:
        return LeadReach("waiting", None, [])
    gaps = [
        (datetime.fromisoformat(start) if start else None, datetime.fromisoformat(end), reason)
        for start, end, reason in job.cursor.get("gaps", [])
    ]
    if job.cursor.get("not_lead") == account.key_set_at.isoformat():
        state = "not_lead"
    elif job.last_success_at is None and not job.cursor.get("until"):
        state = "waiting"
    else:
        state = "walking" if job.cursor.get(walk.BACK) else "read"
    return LeadReach(state, job.complete_from, gaps)
