"""Arithmetic: sums lose no digit, quotients have 50."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Context, Decimal, localcontext

EXACT = Context(prec=1000)  # sums and products of money: far more digits than an exchange sends
RATIO = Context(prec=50)
ZERO = Decimal(0)
HOUR = 3_600_000_000  # microseconds
_MICROSECOND = timedelta(microseconds=1)


def total(values: Iterable[Decimal]) -> Decimal:
    """The exact sum."""
    with localcontext(EXACT):
        return sum(values, ZERO)


def ratio(numerator: Decimal | int, denominator: Decimal | int) -> Decimal:
    """The quotient, to 50 digits. The denominator is not zero."""
    return RATIO.divide(Decimal(numerator), Decimal(denominator))


def ratio_or_none(numerator: Decimal | int | None, denominator: Decimal | int | None) -> Decimal | None:
    """The quotient, or None where a part is unknown or the denominator is zero."""
    if numerator is None or not denominator:
        return None
    return ratio(numerator, denominator)


def microseconds(span: timedelta) -> int:
    return span // _MICROSECOND


def percentile(ordered: Sequence[int], percent: int) -> Decimal:
    """Linear interpolation between the closest ranks of values in ascending order, at least one."""
    whole, hundredths = divmod((len(ordered) - 1) * percent, 100)
    low = ordered[whole]
    high = ordered[min(whole + 1, len(ordered) - 1)]
    return ratio(low * 100 + (high - low) * hundredths, 100)
