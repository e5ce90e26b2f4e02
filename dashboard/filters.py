"""What an address asks for: filters of orders, periods, sorting. A value that makes no sense is left out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from django.http import QueryDict

from copytrade.reports import Filters, day_start

SIDES = (("LONG", "Long"), ("SHORT", "Short"), ("BOTH", "Both"))
RESULTS = (("gain", "Gain"), ("loss", "Loss"), ("even", "Even"))


@dataclass(frozen=True)
class Period:
    """A span up to now. `days` counts today; None is everything."""

    key: str
    label: str
    words: str
    days: int | None

    def since(self, now: datetime, zone: tzinfo) -> datetime | None:
        return None if self.days is None else day_start(now, zone, self.days - 1)


WEEK = Period("7", "7 d", "the last 7 days", 7)
MONTH = Period("30", "30 d", "the last 30 days", 30)
QUARTER = Period("90", "90 d", "the last 90 days", 90)
YEAR = Period("365", "Year", "the last 365 days", 365)
ALL = Period("all", "All", "all the time in the ledger", None)


def period(query: QueryDict, offered: tuple[Period, ...], usual: Period) -> Period:
    return next((one for one in offered if one.key == query.get("period")), usual)


def whole(text: str | None) -> int | None:
    """A primary key of the address; None for anything that is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def word(text: str) -> str:
    """A text to compare with, of at most 64 characters; PostgreSQL takes no NUL, not even in a comparison."""
    return text.replace("\x00", "").strip()[:64]


def one_of(text: str | None, choices: tuple[tuple[str, str], ...]) -> str:
    return text if text and any(text == value for value, _ in choices) else ""


def day_of(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def open_filters(query: QueryDict) -> Filters:
    return Filters(trader=whole(query.get("trader")), symbol=word(query.get("symbol", "")))


def history_filters(query: QueryDict, zone: tzinfo) -> Filters:
    """Days are those of the person's zone; `until` names the last day that is shown."""
    since, until = day_of(query.get("since")), day_of(query.get("until"))
    return Filters(
        trader=whole(query.get("trader")),
        account=whole(query.get("account")),
        symbol=word(query.get("symbol", "")),
        side=one_of(query.get("side"), SIDES),
        result=one_of(query.get("result"), RESULTS),
        since=datetime.combine(since, time(), zone) if since else None,
        until=datetime.combine(until + timedelta(days=1), time(), zone)
        if until and until < date.max
        else None,
    )
