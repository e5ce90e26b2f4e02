"""Whether two traders win and lose on the same days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext

from .exact import RATIO, ZERO

LEAST_DAYS = 20


@dataclass(frozen=True)
class Correlation:
    """`value`: from -1 (one wins when the other loses) to 1 (always together), over `n` days. None with a reason."""

    n: int
    value: Decimal | None
    reason: str = ""


def correlation(one: Sequence[tuple[date, Decimal]], other: Sequence[tuple[date, Decimal]]) -> Correlation:
    """Pearson's coefficient of two daily series, oldest first and without gaps.

    Counted are the days from the later beginning to the earlier last result, of which at least one has a result:
    days on which both did nothing would make any two traders look alike.
    """
    first, second = dict(_until_last_result(one)), dict(_until_last_result(other))
    days = [day for day in first if day in second and (first[day] or second[day])]
    if len(days) < LEAST_DAYS:
        return Correlation(len(days), None, f"fewer than {LEAST_DAYS} days in common")
    with localcontext(RATIO):
        xs, ys = _centred([first[day] for day in days]), _centred([second[day] for day in days])
        spread = sum((x * x for x in xs), ZERO) * sum((y * y for y in ys), ZERO)
        if not spread:
            return Correlation(len(days), None, "one of them had the same result every day")
        return Correlation(len(days), sum((x * y for x, y in zip(xs, ys, strict=True)), ZERO) / spread.sqrt())


def _until_last_result(days: Sequence[tuple[date, Decimal]]) -> Sequence[tuple[date, Decimal]]:
    """Without the days after the last result: a trader who was left goes on doing nothing."""
    last = max((place for place, (_, net) in enumerate(days) if net), default=-1)
    return days[: last + 1]


def _centred(values: Sequence[Decimal]) -> list[Decimal]:
    mean = sum(values, ZERO) / len(values)
    return [value - mean for value in values]
