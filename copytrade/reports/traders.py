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
from copytrade.rollups.read import PeriodRow, period_rows
from copytrade.statistics.exact import EXACT, total

from .copies import copies_by_trader

ZERO = Decimal(0)
SPARK_POINTS = 40


@dataclass(frozen=True)
class Reconciliation:
    """The ledger's net result against the exchange's traceTotalProfit, and what that comparison is worth.

    `difference` is ledger minus exchange, as in the summary. `complete_from`: the ledger holds everything closed since
    then; None while the first walk through the past is under way.
    """

    ledger: Decimal
    exchange: Decimal | None
    difference: Decimal | None
    complete_from: datetime | None
    walking: bool
    sentence: str


@dataclass(frozen=True)
class TraderRow:
    """A line of the traders table; figures of one stored period. `open_*`: of copies open now."""

    kept: PeriodRow
    open_count: int
    open_margin: Decimal

    @property
    def trader(self) -> Trader:
        return self.kept.trader

    @property
    def summary(self) -> statistics.Summary:
        return self.kept.summary

    @property
    def brief(self) -> statistics.Brief:
        """Of the summary, what a table shows."""
        return self.kept.brief

    @property
    def spark(self) -> list[Decimal]:
        """Cumulative net result, at most 40 points, oldest first."""
        return self.kept.spark

    @property
    def stale(self) -> bool:
        """A result changed since these figures were made."""
        return self.kept.stale


def trader_summary(
    trader: Trader, *, since: datetime | None = None, zone: tzinfo = UTC, now: datetime | None = None
) -> statistics.Summary:
    """The figures of statistics.md for one trader, of copies closed since `since` (None: all). One query."""
    copies = copies_by_trader(TrackingOrder.objects.filter(trader=trader))[trader.pk]
    return _summary(trader, copies, since, zone, now or timezone.now())


def traders_table(user: User, period: str = "all", now: datetime | None = None) -> list[TraderRow]:
    """Every trader of the user's connections, copied ones first, in a period of rollups.PERIODS. Two queries,
    however many traders and orders. Raises KeyError for a period that is none."""
    rows = period_rows(user, period, now)
    open_now = open_totals([row.trader.pk for row in rows])
    return [TraderRow(row, *open_now.get(row.trader.pk, (0, ZERO, 0))[:2]) for row in rows]


def reconciliation(trader: Trader, copies: Sequence[statistics.Copy]) -> Reconciliation:
    """Compare the ledger with the exchange's own total; one query, for the reach of the ledger."""
    job = SyncJob.objects.filter(account_id=trader.account_id, kind=SyncJob.Kind.HISTORY).first()
    ledger = total(copy.net for copy in copies)
    return compared(trader, ledger, job.complete_from if job else None, walking(job))


def walking(job: SyncJob | None) -> bool:
    """Whether the first walk through the past is not over yet, by the account's history job."""
    return job is None or bool(job.cursor.get("back")) or not job.cursor.get("until")


def compared(
    trader: Trader, ledger: Decimal, complete_from: datetime | None, under_way: bool
) -> Reconciliation:
    """The same from the ledger's net of all time."""
    exchange = trader.trace_total_profit
    difference = None if exchange is None else EXACT.subtract(ledger, exchange)
    words = _words(difference, under_way, trader)
    return Reconciliation(ledger, exchange, difference, complete_from, under_way, words)


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


def open_totals(traders: list[int]) -> dict[int, tuple[int, Decimal, int]]:
    """trader key -> (open copies, their margin, copies gone from the open list but not yet in the history)."""
    present = Q(missing_since=None, lost_since=None)
    rows = (
        TrackingOrder.objects.filter(trader__in=traders, closed=False)
        .values("trader_id")
        .annotate(
            n=Count("pk", filter=present),
            margin=Sum("open_margin_amount", filter=present),
            missing=Count("pk", filter=Q(missing_since__isnull=False, lost_since=None)),
        )
    )
    return {row["trader_id"]: (row["n"], row["margin"] or ZERO, row["missing"]) for row in rows}
