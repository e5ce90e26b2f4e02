"""How much money was at work, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from .exact import EXACT, HOUR, ZERO, microseconds, percentile, ratio
from .types import Copy, Spread

_CLOSES, _OPENS = 0, 1  # in this order where they share a moment


def peak_margin(copies: Iterable[Copy]) -> Decimal:
    """The highest sum of margins open at the same moment. A close at a moment counts before an open at it,
    so a copy that closed in the millisecond it opened was never open."""
    events: list[tuple[datetime, int, Decimal]] = []
    for copy in copies:
        if copy.open_time < copy.close_time:
            events.append((copy.open_time, _OPENS, copy.margin))
            events.append((copy.close_time, _CLOSES, -copy.margin))
    events.sort(key=lambda event: event[:2])
    held = peak = ZERO
    for _, _, change in events:
        held = EXACT.add(held, change)
        peak = max(peak, held)
    return peak


def time_in_market(copies: Sequence[Copy]) -> Decimal | None:
    """The part of the time from the first open to the last close in which a copy was open; None when
    that time has no length."""
    if not copies:
        return None
    length = max(copy.close_time for copy in copies) - min(copy.open_time for copy in copies)
    if microseconds(length) <= 0:
        return None
    covered, until = 0, None
    for opened, closed in sorted((copy.open_time, copy.close_time) for copy in copies):
        start = opened if until is None else max(opened, until)
        if closed > start:
            covered += microseconds(closed - start)
            until = closed
    return ratio(covered, microseconds(length))


def holding(copies: Iterable[Copy]) -> Spread:
    """Mean, median and 90th percentile of the holding time, in hours."""
    held = sorted(microseconds(copy.close_time - copy.open_time) for copy in copies)
    if not held:
        return Spread(0, None, None, None)
    return Spread(
        n=len(held),
        mean=ratio(sum(held), len(held) * HOUR),
        median=ratio(percentile(held, 50), HOUR),
        p90=ratio(percentile(held, 90), HOUR),
    )
