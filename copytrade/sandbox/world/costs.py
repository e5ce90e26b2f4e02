"""What a copy costs: taker fees, funding, and the trader's share of the profit.

All in USDT, exact, rounded half up to eight places as a venue would book them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from .prices import HOUR

TAKER = Decimal("0.0006")
SHARE = Decimal("0.10")
FUNDING_EVERY = 8 * HOUR
_CENT = Decimal("0.00000001")
_RATE = Decimal("0.000001")


def money(value: Decimal) -> Decimal:
    """A booked amount: eight places."""
    return value.quantize(_CENT, ROUND_HALF_UP)


def fee(price: Decimal, size: Decimal) -> Decimal:
    """The taker fee of a fill."""
    return money(price * size * TAKER)


def margin(price: Decimal, size: Decimal, leverage: int) -> Decimal:
    """price * size / leverage (open-points.md, "Values and meanings")."""
    return money(price * size / leverage)


def realized(side: str, entry: Decimal, leave: Decimal, size: Decimal) -> Decimal:
    """The gross result of a position."""
    return money((leave - entry) * size if side == "LONG" else (entry - leave) * size)


def rate(result: Decimal, base: Decimal) -> Decimal:
    """`result` as a fraction of `base`, six places; 0 without a base."""
    return (result / base).quantize(_RATE, ROUND_HALF_UP) if base else Decimal(0)


def funding(side: str, notional: Decimal, open_ms: int, close_ms: int) -> Decimal:
    """What was paid (received: negative) at the 00:00, 08:00 and 16:00 UTC that the copy lived through.

    Longs pay 0.01 % two times of three, shorts the third time.
    """
    paid = Decimal(0)
    first, last = open_ms // FUNDING_EVERY + 1, close_ms // FUNDING_EVERY
    if last >= first:
        third = last // 3 - (first - 1) // 3
        longs_pay = (last - first + 1) - third
        paid = notional * Decimal("0.0001") * (longs_pay - third)
    return money(paid if side == "LONG" else -paid)


def provisional_share(result: Decimal) -> Decimal:
    """The share taken when a copy closes: of the gross profit, nothing of a loss."""
    return money(result * SHARE) if result > 0 else Decimal(0)


def settled_shares(day: Sequence[tuple[Decimal, Decimal]]) -> list[Decimal]:
    """The shares of a day's copies of one trader, settled at 00:00 UTC.

    `day` holds (gross result, result after fees and funding) of each copy that closed that day. The share is
    due on what the day brought in all after costs, and is spread over the winners by their gross result.
    """
    earned = sum((after for _, after in day), Decimal(0))
    winners = sum((gross for gross, _ in day if gross > 0), Decimal(0))
    due = max(earned, Decimal(0)) * SHARE
    return [money(due * gross / winners) if gross > 0 else Decimal(0) for gross, _ in day]
