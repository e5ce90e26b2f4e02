"""The days that an operation may be asked for, and the windows of them that one call allows.

The one home of the affiliate pages' bounds: their date pickers, their forms' checks and the plan of calls ask here,
and here they are taken from the table of operations. Days are UTC days, as the interface's times are.

Source: interface.md "Endpoints" (Affiliate) and "Limits"; "past month" is 31 days (open-points.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from .checks import add_months
from .kinds import EPOCH
from .operations import Operation, Span

MILLISECOND = timedelta(milliseconds=1)
DAY = timedelta(days=1)
# Where the interface states no end of the past, ours: forty windows of three months.
MOST_YEARS = 10


@dataclass(frozen=True)
class Days:
    """The first and the last day that may be asked for, both included."""

    first: date
    last: date


def days(operation: Operation, now: datetime) -> Days:
    """Whole UTC days within the operation's reach: the day on which the reach begins has begun before it."""
    today = now.astimezone(UTC).date()
    span = operation.span or Span()
    if span.back_days is not None:
        return Days((now.astimezone(UTC) - timedelta(days=span.back_days)).date() + DAY, today)
    if span.months is not None:
        return Days(date(today.year - MOST_YEARS, 1, 1), today)
    return Days(EPOCH.date(), today)


def refusal(
    operation: Operation, since: date | None, until: date | None, now: datetime
) -> tuple[str, str] | None:
    """(which of "since" and "until", a sentence) when these days cannot be asked for; None when they can."""
    allowed = days(operation, now)
    for name, chosen in (("since", since), ("until", until)):
        if chosen is not None and chosen < allowed.first:
            return name, f"{_reach(operation)} Choose {allowed.first.isoformat()} or later."
        if chosen is not None and chosen > allowed.last:
            return name, f"Today is {allowed.last.isoformat()} (UTC). Choose that day or an earlier one."
    if since is not None and until is not None and since > until:
        return "until", "The last day must not be before the first."
    return None


def _reach(operation: Operation) -> str:
    span = operation.span or Span()
    if span.both_back:
        return f"The exchange tells of the past month only ({span.back_days} days)."
    if span.back_days is not None:
        return f"The exchange tells of the last {span.back_days} days only."
    if span.months is not None:
        return f"The desk asks for at most {MOST_YEARS} years at once."
    return "There is nothing before 1970."


def windows(
    operation: Operation, since: date, until: date, now: datetime, *, shared: bool = True
) -> list[tuple[datetime, datetime]]:
    """From the first day's beginning to the last day's end (or now), in windows of one call each, oldest first.

    `shared`: neighbours share their boundary, since the interface does not say which side counts; what comes twice
    is then told by its likeness. Without it they are a millisecond apart: sums of windows must not count twice.
    """
    start = _midnight(since)
    end = max(min(_midnight(until) + DAY - MILLISECOND, _whole(now)), start + MILLISECOND)
    found = []
    while start < end:
        furthest = _furthest(operation.span or Span(), start, end)
        stop = end if furthest >= end else furthest if shared else furthest - MILLISECOND
        found.append((start, stop))
        start = furthest
    return found


def oldest(operation: Operation, now: datetime) -> datetime | None:
    """The earliest moment that may be asked for, None where there is no such bound."""
    back = operation.span.back_days if operation.span else None
    return None if back is None else now - timedelta(days=back)


def _furthest(span: Span, start: datetime, end: datetime) -> datetime:
    if span.days is not None:
        return start + timedelta(days=span.days)
    return add_months(start, span.months) if span.months is not None else end


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _whole(now: datetime) -> datetime:
    """Rounded down to the millisecond, as it is sent."""
    return now.astimezone(UTC).replace(microsecond=now.microsecond // 1000 * 1000)
