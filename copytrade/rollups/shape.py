"""The figures that hang on the order of copies, from columns: the same as statistics says, many times faster.

The database hands over four columns in order of closing; everything here is a pass of C code over a column
or one loop. Sums are exact: nothing is a float. The tests hold it against statistics.parts_of.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, compress
from operator import sub
from sys import byteorder

from copytrade.statistics import Spread
from copytrade.statistics.exact import EXACT, ZERO, ratio
from copytrade.statistics.exposure import spread

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # PostgreSQL's
SPARK_POINTS = 40
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Columns:
    """Closed copies by (close time, trackingNo); times in microseconds since EPOCH."""

    opened: Sequence[int]
    closed: Sequence[int]
    net: Sequence[Decimal]
    margin: Sequence[Decimal]

    def place(self, since: datetime | None) -> int:
        """The first copy that closed at `since` or later."""
        return 0 if since is None else bisect_left(self.closed, (since - EPOCH) // _MICROSECOND)

    def tail(self, start: int) -> Columns:
        """The copies from there on."""
        if not start:
            return self
        return Columns(self.opened[start:], self.closed[start:], self.net[start:], self.margin[start:])


@dataclass(frozen=True)
class Shape:
    """Names that statistics.Parts has too mean the same there."""

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


def columns(opened: bytes, closed: bytes, net: str, margin: str) -> Columns:
    """Columns as the database strings them: times of 8 bytes, the highest first; numbers apart by commas."""
    return Columns(_moments(opened), _moments(closed), _numbers(net), _numbers(margin))


def shape(copies: Columns) -> Shape:
    """Everything that hangs on the order of these copies."""
    sums = list(accumulate(copies.net, EXACT.add))
    held = list(map(sub, copies.closed, copies.opened))
    wins, losses = [net > 0 for net in copies.net], [net < 0 for net in copies.net]
    since = min(copies.opened, default=None)
    current, peak_at, falls = _falls(sums)
    peak_margin, covered = _exposure(copies, held)
    length = copies.closed[-1] - since if since is not None else 0
    last_peak = since if peak_at is None else copies.closed[peak_at]
    return Shape(
        since=_maybe(since),
        until=_maybe(copies.closed[-1] if sums else None),
        peak_margin=peak_margin,
        max_drawdown=max((fall for _, fall in falls), default=ZERO),
        falls=tuple(outer(falls)),
        current_drawdown=current,
        last_peak=_maybe(last_peak),
        holding=spread(held),
        holding_winners=spread(compress(held, wins)),
        holding_losers=spread(compress(held, losses)),
        time_in_market=ratio(covered, length) if length > 0 else None,
        longest_win_streak=_longest_run(wins),
        longest_loss_streak=_longest_run(losses),
        spark=spark(sums),
    )


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


def spark(sums: Sequence[Decimal], points: int = SPARK_POINTS) -> list[Decimal]:
    """The running total from 0 at evenly chosen copies; the last one is always among them."""
    if len(sums) < points:
        return [ZERO, *sums]
    places = (round(place * len(sums) / (points - 1)) for place in range(points))
    return [sums[place - 1] if place else ZERO for place in places]


def _falls(sums: Sequence[Decimal]) -> tuple[Decimal, int | None, list[tuple[Decimal, Decimal]]]:
    """How far below the high point now, the last copy at it, and each new deepest fall with its high point."""
    peaks = list(accumulate(sums, max, initial=ZERO))[1:]
    below = list(map(EXACT.subtract, peaks, sums))
    deepest: list[Decimal] = list(accumulate(below, max))
    found: dict[Decimal, Decimal] = {}
    last = ZERO
    for place, fall in enumerate(deepest):
        if fall is not last:
            last = fall
            if fall:
                found[peaks[place]] = fall
    at = next((place for place in range(len(below) - 1, -1, -1) if not below[place]), None)
    return (below[-1] if below else ZERO), at, list(found.items())


def _exposure(copies: Columns, held: Sequence[int]) -> tuple[Decimal, int]:
    """(peak margin, microseconds with at least one copy open). See statistics.exposure, which says why a
    copy that closed in the moment it opened was never open."""
    opened, closed, margin = copies.opened, copies.closed, copies.margin
    if held and min(held) <= 0:
        timely = [span > 0 for span in held]
        opened, closed = list(compress(opened, timely)), list(compress(closed, timely))
        margin = list(compress(margin, timely))
    at_work = peak = ZERO
    gone, covered, until = 0, 0, -(2**63)
    add, subtract = EXACT.add, EXACT.subtract
    for place in sorted(range(len(opened)), key=opened.__getitem__):
        start, end = opened[place], closed[place]
        while closed[gone] <= start:
            at_work = subtract(at_work, margin[gone])
            gone += 1
        at_work = add(at_work, margin[place])
        if at_work > peak:
            peak = at_work
        if end > until:
            covered += end - (start if start > until else until)
            until = end
    return peak, covered


def _longest_run(marks: Sequence[bool]) -> int:
    """The most true ones in a row."""
    return max(map(len, bytes(marks).split(b"\0")), default=0)


def _turns_right(a: tuple[Decimal, Decimal], b: tuple[Decimal, Decimal], c: tuple[Decimal, Decimal]) -> bool:
    """Whether the way a, b, c bends down at b, so that b stands out."""
    first = EXACT.multiply(EXACT.subtract(b[0], a[0]), EXACT.subtract(c[1], b[1]))
    second = EXACT.multiply(EXACT.subtract(b[1], a[1]), EXACT.subtract(c[0], b[0]))
    return first < second


def _moments(raw: bytes) -> list[int]:
    found = array("q")
    found.frombytes(raw)
    if byteorder == "little":
        found.byteswap()
    return found.tolist()


def _numbers(text: str) -> list[Decimal]:
    return list(map(Decimal, text.split(","))) if text else []


def _maybe(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else moment(microseconds)


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)
