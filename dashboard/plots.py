"""Pictures as plain SVG: a line over time, a cloud of dots, with axes at round numbers.

Lines are drawn in a box of 1000 x 1000 that the page stretches; what is written beside them is placed in percent,
so that no letter is stretched. No script takes part, and none is needed to read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from math import floor, log10

from .templatetags.desk import MINUS, THIN

BOX = 1000
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
    """A path of the 1000 x 1000 box. `kind` is its class: line, area, fall, gains, losses."""

    kind: str
    path: str


@dataclass(frozen=True)
class Plot:
    """A picture: its shapes, the grid from the top down, the labels of the axis below, and marks."""

    shapes: list[Shape]
    grid: list[Tick]
    below: list[Tick]
    marks: list[Mark] = field(default_factory=list)


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
    across = [_place((when - first).total_seconds(), 0, length) for when, _ in points]
    up = [BOX - _place(value, low, high) for value in values]
    path, foot = _path(across, up, steps), BOX - _place(0, low, high)
    area = f"M{across[0]} {foot}L{path[1:]}L{across[-1]} {foot}Z"
    return Plot(
        shapes=[Shape(f"{kind}-area", area), Shape(kind, path)],
        grid=_grid(low, high, about, signed=not steps),
        below=time_ticks(first, last, zone),
        marks=[
            Mark(_percent((when - first).total_seconds(), 0, length), what, label)
            for when, what, label in marks
            if first <= when <= last
        ],
    )


def cloud(points: Sequence[tuple[Decimal, Decimal]]) -> Plot | None:
    """Dots of (hours held, net): the time as its logarithm, gains round and losses square. None without points."""
    if not points:
        return None
    times = [log10(max(float(hours), 1 / 3600)) for hours, _ in points]
    values = [float(net) for _, net in points]
    left, right = min(times) - 0.15, max(times) + 0.15
    low, high = _room(min(0.0, *values), max(0.0, *values), 0.1)
    dots: dict[str, list[str]] = {"gains": [], "losses": []}
    for at, value in zip(times, values, strict=True):
        spot = f"M{_place(at, left, right)} {BOX - _place(value, low, high)}h0"
        dots["losses" if value < 0 else "gains"].append(spot)
    below: list[Tick] = []
    for hours, label in HOLDING_TICKS:
        at = _percent(log10(hours), left, right)
        if 0 < at < 100 and (not below or at - below[-1].at >= APART):
            below.append(Tick(at, label))
    return Plot(
        [Shape(kind, "".join(path)) for kind, path in dots.items() if path], _grid(low, high, 4), below
    )


def _grid(low: float, high: float, about: int, signed: bool = True) -> list[Tick]:
    return [
        Tick(round(100 - _percent(value, low, high), 2), amount(value, signed), zero=not value)
        for value in round_ticks(low, high, about)
    ]


def _room(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """The ends of an axis: a little beyond the values, except where those end at 0."""
    span = (high - low) or 1.0
    return low - span * share * (low < 0), high + span * share * (high > 0 or low == high)


def _path(across: Sequence[int], up: Sequence[int], steps: bool) -> str:
    parts = [f"M{across[0]} {up[0]}"]
    for x, y in zip(across[1:], up[1:], strict=True):
        parts.append(f"H{x}V{y}" if steps else f"L{x} {y}")
    return "".join(parts)


def _place(value: float, low: float, high: float) -> int:
    return round((value - low) / (high - low) * BOX)


def _percent(value: float, low: float, high: float) -> float:
    return round((value - low) / (high - low) * 100, 2)
