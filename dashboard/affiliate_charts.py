"""Commission over time and by user, each coin on its own: as pictures, and the same as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from copytrade.affiliate import totals
from copytrade.models import AffiliateReport
from copytrade.statistics.exact import EXACT

from .plots import BOX, Plot, Shape, Tick, amount, round_ticks, time_ticks

MOST_COINS = 4  # pictures; every coin is in the totals
MOST_USERS = 7
DAYS, WEEKS = 100, 400  # up to so many days a bar is a day, a week; above, a month
ROOM = 1.06  # above the tallest bar


@dataclass(frozen=True)
class Bar:
    """A user's commission, and its length in percent of the largest; 0 for nothing and for a loss."""

    uid: int | None
    sum: Decimal
    length: int


@dataclass(frozen=True)
class Chart:
    """One coin. `per`: what a bar is, "day", "week" or "month". `bars`: the users with the largest sums, of `users`."""

    coin: str | None
    per: str
    plot: Plot | None
    times: list[tuple[date, Decimal]]
    bars: list[Bar]
    users: int


def charts(report: AffiliateReport) -> list[Chart]:
    """One per coin, that with the most rows first. A day outside of what was asked is in the totals and no picture."""
    span, users = totals.span_of(report), totals.by_user(report, MOST_USERS)
    if span is None:
        return []
    days = list(totals.by_day(report).items())
    return [_chart(coin, found, users.get(coin, (0, [])), span) for coin, found in days[:MOST_COINS]]


def _chart(
    coin: str | None,
    found: list[tuple[date, Decimal]],
    users: tuple[int, list[tuple[int | None, Decimal]]],
    span: tuple[datetime, datetime],
) -> Chart:
    first, last = span[0].date(), span[1].date()
    days = [one for one in found if first <= one[0] <= last]
    length = (last - first).days + 1
    per = "day" if length <= DAYS else "week" if length <= WEEKS else "month"
    times = gathered(days, per)
    largest = max((one for _, one in users[1]), default=Decimal(0))
    bars = [Bar(uid, one, _length(one, largest)) for uid, one in users[1]]
    return Chart(coin, per, columns(times, per, first, last), times, bars, users[0])


def _length(one: Decimal, largest: Decimal) -> int:
    return max(1, round(one / largest * 100)) if one > 0 else 0


def begin(day: date, per: str) -> date:
    """The first day of its week (a Monday) or month."""
    if per == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if per == "month" else day


def _end(start: date, per: str) -> date:
    """The day after the last one."""
    if per == "month":
        return date(start.year + start.month // 12, start.month % 12 + 1, 1)
    return start + timedelta(days=7 if per == "week" else 1)


def gathered(days: Sequence[tuple[date, Decimal]], per: str) -> list[tuple[date, Decimal]]:
    """The sums of days as those of weeks or months; exact."""
    found: dict[date, Decimal] = {}
    for day, one in days:
        start = begin(day, per)
        found[start] = EXACT.add(found.get(start, Decimal(0)), one)
    return sorted(found.items())


def columns(times: Sequence[tuple[date, Decimal]], per: str, first: date, last: date) -> Plot | None:
    """Upright bars over time, from 0 up (or down); each as wide as its day, week or month. None without any."""
    if not times:
        return None
    start, end = _moment(begin(first, per)), _moment(max(_end(begin(last, per), per), begin(first, per)))
    span = (end - start).total_seconds()
    values = [float(one) for _, one in times]
    low, high = min(0.0, *values) * ROOM, max(0.0, *values) * ROOM or 1.0
    foot = _up(0.0, low, high)
    path = []
    for (day, _), value in zip(times, values, strict=True):
        left = (_moment(day) - start).total_seconds() / span * BOX
        right = (_moment(_end(day, per)) - start).total_seconds() / span * BOX
        gap = (right - left) * 0.1
        path.append(f"M{left + gap:.1f} {foot}V{_up(value, low, high)}H{right - gap:.1f}V{foot}Z")
    grid = [
        Tick(round(100 - (at - low) / (high - low) * 100, 2), amount(at, signed=False), zero=not at)
        for at in round_ticks(low, high)
    ]
    return Plot([Shape("columns", "".join(path))], grid, time_ticks(start, end, UTC))


def _up(value: float, low: float, high: float) -> int:
    return BOX - round((value - low) / (high - low) * BOX)


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
