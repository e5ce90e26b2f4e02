"""What copy settings do to one typical copy, in USDT: for the review before they are sent. Pure.

The typical copy is made of medians over a trader's recent copies. Meanings marked inferred in
open-points.md ("Values and meanings") are inferred here too: a multiple counts from the trader's order,
exits count from the margin, and the cap is on the margin held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from .rules import PER_SYMBOL, CopySettings, CustomLeverage, TraceConfig


@dataclass(frozen=True)
class Typical:
    """Medians over the last copies: margin in USDT, leverage, and the symbol most of them had."""

    margin: Decimal
    leverage: Decimal
    symbol: str
    n: int


@dataclass(frozen=True)
class Effect:
    """One copy under some settings, in USDT. None where the settings say "no limit" or cannot tell."""

    margin: Decimal | None
    leverage: Decimal | None
    position: Decimal | None
    lost_at_stop: Decimal | None
    held_at_most: Decimal | None


def config_for(settings: CopySettings, symbol: str) -> TraceConfig | None:
    """The config that a copy of the symbol would follow; the first one when none names it."""
    if settings.mode == PER_SYMBOL:
        own = (config for config in settings.configs if config.symbol == symbol)
        return next(own, settings.configs[0] if settings.configs else None)
    return settings.configs[0] if settings.configs else None


def leverage_of(config: TraceConfig, typical: Typical, side: str = "long") -> Decimal | None:
    """The leverage of a long (or short) copy: as set, or the one lately used when it follows the trader."""
    if config.leverage_type == "fixed":
        value = _of(side, config)
        return None if value is None else Decimal(value)
    if config.leverage_type == "specify":
        own = {item.symbol: _of(side, item) for item in config.custom_leverages}
        first = next(iter(own.values()), None)
        value = own.get(typical.symbol, first)
        return None if value is None else Decimal(value)
    return typical.leverage


def _of(side: str, holder: TraceConfig | CustomLeverage) -> int | None:
    return holder.short_leverage if side == "short" else holder.long_leverage


def effect(
    settings: CopySettings, typical: Typical, base: CopySettings | None = None, side: str = "long"
) -> Effect:
    """The typical copy under `settings`. For a multiple of the trader's order, the typical copy is taken to have
    been made under `base`: its margin grows with the multiple and shrinks with the leverage."""
    config = config_for(settings, typical.symbol)
    if config is None:
        return Effect(None, None, None, None, None)
    leverage = leverage_of(config, typical, side)
    margin = _margin(config, leverage, typical, base)
    position = None if margin is None or leverage is None else margin * leverage
    lost = None if margin is None or not config.stop_loss else margin * config.stop_loss
    return Effect(margin, leverage, position, lost, config.max_hold)


def _margin(
    config: TraceConfig, leverage: Decimal | None, typical: Typical, base: CopySettings | None
) -> Decimal | None:
    if config.trace_type == "amount":
        return config.trace_value
    before = config_for(base, typical.symbol) if base else None
    if config.trace_type != "percent" or before is None or before.trace_type != "percent" or not leverage:
        return None
    if not before.trace_value or config.trace_value is None:
        return None
    position = typical.margin * typical.leverage * config.trace_value / before.trace_value
    return position / leverage


def growth(before: Effect, after: Effect) -> Decimal | None:
    """How many times larger the position becomes; None where either is unknown or nothing."""
    if not before.position or after.position is None:
        return None
    return after.position / before.position


def typical(copies: Sequence[tuple[Decimal | None, int | None, str]]) -> Typical | None:
    """The medians over (margin in USDT, leverage, symbol) of recent copies; None without any that tell both."""
    told = [(margin, leverage, symbol) for margin, leverage, symbol in copies if margin and leverage]
    if not told:
        return None
    symbols = Counter(symbol for _, _, symbol in told)
    return Typical(
        margin=median(margin for margin, _, _ in told),
        leverage=Decimal(median(leverage for _, leverage, _ in told)),
        symbol=symbols.most_common(1)[0][0],
        n=len(told),
    )
