"""Days are those of a person's zone: rollups says which zone that is, for daily sums are kept by it."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from copytrade.rollups import zone_of

__all__ = ["day_start", "zone_of"]


def day_start(now: datetime, zone: tzinfo, days_ago: int = 0) -> datetime:
    """Midnight of the zone's day, `days_ago` days before today."""
    day = now.astimezone(zone).date() - timedelta(days=days_ago)
    return datetime(day.year, day.month, day.day, tzinfo=zone)
