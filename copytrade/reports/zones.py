"""Days are those of a person's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from copytrade.models import User


def zone_of(user: User) -> tzinfo:
    """The user's time zone; UTC where the stored name is unknown on this machine."""
    try:
        return ZoneInfo(user.zone)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def day_start(now: datetime, zone: tzinfo, days_ago: int = 0) -> datetime:
    """Midnight of the zone's day, `days_ago` days before today."""
    day = now.astimezone(zone).date() - timedelta(days=days_ago)
    return datetime(day.year, day.month, day.day, tzinfo=zone)
