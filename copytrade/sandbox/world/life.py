"""The life of an opened copy: its triggers, how they are moved, and what closes it.

Pure. A copy closes with its trader, at its take profit or stop loss, when its account leaves the trader, or when
its margin is used up; whichever comes first on the price path.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import NamedTuple

from copytrade.rules import TraceConfig

from . import costs
from .leads import LeadOrder
from .prices import DAY, HOUR, SECOND, Market
from .symbols import CONTRACTS, Contract

_FAR = 400 * DAY  # how far ahead the triggers of a copy that nobody closes are followed
_USED_UP = Decimal("0.95")  # of what backs a copy: lost, and the exchange closes it


@dataclass(frozen=True, slots=True)
class Position:
    """What was filled: size in base coin, price in USDT."""

    symbol: str
    side: str
    leverage: int
    open_ms: int
    price: Decimal
    size: Decimal

    @property
    def sign(self) -> int:
        return 1 if self.side == "LONG" else -1

    def level(self, ratio: Decimal) -> Decimal | None:
        """The price at which the result is `ratio` of the margin; None below the first tick."""
        value = self.price * (1 + self.sign * ratio / self.leverage)
        tick = Decimal(1).scaleb(-CONTRACTS[self.symbol].digits)
        return value.quantize(tick, ROUND_HALF_UP) if value > tick else None


class Triggers(NamedTuple):
    """Trigger prices; None means off."""

    take: Decimal | None
    stop: Decimal | None


class Edit(NamedTuple):
    """The triggers from a moment (ms) on."""

    since_ms: int
    triggers: Triggers


@dataclass(frozen=True, slots=True)
class Ending:
    """How a copy ended. `reason`: trader, take_profit, stop_loss, liquidated, left."""

    ms: int
    price: Decimal
    reason: str
    realized: Decimal
    after_costs: Decimal  # less fees and funding, before the trader's share
    share: Decimal  # as taken at the close, not yet settled


def slippage(rng: Random) -> Decimal:
    """How much worse than the market a fill is, a fraction: mostly little, now and then a lot."""
    thin = rng.random()
    mean = 0.00008 if thin < 0.9 else 0.0009 if thin < 0.98 else 0.004
    return Decimal(min(rng.expovariate(1 / mean), 0.02)).quantize(Decimal("0.000001"))


def worse(contract: Contract, price: Decimal, slip: Decimal, *, buys: bool) -> Decimal:
    """The price of a fill: `slip` above the market for a buyer, below for a seller."""
    return contract.price(float(price * (1 + slip if buys else 1 - slip)))


def live(
    position: Position,
    config: TraceConfig,
    lead: LeadOrder,
    rng: Random,
    market: Market,
    *,
    backing: Decimal,
    until_ms: int | None,
) -> tuple[tuple[Edit, ...], Ending | None]:
    """(the triggers and their edits, the ending or None). `backing`: USDT that may be lost at most."""
    planned = _planned_end(lead, position.open_ms, until_ms, rng)
    first = Triggers(
        position.level(config.take_profit) if config.take_profit else None,
        position.level(-config.stop_loss) if config.stop_loss else None,
    )
    edits = [Edit(position.open_ms, first)]
    margin = costs.margin(position.price, position.size, position.leverage)
    ruin = position.level(-_USED_UP * backing / margin)
    horizon = planned[0] if planned else position.open_ms + _FAR
    hit = _walk(
        market, position, ruin, _edit_times(lead, rng, position.open_ms, horizon), rng, edits, horizon
    )
    if hit is not None:
        return tuple(edits), _ending(position, *hit)
    if planned is None:
        return tuple(edits), None
    closed_ms, reason = planned
    mark = market.price(position.symbol, closed_ms)
    price = worse(CONTRACTS[position.symbol], mark, slippage(rng), buys=position.side == "SHORT")
    return tuple(edits), _ending(position, closed_ms, price, reason)


def _planned_end(lead: LeadOrder, open_ms: int, until_ms: int | None, rng: Random) -> tuple[int, str] | None:
    """When and why the copy closes if nothing happens: with the trader, or when the account leaves him."""
    delay = rng.randrange(40, 700)
    if lead.end is not None:
        end = max(lead.end.ms + delay, open_ms + SECOND)
        if until_ms is None or end <= until_ms:
            return end, "trader"
    return None if until_ms is None else (max(until_ms, open_ms + SECOND), "left")


def _walk(
    market: Market,
    position: Position,
    ruin: Decimal | None,
    moments: list[int],
    rng: Random,
    edits: list[Edit],
    horizon: int,
) -> tuple[int, Decimal, str] | None:
    """Follows the price, appending the edits of the triggers; (ms, price, reason) of what is reached first."""
    since, triggers = edits[0]
    for moment in [*moments, horizon]:
        guard, why = _guard(position, triggers.stop, ruin)
        upper, lower = (triggers.take, guard) if position.sign > 0 else (guard, triggers.take)
        hit = market.crossing(position.symbol, since, moment, upper, lower)
        if hit is not None:
            return hit[0], hit[1], "take_profit" if hit[1] == triggers.take else why
        if moment < horizon:
            moved = _moved(market.price(position.symbol, moment), position, triggers, rng)
            if moved != triggers:
                triggers = moved
                edits.append(Edit(moment, moved))
        since = moment
    return None


def _guard(position: Position, stop: Decimal | None, ruin: Decimal | None) -> tuple[Decimal | None, str]:
    """The nearer of the stop loss and the price at which the margin is used up, and its name."""
    if stop is None or (ruin is not None and (ruin - stop) * position.sign > 0):
        return ruin, "liquidated"
    return stop, "stop_loss"


def _edit_times(lead: LeadOrder, rng: Random, since: int, end: int) -> list[int]:
    """When the triggers are moved: those of live copies all the time, one in four of the others now and then."""
    length = min(end - since, 30 * DAY)
    if lead.live:
        times, now, gap = [], since, max(40 * SECOND, length / 12)
        while (now := now + 8 * SECOND + int(rng.expovariate(1 / gap))) < since + length:
            times.append(now)
        return times
    if length < 2 * HOUR or rng.random() >= 0.25:
        return []
    return sorted(since + int(length * rng.uniform(0.15, 0.85)) for _ in range(rng.choice((1, 1, 2))))


def _moved(price: Decimal, position: Position, triggers: Triggers, rng: Random) -> Triggers:
    """The triggers after an edit: a stop follows a price that went well, else the target comes nearer.

    Never beyond the price, so that an edit closes nothing by itself; a trigger that is off stays off.
    """
    contract = CONTRACTS[position.symbol]
    part = Decimal(rng.randrange(10, 35)) / 100
    take, stop = triggers
    well = (price - position.price) * position.sign > 0
    if stop is not None and (well or take is None):
        nearer = contract.price(float(stop + (price - stop) * part))
        return Triggers(take, nearer) if well else triggers
    if take is not None:
        return Triggers(contract.price(float(take + (price - take) * part / 2)), stop)
    return triggers


def _ending(position: Position, ms: int, price: Decimal, reason: str) -> Ending:
    gross = costs.realized(position.side, position.price, price, position.size)
    fees = costs.fee(position.price, position.size) + costs.fee(price, position.size)
    paid = costs.funding(position.side, position.price * position.size, position.open_ms, ms)
    return Ending(ms, price, reason, gross, gross - fees - paid, costs.provisional_share(gross))
