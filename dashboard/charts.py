"""Figures into shapes: what the charts draw. Numbers become floats here, at the edge of the picture, and nowhere else.

Everything that these shapes tell is also in a table beside them; no number on a page comes from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from .templatetags.desk import money_text

Point = tuple[datetime, Decimal, Decimal]
MOST_POINTS = 800
MOST_WEEKS = 53


def thinned(points: Sequence[Point], limit: int = MOST_POINTS) -> list[Point]:
    """At most about `limit` points that keep every visible peak and trough: of each stretch the highest and lowest."""
    if len(points) <= limit:
        return list(points)
    kept: list[Point] = [points[0]]
    stretch = (len(points) - 2) * 2 / (limit - 2)
    start = 1.0
    while start < len(points) - 1:
        part = points[int(start) : min(int(start + stretch), len(points) - 1)]
        if part:
            ends = {id(p): p for p in (min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1]))}
            kept += sorted(ends.values(), key=lambda p: p[0])
        start += stretch
    return [*kept, points[-1]]


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
    """One line of the table that says what a chart says. `last` is the day itself, or the last of its week."""

    first: date
    last: date
    net: Decimal
    total: Decimal
    drawdown: Decimal


MOST_TABLE_DAYS = 92


def rows_of(daily: Sequence[tuple[date, Decimal]]) -> list[TableRow]:
    """The daily results, newest first; by week where there are more than three months of them."""
    total = peak = Decimal(0)
    rows: list[TableRow] = []
    for day, net in daily:
        total += net
        peak = max(peak, total)
        joined = (
            rows
            and len(daily) > MOST_TABLE_DAYS
            and rows[-1].first.isocalendar()[:2] == day.isocalendar()[:2]
        )
        before = rows.pop() if joined else TableRow(day, day, Decimal(0), total, Decimal(0))
        rows.append(TableRow(before.first, day, before.net + net, total, peak - total))
    return rows[::-1]


def equity_data(points: Sequence[Point], marks: Sequence[tuple[datetime, str]], zone: str) -> dict:
    """The JSON that chart.js draws: times in Unix seconds, cumulative net and drawdown (0 or below) in USDT."""
    shown = thinned(points)
    return {
        "times": [int(when.timestamp()) for when, _, _ in shown],
        "equity": [round(float(total), 4) for _, total, _ in shown],
        "drawdown": [-round(float(abs(depth)), 4) for _, _, depth in shown],
        "marks": [{"time": int(when.timestamp()), "label": label} for when, label in marks],
        "zone": zone,
    }


def still(points: Sequence[Point]) -> str:
    """The curve as an SVG polyline of a 600 x 200 box: what is seen before the script runs, and without it."""
    return polyline([total for _, total, _ in thinned(points, 150)], 600, 200, 4)


def told(net: Decimal, deepest: Decimal, n: int) -> str:
    """The chart in a sentence, for those who do not see it."""
    return (
        f"Line of the cumulative net result over {n} closed copies: it ends at {money_text(net, 'USDT')}, "
        f"and its deepest fall below a peak is {money_text(deepest, 'USDT')}. The table below has the same figures."
    )


def polyline(values: Sequence[Decimal], width: int = 120, height: int = 28, margin: int = 2) -> str:
    """The points of an SVG polyline through the values, at even distances. Empty for fewer than two."""
    if len(values) < 2:
        return ""
    low, high = float(min(values)), float(max(values))
    span = (high - low) or 1.0
    step = width / (len(values) - 1)
    drawn = height - 2 * margin
    return " ".join(
        f"{index * step:.1f},{margin + drawn - (float(value) - low) / span * drawn:.1f}"
        for index, value in enumerate(values)
    )


@dataclass(frozen=True)
class Day:
    """One square of the calendar. `level` 0 is nothing closed or break-even; 1 to 3 grow with the result."""

    day: date
    net: Decimal
    x: int
    y: int
    level: int

    @property
    def kind(self) -> str:
        return "none" if self.net == 0 else "gain" if self.net > 0 else "loss"


@dataclass(frozen=True)
class Calendar:
    """Weeks as columns from Monday down, newest at the right; `months` label the columns where one begins."""

    days: list[Day]
    months: list[tuple[int, str]]
    width: int
    height: int
    best: Day | None
    worst: Day | None


CELL = 18


def calendar(daily: Sequence[tuple[date, Decimal]]) -> Calendar | None:
    """The result calendar of a daily series, at most a year of it. None for an empty series."""
    if not daily:
        return None
    last = daily[-1][0]
    first = max(daily[0][0], last - timedelta(weeks=MOST_WEEKS - 1, days=last.weekday()))
    shown = [(day, net) for day, net in daily if day >= first]
    monday = first - timedelta(days=first.weekday())
    largest = sorted(abs(net) for _, net in shown if net)
    scale = largest[int(len(largest) * 0.9)] if largest else Decimal(1)
    days = [
        Day(day, net, (day - monday).days // 7 * CELL, day.weekday() * CELL, _level(net, scale))
        for day, net in shown
    ]
    closed = [day for day in days if day.net]
    best = max(closed, key=lambda day: day.net, default=None)
    worst = min(closed, key=lambda day: day.net, default=None)
    return Calendar(days, _months(days), days[-1].x + CELL, 7 * CELL, best, worst)


def _level(net: Decimal, scale: Decimal) -> int:
    if not net:
        return 0
    share = abs(net) / scale
    return 1 if share < Decimal("0.25") else 2 if share < Decimal("0.6") else 3


def _months(days: Sequence[Day]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for day in days:
        if day.day.day <= 7 and (not found or day.x - found[-1][0] >= 2 * CELL):
            label = day.day.strftime("%b")
            if not found or found[-1][1] != label:
                found.append((day.x, label))
    return found


@dataclass(frozen=True)
class Bar:
    """A bar from the middle of a 200 wide track, to the right for gains and to the left for losses."""

    x: float
    width: float
    kind: str


def bars(values: Sequence[Decimal]) -> list[Bar]:
    """One bar a value, all on one scale."""
    largest = float(max((abs(value) for value in values), default=Decimal(0))) or 1.0
    found = []
    for value in values:
        width = round(abs(float(value)) / largest * 100, 1)
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
