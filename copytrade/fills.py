"""Where a copy differs from the settings in force when it opened, in sentences. Pure.

Only what both sides tell is compared: a size that follows the trader's order, or his leverage, has
nothing to be held against. That the cap is on the margin held is inferred (open-points.md).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from .rules import FIXED, PER_SYMBOL, SPECIFY, CopySettings, TraceConfig, plain

# The margin of a full fill misses the amount by the rounding of the contract's size and by the price's slip.
NEAR = Decimal("0.02")
_CENT = Decimal("0.01")


class Fill(Protocol):
    """What is asked of an order: a TrackingOrder, or anything like it. None where the exchange did not tell."""

    symbol: str
    position_side: str
    open_leverage: int | None
    open_size: Decimal | None
    open_fill_size: Decimal | None
    open_margin_amount: Decimal | None


def deviations(order: Fill, settings: CopySettings) -> list[str]:
    """Sentences, one for each thing that is not as set; empty when nothing that can be compared differs."""
    found = _partial(order)
    config = _config_of(settings, order.symbol)
    if config is None:
        return [f"{order.symbol} is not among the symbols of these settings.", *found]
    return _leverage(order, config) + _size(order, config) + found + _cap(order, config)


def _config_of(settings: CopySettings, symbol: str) -> TraceConfig | None:
    """The config that covers the symbol; None when none does."""
    if settings.mode == PER_SYMBOL:
        return next((config for config in settings.configs if config.symbol == symbol), None)
    config = next(iter(settings.configs), None)
    return None if config is None or (config.symbols is not None and symbol not in config.symbols) else config


def _leverage(order: Fill, config: TraceConfig) -> list[str]:
    pair = _leverages_set(config, order.symbol)
    wanted = {"LONG": pair[:1], "SHORT": pair[1:]}.get(order.position_side.upper(), pair)
    told = {value for value in wanted if value is not None}
    if order.open_leverage is None or not told or order.open_leverage in told:
        return []
    words = " or ".join(f"{value}x" for value in sorted(told))
    return [f"It was opened with a leverage of {order.open_leverage}x; the settings say {words}."]


def _leverages_set(config: TraceConfig, symbol: str) -> tuple[int | None, int | None]:
    """(long, short) where the settings fix them."""
    if config.leverage_type == FIXED:
        return config.long_leverage, config.short_leverage
    if config.leverage_type == SPECIFY:
        for item in config.custom_leverages:
            if item.symbol == symbol:
                return item.long_leverage, item.short_leverage
    return None, None


def filled_part(order: Fill) -> Decimal | None:
    """The part of the order that was filled (0.6 is 60 %); None where it is not told."""
    if not order.open_size or order.open_fill_size is None:
        return None
    return order.open_fill_size / order.open_size


def _partial(order: Fill) -> list[str]:
    part = filled_part(order)
    if part is None or part >= 1 or order.open_size is None or order.open_fill_size is None:
        return []
    percent = plain((part * 100).quantize(Decimal("0.1")))
    return [
        f"Only {plain(order.open_fill_size)} of {plain(order.open_size)} was filled, {percent} % of the order."
    ]


def _size(order: Fill, config: TraceConfig) -> list[str]:
    """A fixed amount against the margin of what was filled, scaled up to the whole order."""
    amount, margin = config.trace_value, order.open_margin_amount
    if config.trace_type != "amount" or not amount or margin is None:
        return []
    part = filled_part(order)
    if part is not None and part <= 0:
        return []
    whole = margin / part if part else margin
    if abs(whole - amount) <= amount * NEAR:
        return []
    seen = f"{_usdt(margin)} USDT of margin"
    if part and part != 1:
        seen += f" ({_usdt(whole)} USDT for the whole order)"
    return [f"It took {seen}; the settings say {plain(amount)} USDT for each copy."]


def _cap(order: Fill, config: TraceConfig) -> list[str]:
    margin = order.open_margin_amount
    if config.max_hold is None or margin is None or margin <= config.max_hold:
        return []
    return [
        f"Its margin of {_usdt(margin)} USDT is above the {plain(config.max_hold)} USDT that may be held at most "
        "(that the cap counts margin is inferred)."
    ]


def _usdt(value: Decimal) -> str:
    return plain(value.quantize(_CENT))
