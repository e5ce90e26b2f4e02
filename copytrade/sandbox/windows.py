"""Time windows: the defaults and bounds that interface.md states, and what open-points.md adds."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta

from .errors import Refusal

DAY_MS = 86_400_000
HISTORY_DAYS = 90
MONTH_DAYS = 31
YEAR_DAYS = 365

Window = tuple[int, int]  # both ends inclusive, Unix ms


def in_order(start: int, end: int, *, strictly: bool = False) -> None:
    """Raises -1171 when the window runs backwards (or, `strictly`, has no length)."""
    if start > end or (strictly and start == end):
        raise Refusal(-1171, "endTime must be later than startTime." if strictly else None)


def copy_history(start: int | None, end: int | None, now: int) -> Window:
    """At most 90 days; the last 90 by default."""
    end = now if end is None else end
    start = max(0, end - HISTORY_DAYS * DAY_MS) if start is None else start
    in_order(start, end)
    if end - start > HISTORY_DAYS * DAY_MS:
        raise Refusal(-1170, "The range may be at most 90 days.")
    return start, end


def commissions(start: int | None, end: int | None, now: int) -> Window:
    """At most three calendar months; from 7 days before now until now by default."""
    start = now - 7 * DAY_MS if start is None else start
    end = now if end is None else end
    in_order(start, end)
    if end > three_months_after(start):
        raise Refusal(-1170, "The range may be at most 3 months.")
    return start, end


def affiliate(start: int | None, end: int | None, now: int) -> Window:
    """At most 90 days, starting within the last 365; the 90 days before endTime by default."""
    end = now if end is None else end
    start = max(0, end - 90 * DAY_MS) if start is None else start
    in_order(start, end, strictly=True)
    if start < now - YEAR_DAYS * DAY_MS:
        raise Refusal(-1170, "startTime must be within the last 365 days.")
    if end - start > 90 * DAY_MS:
        raise Refusal(-1170, "The range may be at most 90 days.")
    return start, end


def past_month(start: int | None, end: int | None, now: int) -> Window:
    """Only the past 31 days can be asked for."""
    oldest = now - MONTH_DAYS * DAY_MS
    end = now if end is None else end
    start = min(oldest, end) if start is None else start
    in_order(start, end)
    if start < oldest or end < oldest:
        raise Refusal(-1170, "Only the past 31 days can be queried.")
    return start, end


def anything(start: int | None, end: int | None, now: int) -> Window:
    """No bound is stated: everything until now by default."""
    start = 0 if start is None else start
    end = now if end is None else end
    in_order(start, end)
    return start, end


def three_months_after(moment_ms: int) -> int:
    """The same time of day three calendar months later; the month's last day where there is none."""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=min(moment_ms, 10**14))
    months = moment.month - 1 + 3
    year, month = moment.year + months // 12, months % 12 + 1
    day = min(moment.day, calendar.monthrange(year, month)[1])
    later = moment.replace(year=year, month=month, day=day)
    return moment_ms + (later - moment) // timedelta(milliseconds=1)
