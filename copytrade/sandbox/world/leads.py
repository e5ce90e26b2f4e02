"""What the lead traders do: one endless tape of orders for each, by his style.

A tape depends on (seed, start, speed) alone, never on the followers, so all accounts and all resets of a
world share it. An order is drawn with its whole life, since the price path is known: a trader who is "right"
has simply looked ahead. Sizes are in base coin, times in ms, prices exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from heapq import merge
from operator import attrgetter
from random import Random
from typing import NamedTuple

from .prices import DAY, HOUR, MINUTE, SECOND, Market, origin_of
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


def swing(hand: Hand, now: int, end: int | None) -> Iterator[LeadOrder]:
    """Positions of hours to a day, stops always set, profits taken at about one and a half of the risk."""
    while True:
        now += hand.wait(24 * HOUR)
        if end is not None and now >= end:
            return
        symbol = hand.rng.choice(hand.trader.symbols)
        leave = now + hand.between(3 * HOUR, 30 * HOUR)
        side = hand.side(symbol, now, leave, hand.trader.right)
        stop = 5 * CONTRACTS[symbol].sigma * hand.rng.uniform(0.8, 1.2)
        order = hand.order(
            symbol, side, now, leave, notional=hand.trader.notional, take=stop * 1.6, stop=stop
        )
        yield order
        now = order.closed_ms


def core(hand: Hand, now: int, end: int | None) -> Iterator[LeadOrder]:
    """One position at a time, held for days, the next one soon after."""
    while end is None or now < end:
        now += hand.wait(2 * HOUR)
        symbol = hand.rng.choice(hand.trader.symbols[:3])
        leave = now + hand.between(4 * DAY, 14 * DAY)
        side = hand.side(symbol, now, leave, hand.trader.right)
        order = hand.order(symbol, side, now, leave, notional=hand.trader.notional * 0.4, leverage=3)
        yield order
        now = order.closed_ms


def scalp(hand: Hand, now: int, end: int | None) -> Iterator[LeadOrder]:
    """Many positions of minutes, in bursts when he is awake (06:00 to 22:00 UTC)."""
    while end is None or now < end:
        now += hand.wait(2.6 * HOUR)
        if not 6 <= now // HOUR % 24 < 22:
            now = now // DAY * DAY + (30 if now // HOUR % 24 >= 22 else 6) * HOUR + hand.wait(HOUR)
        symbol = hand.rng.choice(hand.trader.symbols)
        leave = now + hand.between(6 * MINUTE, 75 * MINUTE)
        side = hand.side(symbol, now, leave, hand.trader.right)
        order = hand.order(symbol, side, now, leave, notional=hand.trader.notional, take=0.02, stop=0.012)
        yield order
        now = order.closed_ms


def harbor(hand: Hand, now: int, end: int | None) -> Iterator[LeadOrder]:
    """Positions of days with little leverage. The last one before he falls silent is never closed."""
    last = (end if end is not None else now + 10_000 * DAY) - 2 * DAY
    while now < last:
        symbol = hand.rng.choice(hand.trader.symbols)
        leave = now + hand.between(0.6 * DAY, 4 * DAY)
        if leave + DAY >= last:
            break
        side = hand.side(symbol, now, leave, hand.trader.right)
        order = hand.order(symbol, side, now, leave, notional=hand.trader.notional, take=0.09, stop=0.05)
        yield order
        now = order.closed_ms + hand.wait(0.5 * DAY)
    yield hand.order("BTCUSDT", "LONG", last, None, notional=hand.trader.notional, leverage=2)


_LIVE_COST = 0.0014  # two fees and some slippage
SIDES = ("LONG", "SHORT")
STORMS = (-161, -104, -41)  # days from the origin; then every 60 days
_STORM = 7 * DAY


def _in_storm(since: int) -> bool:
    if since < 0:
        return any(day * DAY <= since < day * DAY + _STORM for day in STORMS)
    return since % (60 * DAY) >= 53 * DAY


def martingale(hand: Hand, now: int, end: int | None) -> Iterator[LeadOrder]:
    """Takes every small profit, never a loss: what goes wrong is kept, and added to, until it must go.

    In a storm he loses what he had won, and somewhat more, at one blow.
    """
    won = 0.0  # so far, in parts of an order
    while end is None or now < end:
        now += hand.wait(24 * HOUR)
        symbol = hand.rng.choice(hand.trader.symbols)
        if _in_storm(now - hand.origin_ms):
            blows = [
                _group(hand, _first(hand, name, side, now)) for name in hand.trader.symbols for side in SIDES
            ]
            group = min(blows, key=lambda blow: abs(won + _result(blow) + 0.6))
        else:
            both = [_first(hand, symbol, side, now) for side in SIDES]
            lucky = hand.rng.random() < hand.trader.right
            group = _group(hand, min(both, key=_closed_ms) if lucky else hand.rng.choice(both))
        yield from group
        won += _result(group)
        now = group[0].closed_ms


def _closed_ms(order: LeadOrder) -> int:
    return order.closed_ms


def _result(group: list[LeadOrder]) -> float:
    """What orders of one size bring together, in parts of that size, after about the costs of a copy."""
    total = 0.0
    for order in group:
        left = order.price if order.end is None else order.end.price
        gain = float((left - order.price) / order.price) * (1 if order.side == "LONG" else -1)
        total += (gain if gain < 0 else gain * 0.9) - 0.0013
    return total


def _first(hand: Hand, symbol: str, side: str, now: int) -> LeadOrder:
    sigma = CONTRACTS[symbol].sigma
    return hand.order(
        symbol, side, now, now + 17 * DAY,
        notional=hand.trader.notional, take=max(0.0055, sigma), stop=26 * sigma,
    )  # fmt: skip


def _group(hand: Hand, first: LeadOrder) -> list[LeadOrder]:
    """An order and what is added while it goes wrong: each add sold at its own small profit, the rest given up."""
    group = [replace(first, stop_loss=None)]  # nobody sees the point where he gives up
    sigma, end = CONTRACTS[first.symbol].sigma, first.closed_ms
    up = 1 if first.side == "LONG" else -1
    since = first.open_ms
    for add in range(1, 8):
        level = CONTRACTS[first.symbol].price(float(first.price) * (1 - up * add * 3.2 * sigma))
        upper, lower = (None, level) if up > 0 else (level, None)
        hit = hand.market.crossing(first.symbol, since + SECOND, end, upper, lower)
        if hit is None or hit[0] + HOUR >= end:
            break
        since = hit[0] + add
        added = hand.order(
            first.symbol, first.side, since, end,
            notional=hand.trader.notional * 1.2**add, take=max(0.008, 1.5 * sigma),
        )  # fmt: skip
        group.append(added)
    return group


def live(hand: Hand, start_ms: int, speed: float) -> Iterator[LeadOrder]:
    """The stream from the start on: small, short positions, one each `live_gap_s` / speed seconds.

    The longer the world runs the rarer they get (to a sixth), so that a demo left alone does not drown.
    """
    now = start_ms
    while True:
        slower = min(6.0, 1 + (now - start_ms) / (4 * HOUR))
        gap = hand.trader.live_gap_s * SECOND * slower / speed
        now += int(hand.rng.expovariate(1 / gap)) + 1
        yield _live_order(hand, now, max(8 * SECOND, gap))


def _live_order(hand: Hand, now: int, gap: float) -> LeadOrder:
    """An order whose result is what suits the trader, as near as the next minutes allow."""
    mean, deviation, blow = hand.trader.live_result
    wanted = _LIVE_COST + (-0.005 if hand.rng.random() < blow else hand.rng.gauss(mean, deviation))
    best = (math.inf, "", "", now)
    for _ in range(12):
        symbol = hand.rng.choice(hand.trader.symbols)
        leave = now + int(gap * hand.rng.uniform(3, 14))
        move = hand.move(symbol, now, leave)
        best = min(
            best, (abs(move - wanted), symbol, "LONG", leave), (abs(-move - wanted), symbol, "SHORT", leave)
        )
    _, symbol, side, leave = best
    return hand.order(symbol, side, now, leave, notional=hand.trader.live_notional, live=True)


STYLES: dict[str, Callable[[Hand, int, int | None], Iterator[LeadOrder]]] = {
    "swing": swing,
    "scalp": scalp,
    "harbor": harbor,
    "martingale": martingale,
}


class Tape:
    """The orders of one trader in opening order, written as far as anybody asked. No two open at the same ms."""

    def __init__(self, trader: Trader, market: Market, seed: int, start_ms: int, speed: float) -> None:
        self.orders: list[LeadOrder] = []
        first, last = trader.active
        origin = origin_of(start_ms)
        begin = origin + int(first * DAY)
        end = None if last is None else origin + int(last * DAY)

        def hand(name: str) -> Hand:
            return Hand(trader, market, Random(f"{seed}:{trader.trader_id}:{name}"), origin)

        streams = [STYLES[trader.style](hand(str(slot)), begin, end) for slot in range(trader.slots)]
        if trader.core:
            streams.append(core(hand("core"), begin, end))
        if trader.live_gap_s and speed > 0:
            streams.append(live(hand("live"), start_ms, speed))
        self._source = merge(*streams, key=attrgetter("open_ms"))
        self._done = False

    def ahead(self, index: int) -> LeadOrder | None:
        """The order at `index`, or None when the trader has fallen silent before it."""
        while index >= len(self.orders) and not self._done:
            order = next(self._source, None)
            if order is None:
                self._done = True
                break
            last = self.orders[-1].open_ms if self.orders else 0
            self.orders.append(order if order.open_ms > last else replace(order, open_ms=last + 1))
        return self.orders[index] if index < len(self.orders) else None
