"""One summary per (trader, period), made from the ledger when a result changed or a day began.

The database sorts and hands over columns; shape.py passes over them. Nothing is locked meanwhile: the ledger
may merge a page at any moment. A trader's mark (summaries_stale_since) moves with every page; a summary is
written only while the mark stands, and the mark is cleared only if it has not moved. So no page is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import DateTimeField, Func
from django.utils import timezone

from copytrade.locks import SUMMARY_LOCK
from copytrade.models import PeriodDetail, PeriodSummary, Trader, User
from copytrade.statistics import MINIMUM_COPIES, MINIMUM_DAYS, Parts, Returns, returns_of
from copytrade.statistics.costs import Support, support
from copytrade.statistics.exact import EXACT, ZERO, total
from copytrade.statistics.parts import true_up_before
from copytrade.statistics.summary import capital_base

from . import details, fetch
from .days import day_of, first_moment, zone_of
from .details import Tally, stretches, tallies
from .kept import capital_of, keep
from .periods import PERIODS, first_day, since
from .room import roomy
from .shape import Columns, Shape, deepest_fall, moment, shape
from .told import newest_fills

TOGETHER = 20_000  # copies that are read at once; a trader with more is read alone
_DAYS = """
SELECT d.trader_id, d.day, d.n, d.wins, d.losses, d.net, d.gross, d.won, d.lost, d.open_fees, d.margin, d.close_fees,
    d.unestimated
FROM copytrade_traderresult d WHERE d.trader_id = ANY(%s) ORDER BY d.trader_id, d.day
"""
# By symbol, in the stretches of time between the beginnings of the periods (`starts`, each trader's own, falling).
_SYMBOLS = """
SELECT d.trader_id, d.symbol, f.stretch, sum(d.n)::bigint, sum(d.wins)::bigint, sum(d.losses)::bigint, sum(d.net),
    sum(d.won), sum(d.lost), sum(d.gross)
FROM unnest(%s::bigint[], %s::date[]) AS t(id, today) JOIN copytrade_dayresult d ON d.trader_id = t.id
CROSS JOIN LATERAL (SELECT count(*) AS stretch FROM unnest(%s::int[]) AS l(days) WHERE d.day <= t.today - l.days) f
GROUP BY d.trader_id, d.symbol, f.stretch
"""
_DAY = timedelta(days=1)
_LENGTHS = [days for days in PERIODS.values() if days is not None]
_NOTHING = Columns((), (), (), ())
_SUMMARY = ("as_of", "closed_copies", "net", "net_before", "figures", "spark", "computed_at")
_DETAIL = (
    "as_of", "still", "margin_still", "margin_steps", "curve", "margin", "daily", "breakdowns", "scatter", "costs",
    "previous", "symbols", "computed_at",
)  # fmt: skip
Made = tuple[PeriodSummary, PeriodDetail]


class ClockTimestamp(Func):
    """The database's clock, which goes on inside a transaction: each mark is another."""

    template = "clock_timestamp()"
    output_field = DateTimeField()


class Day(NamedTuple):
    """The sums of one trader's day, over all symbols."""

    day: date
    n: int
    wins: int
    losses: int
    net: Decimal
    gross: Decimal
    won: Decimal
    lost: Decimal
    open_fees: Decimal
    margin: Decimal
    close_fees: Decimal
    unestimated: int


