"""Two to four traders side by side: the same figures, and their curves on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from itertools import combinations

from django.utils import timezone

from copytrade.models import Trader
from copytrade.rollups import PERIODS
from copytrade.rollups.pages import page_rows
from copytrade.rollups.periods import first_day, since
from copytrade.statistics import Row, Summary
from copytrade.statistics.correlation import Correlation, correlation

from .trader_page import _zero_filled

LEAST, MOST = 2, 4


@dataclass(frozen=True)
class Compared:
    """One trader of a comparison. `curve`: (time, cumulative net, drawdown), from 0 where the axes begin. `daily`,
    `closed_on` and `symbols`: as on the trader's page."""

    trader: Trader
    summary: Summary
    curve: Sequence[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
    symbols: list[Row]
    stale: bool


@dataclass(frozen=True)
class Pair:
    """Two of the traders, and whether they win and lose on the same days."""

    one: Trader
    other: Trader
    correlation: Correlation

    @property
    def together(self) -> str:
        """The correlation in words; "" where there is none."""
        value = self.correlation.value
        if value is None:
            return ""
        strength = "" if abs(value) >= Decimal("0.5") else "weakly "
        if abs(value) < Decimal("0.2"):
            return "hardly connected"
        return strength + ("together" if value > 0 else "against each other")


@dataclass(frozen=True)
class Shared:
    """A symbol that more than one of them traded: a row a trader, in their order, None for one who did not."""

    symbol: str
    rows: list[Row | None]


@dataclass(frozen=True)
class Comparison:
    """`start` to `end` holds all curves: the time that they share."""

    period: str
    traders: list[Compared]
    start: datetime
    end: datetime
    pairs: list[Pair]
    shared: list[Shared]


def compare(
    traders: Sequence[Trader], period: str = "90", now: datetime | None = None, zone: tzinfo | None = None
) -> Comparison:
    """One query. Raises ValueError for fewer than two traders or more than four, KeyError for a period that is none."""
    PERIODS[period]
    if not LEAST <= len({trader.pk for trader in traders}) == len(traders) <= MOST:
        raise ValueError("Two to four different traders can be compared.")
    now, zone = now or timezone.now(), zone or timezone.get_current_timezone()
    today = now.astimezone(zone).date()
    found = [
        Compared(
            row.trader,
            row.summary,
            row.curve,
            _zero_filled(row, first_day(period, today), today),
            frozenset(row.daily),
            row.breakdowns.get("symbol", []),
            row.stale,
        )
        for row in page_rows(traders, period, now, ("curve",))
    ]
    begun = since(period, now, zone)
    first = min((when for one in found for when, _, _ in one.curve[:1]), default=now)
    return Comparison(
        period,
        found,
        first if begun is None else begun,
        now,
        [
            Pair(one.trader, other.trader, correlation(one.daily, other.daily))
            for one, other in combinations(found, 2)
        ],
        _shared(found),
    )


def _shared(found: Sequence[Compared]) -> list[Shared]:
    """The symbols of more than one trader, the most traded first."""
    rows = [{row.key: row for row in one.symbols if row.n} for one in found]
    counts = {symbol: sum(symbol in own for own in rows) for own in rows for symbol in own}
    shared = [
        Shared(symbol, [own.get(symbol) for own in rows]) for symbol, count in counts.items() if count > 1
    ]
    return sorted(shared, key=lambda one: (-sum(row.n for row in one.rows if row), one.symbol))
