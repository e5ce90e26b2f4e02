"""Days of one's own choice: from the daily sums, and from the single copies of those days while they are few.

So a page costs what its days hold, not what the ledger does. What is made here is tested equal to the reference.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Any

from copytrade.models import Trader
from copytrade.statistics import Row, Spread, Summary, from_parts
from copytrade.statistics.costs import Costs, Support
from copytrade.statistics.exact import EXACT, ZERO
from copytrade.statistics.parts import true_up_before

from . import details, fetch
from .counted import COUNTS, FIGURES, WHOLE
from .days import first_moment
from .details import Line, Tally, Unread
from .kept import capital_of
from .pages import PRESENT
from .shape import Columns, Shape, microseconds_of, shape
from .summaries import Day, Sums, parts_of, previous_of, series_of, tally_of
from .thin import STEP_POINTS, STILL_POINTS

# So many copies are read one by one for a page; where more closed, its figures go by days.
MOST_COPIES = 2_000
MANY = f"more than {MOST_COPIES:,} copies closed in these days: choose fewer days to see it"
_DAY = timedelta(days=1)
_TOLD = 10  # single figures at the head of the row, before the sums by symbol and those by day
_NOTHING = Columns((), (), (), ())
_COUNTS = "sum(d.n)::bigint, sum(d.wins)::bigint, sum(d.losses)::bigint"
# What is told of single days, and what is told by month or altogether. Both come as texts, a column in one piece: a
# list of numbers takes the driver three times as long to read.
_DAILY = ("n", "wins", "losses", "net", "won", "lost")
_MONTHLY = tuple(name for name in FIGURES if name not in _DAILY)
_DAYS = ", ".join(f"string_agg(d.{name}::text, ',' ORDER BY d.day)" for name in ("day", *_DAILY))
_MONTHS = ", ".join(f"string_agg(m.{name}::text, ',' ORDER BY m.day)" for name in ("day", *_MONTHLY))
_MONTH = "min(d.day) AS day, " + ", ".join(f"sum(d.{name}) AS {name}" for name in _MONTHLY)
_TALLY = f"{_COUNTS}, sum(d.won), sum(d.lost)"  # the net is what was won without what was lost
# Of one trader: what does not hang on the days ("all" keeps it), the sums of the days (with as many before them), of
# their symbols, what was earned before them; where the days hold few copies these, and otherwise what closed since
# the last true-up.
_RANGE = f"""
WITH mine AS MATERIALIZED (SELECT * FROM copytrade_traderresult WHERE trader_id = %(trader)s),
many AS MATERIALIZED (SELECT coalesce(sum(d.n), 0) > %(most)s AS so FROM mine d
    WHERE d.day >= %(start)s AND d.day <= %(last)s)
SELECT (a.figures -> 'since')::text,
    (SELECT json_agg(x.costs -> 'support') FROM copytrade_perioddetail x
        WHERE x.account_id = t.account_id AND x.period = 'all')::text,
    o.n, o.margin, o.missing, e.net, e.before, e.begun, r.n, r.net,
    (SELECT json_agg(f.row) FROM (SELECT json_build_array(d.symbol, {_TALLY}) AS row
        FROM copytrade_dayresult d WHERE d.trader_id = t.id AND d.day >= %(first)s AND d.day <= %(last)s
        GROUP BY d.symbol) f)::text,
    s.*, m.*, c.*
