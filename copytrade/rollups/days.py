"""Days of a person's zone, the same in Python and in SQL.

PostgreSQL keeps time zone rules of its own, which may be older or newer than Python's. Two rule books would
make two sets of days, so there is one: SQL is handed the moments at which the zone's offset changes.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from copytrade.models import User

_FIRST, _LAST = datetime(2009, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


def zone_of(user: User) -> tzinfo:
    """The user's time zone; UTC where the stored name is unknown on this machine."""
    return _zone(user.zone)


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


@lru_cache(8192)
def first_moment(day: date, zone: tzinfo) -> datetime:
    """When a day begins in the zone. Where the clock skips midnight, the moment of the skip."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The day of a moment, as `day_sql` counts it: offsets outside 2009 to 2100 stay what they are at the ends."""
    moments, offsets = _offsets(zone)
    return (moment.astimezone(UTC) + offsets[bisect_right(moments, moment)]).date()


def day_sql(column: str, zone: tzinfo) -> tuple[str, list]:
    """(SQL, parameters) of the zone's day of a timestamptz column."""
    moments, offsets = _offsets(zone)
    local = f"({column} AT TIME ZONE 'UTC'"
    if not moments:
        return f"{local} + %s::interval)::date", [offsets[0]]
    found = f"(%s::interval[])[1 + width_bucket({column}, %s::timestamptz[])]"
    return f"{local} + {found})::date", [list(offsets), list(moments)]


@lru_cache(maxsize=256)
def _offsets(zone: tzinfo) -> tuple[tuple[datetime, ...], tuple[timedelta, ...]]:
    """(moments, offsets): the zone's offset from UTC is offsets[i] until moments[i], the last for ever."""
    moments: list[datetime] = []
    at, offsets = _FIRST, [_offset(_FIRST, zone)]
    while at < _LAST:
        until = at + _DAY
        if _offset(until, zone) != offsets[-1]:
            moments.append(_change(at, until, zone))
            offsets.append(_offset(until, zone))
        at = until
    return tuple(moments), tuple(offsets)


def _change(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """The first second of the new offset; no zone changes it twice a day."""
    old = _offset(before, zone)
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if _offset(middle, zone) == old:
            before = middle
        else:
            after = middle
    return after


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta(0)
