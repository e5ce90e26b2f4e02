"""One sentence a figure, shown beside it and in docs/figures.md."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "closed_copies": "How many copies were closed.",
        "wins": "How many copies ended above 0 after all costs.",
        "losses": "How many copies ended below 0 after all costs.",
        "break_even": "How many copies ended at exactly 0; they are shown, and counted in no rate.",
        "since": "When the first of these copies was opened.",
        "until": "When the last of these copies was closed.",
        "net_profit": "The sum of all results after costs, as reported by the exchange.",
        "gross": "The sum of all realized results before costs.",
        "cost_gap": "Gross minus net: fees, funding and profit share together.",
        "open_fees": "The part of the costs that is known: the sum of all opening fees.",
        "unexplained_costs": (
            "Costs without the opening fees: closing fees, funding and profit share, which the "
            "exchange does not list."
        ),
        "provisional_copies": (
            "How many copies were closed since the last true-up of the profit share at 00:00 UTC."
        ),
        "provisional_net": (
            "The net profit of copies closed since the last true-up at 00:00 UTC; it may still change."
        ),
        "reported_total": "The net profit of copying this trader, as the exchange totals it.",
        "reconciliation_gap": (
            "Our sum minus the exchange's own total; it is 0 when the ledger is complete."
        ),
        "win_rate": "Copies with a gain as a share of copies with a gain or a loss.",
        "average_win": "The mean result of the copies with a gain.",
        "average_loss": "The mean result of the copies with a loss, without its sign.",
        "payoff": "The average win divided by the average loss.",
        "profit_factor": "The sum of all gains divided by the sum of all losses.",
        "expectancy": "The net profit divided by the number of copies: what one copy brought on average.",
        "max_drawdown": (
            "The deepest fall of the running net profit below its highest point before; realized "
            "results only."
        ),
        "max_drawdown_percent": (
            "The deepest fall as a share of the money there was at the high point: capital plus "
            "profit until then."
        ),
        "current_drawdown": (
            "How far the running net profit is below its highest point now; realized results only."
        ),
        "days_under_water": (
            "The days since the running net profit was last at its highest point; 0 when it is there."
        ),
        "recovery": "The net profit divided by the max drawdown.",
        "capital": "The money that results are measured against, at the start of the time shown.",
        "capital_label": (
            "What the capital is: what you entered, the money invested today, or the highest margin "
            "held at once."
        ),
        "roi_on_capital": "The net profit divided by the capital.",
        "roi_on_peak_margin": "The net profit divided by the highest margin held at once.",
        "roi_on_margin_turned_over": "The net profit divided by the sum of the margins of all copies.",
        "peak_margin": "The highest sum of margins of copies that were open at the same moment.",
        "margin_turned_over": "The sum of the margins of all copies.",
        "daily_series": (
            "The net profit of each day of closing, from the first open to the last close; days "
            "without a close are 0."
        ),
        "best_day": "The highest daily result.",
        "worst_day": "The lowest daily result.",
        "sharpe": (
            "The mean daily return divided by its deviation, for a year of 365 days and without a "
            "risk-free rate; hidden under 30 days or 20 copies."
        ),
        "sortino": "As Sharpe, but only losing days count as deviation; hidden under 30 days or 20 copies.",
        "holding": "How long copies were held: mean, median and the time that 90 % stayed under.",
        "holding_winners": "How long copies with a gain were held.",
        "holding_losers": "How long copies with a loss were held.",
        "time_in_market": (
            "The share of the time from the first open to the last close in which at least one copy was open."
        ),
        "longest_win_streak": "The most gains in a row, by time of closing; a result of 0 ends the row.",
        "longest_loss_streak": "The most losses in a row, by time of closing; a result of 0 ends the row.",
    }
)
