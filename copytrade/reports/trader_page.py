"""Everything that a trader's page tells of the past, for a stored period or for days of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

from django.db.models import QuerySet
from django.utils import timezone

from copytrade import statistics
from copytrade.models import CoverageGap, SyncJob, TrackingOrder, Trader
from copytrade.rollups import capital_of
from copytrade.rollups.days import first_moment
from copytrade.rollups.periods import first_day as first_day_of
from copytrade.statistics import Copy, Row, Summary, costs
from copytrade.statistics.exact import ZERO, total

from .copies import copies_by_trader
from .drawn import drawn
from .traders import Reconciliation, open_totals, reconciliation

RANGE = "range"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Previous:
    """The figures of the period before, of the same length; both days included. Names as in Summary."""

    first_day: date
    last_day: date
    net_profit: Decimal
    closed_copies: int
    win_rate: Decimal | None
    max_drawdown: Decimal
    profit_factor: Decimal | None
    expectancy: Decimal | None


@dataclass(frozen=True)
class Reach:
    """How far back the ledger of the trader's account goes. `gaps`: stretches that could not be read."""

    complete_from: datetime | None
    walking: bool
    gaps: int


@dataclass(frozen=True)
class TraderPage:
    """`period`: a key of rollups.PERIODS, or RANGE. `first_day` None: everything. Money in USDT, exact.

    `curve`: (time, cumulative net from 0 at the start, drawdown), at most 2,000 points with every visible peak and the
    deepest drawdown. `margin`: (time, margin in use from then on) of these copies. `daily`: each day of the period,
    up to today, since the first close in the ledger; 0 where nothing closed. `breakdowns`: by the names of
    statistics.BREAKDOWNS. `scatter`: (hours held, net, our order key), at most 500. `costs_by_month`: (its first
    day, costs). `cost_support`: what the whole account says of realizedPnl (`.sentence`).
    `summary.provisional_*`: what may still change at the next true-up.
    `stale`: a result changed since this was made (`computed_at`; None: never made). `computed_now`: made for this
    page from the orders. `open_*`: of copies open now; `missing`: gone from the open list, not yet in the history.
    `first_open`: when the first copy in the ledger was opened, whatever the period.
    """

    trader: Trader
    period: str
    first_day: date | None
    last_day: date
    summary: Summary
    previous: Previous | None
    curve: list[tuple[datetime, Decimal, Decimal]]
    margin: list[tuple[datetime, Decimal]]
    daily: list[tuple[date, Decimal]]
    breakdowns: dict[str, list[Row]]
    scatter: list[tuple[Decimal, Decimal, int]]
    costs: costs.Costs
    cost_support: costs.Support
    costs_by_month: list[tuple[date, costs.Costs]]
    reconciliation: Reconciliation
    reach: Reach
    open_count: int
    open_margin: Decimal
    missing: int
    first_open: datetime | None
    stale: bool
    computed_at: datetime | None
    computed_now: bool


def trader_page(
    trader: Trader, period: str = "90", now: datetime | None = None, zone: tzinfo | None = None
) -> TraderPage:
    """The page of a stored period. Raises KeyError for a period that is none."""
    now = now or timezone.now()
    zone = zone or timezone.get_current_timezone()
    today = now.astimezone(zone).date()
    return _computed(trader, period, first_day_of(period, today), today, now, zone)


def trader_range(
    trader: Trader, first_day: date, last_day: date, now: datetime | None = None, zone: tzinfo | None = None
) -> TraderPage:
    """The same for days of one's own choice, both included, made now. Raises ValueError for days in reverse."""
    if first_day > last_day:
        raise ValueError("The first day comes after the last.")
    now = now or timezone.now()
    return _computed(trader, RANGE, first_day, last_day, now, zone or timezone.get_current_timezone())


