"""Figures into shapes: what the charts draw. Numbers become floats here, at the edge of the picture, and nowhere else.

Everything that these shapes tell is also in a table beside them; no number on a page comes from here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal

from copytrade.rollups import thin
from copytrade.rollups.details import Points
from copytrade.statistics.exact import EXACT

from . import plots
from .templatetags.desk import grouped, money_text

Point = tuple[datetime, Decimal, Decimal]
Happening = tuple[datetime, str] | tuple[datetime, str, str]  # when, (its kind,) its label
# How many points a picture has is said where they are chosen, when a summary is made. What comes with more (a line that
# is not kept, or was before there were stills) is thinned here.
MOST_POINTS, STILL_POINTS, STEP_POINTS = thin.CURVE_POINTS, thin.STILL_POINTS, thin.STEP_POINTS

NET, DEPTH = 1, 2  # what of a point is drawn


def thinned(points: Sequence[Point], limit: int = MOST_POINTS, by: int = NET) -> list[Point]:
    """At most about `limit` points that keep every visible peak and trough: of each stretch the highest and lowest."""
    if len(points) <= limit:
        return list(points)
    heights = points.heights(by) if isinstance(points, Points) else [float(point[by]) for point in points]
    last = len(points) - 1
    kept = [0]
    stretch = (last - 1) * 2 / (limit - 2)
    start = 1.0
    while start < last:
        first = int(start)
        part = heights[first : min(int(start + stretch), last)]
        if part:
            kept += sorted({first + part.index(min(part)), first + part.index(max(part))})
        start += stretch
    return [points[place] for place in [*kept, last]]


def window(points: Sequence[Point], since: datetime | None) -> list[Point]:
    """The part of a curve since a time, starting again from nothing: results before it count in neither figure."""
    if since is None:
        return list(points)
    before = next((total for when, total, _ in reversed(points) if when < since), Decimal(0))
    peak, shown = Decimal(0), []
    for when, total, _ in points:
        if when >= since:
            net = total - before
            peak = max(peak, net)
            shown.append((when, net, peak - net))
    return shown


@dataclass(frozen=True)
class TableRow:
    """One line of the table that says what a chart says: the result of a day, and where it left the line."""

    day: date
    net: Decimal
    total: Decimal
    drawdown: Decimal


def rows_of(daily: Sequence[tuple[date, Decimal]], closed_on: Collection[date]) -> list[TableRow]:
    """Every day on which something closed, newest first. What closed may have come out even: a result of 0 does not
    tell."""
    total = peak = Decimal(0)
    rows: list[TableRow] = []
    for day, net in daily:
        if day in closed_on:
            total = EXACT.add(total, net)
            peak = max(peak, total)
            rows.append(TableRow(day, net, total, EXACT.subtract(peak, total)))
    return rows[::-1]


def within(marks: Sequence[Happening], points: Sequence[Point]) -> list[Happening]:
    """What is marked on the line, newest first: what happened between its ends."""
    if len(points) < 2:
        return []
    first, last = points[0][0], points[-1][0]
    return sorted(
        (mark for mark in marks if first <= mark[0] <= last), key=lambda mark: mark[0], reverse=True
    )


def equity_data(points: Sequence[Point], marks: Sequence[Happening], zone: str) -> dict:
    """The JSON that chart.js draws: times in Unix seconds, cumulative net and drawdown (0 or below) in USDT, in cents:
    no finer figure is read off it."""
    shown = thinned(points)
    return {
        "times": [int(when.timestamp()) for when, _, _ in shown],
        "equity": [round(float(total), 2) for _, total, _ in shown],
        "drawdown": [-round(float(abs(depth)), 2) for _, _, depth in shown],
        "marks": [_mark(*mark) for mark in marks],
        "zone": zone,
    }


def _mark(when: datetime, *words: str) -> dict:
    """(when, label), or (when, kind, label)."""
    return {
        "time": int(when.timestamp()),
        "label": words[-1],
        "kind": words[0] if len(words) > 1 else "settings",
    }


@dataclass(frozen=True)
class Still:
    """The equity chart as plain SVG: what is seen before the script runs, and without it."""

    equity: plots.Plot
    drawdown: plots.Plot


def still(points: Sequence[Point], zone: tzinfo = UTC, marks: Sequence[Happening] = ()) -> Still | None:
    """The curve with the drawdown below it; None for fewer than two points."""
    shown = thinned(points, STILL_POINTS)
    equity = plots.line([(when, total) for when, total, _ in shown], zone, marks=marks)
    below = [(when, -depth) for when, _, depth in shown]
    fall = plots.line(below, zone, kind="fall", about=2, tall=plots.FLAT)
    return None if equity is None or fall is None else Still(equity, fall)


def readout(points: Sequence[Point], zone: tzinfo) -> str:
    """The end of the line in words, as chart.js tells the point that is read off. Empty for an empty line."""
    if not points:
        return ""
    when, net, depth = points[-1]
    local, sign = when.astimezone(zone), "+" if round(net, 2) > 0 else ""
    fall = f"{money_text(abs(round(depth, 2)))} below the peak" if round(depth, 2) else "at its peak"
    return f"{local.day} {local:%b %Y, %H:%M}: {sign}{grouped(net, 2)} USDT, {fall}"


def told(net: Decimal, deepest: Decimal, n: int) -> str:
    """The chart in a sentence, for those who do not see it."""
    return (
        f"Line of the cumulative net result over {n} closed copies: it ends at {money_text(net, 'USDT')}, "
        f"and its deepest fall below a peak is {money_text(deepest, 'USDT')}. The table below has the end of each day "
        "on which something closed."
    )


def polyline(values: Sequence[Decimal], width: int = 120, height: int = 28, margin: int = 2) -> str:
    """The points of an SVG polyline through the values, at even distances. Empty for fewer than two."""
    if len(values) < 2:
        return ""
    heights = list(map(float, values))
    low, high = min(heights), max(heights)
    step, drawn = width / (len(values) - 1), height - 2 * margin
    foot, scale = margin + drawn, drawn / ((high - low) or 1.0)
    return " ".join(
        [f"{place * step:.1f},{foot - (at - low) * scale:.1f}" for place, at in enumerate(heights)]
    )


@dataclass(frozen=True)
class Bar:
    """A bar from the middle of a 200 wide track, to the right for gains and to the left for losses."""

    x: int
    width: int
    kind: str


def bars(values: Sequence[Decimal]) -> list[Bar]:
    """One bar a value, all on one scale."""
    largest = float(max((abs(value) for value in values), default=Decimal(0))) or 1.0
    found = []
    for value in values:
        width = round(abs(float(value)) / largest * 100)
        found.append(Bar(100 - width if value < 0 else 100, width, "loss" if value < 0 else "gain"))
    return found


@dataclass(frozen=True)
class Column:
    """A column of a 120 x 28 box, from its foot up."""

    x: float
    y: float
    height: float


def minutes(values: Sequence[int]) -> list[Column]:
    """One column a value, all on one scale; what is nothing has none."""
    largest, step = max(values, default=0) or 1, 120 / (len(values) or 1)
    heights = [round(max(1.0, value / largest * 28), 1) if value else 0.0 for value in values]
    return [
        Column(round(index * step, 1), round(28 - height, 1), height)
        for index, height in enumerate(heights)
        if height
    ]