FROM copytrade_trader t
LEFT JOIN copytrade_periodsummary a ON a.trader_id = t.id AND a.period = 'all'
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE {PRESENT}) AS n,
        coalesce(sum(o.open_margin_amount) FILTER (WHERE {PRESENT}), 0) AS margin,
        count(*) FILTER (WHERE o.missing_since IS NOT NULL AND o.lost_since IS NULL) AS missing
    FROM copytrade_trackingorder o WHERE o.trader_id = t.id AND NOT o.closed
) o
CROSS JOIN LATERAL (
    SELECT coalesce(sum(d.net), 0) AS net, coalesce(sum(d.net) FILTER (WHERE d.day < %(first)s), 0) AS before,
        min(d.day) AS begun
    FROM mine d
) e
CROSS JOIN LATERAL (
    SELECT count(*) AS n, coalesce(sum(o.net_profit), 0) AS net FROM copytrade_trackingorder o
    WHERE (SELECT so FROM many) AND o.trader_id = t.id AND {COUNTS}
        AND o.close_time >= greatest(%(true_up)s, %(opens)s) AND o.close_time < %(ends)s
) r
CROSS JOIN LATERAL (
    SELECT {_DAYS} FROM mine d WHERE d.day >= %(start)s AND d.day <= %(last)s
) s
CROSS JOIN LATERAL (
    SELECT {_MONTHS} FROM (SELECT {_MONTH} FROM mine d WHERE d.day >= %(first)s AND d.day <= %(last)s
        GROUP BY extract(year FROM d.day), extract(month FROM d.day)) m
) m
CROSS JOIN LATERAL (
    SELECT {fetch.CELLS} FROM copytrade_trackingorder o
    WHERE NOT (SELECT so FROM many) AND o.trader_id = t.id AND {COUNTS}
        AND o.close_time >= %(begins)s AND o.close_time < %(ends)s
) c
WHERE t.id = %(trader)s
"""


@dataclass(frozen=True)
class Ranged:
    """The days from `first` to `last`. Names as in PageRow; `by_day`: too many copies closed to read each, so the
    curve has a point a day, drawdowns are told from day to day, and what no sum can tell is not there.
    `begun`: the first day on which a copy closed, whatever the range."""

    summary: Summary
    still: Sequence[tuple[datetime, Decimal, Decimal]]
    margin_still: Sequence[tuple[datetime, Decimal]]
    curve: Sequence[tuple[datetime, Decimal, Decimal]]
    margin: Sequence[tuple[datetime, Decimal]]
    daily: dict[date, Decimal]
    begun: date | None
    breakdowns: dict[str, list[Row]]
    scatter: list[tuple[Decimal, Decimal, int]]
    costs: Costs
    costs_by_month: list[tuple[date, Costs]]
    previous: tuple[date, date, Tally, Decimal] | None
    support: Support
    all_net: Decimal
    first_open: datetime | None
    open_count: int
    open_margin: Decimal
    missing: int
    by_day: bool


def ranged(
    trader: Trader, first: date, last: date, now: datetime, zone: tzinfo, whole: Collection[Line] = ()
) -> Ranged:
    """One query, however many copies there are: at most MOST_COPIES of them are read, those of the range and of as
    many days before it together. `whole`: the lines to make in all their points."""
    start = first - min(last - first + _DAY, first - date.min)
    found = _read(trader, start, first, last, now, zone)
    since, told, count, margin, missing, all_net, before, begun, *recent = found.told
    days, symbols = found.days, found.symbols
    sums = Sums(days, {}, details.read_support(details.loaded(told) or []))
    own = sums.between(first, last)
    by_day = found.copies is None
    copies = _by_day(days, zone) if found.copies is None else found.copies
    shown = copies.part(copies.place(first_moment(first, zone)))
    figures = shape(shown)
    support = sums.support
    every = [*own, *found.months]
    months = details.kept_months(every)
    return Ranged(
        summary=_summary(trader, shown, figures, own, every, before, recent if by_day else None, now, zone),
        still=details.curve_now(shown, figures, STILL_POINTS),
        margin_still=[] if by_day else details.margin_now(shown, figures, STEP_POINTS),
        curve=details.curve_now(shown, figures) if "curve" in whole else Unread(),
        margin=[] if by_day else _margin(shown, figures, whole),
        daily={day.day: day.net for day in own},
        begun=begun,
        breakdowns=details.read_breakdowns(
            details.breakdowns(
                {} if by_day else details.tallies(shown), symbols, {day.day: tally_of(day) for day in own}
            )
        ),
        scatter=[] if by_day else details.read_scatter(details.scatter(shown, figures)),
        costs=details.read_costs(months, support.decided),
        costs_by_month=details.read_months(months, support.decided),
        previous=details.read_previous(previous_of(copies, sums, first, last, zone)),
        support=support,
        all_net=all_net,
        first_open=datetime.fromisoformat(since) if since else None,
        open_count=count,
        open_margin=margin,
        missing=missing,
        by_day=by_day,
    )


def _margin(copies: Columns, figures: Shape, whole: Collection[Line]) -> Sequence[tuple[datetime, Decimal]]:
    if "margin" in whole:
        return details.margin_now(copies, figures)
    return Unread(details.margin_steps(figures))


@dataclass(frozen=True)
class _Kept:
    """What the query found. `told`: its single figures; `days` have the results of each day, from as long before the
    range as it lasts; `months` the other sums of each month of the range; `copies`: None where there are too many."""

    told: list[Any]
    days: list[Day]
    months: list[Day]
    symbols: dict[str, Tally]
    copies: Columns | None


def _read(trader: Trader, start: date, first: date, last: date, now: datetime, zone: tzinfo) -> _Kept:
    between = first_moment(start, zone), first_moment(last + _DAY, zone)
    values = {
        "trader": trader.pk, "start": start, "first": first, "last": last, "begins": between[0], "ends": between[1],
        "opens": first_moment(first, zone), "true_up": true_up_before(now), "most": MOST_COPIES,
    }  # fmt: skip
    with fetch.bytes_cursor() as cursor:
        row = cursor.execute(_RANGE, values, binary=True).fetchone()
        if row is None:
            raise Trader.DoesNotExist("The trader was removed a moment ago.")
        since, *told = row[:_TOLD]
        symbols, sums, cells = row[_TOLD], row[_TOLD + 1 : -fetch.N_CELLS], row[-fetch.N_CELLS :]
        days, months = sums[: len(_DAILY) + 1], sums[len(_DAILY) + 1 :]
        kept = _of_days(*days) if days[0] else []
        copies = None
        if sum(day.n for day in kept) <= MOST_COPIES:
            copies = fetch.made(cursor, {trader.pk: cells}, between)[trader.pk] if cells[1] else _NOTHING
    tallies = {
        symbol: _tally(*counts, Decimal(won), Decimal(lost))
        for symbol, *counts, won, lost in json.loads(symbols or "[]", parse_float=Decimal)
    }
    return _Kept(
        [since and json.loads(since), *told], kept, _of_months(*months) if months[0] else [], tallies, copies
    )


def _tally(n: int, wins: int, losses: int, won: Decimal, lost: Decimal) -> Tally:
    return Tally(n, wins, losses, EXACT.subtract(won, lost), won, lost)


def _of_days(*columns: str) -> list[Day]:
    """Days without what is told of their months."""
    return [
        Day(day, n, wins, losses, net, ZERO, won, lost, ZERO, ZERO, ZERO, 0)
        for day, n, wins, losses, net, won, lost in _read_out(("day", *_DAILY), columns)
    ]


def _of_months(*columns: str) -> list[Day]:
    """The rest of each month's days, as one more day of it."""
    return [
        Day(day, 0, 0, 0, ZERO, gross, ZERO, ZERO, open_fees, margin, close_fees, unestimated)
        for day, gross, open_fees, margin, close_fees, unestimated in _read_out(("day", *_MONTHLY), columns)
    ]


