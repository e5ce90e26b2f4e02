"""Quiet hours: from when on something may be told. PURE: no Django, no clock of its own."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo


def told_from(now: datetime, begins: time | None, ends: time | None, zone: tzinfo) -> datetime:
    """`now`, or the end of the quiet hours that it lies in, by the zone's clock. They may go over midnight.

    An end that the clock skips in spring is where the clock jumps to, by as much later; one that comes twice in autumn
    is the first that lies ahead.
    """
    if begins is None or ends is None or begins == ends:
        return now
    local = now.astimezone(zone)
    clock, overnight = local.time(), begins > ends
    within = (clock >= begins or clock < ends) if overnight else begins <= clock < ends
    if not within:
        return now
    day = local.date() + timedelta(days=1 if overnight and clock >= begins else 0)
    end = datetime.combine(day, ends, tzinfo=zone)
    for one in (end, end.replace(fold=1)):
        if (moment := one.astimezone(UTC)) > now:
            return moment
    return now