def _computed(
    trader: Trader, period: str, first: date | None, last: date, now: datetime, zone: tzinfo
) -> TraderPage:
    rows = TrackingOrder.objects.filter(trader=trader)
    every = copies_by_trader(rows)[trader.pk]
    shown = _between(every, first, last, zone)
    every_fill = _fills(TrackingOrder.objects.filter(account=trader.account_id))
    fills = every_fill.get(trader.pk, {})
    support = costs.support(fill for own in every_fill.values() for _, fill in own.values())
    months: dict[date, list[costs.Fill]] = {}
    for copy in shown:
        month = copy.close_time.astimezone(zone).date().replace(day=1)
        months.setdefault(month, []).append(fills[copy.tracking_no][1])
    pictures = drawn(shown, {number: key for number, (key, _) in fills.items()}, zone)
    count, margin, missing = open_totals([trader.pk]).get(trader.pk, (0, ZERO, 0))
    capital, label = capital_of(trader)
    start = None if first is None else first_moment(first, zone)
    return TraderPage(
        trader=trader,
        period=period,
        first_day=first,
        last_day=last,
        summary=statistics.summarise(
            shown,
            capital=capital,
            capital_label=label,
            zone=zone,
            now=now,
            net_before=total(copy.net for copy in every if start is not None and copy.close_time < start),
            reported_total=trader.trace_total_profit if first is None else None,
        ),
        previous=_previous(every, first, last, zone),
        daily=_daily(every, first, last, zone),
        costs=costs.split((fills[copy.tracking_no][1] for copy in shown), support.decided),
        cost_support=support,
        costs_by_month=[(month, costs.split(own, support.decided)) for month, own in sorted(months.items())],
        reconciliation=reconciliation(trader, every),
        reach=_reach(trader),
        open_count=count,
        open_margin=margin,
        missing=missing,
        first_open=min((copy.open_time for copy in every), default=None),
        stale=False,
        computed_at=now,
        computed_now=True,
        **vars(pictures),
    )


def _between(copies: Sequence[Copy], first: date | None, last: date, zone: tzinfo) -> list[Copy]:
    start = None if first is None else first_moment(first, zone)
    end = first_moment(last + _DAY, zone)
    return [copy for copy in copies if (start is None or copy.close_time >= start) and copy.close_time < end]


def _previous(every: Sequence[Copy], first: date | None, last: date, zone: tzinfo) -> Previous | None:
    if first is None:
        return None
    start, end = first - (last - first) - _DAY, first - _DAY
    copies = _between(every, start, end, zone)
    if not copies:
        return None
    found = statistics.summarise(copies, capital=None, zone=zone, now=first_moment(first, zone))
    return Previous(
        start,
        end,
        found.net_profit,
        found.closed_copies,
        found.win_rate,
        found.max_drawdown,
        found.profit_factor,
        found.expectancy,
    )


def _daily(every: Sequence[Copy], first: date | None, last: date, zone: tzinfo) -> list[tuple[date, Decimal]]:
    if not every:
        return []
    begun = min(copy.close_time for copy in every).astimezone(zone).date()
    results = dict(statistics.daily(_between(every, first, last, zone), zone))
    start = begun if first is None else max(begun, first)
    days = (start + timedelta(days=step) for step in range((last - start).days + 1))
    return [(day, results.get(day, ZERO)) for day in days]


def _fills(rows: QuerySet[TrackingOrder]) -> dict[int, dict[int, tuple[int, costs.Fill]]]:
    """Trader key -> tracking number -> (our order key, what its costs are told from)."""
    names = ("pk", "position_side", "open_price_avg", "open_fill_size", "open_size", "open_fee")
    more = ("close_avg_price", "close_size", "realized_pnl", "net_profit")
    found: dict[int, dict] = {}
    complete = rows.filter(
        closed=True, close_time__isnull=False, open_time__isnull=False, net_profit__isnull=False
    )
    for owner, number, pk, side, price, filled, ordered_size, *rest in complete.values_list(
        "trader_id", "tracking_no", *names, *more
    ):
        size = ordered_size if filled is None else filled
        found.setdefault(owner, {})[number] = pk, costs.Fill(side, price, size, *rest)
    return found


def _reach(trader: Trader) -> Reach:
    job = SyncJob.objects.filter(account=trader.account_id, kind=SyncJob.Kind.HISTORY).first()
    gaps = CoverageGap.objects.filter(account=trader.account_id).count()
    walking = job is None or bool(job.cursor.get("back")) or not job.cursor.get("until")
    return Reach(job.complete_from if job else None, walking, gaps)
