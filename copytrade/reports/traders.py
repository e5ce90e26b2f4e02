"""What each trader really earned: the summary, its base, and its check against the exchange's own total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import accumulate

from django.db.models import Count, Q, Sum
from django.utils import timezone

from copytrade import statistics
from copytrade.models import SyncJob, TrackingOrder, Trader, User
from copytrade.rollups import capital_of
from copytrade.statistics.exact import EXACT, total

from .copies import copies_by_trader

ZERO = Decimal(0)
SPARK_POINTS = 40


@dataclass(frozen=True)
class Reconciliation:
    """The ledger's net result against the exchange's traceTotalProfit, and what that comparison is worth.

    `difference` is exchange minus ledger. `complete_from`: the ledger holds everything closed since then;
    None while the first walk through the past is under way.
    """

    ledger: Decimal
    exchange: Decimal | None
    difference: Decimal | None
    complete_from: datetime | None
    walking: bool
    sentence: str


@dataclass(frozen=True)
class TraderRow:
    """A line of the traders table. `spark`: cumulative net result, at most 40 points, oldest first."""

    trader: Trader
    summary: statistics.Summary
    open_count: int
    open_margin: Decimal
    spark: list[Decimal]


@dataclass(frozen=True)
class TraderReport:
    """Everything that a trader's page shows of the past. Breakdowns by name: see statistics.breakdown."""

    trader: Trader
    summary: statistics.Summary
    equity: list[tuple[datetime, Decimal, Decimal]]
    daily: list
    breakdowns: dict[str, list]
    reconciliation: Reconciliation
    open_count: int
    open_margin: Decimal
    missing: int
    first: datetime | None  # when the first copy in the ledger was opened, whatever the period


def trader_summary(
    trader: Trader, *, since: datetime | None = None, zone: tzinfo = UTC, now: datetime | None = None
) -> statistics.Summary:
    """The figures of statistics.md for one trader, of copies closed since `since` (None: all). One query."""
    copies = copies_by_trader(TrackingOrder.objects.filter(trader=trader))[trader.pk]
    return _summary(trader, copies, since, zone, now or timezone.now())


def trader_report(
    trader: Trader, *, since: datetime | None = None, zone: tzinfo = UTC, now: datetime | None = None
) -> TraderReport:
    """All of a trader's past in three queries. The reconciliation is always over the whole ledger."""
    now = now or timezone.now()
    copies = copies_by_trader(TrackingOrder.objects.filter(trader=trader))[trader.pk]
    shown = [copy for copy in copies if since is None or copy.close_time >= since]
    open_now = _open_totals([trader.pk]).get(trader.pk, (0, ZERO, 0))
    return TraderReport(
        trader=trader,
        summary=_summary(trader, copies, since, zone, now),
        equity=statistics.equity(shown),
        daily=statistics.daily(shown, zone),
        breakdowns={name: statistics.breakdown(shown, name, zone) for name in statistics.BREAKDOWNS},
        reconciliation=reconciliation(trader, copies),
        open_count=open_now[0],
        open_margin=open_now[1],
        missing=open_now[2],
        first=min((copy.open_time for copy in copies), default=None),
    )


def traders_table(
    user: User,
    *,
    since: datetime | None = None,
    zone: tzinfo = UTC,
    now: datetime | None = None,
    copies: dict[int, list[statistics.Copy]] | None = None,
) -> list[TraderRow]:
    """Every trader of the user's connections, copied ones first. Three queries, however many traders.

    `copies`: by our trader key, where the caller has read them already.
    """
    now = now or timezone.now()
    traders = list(
        Trader.objects.filter(account__owner=user).select_related("account").order_by("-copied", "name", "pk")
    )
    keys = [trader.pk for trader in traders]
    if copies is None:
        copies = copies_by_trader(TrackingOrder.objects.filter(trader__in=keys))
    open_now = _open_totals(keys)
    rows = []
    for trader in traders:
        own = copies.get(trader.pk, [])
        n, margin, _ = open_now.get(trader.pk, (0, ZERO, 0))
        shown = [copy for copy in own if since is None or copy.close_time >= since]
        rows.append(TraderRow(trader, _summary(trader, own, since, zone, now), n, margin, spark(shown)))
    return rows


def reconciliation(trader: Trader, copies: Sequence[statistics.Copy]) -> Reconciliation:
    """Compare the ledger with the exchange's own total; one query, for the reach of the ledger."""
    job = SyncJob.objects.filter(account_id=trader.account_id, kind=SyncJob.Kind.HISTORY).first()
    ledger = total(copy.net for copy in copies)
    walking = job is None or bool(job.cursor.get("back")) or not job.cursor.get("until")
    exchange = trader.trace_total_profit
    difference = None if exchange is None else exchange - ledger
    return Reconciliation(
        ledger,
        exchange,
        difference,
        job.complete_from if job else None,
        walking,
        _words(difference, walking, trader),
    )


def _words(difference: Decimal | None, walking: bool, trader: Trader) -> str:
    if walking:
        return "The order history is still being read, so this comparison is not complete yet."
    if difference is None:
        return (
            "The exchange does not report a total for this trader now, so there is nothing to compare with."
        )
    if difference == 0:
        return "The exchange's own total agrees with the orders, to the last digit."
    if not trader.copied:
        return "The exchange's total is from the last time this trader was in your list."
    return "The exchange's total differs. It may hold copies from before the history, or results not trued up yet."


def spark(copies: Sequence[statistics.Copy], points: int = SPARK_POINTS) -> list[Decimal]:
    """The cumulative result at evenly chosen copies; the last one is always among them."""
    curve = list(accumulate((copy.net for copy in copies), EXACT.add, initial=ZERO))
    if len(curve) <= points:
        return curve
    last = len(curve) - 1
    return [curve[round(place * last / (points - 1))] for place in range(points)]


def _summary(
    trader: Trader, copies: Sequence[statistics.Copy], since: datetime | None, zone: tzinfo, now: datetime
) -> statistics.Summary:
    """statistics.summarise over the period, with the base grown by what was earned before it."""
    capital, label = capital_of(trader)
    before = ZERO
    if since is not None:
        before = total(copy.net for copy in copies if copy.close_time < since)
        copies = [copy for copy in copies if copy.close_time >= since]
    return statistics.summarise(
        copies,
        capital=capital,
        capital_label=label,
        zone=zone,
        now=now,
        net_before=before,
        reported_total=trader.trace_total_profit if since is None else None,
    )


def _open_totals(traders: list[int]) -> dict[int, tuple[int, Decimal, int]]:
    """trader key -> (open copies, their margin, copies gone from the open list but not yet in the history)."""
    present = Q(missing_since=None)
    rows = (
        TrackingOrder.objects.filter(trader__in=traders, closed=False)
        .values("trader_id")
        .annotate(
            n=Count("pk", filter=present),
            margin=Sum("open_margin_amount", filter=present),
            missing=Count("pk", filter=~present),
        )
    )
    return {row["trader_id"]: (row["n"], row["margin"] or ZERO, row["missing"]) for row in rows}
