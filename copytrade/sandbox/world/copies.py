"""A follower's copy of a trader's order, derived from the settings in force when it opened.

Pure: the same order, settings, means and account give the same copy. The copy carries its whole life
(see life.py); book.py decides what of it is visible at a moment.
Sources: interface.md, "Trace config object"; open-points.md, "Values and meanings" for what is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random

from copytrade.rules import DEFAULT_LEVERAGE, FIXED, PER_SYMBOL, SPECIFY, CopySettings, TraceConfig

from . import costs, life
from .leads import LeadOrder
from .life import Edit, Ending, Position
from .prices import Market
from .symbols import CONTRACTS

SMALLEST = Decimal(5)  # USDT of notional; less is not opened
_NOTHING = Decimal(0)
_EPOCHS = (1_125_000_000_000, 1_101_000_000_000, 1_083_000_000_000, 1_047_000_000_000)
TRACKING, OPEN_ORDER, CLOSE_ORDER, LEAD_TRACKING = range(4)


@dataclass(frozen=True, slots=True)
class Means:
    """What stands behind a copy: USDT free with this trader, and margin held, of him and of the symbol."""

    available: Decimal
    held: Decimal = _NOTHING
    held_symbol: Decimal = _NOTHING


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy with its whole life. `size` is what was wanted, `position.size` what was filled (base coin)."""

    lead: LeadOrder
    tracking_no: int
    open_order_id: int
    close_order_id: int
    size: Decimal
    position: Position
    margin: Decimal
    open_fee: Decimal
    edits: tuple[Edit, ...]  # edits[0]: the triggers at the opening
    end: Ending | None  # None: nothing closes it


@dataclass(frozen=True, slots=True)
class Skipped:
    """An order that was not copied, and why: symbol, slippage, too_small, max_hold, balance."""

    lead: LeadOrder
    reason: str


def order_id(kind: int, account: int, lead: LeadOrder) -> int:
    """A 64-bit id above 2^53: unique by kind, account, trader and the order's ms; growing with time."""
    since = lead.open_ms - _EPOCHS[kind]
    return since << 20 | account << 8 | lead.trader.number << 3 | kind


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
    """The copy that `account` (its small number) gets of `lead`, or why there is none.

    `until_ms`: the account leaves the trader then, and what is open is closed.
    """
    config = config_for(settings, lead.symbol)
    if config is None or config.trace_value is None:
        return Skipped(lead, "symbol")
    tracking_no = order_id(TRACKING, account, lead)
    rng = Random(tracking_no)
    slip = life.slippage(rng)
    if config.slippage and slip > config.slippage:
        return Skipped(lead, "slippage")
    contract = CONTRACTS[lead.symbol]
    open_ms = lead.open_ms + rng.randrange(40, 700)
    price = life.worse(contract, market.price(lead.symbol, open_ms), slip, buys=lead.side == "LONG")
    leverage = leverage_for(config, lead)
    size = contract.size(
        config.trace_value * (lead.size if config.trace_type == "percent" else leverage / price)
    )
    held = means.held_symbol if settings.mode == PER_SYMBOL else means.held
    room, reason = _room(config, means.available, held)
    fill = min(size, contract.size(room * leverage / price))
    if rng.random() < 0.05:  # a thin book
        fill = contract.size(fill * rng.randrange(35, 95) / 100) or fill
    if fill * price < SMALLEST or fill * 5 < size:
        return Skipped(lead, "too_small" if size * price < SMALLEST else reason)
    position = Position(lead.symbol, lead.side, leverage, open_ms, price, fill)
    margin = costs.margin(price, fill, leverage)
    backing = max(means.available, margin) if config.margin_type == "cross" else margin
    edits, end = life.live(position, config, lead, rng, market, backing=backing, until_ms=until_ms)
    return Copy(
        lead,
        tracking_no,
        order_id(OPEN_ORDER, account, lead),
        order_id(CLOSE_ORDER, account, lead),
        size,
        position,
        margin,
        costs.fee(price, fill),
        edits,
        end,
    )


def _room(config: TraceConfig, available: Decimal, held: Decimal) -> tuple[Decimal, str]:
    """(USDT of margin that a copy may take, what limits it): the balance, or what may be held at most."""
    room, reason = available, "balance"
    if config.max_hold is not None and config.max_hold - held < room:
        room, reason = config.max_hold - held, "max_hold"
    return max(room, _NOTHING), reason
