"""The results of days as a calendar: a small grid for each month, from Monday to Sunday, and a line for its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby, pairwise
from typing import NamedTuple

from copytrade.statistics.exact import total

CELL = 18
# The field of a day, 15 wide: what a thick line with round joins makes a square with round corners, or a circle.
SQUARE, SQUARE_FROM = "h9v9h-9z", 3
CIRCLE, CIRCLE_FROM = "h0", 7.5
MOST_MONTHS = 12


class Day(NamedTuple):
    """One field of the calendar. `kind`: "gain", "loss", or "none" where nothing closed or it came out even. `level`: 0
    for none, 1 to 3 as the result grows."""

    day: date
    net: Decimal
    x: int
    y: int
    kind: str
    level: int


@dataclass(frozen=True)
class Month:
    """The days of a month that are shown, `net` their sum. `best` and `worst` are None without a gain or a loss."""

    first: date
    days: list[Day]
    net: Decimal
    gains: int
    losses: int
    best: Day | None
    worst: Day | None

    @property
    def shapes(self) -> list[tuple[str, str]]:
        """(class, path) of all days of one kind and level together: a month in a few hundred bytes."""
        fields = sorted(self.days, key=lambda day: (day.kind, day.level))
        return [
            (f"day-{kind} level-{level}", _fields(list(days), kind))
            for (kind, level), days in groupby(fields, key=lambda day: (day.kind, day.level))
        ]


def _fields(days: list[Day], kind: str) -> str:
    """A path of the fields of these days, each told from the one before."""
    shape, edge = (CIRCLE, CIRCLE_FROM) if kind == "loss" else (SQUARE, SQUARE_FROM)
    places = [(day.x, day.y) for day in days]
    moves = [f"m{x - old_x} {y - old_y}" for (old_x, old_y), (x, y) in pairwise(places)]
    first = f"M{places[0][0] + edge} {places[0][1] + edge}"
    return (shape.join([first, *moves]) + shape).replace(" -", "-")


@dataclass(frozen=True)
class Calendar:
    """`months`: oldest first, at most the last 12, as grids. `rows`: every month, newest first, for the table.
    `earlier`: how many months have no grid. `best` and `worst` are of all days."""

    months: list[Month]
    rows: list[Month]
    earlier: int
    best: Day | None
    worst: Day | None


def calendar(daily: Sequence[tuple[date, Decimal]]) -> Calendar | None:
    """The calendar of a daily series. None for an empty one, and where nothing was gained or lost on any day."""
    sizes = sorted(abs(net) for _, net in daily if net)
    if not sizes:
        return None
    scale = sizes[int(len(sizes) * 0.9)]
    steps = scale * Decimal("0.25"), scale * Decimal("0.6")
    months = [
        _month(first, list(days), steps)
        for first, days in groupby(daily, key=lambda row: row[0].replace(day=1))
    ]
    shown = months[-MOST_MONTHS:]
    best, worst = _ends([day for month in months for day in month.days])
    return Calendar(shown, months[::-1], len(months) - len(shown), best, worst)


def _month(first: date, daily: list[tuple[date, Decimal]], steps: tuple[Decimal, Decimal]) -> Month:
    before = first.weekday() - 1  # fields of the first week that belong to the month before, less one
    top = (before + daily[0][0].day) // 7  # the week that is shown first
    days = []
    for day, net in daily:
        week, weekday = divmod(before + day.day, 7)
        days.append(Day(day, net, weekday * CELL, (week - top) * CELL, *_size(net, steps)))
    gains = sum(day.kind == "gain" for day in days)
    losses = sum(day.kind == "loss" for day in days)
    return Month(first, days, total(net for _, net in daily), gains, losses, *_ends(days))


def _ends(days: list[Day]) -> tuple[Day | None, Day | None]:
    best = max(days, key=_net, default=None)
    worst = min(days, key=_net, default=None)
    return best if best and best.kind == "gain" else None, worst if worst and worst.kind == "loss" else None


def _net(day: Day) -> Decimal:
    return day.net


def _size(net: Decimal, steps: tuple[Decimal, Decimal]) -> tuple[str, int]:
    """(kind, level)."""
    if not net:
        return "none", 0
    amount = abs(net)
    return "gain" if net > 0 else "loss", 1 if amount < steps[0] else 2 if amount < steps[1] else 3
