"""Two to four traders side by side: the same figures, and their curves on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal

from django.utils import timezone

from copytrade.models import Trader
from copytrade.rollups import PERIODS
from copytrade.rollups.periods import since
from copytrade.statistics import Summary
from copytrade.statistics.exact import ZERO

from .trader_page import trader_page

LEAST, MOST = 2, 4


@dataclass(frozen=True)
class Compared:
    """One trader of a comparison. `curve`: (time, cumulative net, drawdown), from 0 where the axes begin."""

    trader: Trader
    summary: Summary
    curve: list[tuple[datetime, Decimal, Decimal]]
    stale: bool


@dataclass(frozen=True)
class Comparison:
    """`start` to `end` and `low` to `high` (USDT) hold all curves: the axes that they share."""

    period: str
    traders: list[Compared]
    start: datetime
    end: datetime
    low: Decimal
    high: Decimal


def compare(
    traders: Sequence[Trader], period: str = "90", now: datetime | None = None, zone: tzinfo | None = None
) -> Comparison:
    """Raises ValueError for fewer than two traders or more than four, KeyError for a period that is none."""
    PERIODS[period]
    if not LEAST <= len({trader.pk for trader in traders}) == len(traders) <= MOST:
        raise ValueError("Two to four different traders can be compared.")
    now, zone = now or timezone.now(), zone or timezone.get_current_timezone()
    found = [
        Compared(page.trader, page.summary, page.curve, page.stale)
        for page in (trader_page(trader, period, now, zone) for trader in traders)
    ]
    heights = [net for one in found for _, net, _ in one.curve]
    begun = since(period, now, zone)
    first = min((when for one in found for when, _, _ in one.curve[:1]), default=now)
    return Comparison(
        period,
        found,
        first if begun is None else begun,
        now,
        min(heights, default=ZERO),
        max(heights, default=ZERO),
    )
