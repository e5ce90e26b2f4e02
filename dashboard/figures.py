"""Every figure of a summary as rows of a table: its label, its definition's name, its value, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from copytrade.statistics import Summary

MONEY, SIGNED, PERCENT, SIGNED_PERCENT, RATIO, HOURS, COUNT, DAYS = (
    "money", "signed", "percent", "signed_percent", "ratio", "hours", "count", "days",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """`name` is a key of DEFINITIONS; `kind` says how `value` is shown; `why` stands where there is none."""

    name: str
    label: str
    kind: str
    value: Any
    why: str = ""


# (title, rows of (name, label, kind)); a name may go into a part of a figure: "holding.median".
TABLE: Sequence[tuple[str, Sequence[tuple[str, str, str]]]] = (
    (
        "Result",
        (
            ("expectancy", "Per copy, on average", SIGNED),
            ("average_win", "Average win", MONEY),
            ("average_loss", "Average loss", MONEY),
            ("payoff", "Payoff", RATIO),
            ("best_day", "Best day", SIGNED),
            ("worst_day", "Worst day", SIGNED),
            ("longest_win_streak", "Most gains in a row", COUNT),
            ("longest_loss_streak", "Most losses in a row", COUNT),
        ),
    ),
    (
        "Risk",
        (
            ("max_drawdown", "Max drawdown, realized", MONEY),
            ("current_drawdown", "Drawdown now", MONEY),
            ("days_under_water", "Days below the peak", DAYS),
            ("recovery", "Net by max drawdown", RATIO),
            ("sharpe", "Sharpe, a year", RATIO),
            ("sortino", "Sortino, a year", RATIO),
            ("peak_margin", "Peak margin", MONEY),
            ("roi_on_peak_margin", "ROI on peak margin", SIGNED_PERCENT),
            ("roi_on_margin_turned_over", "ROI on margin turned over", SIGNED_PERCENT),
        ),
    ),
    (
        "Time",
        (
            ("holding.median", "Held, median", HOURS),
            ("holding.mean", "Held, mean", HOURS),
            ("holding.p90", "Held, 90 % under", HOURS),
            ("holding_winners.median", "Gains held, median", HOURS),
            ("holding_losers.median", "Losses held, median", HOURS),
            ("time_in_market", "Time in the market", PERCENT),
        ),
    ),
)


def figures(summary: Summary) -> list[tuple[str, list[Figure]]]:
    """The table for a summary."""
    return [(title, [_figure(summary, *row) for row in rows]) for title, rows in TABLE]


def _figure(summary: Summary, path: str, label: str, kind: str) -> Figure:
    name, _, part = path.partition(".")
    value = getattr(summary, name)
    value = getattr(value, part) if part else value
    if kind == HOURS and value is not None:
        value = value * Decimal(3600)
    return Figure(
        name, label, kind, value, summary.reasons.get(name, "no closed copies") if value is None else ""
    )
