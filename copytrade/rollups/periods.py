"""The periods that summaries are kept for. Each ends with today, in the owner's zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from types import MappingProxyType

from .days import first_moment

# Key of PeriodSummary.period -> days, today included; None: everything.
PERIODS: Mapping[str, int | None] = MappingProxyType({"7": 7, "30": 30, "90": 90, "365": 365, "all": None})


def first_day(period: str, today: date) -> date | None:
    """The period's first day; None: it has no beginning. Raises KeyError for a period that is none."""
    days = PERIODS[period]
    return None if days is None else today - timedelta(days=days - 1)


def since(period: str, now: datetime, zone: tzinfo) -> datetime | None:
    """When the period begins; None: it has no beginning."""
    day = first_day(period, now.astimezone(zone).date())
    return None if day is None else first_moment(day, zone)
