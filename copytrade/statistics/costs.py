"""Where the difference between realized and net went: opening fees, closing fees, and what nobody itemises.

The exchange reports a realized result and a net one, and one fee: that of opening. It does not say what its
realized result already contains. So each account is asked for its own data: where both prices are known, the
result of the prices alone can be computed, and held against what was reported (`support`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from .exact import EXACT, ZERO, ratio_or_none, total

# What realizedPnl may already contain, each with the sentence that says so.
NOTHING, OPEN_FEE, BOTH_FEES = "nothing", "open_fee", "both_fees"
READINGS = {
    NOTHING: "The exchange's realized result contains no costs: it is the result of the prices alone.",
    OPEN_FEE: "The exchange's realized result already contains the opening fee.",
    BOTH_FEES: "The exchange's realized result already contains the opening and the closing fee.",
}
UNDECIDED = "What the exchange's realized result contains cannot be told from these copies yet."
LEAST_COPIES = 20  # that can tell one reading from another
LEAST_SHARE = Decimal("0.9")
# Part of the opening fee by which a reported result may miss a reading: prices come rounded.
TOLERANCE = Decimal("0.2")
# An estimated fee has 12 places, cut off: so that a database and this file come to the same digits.
PLACES = Decimal("1e12")


@dataclass(frozen=True)
class Fill:
    """A closed copy's prices (USDT), sizes (base coin), fee and results (USDT). None: not reported."""

    side: str
    open_price: Decimal | None
    open_size: Decimal | None
    open_fee: Decimal | None
    close_price: Decimal | None
    close_size: Decimal | None
    realized: Decimal | None
    net: Decimal


@dataclass(frozen=True)
class Support:
    """How many copies agree with each reading of realizedPnl, of how many that could tell. `decided`: the
    reading that at least 90 % of at least 20 of them agree with; None while it is open."""

    copies: int
    agreeing: dict[str, int]

    @property
    def decided(self) -> str | None:
        best = max(READINGS, key=lambda name: self.agreeing.get(name, 0))
        share = ratio_or_none(self.agreeing.get(best, 0), self.copies)
        enough = self.copies >= LEAST_COPIES and share is not None and share >= LEAST_SHARE
        return best if enough else None

    @property
    def sentence(self) -> str:
        """What was decided, and by how many copies of how many."""
        name = self.decided
        if name is None:
            return f"{UNDECIDED} {self.copies} can tell, and {LEAST_COPIES} that agree are needed."
        return f"{READINGS[name]} {self.agreeing[name]} of {self.copies} copies that can tell agree."


@dataclass(frozen=True)
class Costs:
    """The cost gap (gross minus net, USDT) and its parts; they add up to it exactly.

    `open_fees`: reported by the exchange. `close_fees`: estimated from the rate of each copy's own opening fee.
    Either is 0 where the realized result already contains it (`contained`: the sum of those, for the words).
    `unexplained`: the rest: funding, profit share, and what the estimate misses. `unestimated`: copies whose
    closing fee cannot be estimated."""

    gap: Decimal
    open_fees: Decimal
    close_fees: Decimal
    unexplained: Decimal
    contained: Decimal
    unestimated: int


def close_fee(fill: Fill) -> Decimal | None:
    """The closing fee at the rate that the opening cost, in USDT, to 12 places; None where a part of that is not
    known."""
    opened = _product(fill.open_price, fill.open_size)
    closed = _product(fill.close_price, fill.close_size)
    if not opened or closed is None or fill.open_fee is None:
        return None
    cost = EXACT.multiply(EXACT.multiply(fill.open_fee, closed), PLACES)
    return EXACT.scaleb(EXACT.divide_int(cost, opened), -12)


def price_result(fill: Fill) -> Decimal | None:
    """What the prices alone brought, in USDT; None where one is unknown or the side is neither long nor short."""
    sign = {"LONG": 1, "SHORT": -1}.get(fill.side)
    if sign is None or fill.open_price is None or fill.close_price is None or fill.close_size is None:
        return None
    moved = EXACT.subtract(fill.close_price, fill.open_price)
    return EXACT.multiply(EXACT.multiply(moved, fill.close_size), Decimal(sign))


def readings_met(fill: Fill) -> set[str] | None:
    """The readings of realizedPnl that this copy agrees with; None when it cannot tell them apart."""
    alone, fee, closing = price_result(fill), fill.open_fee, close_fee(fill)
    if alone is None or not fee or fee < 0 or closing is None or fill.realized is None:
        return None
    expected = {
        NOTHING: alone,
        OPEN_FEE: EXACT.subtract(alone, fee),
        BOTH_FEES: EXACT.subtract(EXACT.subtract(alone, fee), closing),
    }
    near = EXACT.multiply(fee, TOLERANCE)
    return {name for name, value in expected.items() if abs(EXACT.subtract(fill.realized, value)) <= near}


def support(fills: Iterable[Fill]) -> Support:
    """What the copies say of realizedPnl; in any order."""
    met = [found for fill in fills if (found := readings_met(fill)) is not None]
    return Support(len(met), {name: sum(name in found for found in met) for name in READINGS})


def joined(parts: Iterable[Support]) -> Support:
    """The support of all parts together."""
    held = list(parts)
    agreeing = {name: sum(part.agreeing.get(name, 0) for part in held) for name in READINGS}
    return Support(sum(part.copies for part in held), agreeing)


def split(fills: Iterable[Fill], decided: str | None) -> Costs:
    """The parts of the cost gap of these copies. `decided`: what realizedPnl contains; None counts as nothing."""
    held = list(fills)
    gap = total(
        EXACT.subtract(fill.net if fill.realized is None else fill.realized, fill.net) for fill in held
    )
    opening = total(fill.open_fee or ZERO for fill in held)
    estimates = [close_fee(fill) for fill in held]
    closing = total(fee for fee in estimates if fee is not None)
    return parts(gap, opening, closing, sum(fee is None for fee in estimates), decided)


def parts(gap: Decimal, opening: Decimal, closing: Decimal, unestimated: int, decided: str | None) -> Costs:
    """The same from sums: of gross minus net, of opening fees, of estimated closing fees (USDT)."""
    in_opening = opening if decided in (OPEN_FEE, BOTH_FEES) else ZERO
    in_closing = closing if decided == BOTH_FEES else ZERO
    open_fees, close_fees = EXACT.subtract(opening, in_opening), EXACT.subtract(closing, in_closing)
    rest = EXACT.subtract(EXACT.subtract(gap, open_fees), close_fees)
    return Costs(gap, open_fees, close_fees, rest, EXACT.add(in_opening, in_closing), unestimated)


def _product(price: Decimal | None, size: Decimal | None) -> Decimal | None:
    return None if price is None or size is None else EXACT.multiply(price, size)
