"""Several traders on the same axes and in one table: what the comparison page draws and lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any

from copytrade.reports import Compared, Comparison
from copytrade.statistics import MINIMUM_COPIES
from copytrade.statistics.exact import ratio, total

from .charts import DEPTH, thinned
from .plots import BOX, MID, TALL, Plot, Shape, Tick, amount, round_ticks, stepped, time_ticks
from .templatetags.desk import THIN

MOST_POINTS, FEW_POINTS = 120, 80  # of the large picture, and of the smaller ones
# Name in Summary, label, how it is shown, which end is better ("" neither), and what has to hold for calling it so:
# "base" the same base for all, "enough" no trader with few copies.
FIGURES: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("net_profit", "Net result, USDT", "signed", "high", ()),
    ("roi_on_capital", "ROI", "signed_percent", "high", ("base",)),
    ("closed_copies", "Closed copies", "number", "", ()),
    ("win_rate", "Win rate", "percent", "high", ("enough",)),
    ("profit_factor", "Profit factor", "ratio", "high", ("enough",)),
    ("payoff", "Payoff", "ratio", "high", ("enough",)),
    ("expectancy", "Expectancy, USDT a copy", "signed", "high", ("enough",)),
    ("max_drawdown", "Deepest drawdown, USDT", "money", "low", ()),
    ("max_drawdown_percent", "Deepest drawdown, of the money there", "percent", "low", ("base",)),
    ("current_drawdown", "Drawdown now, USDT", "money", "low", ()),
    ("recovery", "Recovery", "ratio", "high", ("enough",)),
    ("sharpe", "Sharpe", "ratio", "high", ("base",)),
    ("sortino", "Sortino", "ratio", "high", ("base",)),
    ("best_day", "Best day, USDT", "signed", "", ()),
    ("worst_day", "Worst day, USDT", "signed", "high", ()),
    ("longest_loss_streak", "Most losses in a row", "number", "low", ("enough",)),
    ("peak_margin", "Highest margin at once, USDT", "money", "", ()),
    ("time_in_market", "Time in market", "percent", "", ()),
)


@dataclass(frozen=True)
class Cell:
    """A figure of one trader; `reason` where there is none. `best`: better than that of all others."""

    value: Any
    reason: str
    best: bool


@dataclass(frozen=True)
class Line:
    """A figure: its name in DEFINITIONS, its label, how it is shown, and a cell a trader."""

    name: str
    label: str
    shown: str
    cells: list[Cell]


def lines(found: Sequence[Compared]) -> list[Line]:
    """The table of figures."""
    holds = {
        "base": len({one.summary.capital_label for one in found}) == 1,
        "enough": all(one.summary.closed_copies >= MINIMUM_COPIES for one in found),
    }
    made = []
    for name, label, shown, better, needs in FIGURES:
        values = [getattr(one.summary, name) for one in found]
        best = _best(values, better) if all(holds[need] for need in needs) else None
        reasons = [one.summary.reasons.get(name, "") for one in found]
        cells = [
            Cell(value, reason, place == best)
            for place, (value, reason) in enumerate(zip(values, reasons, strict=True))
        ]
        made.append(Line(name, label, shown, cells))
    return made


def _best(values: Sequence[Any], better: str) -> int | None:
    """The place of the best value; None where fewer than two are known, or two share it."""
    known = [value for value in values if value is not None]
    if not better or len(known) < 2:
        return None
    best = max(known) if better == "high" else min(known)
    return values.index(best) if known.count(best) == 1 else None


def net_plot(comparison: Comparison, zone: tzinfo) -> Plot | None:
    """The running net results in USDT."""
    curves = [[(at, net) for at, net, _ in thinned(one.curve, MOST_POINTS)] for one in comparison.traders]
    return _plot(comparison, zone, curves)


def relative_plot(comparison: Comparison, zone: tzinfo) -> Plot | None:
    """The same as percentages of each one's capital; None where somebody has none."""
    if any(not one.summary.capital or one.summary.capital < 0 for one in comparison.traders):
        return None
    curves = [
        [(at, ratio(net * 100, one.summary.capital)) for at, net, _ in thinned(one.curve, FEW_POINTS)]
        for one in comparison.traders
    ]
    return _plot(comparison, zone, curves, f"{THIN}%", MID)


