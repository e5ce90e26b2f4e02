"""Daily returns and the two annualised figures made of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal, localcontext

from .exact import EXACT, RATIO, ZERO, ratio

DAYS_A_YEAR = Decimal(365)
USED_UP = "the capital was used up on a day of this time"


def daily_returns(days: Sequence[tuple[date, Decimal]], capital: Decimal | None) -> list[Decimal] | None:
    """Each day's result on the capital with everything earned before that day; None where that is
    unknown, 0 or less."""
    if capital is None:
        return None
    found, base = [], capital
    for _, result in days:
        if base <= 0:
            return None
        found.append(ratio(result, base) if result else ZERO)
        base = EXACT.add(base, result)
    return found


def sharpe(returns: Sequence[Decimal]) -> tuple[Decimal | None, str]:
    """Mean over sample deviation, times the root of 365; no risk-free rate. With a reason where None."""
    if len(returns) < 2:
        return None, "fewer than two days"
    with localcontext(RATIO):
        mean = sum(returns, ZERO) / len(returns)
        variance = sum(((value - mean) ** 2 for value in returns), ZERO) / (len(returns) - 1)
        if not variance:
            return None, "every day had the same result"
        return mean / variance.sqrt() * DAYS_A_YEAR.sqrt(), ""


def sortino(returns: Sequence[Decimal]) -> tuple[Decimal | None, str]:
    """Mean over the downside deviation of all days, times the root of 365. With a reason where None."""
    with localcontext(RATIO):
        downside = sum((value * value for value in returns if value < 0), ZERO)
        if not downside:
            return None, "no losing days"
        mean = sum(returns, ZERO) / len(returns)
        return mean / (downside / len(returns)).sqrt() * DAYS_A_YEAR.sqrt(), ""
