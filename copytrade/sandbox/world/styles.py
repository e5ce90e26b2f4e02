"""How the lead traders trade: their normal, sparse schedule by style, and the live stream from the start on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from .leads import Hand, LeadOrder
from .martingale import martingale
from .prices import DAY, HOUR, MINUTE, SECOND
from .symbols import CONTRACTS

_LIVE_BEFORE = 5 * MINUTE  # the stream runs when the doors open
_LIVE_COST = 0.0014  # two fees and some slippage


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


def live(hand: Hand, start_ms: int, speed: float) -> Iterator[LeadOrder]:
    """The stream from the start on: small, short positions, one each `live_gap_s` / speed seconds.

    The longer the world runs the rarer they get (to a tenth), so that a demo left alone does not drown.
    """
    now = start_ms - _LIVE_BEFORE
    while True:
        slower = min(10.0, 1 + max(0, now - start_ms) / (4 * HOUR))
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