def drawdown_plot(comparison: Comparison, zone: tzinfo) -> Plot | None:
    """How far each was below its highest point before, in USDT."""
    curves = [
        [(at, -abs(depth)) for at, _, depth in thinned(one.curve, FEW_POINTS, by=DEPTH)]
        for one in comparison.traders
    ]
    return _plot(comparison, zone, curves, tall=MID)


def _plot(
    comparison: Comparison,
    zone: tzinfo,
    curves: Sequence[Sequence[tuple[datetime, Decimal]]],
    unit: str = "",
    tall: int = TALL,
) -> Plot | None:
    """One line a trader, each from 0 at the beginning; what was reached holds until the next close."""
    start, end = comparison.start, comparison.end
    length = (end - start).total_seconds()
    if length <= 0 or not any(curves):
        return None
    shown = [[(at, float(value)) for at, value in curve] for curve in curves]
    values = [0.0, *(value for curve in shown for _, value in curve)]
    spare = (max(values) - min(values) or 1.0) * 0.06
    low, high = min(values) - spare * (min(values) < 0), max(values) + spare * (max(values) > 0)
    high = high if high > low else low + 1
    shapes = [
        Shape(f"trader-{place}", _path(curve, start, length, low, high, tall))
        for place, curve in enumerate(shown, 1)
    ]
    grid = [
        Tick(
            round((high - value) / (high - low) * 100, 2),
            f"{amount(value)}{' %' if unit and value else ''}",
            not value,
        )
        for value in round_ticks(low, high)
    ]
    return Plot(shapes, grid, time_ticks(start, end, zone), tall=tall)


def _path(
    curve: Sequence[tuple[datetime, float]],
    start: datetime,
    length: float,
    low: float,
    high: float,
    tall: int,
) -> str:
    def up(value: float) -> int:
        return round((high - value) / (high - low) * tall)

    places = [round((at - start).total_seconds() / length * BOX) for at, _ in curve]
    across = [0, *(min(max(place, 0), BOX) for place in places), BOX]
    heights = [up(0), *(up(value) for _, value in curve)]
    return f"M0 {up(0)}{stepped(across, [*heights, heights[-1]])}"


@dataclass(frozen=True)
class Reached:
    """Where a trader stands at the end of a day: `net` in it, `so_far` since the beginning, `share` of the capital
    (None without one), and how far `below` the highest end of a day before."""

    net: Decimal
    so_far: Decimal
    share: Decimal | None
    below: Decimal


@dataclass(frozen=True)
class TableRow:
    """A day of the charts' table, for each one; None before his first result."""

    day: date
    cells: list[Reached | None]


def rows_of(found: Sequence[Compared]) -> list[TableRow]:
    """Every day on which one of them closed a copy, newest first: where that day left each."""
    results = [dict(one.daily) for one in found]
    reached: list[Reached | None] = [None] * len(found)
    peaks = [Decimal(0)] * len(found)
    rows = []
    for day in sorted(
        {day for one, own in zip(found, results, strict=True) for day in one.closed_on if day in own}
    ):
        for place, own in enumerate(results):
            if day not in own:
                continue
            before = reached[place]
            so_far = total([before.so_far if before else Decimal(0), own[day]])
            peaks[place] = max(peaks[place], so_far)
            capital = found[place].summary.capital
            share = ratio(so_far, capital) if capital and capital > 0 else None
            reached[place] = Reached(own[day], so_far, share, total([peaks[place], -so_far]))
        rows.append(TableRow(day, list(reached)))
    return rows[::-1]


def told(found: Sequence[Compared]) -> str:
    """The lines in a sentence, for those who do not see them."""
    ends = [f"{one.trader} ends at {amount(float(round(one.summary.net_profit, 2)))} USDT" for one in found]
    return (
        f"One line a trader, the running net result: {', '.join(ends)}. The table below has the end of each day on "
        "which one of them closed a copy."
    )
