"""The figures that hang on the order of copies, from columns: the same as statistics says, many times faster.

The database hands over columns in order of closing; everything here is a pass of C code over a column or one
loop. Money is whole numbers of its smallest part (10 ** -places), so that sums are exact: nothing is a float. The
tests hold it against statistics.parts_of.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, compress
from operator import ne, sub

from copytrade.statistics import Spread
from copytrade.statistics.exact import EXACT, ratio
from copytrade.statistics.exposure import spread

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # PostgreSQL's
SPARK_POINTS = 40
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Columns:
    """Closed copies by (close time, trackingNo); times in microseconds since EPOCH, money in 10 ** -places USDT.

    `traits`: the side and the leverage of each (`sides` says what the sides are called), `keys`: our order keys.
    """

    opened: Sequence[int]
    closed: Sequence[int]
    net: Sequence[int]
    margin: Sequence[int]
    places: int = 0
    sides: Sequence[str] = ()
    leverages: Sequence[int] = ()
    keys: Sequence[int] = ()

    def place(self, since: datetime | None) -> int:
        """The first copy that closed at `since` or later."""
        return 0 if since is None else bisect_left(self.closed, microseconds_of(since))

    def part(self, start: int, end: int | None = None) -> Columns:
        """The copies from there on, up to `end`."""
        if not start and end is None:
            return self
        span = slice(start, end)
        return Columns(
            self.opened[span], self.closed[span], self.net[span], self.margin[span], self.places,
            self.sides[span], self.leverages[span], self.keys[span],
        )  # fmt: skip

    def money(self, whole: int) -> Decimal:
        return Decimal(self.text(whole))

    def text(self, whole: int) -> str:
        """A sum in USDT, without zeros at its end."""
        digits, places = str(whole), self.places
        if not places:
            return digits
        if len(digits) <= places + (whole < 0):
            digits = f"{'-' * (whole < 0)}{abs(whole):0{places + 1}d}"
        told = f"{digits[:-places]}.{digits[-places:]}"
        return told if digits[-1] != "0" else told.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Shape:
    """Names that statistics.Parts has too mean the same there.

    For pictures, in the columns' own units: `sums`, the running net; `below`, how far it is under its high point;
    `held`; and the margin in use after each moment of `moments`.
    """

    since: datetime | None
    until: datetime | None
    peak_margin: Decimal
    max_drawdown: Decimal
    falls: tuple[tuple[Decimal, Decimal], ...]
    current_drawdown: Decimal
    last_peak: datetime | None
    holding: Spread
    holding_winners: Spread
    holding_losers: Spread
    time_in_market: Decimal | None
    longest_win_streak: int
    longest_loss_streak: int
    spark: list[Decimal]
    sums: list[int] = field(repr=False)
    below: list[int] = field(repr=False)
    held: list[int] = field(repr=False)
    moments: list[int] = field(repr=False)
    in_use: list[int] = field(repr=False)


def shape(copies: Columns) -> Shape:
    """Everything that hangs on the order of these copies."""
    money = copies.money
    sums = list(accumulate(copies.net))
    held = list(map(sub, copies.closed, copies.opened))
    wins, losses = [net > 0 for net in copies.net], [net < 0 for net in copies.net]
    since = min(copies.opened, default=None)
    below, peak_at, falls = _falls(sums)
    moments, in_use, covered = _exposure(copies, held)
    length = copies.closed[-1] - since if since is not None else 0
    last_peak = since if peak_at is None else copies.closed[peak_at]
    return Shape(
        since=_maybe(since),
        until=_maybe(copies.closed[-1] if sums else None),
        peak_margin=money(max(in_use, default=0)),
        max_drawdown=money(max((fall for _, fall in falls), default=0)),
        falls=tuple(outer([(money(peak), money(fall)) for peak, fall in falls])),
        current_drawdown=money(below[-1] if below else 0),
        last_peak=_maybe(last_peak),
        holding=spread(held),
        holding_winners=spread(compress(held, wins)),
        holding_losers=spread(compress(held, losses)),
        time_in_market=ratio(covered, length) if length > 0 else None,
        longest_win_streak=_longest_run(wins),
        longest_loss_streak=_longest_run(losses),
        spark=[money(point) for point in spark(sums)],
        sums=sums,
        below=below,
        held=held,
        moments=moments,
        in_use=in_use,
    )


def deepest_fall(copies: Columns) -> Decimal:
    """The max drawdown alone."""
    sums = list(accumulate(copies.net))
    peaks = accumulate(sums, max, initial=0)
    next(peaks)
    return copies.money(max(map(sub, peaks, sums), default=0))


def outer(falls: Sequence[tuple[Decimal, Decimal]]) -> list[tuple[Decimal, Decimal]]:
    """Of (high point, deepest fall below it), high points rising: those that are the deepest in percent for
    some capital. The others lie under the upper left hull and never are."""
    kept: list[tuple[Decimal, Decimal]] = []
    for point in falls:
        if kept and point[1] <= kept[-1][1]:
            continue
        while len(kept) > 1 and not _turns_right(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def spark(sums: Sequence[int], points: int = SPARK_POINTS) -> list[int]:
    """The running total from 0 at evenly chosen copies; the last one is always among them."""
    if len(sums) < points:
        return [0, *sums]
    places = (round(place * len(sums) / (points - 1)) for place in range(points))
    return [sums[place - 1] if place else 0 for place in places]


def _falls(sums: Sequence[int]) -> tuple[list[int], int | None, list[tuple[int, int]]]:
    """How far below its high point it is at each copy, the last copy at it, and each new deepest fall with its
    high point."""
    peaks = list(accumulate(sums, max, initial=0))[1:]
    below = list(map(sub, peaks, sums))
    deepest = [0, *accumulate(below, max)]
    found: dict[int, int] = {}
    for place in compress(range(len(sums)), map(ne, deepest, deepest[1:])):
        found[peaks[place]] = below[place]
    at = next((place for place in range(len(below) - 1, -1, -1) if not below[place]), None)
    return below, at, list(found.items())


def _exposure(copies: Columns, held: Sequence[int]) -> tuple[list[int], list[int], int]:
    """(moments at which a copy opened or closed, the margin in use after each, microseconds with at least one copy
    open). See statistics.exposure, which says why a copy that closed in the moment it opened was never open."""
    opened, closed, margin = copies.opened, copies.closed, copies.margin
    if held and min(held) <= 0:
        timely = [span > 0 for span in held]
        opened, closed = list(compress(opened, timely)), list(compress(closed, timely))
        margin = list(compress(margin, timely))
    if not opened:
        return [], [], 0
    order = sorted(range(len(opened)), key=opened.__getitem__)
    starts = [opened[place] for place in order]
    reached = list(accumulate((closed[place] for place in order), max))
    idle = sum(start - end for start, end in zip(starts[1:], reached, strict=False) if start > end)
    moments, in_use = _levels(starts, map(margin.__getitem__, order), closed, margin)
    return moments, in_use, reached[-1] - starts[0] - idle


def _levels(
    starts: Sequence[int], added: Iterable[int], ends: Sequence[int], taken: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The margin in use after each moment, both lists of moments in order. One pass: the last end is later than
    every start, so there is always a next one."""
    moments: list[int] = []
    levels: list[int] = []
    level = place = 0
    end = ends[0]
    for start, more in zip(starts, added, strict=True):
        while end < start:
            level -= taken[place]
            moments.append(end)
            levels.append(level)
            place += 1
            end = ends[place]
        level += more
        moments.append(start)
        levels.append(level)
    moments += ends[place:]
    levels += [level - gone for gone in accumulate(taken[place:])]
    last = [*map(ne, moments, moments[1:]), True]
    return list(compress(moments, last)), list(compress(levels, last))


def _longest_run(marks: Sequence[bool]) -> int:
    """The most true ones in a row."""
    return max(map(len, bytes(marks).split(b"\0")), default=0)


def _turns_right(a: tuple[Decimal, Decimal], b: tuple[Decimal, Decimal], c: tuple[Decimal, Decimal]) -> bool:
    """Whether the way a, b, c bends down at b, so that b stands out."""
    first = EXACT.multiply(EXACT.subtract(b[0], a[0]), EXACT.subtract(c[1], b[1]))
    second = EXACT.multiply(EXACT.subtract(b[1], a[1]), EXACT.subtract(c[0], b[0]))
    return first < second


def _maybe(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else moment(microseconds)


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds_of(at: datetime) -> int:
    return (at - EPOCH) // _MICROSECOND
