"""Copies for tests of the figures: the eight of the reference with what they add up to, and others by their nets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from copytrade import statistics
from copytrade.statistics import Copy, Summary, summarise

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

# Symbol, side, open h, close h after START, margin, leverage, openFee, realizedPnl, netProfit.
ORDERS = """
BTCUSDT LONG    1   5   100 10 0.60  20.00  17.00
BTCUSDT LONG    6  30   100 10 0.60 -30.00 -31.25
ETHUSDT SHORT  48  50    50 20 0.60  10.00   8.00
ETHUSDT SHORT  49  57    50 20 0.60   0.50  -0.70
SOLUSDT LONG   96 108    80  5 0.24  40.00  35.00
BTCUSDT SHORT 144 145   120 10 0.72 -12.00 -13.40
XRPUSDT LONG  168 169    40  5 0.02   0.04   0.00
BTCUSDT LONG  192 196    60 10 0.36   6.00   5.00
"""

# The reference values that belong to them: money as text is exact, numbers hold to 1e-12.
VECTOR = {
    "closed_copies": 8,
    "net_profit": "19.65",
    "gross": "34.54",
    "cost_gap": "14.89",
    "open_fees": "3.74",
    "win_rate": 0.5714285714285714,
    "average_win": 16.25,
    "average_loss": 15.116666666666667,
    "payoff": 1.0749724366041897,
    "profit_factor": 1.4332965821389194,
    "expectancy": 2.45625,
    "max_drawdown": "31.25",
    "max_drawdown_percent": 0.04358437935843794,
    "recovery": 0.6288,
    "roi_on_capital": 0.02807142857142857,
    "roi_on_peak_margin": 0.16375,
    "roi_on_margin_turned_over": 0.03275,
    "peak_margin": "120",
    "sharpe": 2.4783739054767997,
    "sortino": 4.097254142495741,
    "holding_hours_mean": 7.0,
    "holding_hours_median": 4.0,
    "time_in_market": 0.28205128205128205,
    "longest_win_streak": 1,
    "longest_loss_streak": 1,
    "best_day": "35.00",
    "worst_day": "-31.25",
}
DAYS = ["17.00", "-31.25", "7.30", "0", "35.00", "0", "-13.40", "0.00", "5.00"]


def reference_copies() -> list[Copy]:
    copies = []
    for number, line in enumerate(ORDERS.strip().splitlines(), start=1):
        symbol, side, opened, closed, margin, leverage, fee, realized, net = line.split()
        opens, closes = (START + timedelta(hours=int(hours)) for hours in (opened, closed))
        money = (Decimal(text) for text in (margin, fee, realized, net))
        copies.append(Copy(number, symbol, side, int(leverage), opens, closes, *money))
    return copies


def reference(**changes: Any) -> Summary:
    arguments = {"capital": Decimal(700), "now": NOW, "minimum_days": 0, "minimum_copies": 0}
    return summarise(reference_copies(), **{**arguments, **changes})


def a_copy(
    net: str,
    *,
    number: int = 1,
    opened: float = 0,
    closed: float = 1,
    margin: str = "10",
    fee: str = "0",
    **changes: Any,
) -> Copy:
    """A copy that was open from one hour to another; its gross is its net and its fee."""
    result, cost = Decimal(net), Decimal(fee)
    times = (START + timedelta(hours=opened), START + timedelta(hours=closed))
    made = Copy(number, "BTCUSDT", "LONG", 10, *times, Decimal(margin), cost, result + cost, result)
    return dataclasses.replace(made, **changes)


def run(*nets: str, **options: Any) -> Summary:
    """A summary of copies that closed one after the other, an hour each."""
    copies = [a_copy(net, number=place, opened=place, closed=place + 1) for place, net in enumerate(nets)]
    return summarise(copies, **{"capital": Decimal(100), "now": NOW, **options})


def whole(copies: Iterable[Copy], **options: Any) -> Summary:
    """A summary that hides nothing for want of days or copies."""
    return summarise(
        copies, **{"capital": Decimal(5000), "now": NOW, "minimum_days": 0, "minimum_copies": 0, **options}
    )


def names_of_figures() -> set[str]:
    return {field.name for field in dataclasses.fields(statistics.Summary)}
