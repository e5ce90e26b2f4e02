"""Everything that a trader's page tells of the past, for a stored period or for days of one's own choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from copytrade import statistics
from copytrade.models import CoverageGap, SyncJob, TrackingOrder, Trader
from copytrade.rollups import capital_of
from copytrade.rollups.days import first_moment
from copytrade.rollups.details import Line, Tally
from copytrade.rollups.pages import PageRow, page_rows
from copytrade.rollups.periods import first_day as first_day_of
from copytrade.rollups.ranges import ranged
from copytrade.statistics import Copy, Row, Summary, costs
from copytrade.statistics.exact import ZERO, ratio_or_none, total

from .copies import copies_by_trader
from .drawn import Mark, drawn, mark
from .traders import Reconciliation, compared, open_totals, reconciliation, walking

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

    `still`: (time, cumulative net from 0 at the start, drawdown), at most 130 points with every visible peak and the
    deepest drawdown: what the page draws. `margin_still`: (time, margin in use from then on) of these copies, at most
    80. A summary made before these were kept has up to 800 of each. `curve`, `margin`: the same lines in at most 800
    points, where `whole` asked for them; else rollups.details.Unread, which knows how many steps `margin` has.
    `daily`: each day of the period, up to today, since the first close in the ledger; 0 where nothing closed.
    `closed_on`: the days of the period on which a copy closed, be it with 0. `breakdowns`: by the names of
    statistics.BREAKDOWNS. `scatter`: (hours held, net, our order key), at most 200. `costs_by_month`: (its first day,
    costs). `cost_support`: what the whole account says of realizedPnl (`.sentence`).
    `summary.provisional_*`: what may still change at the next true-up.
    `stale`: a result changed since this was made (`computed_at`; None: never made). `computed_now`: made for this
    page from the orders. `open_*`: of copies open now; `missing`: gone from the open list, not yet in the history.
    `by_day`: too many copies closed in one's own range to read each; see rollups.ranges.
    `first_open`: when the first copy in the ledger was opened, whatever the period.
    """

    trader: Trader
    period: str
    first_day: date | None
    last_day: date
    summary: Summary
    previous: Previous | None
    still: Sequence[tuple[datetime, Decimal, Decimal]]
    margin_still: Sequence[tuple[datetime, Decimal]]
    curve: Sequence[tuple[datetime, Decimal, Decimal]]
    margin: Sequence[tuple[datetime, Decimal]]
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
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
    by_day: bool = False


def trader_page(
    trader: Trader,
    period: str = "90",
    now: datetime | None = None,
    zone: tzinfo | None = None,
    reach: Reach | None = None,
    whole: Collection[Line] = (),
) -> TraderPage:
    """The page of a stored period. Raises KeyError for a period that is none. `reach`: where it is at hand. `whole`:
    the lines to read in all their points."""
    now = now or timezone.now()
    zone = zone or timezone.get_current_timezone()
    (row,) = page_rows([trader], period, now, whole)
    today = now.astimezone(zone).date()
    first = first_day_of(period, today)
    reach = reach or _reach(trader)
    return TraderPage(
        trader=trader,
        period=period,
        first_day=first,
        last_day=today,
        summary=row.summary,
        previous=_told_previous(row.previous),
        still=row.still,
        margin_still=row.margin_still,
        curve=row.curve,
        margin=row.margin,
        daily=_zero_filled(row, first, today),
        closed_on=frozenset(row.daily),
        breakdowns=row.breakdowns,
        scatter=row.scatter,
        costs=row.costs,
        cost_support=row.support,
        costs_by_month=row.costs_by_month,
        reconciliation=compared(trader, row.all_net, reach.complete_from, reach.walking),
        reach=reach,
        open_count=row.open_count,
        open_margin=row.open_margin,
        missing=row.missing,
        first_open=row.first_open,
        stale=row.stale,
        computed_at=row.computed_at,
        computed_now=False,
    )


def _told_previous(found: tuple[date, date, Tally, Decimal] | None) -> Previous | None:
    if found is None:
        return None
    first, last, tally, drawdown = found
    return Previous(
        first,
        last,
        tally.net,
        tally.n,
        ratio_or_none(tally.wins, tally.wins + tally.losses),
        drawdown,
        ratio_or_none(tally.won, tally.lost),
        ratio_or_none(tally.net, tally.n),
    )


def _zero_filled(row: PageRow, first: date | None, last: date) -> list[tuple[date, Decimal]]:
    if not row.all_copies:
        return []
    begun = min(row.daily, default=None)
    older = row.all_copies > row.closed_copies
    start = first if first is not None and older else begun
    return [] if start is None else _every_day(start, last, row.daily)


