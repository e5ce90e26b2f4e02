"""A follower's copy of a trader's order, derived from the settings in force when it opened.

Pure: the same order, settings, means and account give the same copy. The copy carries its whole life (edits of
its triggers, close), since the price path is known; `book.py` decides what of it is visible at a moment.
Sources: interface.md, "Trace config object"; open-points.md, "Values and meanings" for what is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from copytrade.rules import FIXED, PER_SYMBOL, SPECIFY, CopySettings, TraceConfig

from . import costs
from .leads import LeadOrder
from .prices import DAY, HOUR, SECOND, Market
from .symbols import CONTRACTS

DEFAULT_LEVERAGE = 10
SMALLEST = Decimal(5)  # USDT of notional; less is not opened
_FAR = 1_000 * DAY  # how far a trigger of a copy that nobody closes is looked for
_NONE = Decimal(0)

Edit = tuple[int, Decimal | None, Decimal | None]  # from when (ms), take profit, stop loss


@dataclass(frozen=True, slots=True)
class Means:
    """What stands behind a copy: USDT free with this trader, and margin held, of him and of the symbol."""

    available: Decimal
    held: Decimal = _NONE
    held_symbol: Decimal = _NONE


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy with its whole life. `edits[0]` is the state of the triggers at the opening."""

    lead: LeadOrder
    tracking_no: int
    open_order_id: int
    close_order_id: int
    leverage: int
    open_ms: int
    size: Decimal
    fill: Decimal
    price: Decimal
    margin: Decimal
    open_fee: Decimal
    edits: tuple[Edit, ...]
    close_ms: int | None = None
    close_price: Decimal | None = None
    reason: str = ""  # trader, take_profit, stop_loss, left
    realized: Decimal = _NONE
    after_costs: Decimal = _NONE  # realized less fees and funding, before the trader's share
    share: Decimal = _NONE  # as taken at the close, not yet settled


@dataclass(frozen=True, slots=True)
class Skipped:
    """An order that was not copied, and why: symbol, slippage, too_small, max_hold, balance."""

    lead: LeadOrder
    reason: str


def order_id(kind: int, account: int, lead: LeadOrder) -> int:
    """A 64-bit id above 2^53: unique by kind, account, trader and the order's ms; growing with time."""
    epoch = (1_125_000_000_000, 1_101_000_000_000, 1_083_000_000_000, 1_047_000_000_000)[kind]
    return (lead.open_ms - epoch << 20) | (account << 8) | (lead.trader.number << 3) | kind


def config_for(settings: CopySettings, symbol: str) -> TraceConfig | None:
    """The config that rules copies of `symbol`, or None when it is not copied."""
    if settings.mode == PER_SYMBOL:
        return next((config for config in settings.configs if config.symbol == symbol), None)
    config = settings.configs[0]
    return config if config.symbols is None or symbol in config.symbols else None


def leverage_for(config: TraceConfig, lead: LeadOrder) -> int:
    """The leverage of a copy; the exchange's default of 10 where a kind leaves it unset."""
    long = lead.side == "LONG"
    if config.leverage_type == FIXED:
        return (config.long_leverage if long else config.short_leverage) or DEFAULT_LEVERAGE
    if config.leverage_type == SPECIFY:
        for item in config.custom_leverages:
            if item.symbol == lead.symbol:
                return (item.long_leverage if long else item.short_leverage) or DEFAULT_LEVERAGE
        return DEFAULT_LEVERAGE
    return lead.leverage


