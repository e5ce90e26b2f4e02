"""The style that hides its losses until they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .leads import Hand, LeadOrder
from .prices import DAY, HOUR, SECOND
from .symbols import CONTRACTS

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
