"""From closed copies to every figure of the summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Any

from .exact import EXACT, RATIO, ZERO, microseconds, ratio, ratio_or_none
from .parts import BriefParts, Parts, parts_of, true_up_before
from .returns import USED_UP, daily_returns, sharpe, sortino
from .series import daily, ordered
from .types import Brief, Copy, Summary

MINIMUM_DAYS = 30
MINIMUM_COPIES = 20
ON_PEAK_MARGIN = "on the highest margin held at once"
ON_GIVEN = "on the capital given"
NO_COPIES = "no closed copies"
NO_CAPITAL = "no capital to measure against"
NOT_YET = "not worked out on this capital yet"
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Returns:
    """The two annualised figures on one capital base, each with a reason where it is None."""

    capital: Decimal | None
    sharpe: Decimal | None
    sharpe_reason: str
    sortino: Decimal | None
    sortino_reason: str


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
    days = daily(closed, zone)
    return from_parts(
        parts_of(closed, days, now),
        capital=capital,
        capital_label=capital_label,
        now=now,
        net_before=net_before,
        reported_total=reported_total,
        days=days,
        minimum_days=minimum_days,
        minimum_copies=minimum_copies,
    )


def from_parts(
    parts: Parts,
    *,
    capital: Decimal | None,
    capital_label: str = "",
    now: datetime,
    net_before: Decimal = ZERO,
    reported_total: Decimal | None = None,
    days: Sequence[tuple[date, Decimal]] | None = None,
    returns: Returns | None = None,
    minimum_days: int = MINIMUM_DAYS,
    minimum_copies: int = MINIMUM_COPIES,
) -> Summary:
    """The summary of parts that were worked out before; the other arguments are those of `summarise`.

    `days`: the daily series, where it is at hand; without it the summary has none, and its Sharpe and
    Sortino are those of `returns`, if they are on the same capital.
    """
    figures = _Figures()
    _brief(figures, parts, capital, capital_label, now, net_before)
    _money(figures, parts, reported_total)
    _results(figures, parts)
    _margins(figures, parts)
    _drawdown(figures, parts, now)
    _days(figures, parts, days, returns, minimum_days, minimum_copies)
    _times(figures, parts)
    return Summary(**figures, reasons=figures.reasons)


def brief_from_parts(
    parts: BriefParts,
    *,
    capital: Decimal | None,
    capital_label: str = "",
    now: datetime,
    net_before: Decimal = ZERO,
) -> Brief:
    """What from_parts makes of all parts, of the figures that Brief has: for a table of many lines."""
    figures = _Figures()
    _brief(figures, parts, capital, capital_label, now, net_before)
    return Brief(**figures, reasons=figures.reasons)


def returns_of(days: Sequence[tuple[date, Decimal]], capital: Decimal | None) -> Returns:
    """Sharpe and Sortino of a daily series on this capital, whatever its length."""
    found = daily_returns(days, capital)
    if found is None:
        return Returns(capital, None, USED_UP, None, USED_UP)
    return Returns(capital, *sharpe(found), *sortino(found))


def _brief(
    figures: _Figures,
    parts: BriefParts,
    capital: Decimal | None,
    label: str,
    now: datetime,
    net_before: Decimal,
) -> None:
    """What Brief has, of which Summary has more."""
    # Parts of yesterday hold nothing that closed since today's true-up.
    recent = parts.provisional_from == true_up_before(now)
    figures.update(
        closed_copies=parts.closed_copies,
        wins=parts.wins,
        since=parts.since,
        until=parts.until,
        net_profit=parts.net_profit,
        provisional_copies=parts.provisional_copies if recent else 0,
        provisional_net=parts.provisional_net if recent else ZERO,
        max_drawdown=parts.max_drawdown,
    )
    nothing, no_losses = _undecided(parts)
    figures.put("win_rate", ratio_or_none(parts.wins, parts.wins + parts.losses), nothing)
    figures.put("profit_factor", ratio_or_none(parts.won, parts.lost), no_losses)
    _capital(figures, parts, capital, label, net_before)
    _deepest(figures, parts)


def _money(figures: _Figures, parts: Parts, reported: Decimal | None) -> None:
    gap = EXACT.subtract(parts.gross, parts.net_profit)
    figures.update(
        gross=parts.gross,
        cost_gap=gap,
        open_fees=parts.open_fees,
        unexplained_costs=EXACT.subtract(gap, parts.open_fees),
        reported_total=reported,
    )
    difference = None if reported is None else EXACT.subtract(parts.net_profit, reported)
    figures.put("reconciliation_gap", difference, "the exchange's own total is not known")


def _undecided(parts: BriefParts) -> tuple[str, str]:
    """Why there are neither wins nor losses, and why there are no losses."""
    nothing = NO_COPIES if not parts.closed_copies else "only break-even copies"
    return nothing, "no losses" if parts.wins else nothing


def _results(figures: _Figures, parts: Parts) -> None:
    n, wins, losses, won, lost = parts.closed_copies, parts.wins, parts.losses, parts.won, parts.lost
    nothing, no_losses = _undecided(parts)
    figures.update(losses=losses, break_even=n - wins - losses)
    figures.put("average_win", ratio_or_none(won, wins), "no wins" if n else nothing)
    figures.put("average_loss", ratio_or_none(lost, losses), "no losses" if n else nothing)
    # From the sums, not from the rounded averages: one division rounds less than three.
    payoff = ratio(EXACT.multiply(won, losses), EXACT.multiply(lost, wins)) if wins and losses else None
    figures.put("payoff", payoff, no_losses if not losses else "no wins")
    figures.put("expectancy", ratio_or_none(parts.net_profit, n), NO_COPIES)


def capital_base(parts: BriefParts, capital: Decimal | None, net_before: Decimal) -> Decimal | None:
    """What results are measured against at the start of the period; None where that is not above 0."""
    return _base(capital, parts.peak_margin, net_before)


def share_of_fall(
    current: Decimal, net: Decimal, capital: Decimal | None, peak_margin: Decimal
) -> Decimal | None:
    """The current drawdown of all copies as a part of C + peak, as max drawdown % is of the deepest; None without a
    base above 0. `net`: of all copies; the high point is the fall above it."""
    base = _base(capital, peak_margin, ZERO)
    return None if base is None else ratio_or_none(current, EXACT.add(base, EXACT.add(net, current)))


def _base(capital: Decimal | None, peak_margin: Decimal, net_before: Decimal) -> Decimal | None:
    known = capital if capital is not None and capital > 0 else peak_margin
    base = EXACT.add(known, net_before)
    return base if base > 0 else None


def _capital(
    figures: _Figures, parts: BriefParts, capital: Decimal | None, label: str, net_before: Decimal
) -> None:
    known = capital is not None and capital > 0
    figures.update(
        capital=capital_base(parts, capital, net_before),
        capital_label=(label or ON_GIVEN) if known else ON_PEAK_MARGIN,
    )
    no_capital = NO_CAPITAL if parts.closed_copies or known else NO_COPIES
    figures.put("roi_on_capital", ratio_or_none(parts.net_profit, figures["capital"]), no_capital)


def _margins(figures: _Figures, parts: Parts) -> None:
    net = parts.net_profit
    figures.update(peak_margin=parts.peak_margin, margin_turned_over=parts.margin_turned_over)
    no_margin = "no margin was held" if parts.closed_copies else NO_COPIES
    figures.put("roi_on_peak_margin", ratio_or_none(net, parts.peak_margin), no_margin)
    figures.put("roi_on_margin_turned_over", ratio_or_none(net, parts.margin_turned_over), no_margin)


def _deepest(figures: _Figures, parts: BriefParts) -> None:
    """The deepest fall as a part of the capital and of what had been earned on it by then."""
    capital, part = figures["capital"], None
    if capital is not None:
        falls = (RATIO.divide(below, EXACT.add(capital, peak)) for peak, below in parts.falls)
        part = max(falls, default=ZERO)
    figures.put("max_drawdown_percent", part, figures.reasons.get("roi_on_capital", NO_CAPITAL))


def _drawdown(figures: _Figures, parts: Parts, now: datetime) -> None:
    in_water = bool(parts.current_drawdown) and parts.last_peak is not None
    under_water = max(microseconds(now - parts.last_peak), 0) if in_water and parts.last_peak else 0
    figures.update(
        current_drawdown=parts.current_drawdown,
        days_under_water=ratio(under_water, _DAY),
    )
    figures.put(
        "recovery",
        ratio_or_none(parts.net_profit, parts.max_drawdown),
        "no drawdown" if parts.closed_copies else NO_COPIES,
    )


def _days(
    figures: _Figures,
    parts: Parts,
    days: Sequence[tuple[date, Decimal]] | None,
    returns: Returns | None,
    minimum_days: int,
    minimum_copies: int,
) -> None:
    figures["daily_series"] = tuple(days or ())
    figures.put("best_day", parts.best_day, NO_COPIES)
    figures.put("worst_day", parts.worst_day, NO_COPIES)
    found = _annualised(figures, parts, days, returns, minimum_days, minimum_copies)
    figures.put("sharpe", found.sharpe, found.sharpe_reason)
    figures.put("sortino", found.sortino, found.sortino_reason)


def _annualised(
    figures: _Figures,
    parts: Parts,
    days: Sequence[tuple[date, Decimal]] | None,
    returns: Returns | None,
    minimum_days: int,
    minimum_copies: int,
) -> Returns:
    capital: Decimal | None = figures["capital"]
    n = parts.closed_copies
    if parts.days < minimum_days or n < minimum_copies:
        reason = (
            f"needs {minimum_days} days and {minimum_copies} closed copies; "
            f"here are {parts.days} days and {n} copies"
        )
        return Returns(capital, None, reason, None, reason)
    if capital is None:
        reason = figures.reasons["roi_on_capital"]
        return Returns(capital, None, reason, None, reason)
    if returns is not None and returns.capital == capital:
        return returns
    if days is None:
        return Returns(capital, None, NOT_YET, None, NOT_YET)
    return returns_of(days, capital)


def _times(figures: _Figures, parts: Parts) -> None:
    figures.update(
        holding=parts.holding,
        holding_winners=parts.holding_winners,
        holding_losers=parts.holding_losers,
        longest_win_streak=parts.longest_win_streak,
        longest_loss_streak=parts.longest_loss_streak,
    )
    no_time = "no time passed between the first open and the last close"
    figures.put("time_in_market", parts.time_in_market, no_time if parts.closed_copies else NO_COPIES)
