"""Switching between unified and per-symbol settings: what is proposed, and what is lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, CustomLeverage, TraceConfig

from .copy_settings_fields import BY_NAME, LEVERAGES, REQUIRED_BY_SYMBOL, SPECS, Spec


def propose(settings: CopySettings, mode: str, supported: Sequence[str] | None) -> CopySettings:
    """The settings in the other mode, as near as it can hold them; what it cannot hold is left open."""
    if settings.mode == mode or not settings.configs:
        return settings
    if mode == UNIFIED:
        return CopySettings(UNIFIED, (_united(settings.configs),))
    base = settings.configs[0]
    return CopySettings(PER_SYMBOL, tuple(_for_symbol(base, symbol) for symbol in sorted(supported or ())))


def _for_symbol(base: TraceConfig, symbol: str) -> TraceConfig:
    config = replace(base, symbol=symbol, symbols=None, margin_type="trader", custom_leverages=())
    if base.leverage_type != "specify":
        return config
    own = next(
        (item for item in base.custom_leverages if item.symbol == symbol), CustomLeverage(symbol, None, None)
    )
    return replace(
        config, leverage_type="fixed", long_leverage=own.long_leverage, short_leverage=own.short_leverage
    )


def _usual(configs: Sequence[TraceConfig], name: str):
    """The value most symbols have; the first of equals."""
    return Counter(getattr(config, name) for config in configs).most_common(1)[0][0]


def _united(configs: Sequence[TraceConfig]) -> TraceConfig:
    names = [spec.name for spec in SPECS]
    symbols = tuple(config.symbol for config in configs if config.symbol)
    config = replace(
        configs[0], symbol=None, symbols=symbols, **{name: _usual(configs, name) for name in names}
    )
    if len({_leverage(item) for item in configs}) == 1:
        return config
    own = tuple(CustomLeverage(c.symbol or "", *(_leverage(c)[1:])) for c in configs)
    return replace(
        config, leverage_type="specify", long_leverage=None, short_leverage=None, custom_leverages=own
    )


def _leverage(config: TraceConfig) -> tuple[str | None, int | None, int | None]:
    fixed = config.leverage_type == "fixed"
    return config.leverage_type, *((config.long_leverage, config.short_leverage) if fixed else (None, None))


def losses(settings: CopySettings, supported: Sequence[str] | None) -> list[str]:
    """What a switch to the other mode loses, or leaves to be filled in: one sentence each."""
    if not settings.configs:
        return []
    return (
        _to_unified(settings.configs)
        if settings.mode == PER_SYMBOL
        else _to_symbols(settings.configs[0], supported)
    )


def _to_symbols(base: TraceConfig, supported: Sequence[str] | None) -> list[str]:
    found = []
    added = sorted(set(supported or ()) - set(base.symbols or ())) if base.symbols else []
    if added:
        found.append(
            f"Per-symbol settings cover every copy-trading symbol. Not copied now, and copied then: {', '.join(added)}."
        )
    dropped = sorted(set(base.symbols or ()) - set(supported or ()))
    if dropped:
        found.append(f"No copy-trading symbol, and lost: {', '.join(dropped)}.")
    if base.margin_type not in (None, "trader"):
        found.append(f"Margin “{base.margin_type}” is lost: per symbol, only “as the trader” is allowed.")
    if base.leverage_type == "specify":
        found.append(
            "Leverage for each symbol becomes a fixed leverage of that symbol; symbols without one need it."
        )
    unset = [
        BY_NAME[name].label
        for name in REQUIRED_BY_SYMBOL
        if getattr(base, name) is None and name != "margin_type"
    ]
    if unset:
        found.append(f"Required per symbol, and not set now: {', '.join(unset).lower()}.")
    return found


def _in_words(spec: Spec, value: object) -> str:
    shown = spec.shown(value)
    if not shown:
        return "not set"
    return f"“{dict(spec.choices).get(shown, shown)}”" if spec.choices else f"{shown} {spec.unit}".strip()


def _to_unified(configs: Sequence[TraceConfig]) -> list[str]:
    found = []
    for spec in SPECS:
        values = {getattr(config, spec.name) for config in configs}
        if len(values) > 1 and spec.name not in (*LEVERAGES, "leverage_type"):
            usual = _in_words(spec, _usual(configs, spec.name))
            found.append(
                f"{spec.label} differs between symbols; one value would hold for all, {usual} is proposed."
            )
    if len({_leverage(config) for config in configs}) > 1:
        found.append("Leverage differs between symbols: it becomes one for each symbol.")
        if any(config.leverage_type != "fixed" for config in configs):
            found.append("Symbols that take the trader's leverage need one of their own then.")
    return found
