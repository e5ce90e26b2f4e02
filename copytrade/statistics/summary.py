"""From closed copies to every figure of the summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any

from .exact import EXACT, RATIO, ZERO, microseconds, ratio, ratio_or_none, total
from .exposure import holding, peak_margin, time_in_market
from .returns import USED_UP, daily_returns, sharpe, sortino
from .series import curve, daily, longest_runs, ordered
from .types import Copy, Summary

MINIMUM_DAYS = 30
MINIMUM_COPIES = 20
ON_PEAK_MARGIN = "on the highest margin held at once"
ON_GIVEN = "on the capital given"
NO_COPIES = "no closed copies"
NO_CAPITAL = "no capital to measure against"
_DAY = 86_400_000_000  # microseconds


class _Figures(dict[str, Any]):
    """Figures by name, and why some have no value."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[str, str] = {}

    def put(self, name: str, value: Decimal | None, reason: str) -> None:
        """Set a figure; the reason counts only where there is no value."""
        self[name] = value
        if value is None:
            self.reasons[name] = reason


def summarise(
    copies: Iterable[Copy],
    *,
    capital: Decimal | None,
    capital_label: str = "",
    zone: tzinfo = UTC,
    now: datetime,
    net_before: Decimal = ZERO,
    reported_total: Decimal | None = None,
    minimum_days: int = MINIMUM_DAYS,
    minimum_copies: int = MINIMUM_COPIES,
) -> Summary:
    """Every figure of these closed copies, of one trader or of any filter, in any order.

    `capital` is the base of ROI and of drawdown in percent, in USDT; None or not above 0: the highest
    margin held at once stands in, and `capital_label` of the summary says so. For a period, pass the net
    profit before it as `net_before`: the base is capital + net_before. `reported_total` is the trader's
    traceTotalProfit. Days are those of `zone`. Annualised figures are hidden under the minima.
    """
    closed = ordered(copies)
    figures = _Figures()
    _money(figures, closed, now, reported_total)
    _results(figures, closed)
    _capital(figures, closed, capital, capital_label, net_before)
    _drawdown(figures, closed, now)
    _days(figures, closed, zone, minimum_days, minimum_copies)
    _times(figures, closed)
    return Summary(**figures, reasons=figures.reasons)


def _money(figures: _Figures, closed: Sequence[Copy], now: datetime, reported: Decimal | None) -> None:
    net = total(copy.net for copy in closed)
    gross = total(copy.realized for copy in closed)
    fees = total(copy.open_fee for copy in closed)
    gap = EXACT.subtract(gross, net)
    true_up = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    recent = [copy.net for copy in closed if copy.close_time >= true_up]
    figures.update(
        closed_copies=len(closed),
        since=min((copy.open_time for copy in closed), default=None),
        until=closed[-1].close_time if closed else None,
        net_profit=net,
        gross=gross,
        cost_gap=gap,
        open_fees=fees,
        unexplained_costs=EXACT.subtract(gap, fees),
        provisional_copies=len(recent),
        provisional_net=total(recent),
        reported_total=reported,
    )
    difference = None if reported is None else EXACT.subtract(net, reported)
    figures.put("reconciliation_gap", difference, "the exchange's own total is not known")


def _results(figures: _Figures, closed: Sequence[Copy]) -> None:
    wins = [copy.net for copy in closed if copy.net > 0]
    losses = [copy.net for copy in closed if copy.net < 0]
    decided = len(wins) + len(losses)
    won, lost = total(wins), EXACT.minus(total(losses))
    nothing = NO_COPIES if not closed else "only break-even copies"
    no_losses = "no losses" if wins else nothing
    average_win, average_loss = ratio_or_none(won, len(wins)), ratio_or_none(lost, len(losses))
    figures.update(wins=len(wins), losses=len(losses), break_even=len(closed) - decided)
    figures.put("win_rate", ratio_or_none(len(wins), decided), nothing)
    figures.put("average_win", average_win, "no wins" if closed else nothing)
    figures.put("average_loss", average_loss, "no losses" if closed else nothing)
    # From the sums, not from the rounded averages: one division rounds less than three.
    payoff = (
        ratio(EXACT.multiply(won, len(losses)), EXACT.multiply(lost, len(wins))) if wins and losses else None
    )
    figures.put("payoff", payoff, no_losses if not losses else "no wins")
    figures.put("profit_factor", ratio_or_none(won, lost), no_losses)
    figures.put("expectancy", ratio_or_none(figures["net_profit"], len(closed)), NO_COPIES)