def summarise(traders: Iterable[int], now: datetime | None = None) -> int:
    """Make the summaries of these traders (our keys); how many of them were written.

    One that the ledger touched meanwhile is written and stays stale; one that somebody else brought up to
    date meanwhile is left alone. Inside a transaction it sees, and writes, what that transaction does.
    """
    keys, now = sorted(set(traders)), now or timezone.now()
    # Somebody else's newer result is told by a mark that is gone, so there has to be one.
    with transaction.atomic():
        unmarked = Trader.objects.filter(pk__in=keys, summaries_stale_since=None)
        waited_for = list(unmarked.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        Trader.objects.filter(pk__in=waited_for).update(summaries_stale_since=ClockTimestamp())
    written = 0
    for chunk in _chunks(keys):
        with _one_moment():
            rows = {trader.pk: (trader, list(made)) for trader, made in _made(chunk, now)}
        written += _write(rows)
    return written


def summarise_stale(limit: int = 200, now: datetime | None = None) -> int:
    """Bring up to date at most `limit` traders whose results changed or whose day ended; how many.

    Any number of workers may do so at once: a trader at which another one is, is passed over.
    """
    now = now or timezone.now()
    mark_rolled_over(now)
    with connection.cursor() as cursor:
        cursor.execute(
            """WITH stale AS MATERIALIZED (
                SELECT id FROM copytrade_trader WHERE summaries_stale_since IS NOT NULL
                ORDER BY summaries_stale_since LIMIT %s
            ) SELECT id FROM stale WHERE pg_try_advisory_lock(%s, (id %% 2147483648)::int)""",
            [limit, SUMMARY_LOCK],
        )
        taken = [key for (key,) in cursor.fetchall()]
    try:
        return summarise(taken, now)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_unlock(%s, (id %% 2147483648)::int) FROM unnest(%s::bigint[]) AS t(id)",
                [SUMMARY_LOCK, taken],
            )


