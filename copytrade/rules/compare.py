"""Whether two settings are the same, and what the exchange makes of what was left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from decimal import Decimal
from typing import TypeVar

from .numbers import plain
from .types import (
    DEFAULT_LEVERAGE,
    FIXED,
    PER_SYMBOL,
    SPECIFY,
    TRADER,
    UNIFIED,
    CopySettings,
    CustomLeverage,
    TraceConfig,
)

Holder = TypeVar("Holder", TraceConfig, CustomLeverage)


def apply_defaults(settings: CopySettings, supported: Iterable[str] | None = None) -> CopySettings:
    """What the exchange holds after it accepted these settings, and so what reading back should show.

    Left-out margin and leverage types become "trader"; left-out leverages become 10 where the leverage
    type uses them, and those it does not use are dropped; left-out ratios stay None. A unified config
    without symbols takes all of `supported`, when given.
    """
    symbols = None if supported is None else tuple(sorted(supported))
    configs = (_with_defaults(config, settings.mode, symbols) for config in settings.configs)
    return replace(settings, configs=tuple(configs))


def _with_defaults(config: TraceConfig, mode: str, symbols: tuple[str, ...] | None) -> TraceConfig:
    if mode == UNIFIED and config.symbols is None:
        config = replace(config, symbols=symbols)
    config = _used_leverages(
        replace(
            config,
            margin_type=config.margin_type or TRADER,
            leverage_type=config.leverage_type or TRADER,
            custom_leverages=tuple(_or_ten(item) for item in config.custom_leverages),
        )
    )
    return _or_ten(config) if config.leverage_type == FIXED else config


def _or_ten(holder: Holder) -> Holder:
    long, short = holder.long_leverage, holder.short_leverage
    return replace(
        holder,
        long_leverage=DEFAULT_LEVERAGE if long is None else long,
        short_leverage=DEFAULT_LEVERAGE if short is None else short,
    )


def _used_leverages(config: TraceConfig) -> TraceConfig:
    """Drop the leverages that the leverage type does not use; keep all under a type we do not know."""
    kind = config.leverage_type
    if kind in (None, "", TRADER, SPECIFY):
        config = replace(config, long_leverage=None, short_leverage=None)
    if kind in (None, "", TRADER, FIXED):
        config = replace(config, custom_leverages=())
    return config


def canonical(settings: CopySettings) -> CopySettings:
    """The one way to write these settings: plain decimals, sorted symbols, only leverages that are used.

    Nothing that has an effect is lost, and nothing is filled in.
    """
    configs = [_canonical_config(config, settings.mode) for config in settings.configs]
    return CopySettings(settings.mode, tuple(sorted(configs, key=lambda config: config.symbol or "")))


def _canonical_config(config: TraceConfig, mode: str) -> TraceConfig:
    config = _used_leverages(config)
    symbols = None if config.symbols is None else tuple(sorted(set(config.symbols)))
    return replace(
        config,
        symbol=None if mode == UNIFIED else config.symbol,
        symbols=None if mode == PER_SYMBOL else symbols,
        margin_type=config.margin_type or None,
        leverage_type=config.leverage_type or None,
        trace_value=_canonical_number(config.trace_value),
        max_hold=_canonical_number(config.max_hold),
        take_profit=_canonical_number(config.take_profit),
        stop_loss=_canonical_number(config.stop_loss),
        slippage=_canonical_number(config.slippage),
        custom_leverages=tuple(sorted(config.custom_leverages, key=_custom_order)),
    )


def _custom_order(item: CustomLeverage) -> tuple[str, str, str]:
    return (item.symbol, str(item.long_leverage), str(item.short_leverage))


def _canonical_number(value: Decimal | None) -> Decimal | None:
    return None if value is None else Decimal(plain(value))


def same(one: CopySettings, other: CopySettings) -> bool:
    """Whether two settings say the same, however they are written. Compare a sent body with what was
    read back by `same(apply_defaults(sent), read)`."""
    return canonical(one) == canonical(other)


def fingerprint(settings: CopySettings) -> str:
    """A short text (64 hex digits) that is equal for settings that are the same, and stable over time."""
    text = json.dumps(asdict(canonical(settings)), default=plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