def _every_day(start: date, last: date, results: Mapping[date, Decimal]) -> list[tuple[date, Decimal]]:
    days = (start + timedelta(days=step) for step in range((last - start).days + 1))
    return [(day, results.get(day, ZERO)) for day in days]


def trader_range(
    trader: Trader,
    first_day: date,
    last_day: date,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    reach: Reach | None = None,
    whole: Collection[Line] = (),
) -> TraderPage:
    """The same for days of one's own choice, both included, made now. Raises ValueError for days in reverse."""
    if first_day > last_day:
        raise ValueError("The first day comes after the last.")
    now, zone = now or timezone.now(), zone or timezone.get_current_timezone()
    last_day = max(first_day, min(last_day, now.astimezone(zone).date()))  # nothing closes after today
    found = ranged(trader, first_day, last_day, now, zone, whole)
    reach = reach or _reach(trader)
    begun = found.begun
    return TraderPage(
        trader=trader,
        period=RANGE,
        first_day=first_day,
        last_day=last_day,
        summary=found.summary,
        previous=_told_previous(found.previous),
        still=found.still,
        margin_still=found.margin_still,
        curve=found.curve,
        margin=found.margin,
        daily=[] if begun is None else _every_day(max(begun, first_day), last_day, found.daily),
        closed_on=frozenset(found.daily),
        breakdowns=found.breakdowns,
        scatter=found.scatter,
        costs=found.costs,
        cost_support=found.support,
        costs_by_month=found.costs_by_month,
        reconciliation=compared(trader, found.all_net, reach.complete_from, reach.walking),
        reach=reach,
        open_count=found.open_count,
        open_margin=found.open_margin,
        missing=found.missing,
        first_open=found.first_open,
        stale=False,
        computed_at=now,
        computed_now=True,
        by_day=found.by_day,
    )


def computed(
    trader: Trader, period: str, first: date | None, last: date, now: datetime, zone: tzinfo
) -> TraderPage:
    """From the orders, copy by copy: what is stored is tested equal to it."""
    rows = TrackingOrder.objects.filter(trader=trader)
    every = copies_by_trader(rows)[trader.pk]
    shown = _between(every, first, last, zone)
    every_fill = _fills(TrackingOrder.objects.filter(account=trader.account_id))
    fills = every_fill.get(trader.pk, {})
    support = costs.support(fill for own in every_fill.values() for _, fill in own.values())
    months: dict[date, list[costs.Fill]] = {}
    for copy in shown:
        month = copy.close_time.astimezone(zone).date().replace(day=1)
        months.setdefault(month, []).append(fills[mark(copy)][1])
    pictures = drawn(shown, {told: key for told, (key, _) in fills.items()}, zone)
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
        closed_on=frozenset(copy.close_time.astimezone(zone).date() for copy in shown),
        costs=costs.split((fills[mark(copy)][1] for copy in shown), support.decided),
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
    return _every_day(start, last, results)


def _fills(rows: QuerySet[TrackingOrder]) -> dict[int, dict[Mark, tuple[int, costs.Fill]]]:
    """Trader key -> mark of a copy -> (our order key, what its costs are told from)."""
    marks = ("tracking_no", "open_time", "close_time", "symbol", "net_profit")
    names = ("pk", "position_side", "open_price_avg", "open_fill_size", "open_size", "open_fee")
    more = ("close_avg_price", "close_size", "realized_pnl")
    found: dict[int, dict] = {}
    complete = rows.filter(
        closed=True, close_time__isnull=False, open_time__isnull=False, net_profit__isnull=False
    )
    for owner, *row in complete.values_list("trader_id", *marks, *names, *more):
        told, (pk, side, price, filled, ordered_size, *rest) = tuple(row[:5]), row[5:]
        size = ordered_size if filled is None else filled
        found.setdefault(owner, {})[told] = pk, costs.Fill(side, price, size, *rest, told[-1])
    return found


def _reach(trader: Trader) -> Reach:
    gaps = CoverageGap.objects.filter(account=OuterRef("account")).order_by().values("account")
    job = (
        SyncJob.objects.filter(account=trader.account_id, kind=SyncJob.Kind.HISTORY)
        .annotate(gaps=Subquery(gaps.annotate(n=Count("pk")).values("n")))
        .first()
    )
    return reach_of(job, job.gaps or 0 if job else 0)


def reach_of(job: SyncJob | None, gaps: int) -> Reach:
    """The reach that an account's history job tells."""
    return Reach(job.complete_from if job else None, walking(job), gaps)
