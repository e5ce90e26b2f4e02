"""The results of days as a calendar: a small grid for each month, from Monday to Sunday, and a line for its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

from copytrade.statistics.exact import total

CELL = 18
# The field of a day, 15 wide: what a thick line with round joins makes a square with round corners, or a circle.
SQUARE, SQUARE_FROM = "h9v9h-9z", 3
CIRCLE, CIRCLE_FROM = "h0", 7.5
MOST_MONTHS = 12
# Where the fields of a month stand, week by week; it has six of them at most.
PLACES = [(weekday * CELL, week * CELL) for week in range(6) for weekday in range(7)]
KINDS = (("none", 0), *((kind, level) for kind in ("gain", "loss") for level in (1, 2, 3)))
Steps = tuple[Decimal, Decimal]  # the results from which on a gain is of level 2 and of level 3


class Result(NamedTuple):
    """What a day brought."""

    day: date
    net: Decimal


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
    daily: Sequence[tuple[date, Decimal]]
    net: Decimal
    gains: int
    losses: int
    best: Result | None
    worst: Result | None
    steps: Steps

    @property
    def days(self) -> list[Day]:
        """Each day as its field."""
        return [
            Day(day, net, *PLACES[place], *KINDS[_kind(net, *self.steps)])
            for (day, net), place in zip(self.daily, self._places(), strict=True)
        ]

    @property
    def shapes(self) -> list[tuple[str, str]]:
        """(class, path) of all days of one kind and level together: a month in a few hundred bytes."""
        found: dict[int, list[int]] = {}
        for (_, net), place in zip(self.daily, self._places(), strict=True):
            found.setdefault(_kind(net, *self.steps), []).append(place)
        return [(_CLASSES[kind], _fields(places, KINDS[kind][0])) for kind, places in sorted(found.items())]

    def _places(self) -> range:
        """Those of the days, which follow each other, in PLACES: the week that is shown first is at the top."""
        first = self.daily[0][0]
        begun = (self.first.weekday() + first.day - 1) % 7
        return range(begun, begun + len(self.daily))


_CLASSES = [f"day-{kind} level-{level}" for kind, level in KINDS]


def _kind(net: Decimal, middle: Decimal, high: Decimal) -> int:
    """Of a result, its place in KINDS."""
    if not net:
        return 0
    if net > 0:
        return 1 if net < middle else 2 if net < high else 3
    return 4 if -net < middle else 5 if -net < high else 6


def _fields(places: Sequence[int], kind: str) -> str:
    """A path of the fields at these places, each told from the one before."""
    shape, edge = (CIRCLE, CIRCLE_FROM) if kind == "loss" else (SQUARE, SQUARE_FROM)
    x, y = PLACES[places[0]]
    return shape.join([f"M{x + edge} {y + edge}", *[_move(*pair) for pair in pairwise(places)], ""])


@cache
def _move(one: int, other: int) -> str:
    (old_x, old_y), (x, y) = PLACES[one], PLACES[other]
    return f"m{x - old_x} {y - old_y}".replace(" -", "-")


@dataclass(frozen=True)
class Calendar:
    """`months`: oldest first, at most the last 12, as grids. `rows`: every month, newest first, for the table.
    `earlier`: how many months have no grid. `best` and `worst` are of all days."""

    months: list[Month]
    rows: list[Month]
    earlier: int
    best: Result | None
    worst: Result | None


def calendar(daily: Sequence[tuple[date, Decimal]]) -> Calendar | None:
    """The calendar of a daily series without gaps. None for an empty one, and where nothing was gained or lost on any
    day."""
    sizes = sorted(abs(net) for _, net in daily if net)
    if not sizes:
        return None
    scale = sizes[int(len(sizes) * 0.9)]
    steps = scale * Decimal("0.25"), scale * Decimal("0.6")
    months = [_month(list(days), steps) for _, days in groupby(daily, key=_month_of)]
    shown = months[-MOST_MONTHS:]
    best = max((month.best for month in months if month.best), key=_net, default=None)
    worst = min((month.worst for month in months if month.worst), key=_net, default=None)
    return Calendar(shown, months[::-1], len(months) - len(shown), best, worst)


def _month_of(row: tuple[date, Decimal]) -> tuple[int, int]:
    return row[0].year, row[0].month


def _month(daily: Sequence[tuple[date, Decimal]], steps: Steps) -> Month:
    nets = [net for _, net in daily]
    best, worst = max(nets), min(nets)
    return Month(
        first=daily[0][0].replace(day=1),
        daily=daily,
        net=total(nets),
        gains=sum(net > 0 for net in nets),
        losses=sum(net < 0 for net in nets),
        best=Result(daily[nets.index(best)][0], best) if best > 0 else None,
        worst=Result(daily[nets.index(worst)][0], worst) if worst < 0 else None,
        steps=steps,
    )


def _net(result: Result) -> Decimal:
    return result.net