def mark_rolled_over(now: datetime) -> int:
    """Mark the traders whose summaries end before today (the owner's midnight has passed), were made before
    the last true-up, or were never made; how many. One query for all people of the desk, and one for zones.

    One that somebody writes to at this moment is passed over: the next look finds it."""
    zones = list(User.objects.filter(accounts__isnull=False).values_list("zone", flat=True).distinct())
    todays = [now.astimezone(zone_of(User(zone=zone))).date() for zone in zones]
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id IN (
                SELECT t.id FROM copytrade_trader t JOIN copytrade_account a ON a.id = t.account_id
                JOIN copytrade_user u ON u.id = a.owner_id
                JOIN unnest(%s::text[], %s::date[]) AS z(zone, today) ON z.zone = u.zone
                WHERE t.summaries_stale_since IS NULL AND NOT EXISTS (
                    SELECT FROM copytrade_periodsummary s WHERE s.trader_id = t.id AND s.period = 'all'
                        AND s.as_of >= z.today AND s.computed_at >= %s)
                ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)""",
            [zones, todays, true_up_before(now)],
        )
        return cursor.rowcount


def _write(rows: dict[int, tuple[Trader, list[Made]]]) -> int:
    """Store the rows of each trader whose mark still stands, and clear the marks that have not moved."""
    with transaction.atomic():
        marks = dict(
            Trader.objects.select_for_update(no_key=True)
            .filter(pk__in=rows)
            .order_by("pk")
            .values_list("pk", "summaries_stale_since")
        )
        standing = [key for key, mark in marks.items() if mark is not None]
        made = [pair for key in standing for pair in rows[key][1]]
        _store(PeriodSummary, [summary for summary, _ in made], _SUMMARY)
        _store(PeriodDetail, [detail for _, detail in made], _DETAIL)
        done = [key for key in standing if marks[key] == rows[key][0].summaries_stale_since]
        Trader.objects.filter(pk__in=done).update(summaries_stale_since=None)
    return len(standing)


def _store(model: type[PeriodSummary] | type[PeriodDetail], rows: list, names: Sequence[str]) -> None:
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["trader", "period"], update_fields=["account", *names]
    )


def _made(chunk: Sequence[int], now: datetime) -> Iterator[tuple[Trader, Iterator[Made]]]:
    """The summaries of the traders of a chunk, each trader as read with them."""
    traders = Trader.objects.filter(pk__in=chunk).select_related("account__owner").in_bulk()
    zones = {key: zone_of(trader.account.owner) for key, trader in traders.items()}
    days = day_sums(chunk)
    symbols, gross = _symbols({key: now.astimezone(zone).date() for key, zone in zones.items()})
    told = newest_fills(chunk)
    sizes = {key: sum(day.n for day in days.get(key, ())) for key in traders}
    for batch in _batches(sizes):
        found = fetch.columns(batch)
        for key in batch:
            sums = Sums(
                days.get(key, []), symbols.get(key, {}), support(told.get(key, ())), gross.get(key, {})
            )
            yield traders[key], _rows(traders[key], found.pop(key, _NOTHING), sums, zones[key], now)


@dataclass(frozen=True)
class Sums:
    """What is known of a trader without his copies in order: by day, by (stretch, symbol), and of realizedPnl."""

    days: Sequence[Day]
    symbols: dict[tuple[int, str], Tally]
    support: Support
    gross: Mapping[str, Decimal] = field(default_factory=dict)  # of all time, by symbol: to be kept alone

    def between(self, first: date | None, last: date) -> list[Day]:
        return [day for day in self.days if (first is None or day.day >= first) and day.day <= last]


def _rows(trader: Trader, copies: Columns, sums: Sums, zone: tzinfo, now: datetime) -> Iterator[Made]:
    today = now.astimezone(zone).date()
    known: dict[int, Shape] = {}  # where all copies are of this year, its figures are those of all
    starts = {period: copies.place(since(period, now, zone)) for period in PERIODS}
    # Each copy is looked at once: a period is the stretches from its beginning on.
    spans = stretches(sorted(starts.values()), len(copies.net))
    traits = {start: tallies(copies.part(start, end)) for start, end in spans if start < end}
    for stretch, period in enumerate(PERIODS):
        start, first = starts[period], first_day(period, today)
        shown = copies.part(start)
        if start not in known:
            known[start] = shape(shown)
        figures = known[start]
        own = sums.between(first, date.max)
        before = total(day.net for day in sums.days if first is not None and day.day < first)
        series = series_of(shown, own, zone)
        parts = parts_of(shown, figures, own, [net for _, net in series], now)
        by_symbol = details.joined(
            (symbol, tally) for (place, symbol), tally in sums.symbols.items() if place <= stretch
        )
        summary = PeriodSummary(
            account_id=trader.account_id,
            trader=trader,
            period=period,
            as_of=today,
            closed_copies=parts.closed_copies,
            net=parts.net_profit,
            net_before=before,
            figures=keep(parts, _returns(trader, parts, series, before)),
            spark=[str(point) for point in figures.spark],
            computed_at=now,
        )
        yield (
            summary,
            PeriodDetail(
                account_id=trader.account_id,
                trader=trader,
                period=period,
                as_of=today,
                **details.lines(shown, figures),
                daily=[[day.day.isoformat(), str(day.net)] for day in own],
                breakdowns=details.breakdowns(
                    details.added(tally for place, tally in traits.items() if place >= start),
                    by_symbol,
                    {day.day: tally_of(day) for day in own},
                ),
                scatter=details.scatter(shown, figures),
                costs=details.kept_costs(own, sums.support if first is None else None),
                previous=previous_of(copies, sums, first, today, zone),
                symbols=details.kept_symbols(by_symbol, sums.gross) if first is None else None,
                computed_at=now,
            ),
        )


def tally_of(day: Day) -> Tally:
    """A day's results, for the breakdowns that go by days."""
    return Tally(day.n, day.wins, day.losses, day.net, day.won, day.lost)


def previous_of(copies: Columns, sums: Sums, first: date | None, last: date, zone: tzinfo) -> dict:
    """The figures of the period before, of the same length; {} where nothing closed in it."""
    if first is None:
        return {}
    start, end = first - (last - first) - _DAY, first - _DAY
    tally = details.summed(tally_of(day) for day in sums.between(start, end))
    if not tally.n:
        return {}
    places = copies.place(first_moment(start, zone)), copies.place(first_moment(first, zone))
    return details.kept_previous(start, end, tally, deepest_fall(copies.part(*places)))