def _capital(
    figures: _Figures, closed: Sequence[Copy], capital: Decimal | None, label: str, net_before: Decimal
) -> None:
    peak = peak_margin(closed)
    turned_over = total(copy.margin for copy in closed)
    net = figures["net_profit"]
    known = capital is not None and capital > 0
    base = EXACT.add(capital if capital is not None and known else peak, net_before)
    figures.update(
        peak_margin=peak,
        margin_turned_over=turned_over,
        capital=base if base > 0 else None,
        capital_label=(label or ON_GIVEN) if known else ON_PEAK_MARGIN,
    )
    no_capital = NO_CAPITAL if closed or known else NO_COPIES
    figures.put("roi_on_capital", ratio_or_none(net, figures["capital"]), no_capital)
    no_margin = "no margin was held" if closed else NO_COPIES
    figures.put("roi_on_peak_margin", ratio_or_none(net, peak), no_margin)
    figures.put("roi_on_margin_turned_over", ratio_or_none(net, turned_over), no_margin)


def _drawdown(figures: _Figures, closed: Sequence[Copy], now: datetime) -> None:
    capital: Decimal | None = figures["capital"]
    deepest, deepest_part = ZERO, ZERO
    current, last_peak = ZERO, figures["since"]
    for moment, so_far, below in curve(closed):
        current = below
        if not below:
            last_peak = moment
            continue
        deepest = max(deepest, below)
        if capital is not None:
            peak = EXACT.add(so_far, below)
            deepest_part = max(deepest_part, RATIO.divide(below, EXACT.add(capital, peak)))
    under_water = max(microseconds(now - last_peak), 0) if current and last_peak else 0
    figures.update(
        max_drawdown=deepest,
        current_drawdown=current,
        days_under_water=ratio(under_water, _DAY),
    )
    part = None if capital is None else deepest_part
    figures.put("max_drawdown_percent", part, figures.reasons.get("roi_on_capital", NO_CAPITAL))
    figures.put(
        "recovery", ratio_or_none(figures["net_profit"], deepest), "no drawdown" if closed else NO_COPIES
    )


def _days(
    figures: _Figures, closed: Sequence[Copy], zone: tzinfo, minimum_days: int, minimum_copies: int
) -> None:
    days: list[tuple[date, Decimal]] = daily(closed, zone)
    figures["daily_series"] = tuple(days)
    figures.put("best_day", max((result for _, result in days), default=None), NO_COPIES)
    figures.put("worst_day", min((result for _, result in days), default=None), NO_COPIES)
    if len(days) < minimum_days or len(closed) < minimum_copies:
        reason = (
            f"needs {minimum_days} days and {minimum_copies} closed copies; "
            f"here are {len(days)} days and {len(closed)} copies"
        )
        figures.put("sharpe", None, reason)
        figures.put("sortino", None, reason)
        return
    returns = daily_returns(days, figures["capital"])
    if returns is None:
        reason = figures.reasons.get("roi_on_capital", USED_UP)
        figures.put("sharpe", None, reason)
        figures.put("sortino", None, reason)
        return
    figures.put("sharpe", *sharpe(returns))
    figures.put("sortino", *sortino(returns))


def _times(figures: _Figures, closed: Sequence[Copy]) -> None:
    gains, losses = longest_runs(closed)
    figures.update(
        holding=holding(closed),
        holding_winners=holding(copy for copy in closed if copy.net > 0),
        holding_losers=holding(copy for copy in closed if copy.net < 0),
        longest_win_streak=gains,
        longest_loss_streak=losses,
    )
    no_time = "no time passed between the first open and the last close" if closed else NO_COPIES
    figures.put("time_in_market", time_in_market(closed), no_time)
