"""Pictures as plain SVG: a line over time, a cloud of dots, with axes at round numbers.

Lines are drawn in a box 1000 wide that the page stretches, and no finer than can be seen; what is written beside them
is placed in percent, so that no letter is stretched. No script takes part, and none is needed to read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from math import floor, log10
from operator import sub

from .templatetags.desk import MINUS, THIN

BOX = 1000
# How many steps high a picture is: a page is sent anew at each view, and digits that nobody sees weigh most in it.
TALL, MID, FLAT = 600, 300, 100
APART = 12  # percent between two labels
DAY = 86_400.0
# Distances between ticks of an axis of time, in days, up to weeks; from there on months.
STEPS = (1 / 24, 1 / 8, 1 / 4, 1 / 2, 1, 2, 7, 14)
MONTHS = (1, 2, 3, 6, 12, 24, 60)
HOLDING_TICKS = (
    (1 / 60, "1 min"),
    (5 / 60, "5 min"),
    (15 / 60, "15 min"),
    (1.0, "1 h"),
    (4.0, "4 h"),
    (24.0, "1 day"),
    (72.0, "3 days"),
    (168.0, "7 days"),
    (720.0, "30 days"),
    (2160.0, "90 days"),
)


@dataclass(frozen=True)
class Tick:
    """A line of the grid and its label; `at` in percent from the left or from the top."""

    at: float
    label: str
    zero: bool = False


@dataclass(frozen=True)
class Mark:
    """Something that happened, on an axis of time: `kind` is "settings" or "note"."""

    at: float
    kind: str
    label: str


@dataclass(frozen=True)
class Shape:
    """A path of the plot's box. `kind` is its class: line, area, fall, gains, losses."""

    kind: str
    path: str


@dataclass(frozen=True)
class Plot:
    """A picture: its shapes in a box of 1000 x `tall`, the grid from the top down, the labels of the axis below, and
    marks."""

    shapes: list[Shape]
    grid: list[Tick]
    below: list[Tick]
    marks: list[Mark] = field(default_factory=list)
    tall: int = TALL


def round_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from `low` to `high`, about so many: multiples of 1, 2, 2.5 or 5 with zeros behind."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first = -floor(-low / step + 1e-9)
    return [round(step * place, 10) for place in range(first, floor(high / step + 1e-9) + 1)]


def amount(value: float, signed: bool = True) -> str:
    """A tick's number, with its sign where it is a result: +1 500, 0, -2.5."""
    if not value:
        return "0"
    text = f"{abs(value):,.10f}".rstrip("0").rstrip(".").replace(",", THIN)
    plus = "+" if signed else ""
    return (plus if value > 0 else MINUS) + text


def time_ticks(first: datetime, last: datetime, zone: tzinfo, most: int = 6) -> list[Tick]:
    """Ticks at the beginnings of hours, days, Mondays, months or years, at most so many."""
    start, end = first.astimezone(zone), last.astimezone(zone)
    span = (last - first).total_seconds()
    if span <= 0:
        return []
    days = span / DAY
    step = next((step for step in STEPS if days / step <= most), None)
    moments, form = (_by_month(start, end, most) if step is None else _by_step(start, end, step)), "%b"
    if step is not None:
        form = "%H:%M" if step < 1 else "%-d %b"
    return [Tick(_percent((at - first).total_seconds(), 0, span), _label(at, form)) for at in moments]


def _label(at: datetime, form: str) -> str:
    return f"{at:%Y}" if form == "%b" and at.month == 1 else f"{at:{form}}"


def _by_step(start: datetime, end: datetime, step: float) -> Iterator[datetime]:
    """Each step of hours or days. Counted on the zone's clock, so that a day stays a day when the clock changes."""
    at = datetime(start.year, start.month, start.day, tzinfo=start.tzinfo)
    if step >= 7:
        at -= timedelta(days=at.weekday())
    while at <= end:
        if at >= start:
            yield at
        at += timedelta(days=step)