def _read_out(names: Sequence[str], columns: Sequence[str]) -> Iterable[Sequence[Any]]:
    reads = [date.fromisoformat if name == "day" else int if name in WHOLE else Decimal for name in names]
    return zip(
        *(map(read, column.split(",")) for read, column in zip(reads, columns, strict=True)), strict=True
    )


@lru_cache(8192)
def _end(day: date, zone: tzinfo) -> int:
    """The last microsecond of a day."""
    return microseconds_of(first_moment(day + _DAY, zone)) - 1


def _by_day(days: Sequence[Day], zone: tzinfo) -> Columns:
    """A day as one copy that closed with its last microsecond."""
    places = max((max(0, -int(day.net.as_tuple().exponent)) for day in days), default=0)
    ends = [_end(day.day, zone) for day in days]
    nets = [int(day.net.scaleb(places)) for day in days]
    return Columns(ends, ends, nets, [0] * len(days), places)


def _summary(
    trader: Trader,
    copies: Columns,
    figures: Shape,
    own: Sequence[Day],
    every: Sequence[Day],
    before: Decimal,
    recent: Sequence[Any] | None,
    now: datetime,
    zone: tzinfo,
) -> Summary:
    """`own` has each day's results, `every` all sums of these days. `recent`: number and net of what closed since the
    last true-up, where the copies are days."""
    series = series_of(copies, own, zone)
    parts = parts_of(copies, figures, every, [net for _, net in series], now)
    if recent is not None:
        n, net = recent
        parts = replace(
            parts, closed_copies=sum(day.n for day in own), provisional_copies=n, provisional_net=net
        )
    capital, label = capital_of(trader)
    found = from_parts(parts, capital=capital, capital_label=label, now=now, net_before=before, days=series)
    return found if recent is None else _without_copies(found)


# What only single copies can tell.
_NOT_BY_DAY: Mapping[str, Any] = {
    "since": None,
    "until": None,
    "peak_margin": None,
    "roi_on_peak_margin": None,
    "holding": Spread(0, None, None, None),
    "holding_winners": Spread(0, None, None, None),
    "holding_losers": Spread(0, None, None, None),
    "time_in_market": None,
    "longest_win_streak": None,
    "longest_loss_streak": None,
}


def _without_copies(found: Summary) -> Summary:
    reasons = found.reasons | dict.fromkeys(_NOT_BY_DAY, MANY)
    return replace(found, **_NOT_BY_DAY, reasons=reasons)