def _symbols(
    todays: dict[int, date],
) -> tuple[dict[int, dict[tuple[int, str], Tally]], dict[int, dict[str, Decimal]]]:
    """Trader key -> (stretch, symbol) -> results, stretch 0 being the shortest period; trader key -> symbol -> gross of
    all stretches. One query."""
    found: dict[int, dict[tuple[int, str], Tally]] = {}
    gross: dict[int, dict[str, Decimal]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_SYMBOLS, [list(todays), list(todays.values()), _LENGTHS])
        for key, symbol, stretch, *tally, own in cursor.fetchall():
            found.setdefault(key, {})[stretch, symbol] = Tally(*tally)
            sums = gross.setdefault(key, {})
            sums[symbol] = EXACT.add(sums.get(symbol, ZERO), own)
    return found, gross


def parts_of(
    copies: Columns, figures: Shape, days: Sequence[Day], nets: Sequence[Decimal], now: datetime
) -> Parts:
    """What the statistics of these copies are made from: sums by days, and the figures that depend on order."""
    true_up = true_up_before(now)
    recent = copies.part(copies.place(true_up)).net
    return Parts(
        closed_copies=len(copies.net),
        wins=sum(day.wins for day in days),
        losses=sum(day.losses for day in days),
        net_profit=total(day.net for day in days),
        gross=total(day.gross for day in days),
        open_fees=total(day.open_fees for day in days),
        won=total(day.won for day in days),
        lost=total(day.lost for day in days),
        margin_turned_over=total(day.margin for day in days),
        provisional_from=true_up,
        provisional_copies=len(recent),
        provisional_net=copies.money(sum(recent)),
        days=len(nets),
        best_day=max(nets, default=None),
        worst_day=min(nets, default=None),
        since=figures.since,
        until=figures.until,
        peak_margin=figures.peak_margin,
        max_drawdown=figures.max_drawdown,
        falls=figures.falls,
        current_drawdown=figures.current_drawdown,
        last_peak=figures.last_peak,
        holding=figures.holding,
        holding_winners=figures.holding_winners,
        holding_losers=figures.holding_losers,
        time_in_market=figures.time_in_market,
        longest_win_streak=figures.longest_win_streak,
        longest_loss_streak=figures.longest_loss_streak,
    )


def series_of(copies: Columns, days: Sequence[Day], zone: tzinfo) -> list[tuple[date, Decimal]]:
    """The daily series: from the first open to the last close, days without a close are 0."""
    if not copies.closed:
        return []
    start = day_of(moment(min(copies.closed[0], *copies.opened)), zone)
    end = day_of(moment(copies.closed[-1]), zone)
    nets = {day.day: day.net for day in days}
    every = (start + timedelta(days=offset) for offset in range((end - start).days + 1))
    return [(day, nets.get(day, ZERO)) for day in every]


def _returns(
    trader: Trader, parts: Parts, series: Sequence[tuple[date, Decimal]], before: Decimal
) -> Returns | None:
    """Sharpe and Sortino on today's capital base; kept with it, so that a reader sees when it moved."""
    if parts.days < MINIMUM_DAYS or parts.closed_copies < MINIMUM_COPIES:
        return None
    base = capital_base(parts, capital_of(trader)[0], before)
    return None if base is None else returns_of(series, base)


def day_sums(traders: Sequence[int]) -> dict[int, list[Day]]:
    """The daily sums of these traders, oldest first. One query."""
    found: dict[int, list[Day]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_DAYS, [list(traders)])
        for key, *day in cursor.fetchall():
            found.setdefault(key, []).append(Day(*day))
    return found


def _batches(sizes: dict[int, int]) -> Iterator[list[int]]:
    """Traders whose copies are read together."""
    batch: list[int] = []
    held = 0
    for key, size in sorted(sizes.items()):
        if batch and held + size > TOGETHER:
            yield batch
            batch, held = [], 0
        batch.append(key)
        held += size
    if batch:
        yield batch


def _chunks(keys: Sequence[int], size: int = 20) -> Iterator[Sequence[int]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


@contextmanager
def _one_moment() -> Iterator[None]:
    """Everything read inside is of one moment. In a transaction already open: of that one, as it stands."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            roomy(cursor)
        yield