def _by_month(start: datetime, end: datetime, most: int) -> Iterator[datetime]:
    months = (end.year - start.year) * 12 + end.month - start.month + 1
    step = next((step for step in MONTHS if months / step <= most), MONTHS[-1])
    for number in range(start.year * 12, end.year * 12 + end.month, step):
        at = datetime(number // 12, number % 12 + 1, 1, tzinfo=start.tzinfo)
        if start <= at <= end:
            yield at


def line(
    points: Sequence[tuple[datetime, Decimal]],
    zone: tzinfo = UTC,
    *,
    marks: Iterable[tuple[datetime, str, str]] = (),
    span: tuple[datetime, datetime] | None = None,
    steps: bool = False,
    kind: str = "line",
    about: int = 4,
    tall: int = TALL,
) -> Plot | None:
    """A line over time with its area down (or up) to 0, which is always in the picture. None for fewer than two points.

    `steps`: the value holds until the next point, and is no result: it has no sign. `span`: the time that is shown;
    that of the points without it.
    `marks`: (when, kind, label); those outside of the time are left out.
    """
    if len(points) < 2:
        return None
    first, last = span or (points[0][0], points[-1][0])
    length = max((last - first).total_seconds(), 1.0)
    values = [float(value) for _, value in points]
    low, high = _room(min(0.0, *values), max(0.0, *values))
    across = _places([(when - first).total_seconds() for when, _ in points], 0, length)
    *up, foot = [tall - place for place in _places([*values, 0], low, high, tall)]
    way = stepped(across, up) if steps else joined(across, up)
    path = f"M{across[0]} {up[0]}{way}"
    area = f"M{across[0]} {foot}V{up[0]}{way}V{foot}z"
    return Plot(
        shapes=[Shape(f"{kind}-area", area), Shape(kind, path)],
        grid=_grid(low, high, about, signed=not steps),
        below=time_ticks(first, last, zone),
        marks=[
            Mark(_percent((when - first).total_seconds(), 0, length), what, label)
            for when, what, label in marks
            if first <= when <= last
        ],
        tall=tall,
    )


def cloud(points: Sequence[tuple[Decimal, Decimal]]) -> Plot | None:
    """Dots of (hours held, net): the time as its logarithm, gains round and losses square. None without points."""
    if not points:
        return None
    times = [log10(max(float(hours), 1 / 3600)) for hours, _ in points]
    values = [float(net) for _, net in points]
    left, right = min(times) - 0.15, max(times) + 0.15
    low, high = _room(min(0.0, *values), max(0.0, *values), 0.1)
    spots = list(zip(_places(times, left, right), _places(values, low, high, MID), strict=True))
    gains = [(x, MID - y) for (x, y), value in zip(spots, values, strict=True) if value >= 0]
    losses = [(x, MID - y) for (x, y), value in zip(spots, values, strict=True) if value < 0]
    below: list[Tick] = []
    for hours, label in HOLDING_TICKS:
        at = _percent(log10(hours), left, right)
        if 0 < at < 100 and (not below or at - below[-1].at >= APART):
            below.append(Tick(at, label))
    shapes = [Shape(kind, _spots(found)) for kind, found in (("gains", gains), ("losses", losses)) if found]
    return Plot(shapes, _grid(low, high, 4), below, tall=MID)


def _grid(low: float, high: float, about: int, signed: bool = True) -> list[Tick]:
    return [
        Tick(round(100 - _percent(value, low, high), 2), amount(value, signed), zero=not value)
        for value in round_ticks(low, high, about)
    ]


def _room(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """The ends of an axis: a little beyond the values, except where those end at 0."""
    span = (high - low) or 1.0
    return low - span * share * (low < 0), high + span * share * (high > 0 or low == high)


def joined(across: Sequence[int], up: Sequence[int]) -> str:
    """Straight lines from the first point on, each told from the one before: what is near takes few digits."""
    moves: list[tuple[int, int]] = []
    level = 0  # how far the last move goes, where it is along a level line
    for right, down in _moves(across, up):
        if down:
            moves.append((right, down))
            level = 0
        elif right * level > 0:
            level += right  # on along the same level line
            moves[-1] = level, 0
        elif right:
            moves.append((right, 0))
            level = right
    return "l" + _pairs(moves) if moves else "h0"


def stepped(across: Sequence[int], up: Sequence[int]) -> str:
    """The same for a value that holds until the next one."""
    parts, ran = [], 0
    for right, down in _moves(across, up):
        ran += right
        if down:
            parts.append(f"h{ran}v{down}" if ran else f"v{down}")
            ran = 0
    return "".join(parts) + f"h{ran}"


def _moves(across: Sequence[int], up: Sequence[int]) -> Iterator[tuple[int, int]]:
    """From each place to the next: how far to the right, and how far down."""
    return zip(map(sub, across[1:], across), map(sub, up[1:], up), strict=True)


def _spots(spots: Iterable[tuple[int, int]]) -> str:
    """A dot at each place, from the left to the right, each told from the one before."""
    across, up = zip((0, 0), *sorted(spots), strict=True)
    return "".join([f"m{x} {y}h0" for x, y in _moves(across, up)]).replace(" -", "-")


def _pairs(moves: Iterable[tuple[int, int]]) -> str:
    """Numbers of a path, with a space only where a minus does not part them."""
    return "".join([f" {x} {y}" for x, y in moves]).replace(" -", "-").strip()


def _places(values: Sequence[float], low: float, high: float, box: int = BOX) -> list[int]:
    """Where each value stands in a box that goes from `low` to `high`."""
    length = high - low
    return [round((value - low) / length * box) for value in values]


def _percent(value: float, low: float, high: float) -> float:
    return round((value - low) / (high - low) * 100, 2)
