"""What goes in (closed copies) and what comes out (a summary, rows of a breakdown)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal


@dataclass(frozen=True)
class Copy:
    """A closed copy. Times are aware; money is in USDT, exact.

    `realized` is the exchange's realizedPnl (gross), `net` its netProfit, `open_fee` its openFee.
    """

    tracking_no: int
    symbol: str
    side: str
    leverage: int
    open_time: datetime
    close_time: datetime
    margin: Decimal
    open_fee: Decimal
    realized: Decimal
    net: Decimal


@dataclass(frozen=True)
class Spread:
    """How long copies were held, in hours; None without copies."""

    n: int
    mean: Decimal | None
    median: Decimal | None
    p90: Decimal | None


@dataclass(frozen=True)
class Row:
    """One line of a breakdown. `reason` says why the profit factor or the win rate is None."""

    key: str
    n: int
    net: Decimal
    win_rate: Decimal | None
    profit_factor: Decimal | None
    reason: str = ""


@dataclass(frozen=True)
class Brief:
    """The figures of a set of closed copies that one line of a table shows. DEFINITIONS has a sentence for each.

    Ratios are fractions (0.5 is 50 %). A figure that is undefined or hidden is None, and `reasons` has
    a short text under its name.
    """

    closed_copies: int
    wins: int
    since: datetime | None
    until: datetime | None

    net_profit: Decimal
    provisional_copies: int
    provisional_net: Decimal

    win_rate: Decimal | None
    profit_factor: Decimal | None

    max_drawdown: Decimal
    max_drawdown_percent: Decimal | None

    capital: Decimal | None
    capital_label: str
    roi_on_capital: Decimal | None

    reasons: dict[str, str]


@dataclass(frozen=True)
class Summary(Brief):
    """Every figure of a set of closed copies, as Brief has some of them."""

    losses: int
    break_even: int

    gross: Decimal
    cost_gap: Decimal
    open_fees: Decimal
    unexplained_costs: Decimal
    reported_total: Decimal | None
    reconciliation_gap: Decimal | None

    average_win: Decimal | None
    average_loss: Decimal | None
    payoff: Decimal | None
    expectancy: Decimal | None

    current_drawdown: Decimal
    days_under_water: Decimal
    recovery: Decimal | None

    roi_on_peak_margin: Decimal | None
    roi_on_margin_turned_over: Decimal | None
    peak_margin: Decimal
    margin_turned_over: Decimal

    daily_series: tuple[tuple[date, Decimal], ...]
    best_day: Decimal | None
    worst_day: Decimal | None
    sharpe: Decimal | None
    sortino: Decimal | None

    holding: Spread
    holding_winners: Spread
    holding_losers: Spread
    time_in_market: Decimal | None
    longest_win_streak: int
    longest_loss_streak: int

    @property
    def holding_hours_mean(self) -> Decimal | None:
        return self.holding.mean

    @property
    def holding_hours_median(self) -> Decimal | None:
        return self.holding.median
