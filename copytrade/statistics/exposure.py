"""How much money was at work, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from .exact import EXACT, HOUR, ZERO, microseconds, percentile, ratio
from .types import Copy, Spread

_OPEN, _CLOSE = attrgetter("open_time"), attrgetter("close_time")


def peak_margin(copies: Iterable[Copy]) -> Decimal:
    """The highest sum of margins open at the same moment. A close at a moment counts before an open at it,
    so a copy that closed in the millisecond it opened was never open."""
    timely = [copy for copy in copies if copy.open_time < copy.close_time]
    closes = sorted(timely, key=_CLOSE)
    held = peak = ZERO
    closed = 0
    for copy in sorted(timely, key=_OPEN):
        while closes[closed].close_time <= copy.open_time:
            held = EXACT.subtract(held, closes[closed].margin)
            closed += 1
        held = EXACT.add(held, copy.margin)
        peak = max(peak, held)
    return peak


def margin_in_use(copies: Iterable[Copy]) -> list[tuple[datetime, Decimal]]:
    """The sum of margins open after each moment at which a copy opened or closed, oldest first. Its highest is
    the peak margin; it begins with the first open and ends at 0."""
    changes: dict[datetime, Decimal] = {}
    for copy in copies:
        if copy.open_time < copy.close_time:
            changes[copy.open_time] = EXACT.add(changes.get(copy.open_time, ZERO), copy.margin)
            changes[copy.close_time] = EXACT.subtract(changes.get(copy.close_time, ZERO), copy.margin)
    held, points = ZERO, []
    for moment in sorted(changes):
        held = EXACT.add(held, changes[moment])
        points.append((moment, held))
    return points


def time_in_market(copies: Sequence[Copy]) -> Decimal | None:
    """The part of the time from the first open to the last close in which a copy was open; None when
    that time has no length."""
    if not copies:
        return None
    length = max(copy.close_time for copy in copies) - min(copy.open_time for copy in copies)
    if microseconds(length) <= 0:
        return None
    covered, until = 0, None
    for copy in sorted(copies, key=_OPEN):
        start = copy.open_time if until is None else max(copy.open_time, until)
        if copy.close_time > start:
            covered += microseconds(copy.close_time - start)
            until = copy.close_time
    return ratio(covered, microseconds(length))


def holding(copies: Iterable[Copy]) -> Spread:
    """Mean, median and 90th percentile of the holding time, in hours."""
    return spread(microseconds(copy.close_time - copy.open_time) for copy in copies)


def spread(spans: Iterable[int]) -> Spread:
    """The same of times in microseconds."""
    held = sorted(spans)
    if not held:
        return Spread(0, None, None, None)
    return Spread(
        n=len(held),
        mean=ratio(sum(held), len(held) * HOUR),
        median=ratio(percentile(held, 50), HOUR),
        p90=ratio(percentile(held, 90), HOUR),
    )
