"""The same bet through several traders: open copies of one symbol and side that more than one trader holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from copytrade.models import Trader
from copytrade.statistics.exact import ZERO, ratio_or_none, total

from .orders import OpenOrder


@dataclass(frozen=True)
class Part:
    """What one trader holds of it. `share`: of the margin of all parts (0.5 is half)."""

    trader: Trader
    n: int
    margin: Decimal
    notional: Decimal
    share: Decimal


@dataclass(frozen=True)
class Overlap:
    """One symbol and side. `share`: of the margin of everything that is open. Money in USDT."""

    symbol: str
    side: str
    margin: Decimal
    notional: Decimal
    share: Decimal
    parts: list[Part]


def overlaps(shown: Sequence[OpenOrder]) -> list[Overlap]:
    """Where the same symbol and side is open through several traders, the most margin first. A trader that two
    connections follow counts as two: each has money of its own there."""
    held: dict[tuple[str, str], list[OpenOrder]] = {}
    for row in shown:
        held.setdefault((row.order.symbol, row.order.position_side), []).append(row)
    everything = total(row.margin for row in shown)
    found = [
        _overlap(symbol, side, rows, everything)
        for (symbol, side), rows in held.items()
        if len({row.trader.pk for row in rows}) > 1
    ]
    return sorted(found, key=lambda one: (-one.margin, one.symbol, one.side))


def _overlap(symbol: str, side: str, rows: Sequence[OpenOrder], everything: Decimal) -> Overlap:
    margin = total(row.margin for row in rows)
    by_trader: dict[int, list[OpenOrder]] = {}
    for row in rows:
        by_trader.setdefault(row.trader.pk, []).append(row)
    parts = [_part(own, margin) for own in by_trader.values()]
    parts.sort(key=lambda part: (-part.margin, str(part.trader)))
    share = ratio_or_none(margin, everything) or ZERO
    return Overlap(symbol, side, margin, _notional(rows), share, parts)


def _part(rows: Sequence[OpenOrder], whole: Decimal) -> Part:
    margin = total(row.margin for row in rows)
    return Part(rows[0].trader, len(rows), margin, _notional(rows), ratio_or_none(margin, whole) or ZERO)


def _notional(rows: Sequence[OpenOrder]) -> Decimal:
    return total(row.notional for row in rows if row.notional is not None)