def derive_copy(
    lead: LeadOrder,
    settings: CopySettings,
    means: Means,
    *,
    market: Market,
    account: int,
    until_ms: int | None = None,
) -> Copy | Skipped:
    """The copy that `account` (a small number) gets of `lead`, or why there is none.

    `until_ms`: the account leaves the trader then, and what is open is closed.
    """
    config = config_for(settings, lead.symbol)
    if config is None or config.trace_value is None:
        return Skipped(lead, "symbol")
    tracking = order_id(0, account, lead)
    rng = Random(tracking)
    slip = _slippage(rng)
    if config.slippage and slip > config.slippage:
        return Skipped(lead, "slippage")
    contract = CONTRACTS[lead.symbol]
    open_ms = lead.open_ms + rng.randrange(40, 700)
    toward = 1 + slip if lead.side == "LONG" else 1 - slip
    price = contract.price(float(market.price(lead.symbol, open_ms) * toward))
    leverage = leverage_for(config, lead)
    size = _size(config, lead, price, leverage)
    fill, refusal = _fill(config, size, price, leverage, means, settings.mode == PER_SYMBOL, lead.symbol)
    if refusal:
        return Skipped(lead, refusal)
    if rng.random() < 0.05:  # thin book
        fill = contract.size(fill * Decimal(rng.randrange(35, 95)) / 100) or fill
    return _live(
        lead, config, rng, market, until_ms,
        (tracking, order_id(1, account, lead), order_id(2, account, lead)),
        (leverage, open_ms, size, fill, price),
    )  # fmt: skip


def _slippage(rng: Random) -> Decimal:
    """How much worse than the market the copy is filled, a fraction: mostly little, now and then a lot."""
    thin = rng.random()
    mean = 0.00008 if thin < 0.9 else 0.0009 if thin < 0.98 else 0.004
    return Decimal(min(rng.expovariate(1 / mean), 0.02)).quantize(Decimal("0.000001"))


def _size(config: TraceConfig, lead: LeadOrder, price: Decimal, leverage: int) -> Decimal:
    """The size wanted, base coin: a multiple of the trader's, or what a fixed margin buys."""
    assert config.trace_value is not None
    wanted = config.trace_value * (lead.size if config.trace_type == "percent" else leverage / price)
    return CONTRACTS[lead.symbol].size(wanted)


def _fill(
    config: TraceConfig,
    size: Decimal,
    price: Decimal,
    leverage: int,
    means: Means,
    per_symbol: bool,
    symbol: str,
) -> tuple[Decimal, str]:
    """(size filled, "") or (0, why not): within the holding limit and the balance, whole steps."""
    if size * price < SMALLEST:
        return _NONE, "too_small"
    room, reason = max(means.available, _NONE), "balance"
    if config.max_hold is not None:
        left = config.max_hold - (means.held_symbol if per_symbol else means.held)
        if left < room:
            room, reason = left, "max_hold"
    # a step of rounding is left, so that margin and fee stay inside the limit
    affordable = CONTRACTS[symbol].size(max(room, _NONE) * leverage / price)
    fill = min(size, affordable)
    if fill < size and (fill * 5 < size or fill * price < SMALLEST):
        return _NONE, reason
    return fill, ""


def _triggers(
    config: TraceConfig, symbol: str, side: str, price: Decimal, leverage: int
) -> tuple[Decimal | None, Decimal | None]:
    """Trigger prices at which the result is the ratio of the margin; 0 and None mean off."""
    contract = CONTRACTS[symbol]
    up = 1 if side == "LONG" else -1

    def at(ratio: Decimal | None, direction: int) -> Decimal | None:
        if not ratio:
            return None
        value = price * (1 + direction * ratio / leverage)
        tick = Decimal(1).scaleb(-contract.digits)
        return value.quantize(tick, ROUND_HALF_UP) if value > tick else None

    return at(config.take_profit, up), at(config.stop_loss, -up)


