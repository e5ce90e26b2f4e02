"""An order of a lead trader, and the hand that draws it.

An order is drawn with its whole life, since the price path is known: a trader who is "right" has simply looked
ahead. Sizes are in base coin, times in ms, prices exact. The styles are in styles.py and martingale.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import NamedTuple

from .prices import SECOND, Market
from .symbols import CONTRACTS
from .traders import Trader


class End(NamedTuple):
    """When (ms) and at which price an order was closed."""

    ms: int
    price: Decimal


@dataclass(frozen=True, slots=True)
class LeadOrder:
    """One order of a lead trader. `end` None: he never closes it."""

    trader: Trader
    symbol: str
    side: str  # LONG or SHORT
    leverage: int
    size: Decimal
    price: Decimal
    open_ms: int
    end: End | None
    take_profit: Decimal | None = None  # trigger prices
    stop_loss: Decimal | None = None
    live: bool = False

    @property
    def closed_ms(self) -> int:
        """When the trader is free again: the close, or the opening of an order that he never closes."""
        return self.open_ms if self.end is None else self.end.ms


class Hand:
    """A trader at work in one slot: his dice, and the market that he looks at."""

    def __init__(self, trader: Trader, market: Market, rng: Random, origin_ms: int) -> None:
        self.trader = trader
        self.market = market
        self.rng = rng
        self.origin_ms = origin_ms

    def wait(self, mean_ms: float) -> int:
        """A gap between orders, never quite nothing."""
        return int(self.rng.expovariate(1 / mean_ms)) + 2 * SECOND

    def between(self, low: float, high: float) -> int:
        """A duration, ms, more often near the lower end."""
        return int(low * (high / low) ** self.rng.random())

    def move(self, symbol: str, open_ms: int, close_ms: int) -> float:
        return self.market.log(symbol, close_ms) - self.market.log(symbol, open_ms)

    def side(self, symbol: str, open_ms: int, close_ms: int, right: float) -> str:
        """The side that the move will favour, with probability `right`."""
        up = self.move(symbol, open_ms, close_ms) > 0
        return "LONG" if up == (self.rng.random() < right) else "SHORT"

    def order(
        self,
        symbol: str,
        side: str,
        open_ms: int,
        close_ms: int | None,
        *,
        notional: float,
        take: float = 0,
        stop: float = 0,
        leverage: int | None = None,
        live: bool = False,
    ) -> LeadOrder:
        """An order of about `notional` USDT, closed at `close_ms` or earlier at `take` / `stop` (fractions)."""
        contract = CONTRACTS[symbol]
        price = self.market.price(symbol, open_ms)
        size = contract.size(Decimal(round(notional * self.rng.uniform(0.7, 1.3))) / price)
        up = 1 if side == "LONG" else -1
        target = contract.price(float(price) * (1 + up * take)) if take else None
        guard = contract.price(float(price) * (1 - up * stop)) if stop else None
        end = None if close_ms is None else self._end(symbol, open_ms, close_ms, target, guard)
        leverage = leverage or self.rng.choice(self.trader.leverages)
        return LeadOrder(
            self.trader, symbol, side, leverage, max(size, contract.step), price,
            open_ms, end, target, guard, live,
        )  # fmt: skip

    def _end(
        self, symbol: str, open_ms: int, close_ms: int, take: Decimal | None, stop: Decimal | None
    ) -> End:
        """At a trigger that the price reaches before `close_ms`, else then at the market."""
        levels = [level for level in (take, stop) if level is not None]
        if levels:
            price = self.market.price(symbol, open_ms)
            upper = next((level for level in levels if level > price), None)
            lower = next((level for level in levels if level < price), None)
            hit = self.market.crossing(symbol, open_ms + SECOND, close_ms, upper, lower)
            if hit is not None:
                return End(*hit)
        return End(close_ms, self.market.price(symbol, close_ms))
