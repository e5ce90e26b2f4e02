"""Which days a trader's page is asked for: a period that is kept ready, or from one day to another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.http import QueryDict

from .filters import ALL, MONTH, QUARTER, WEEK, YEAR, Period, day_of, period

PERIODS = (WEEK, MONTH, QUARTER, YEAR, ALL)
OWN = "range"
FIRST_EVER = date(2009, 1, 3)  # nothing was traded before there was a coin


@dataclass(frozen=True)
class Asked:
    """`first` and `last` are None for a period that is kept ready. `trouble` says why an own range makes no sense; the
    usual period is shown then. `since` and `until` are the texts of the two fields, as they were typed."""

    period: Period
    first: date | None = None
    last: date | None = None
    trouble: str = ""
    since: str = ""
    until: str = ""

    @property
    def own(self) -> bool:
        return self.first is not None


def asked(query: QueryDict, today: date) -> Asked:
    """What the address asks for: ?period=30, or ?period=range&from=2026-09-01&to=2026-09-30."""
    if query.get("period") != OWN:
        return Asked(period(query, PERIODS, QUARTER))
    since, until = query.get("from", "").strip()[:32], query.get("to", "").strip()[:32]
    first, last = day_of(since), day_of(until)
    trouble = _trouble(first, last, today)
    if first is None or last is None or trouble:
        return Asked(
            QUARTER, trouble=f"{trouble} {QUARTER.words.capitalize()} are shown.", since=since, until=until
        )
    days = (last - first).days + 1
    words = f"{_words(first)} to {_words(last)}" if days > 1 else _words(first)
    return Asked(Period(OWN, "Own range", words, days), first, last, since=since, until=until)


def _trouble(first: date | None, last: date | None, today: date) -> str:
    if first is None or last is None:
        return "An own range needs two days, each as year-month-day."
    if first > last:
        return "The first day comes after the last."
    if first > today:
        return "The range begins after today."
    if first < FIRST_EVER:
        return f"The range begins before {_words(FIRST_EVER)}, when there was nothing to trade."
    return ""


def _words(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


__all__ = ["ALL", "OWN", "PERIODS", "Asked", "asked"]
