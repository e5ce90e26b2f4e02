"""What a lead trader does: one endless tape of orders, written as far as anybody asked.

A tape depends on (seed, start, speed) alone, never on the followers, so that all accounts and all resets of a
world share it.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import merge
from operator import attrgetter
from random import Random

from .leads import Hand, LeadOrder
from .prices import DAY, Market, origin_of
from .styles import STYLES, core, live
from .traders import Trader


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
