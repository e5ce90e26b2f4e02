"""Copies in time: their order, the equity curve, the daily results, the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from operator import attrgetter

from .exact import EXACT, ZERO
from .types import Copy

_IN_ORDER = attrgetter("close_time", "tracking_no", "open_time", "symbol", "net")


def ordered(copies: Iterable[Copy]) -> list[Copy]:
    """By close time, ties by tracking number (the rest only makes the order the same for any input)."""
    return sorted(copies, key=_IN_ORDER)


def equity(copies: Iterable[Copy]) -> list[tuple[datetime, Decimal, Decimal]]:
    """After each close: its time, the net profit so far, and the drawdown from the highest point before.

    The curve starts at 0 before the first close, so a first loss is a drawdown. Realized results only.
    """
    return curve(ordered(copies))


def curve(closed: Sequence[Copy]) -> list[tuple[datetime, Decimal, Decimal]]:
    """The equity curve of copies that are in order already."""
    points = []
    so_far = peak = ZERO
    for copy in closed:
        so_far = EXACT.add(so_far, copy.net)
        peak = max(peak, so_far)
        points.append((copy.close_time, so_far, EXACT.subtract(peak, so_far)))
    return points


def daily(copies: Iterable[Copy], zone: tzinfo = UTC) -> list[tuple[date, Decimal]]:
    """Net profit by day of closing in `zone`, with zeros between, from the first open to the last close."""
    results: dict[date, Decimal] = {}
    first: datetime | None = None
    last: datetime | None = None
    for copy in copies:
        day = copy.close_time.astimezone(zone).date()
        results[day] = EXACT.add(results.get(day, ZERO), copy.net)
        opened = min(copy.open_time, copy.close_time)
        first = opened if first is None else min(first, opened)
        last = copy.close_time if last is None else max(last, copy.close_time)
    if first is None or last is None:
        return []
    start, end = first.astimezone(zone).date(), last.astimezone(zone).date()
    days = (start + timedelta(days=offset) for offset in range((end - start).days + 1))
    return [(day, results.get(day, ZERO)) for day in days]


def longest_runs(copies: Sequence[Copy]) -> tuple[int, int]:
    """The longest run of gains and of losses, copies in order; a result of 0 ends both."""
    longest_gain = longest_loss = gain = loss = 0
    for copy in copies:
        gain = gain + 1 if copy.net > 0 else 0
        loss = loss + 1 if copy.net < 0 else 0
        longest_gain, longest_loss = max(longest_gain, gain), max(longest_loss, loss)
    return longest_gain, longest_loss