def _live(
    lead: LeadOrder,
    config: TraceConfig,
    rng: Random,
    market: Market,
    until_ms: int | None,
    ids: tuple[int, int, int],
    opened: tuple[int, int, Decimal, Decimal, Decimal],
) -> Copy:
    """The life of an opened copy: its triggers, their edits, and its close with all costs."""
    leverage, open_ms, size, fill, price = opened
    margin = costs.margin(price, fill, leverage)
    open_fee = costs.fee(price, fill)
    end, reason = _planned_end(lead, open_ms, until_ms, rng)
    take, stop = _triggers(config, lead.symbol, lead.side, price, leverage)
    edits: list[Edit] = [(open_ms, take, stop)]
    hit = _walk(market, lead, rng, edits, end if end is not None else open_ms + _FAR)
    base = (lead, *ids, leverage, open_ms, size, fill, price, margin, open_fee, tuple(edits))
    if hit is None and end is None:
        return Copy(*base)
    if hit is not None:
        close_ms, leave, reason = hit
    else:
        assert end is not None
        close_ms = end
        worse = 1 - _slippage(rng) if lead.side == "LONG" else 1 + _slippage(rng)
        leave = CONTRACTS[lead.symbol].price(float(market.price(lead.symbol, end) * worse))
    gross = costs.realized(lead.side, price, leave, fill)
    paid = costs.funding(lead.side, price * fill, open_ms, close_ms)
    after = gross - open_fee - costs.fee(leave, fill) - paid
    return Copy(*base, close_ms, leave, reason, gross, after, costs.provisional_share(gross))


def _planned_end(lead: LeadOrder, open_ms: int, until_ms: int | None, rng: Random) -> tuple[int | None, str]:
    """When the copy closes if no trigger is reached: with the trader, or when the account leaves him."""
    delay = rng.randrange(40, 700)
    if lead.close_ms is not None:
        end = max(lead.close_ms + delay, open_ms + SECOND)
        if until_ms is None or end <= until_ms:
            return end, "trader"
    if until_ms is None:
        return None, ""
    return max(until_ms, open_ms + SECOND), "left"


def _walk(
    market: Market, lead: LeadOrder, rng: Random, edits: list[Edit], end: int
) -> tuple[int, Decimal, str] | None:
    """Walks the copy's life, appending edits of its triggers; returns (ms, price, reason) of a trigger reached."""
    up = lead.side == "LONG"
    take, stop = edits[0][1:]
    if take is None and stop is None:
        return None
    since = edits[0][0]
    for moment in [*_edit_times(lead, rng, since, end), end]:
        hit = market.crossing(lead.symbol, since, moment, take if up else stop, stop if up else take)
        if hit is not None:
            won = hit[1] == up
            price = take if won else stop
            assert price is not None
            return hit[0], price, "take_profit" if won else "stop_loss"
        if moment < end:
            take, stop = _moved(market, lead, rng, moment, take, stop)
            if (take, stop) != edits[-1][1:]:
                edits.append((moment, take, stop))
        since = moment
    return None


def _edit_times(lead: LeadOrder, rng: Random, since: int, end: int) -> list[int]:
    """When the triggers are moved: live copies trail all the time, one of four of the others once or twice."""
    length = min(end - since, 30 * DAY)
    if lead.live:
        times, now = [], since
        while (now := now + 8 * SECOND + int(rng.expovariate(1 / (40 * SECOND)))) < since + length:
            times.append(now)
        return times
    if length < 2 * HOUR or rng.random() >= 0.25:
        return []
    return sorted(since + int(length * rng.uniform(0.15, 0.85)) for _ in range(rng.choice((1, 1, 2))))


def _moved(
    market: Market,
    lead: LeadOrder,
    rng: Random,
    now: int,
    take: Decimal | None,
    stop: Decimal | None,
) -> tuple[Decimal | None, Decimal | None]:
    """The triggers after an edit: a stop follows a price that moved in favour, else the target comes nearer.

    Never beyond the price, so that an edit closes nothing by itself.
    """
    contract = CONTRACTS[lead.symbol]
    price = market.price(lead.symbol, now)
    up = 1 if lead.side == "LONG" else -1
    part = Decimal(rng.randrange(10, 35)) / 100
    better = (price - lead.price) * up > 0
    if stop is not None and (better or take is None):
        return take, contract.price(float(stop + (price - stop) * part))
    if take is not None:
        return contract.price(float(take + (price - take) * part / 2)), stop
    return take, stop
