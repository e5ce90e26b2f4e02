"""The parts that the copy settings form is made of: the unified block, a card per symbol, the leverages' rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, TraceConfig

from .copy_settings_fields import SPECS, Field
from .mode_switch import propose
from .typed import number_shown

Typed = dict[str, list[str]]
SIDES = (("long", "longLeverage", "long_leverage"), ("short", "shortLeverage", "short_leverage"))


def slug(text: str) -> str:
    """A symbol as part of an element's id, whatever characters the exchange put in it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


@dataclass
class LeverageRow:
    """Both leverages of one symbol, for the unified leverage type `specify`."""

    symbol: str
    chosen: bool
    fields: list[Field]


@dataclass
class Block:
    """One trace config on the page: the unified one, or the card of a symbol."""

    symbol: str
    id: str
    fields: list[Field]
    errors: list[str] = field(default_factory=list)

    @property
    def problems(self) -> int:
        return len(self.errors) + sum(len(item.errors) for item in self.fields)

    @property
    def by_name(self) -> dict[str, Field]:
        return {item.spec.name: item for item in self.fields}

    @property
    def summary(self) -> str:
        """The block in a few words, for the closed card: its size and leverage as typed."""
        values = {name: item.value for name, item in self.by_name.items()}
        size = f"{values['trace_value']} {'USDT' if values['trace_type'] == 'amount' else 'x'}"
        if values["leverage_type"] == "fixed":
            return f"{size}, {values['long_leverage']}x long, {values['short_leverage']}x short"
        return f"{size}, leverage as the trader"


def config_typed(config: TraceConfig, prefix: str) -> Typed:
    return {prefix + spec.name: [spec.read(config)] for spec in SPECS}


def settings_typed(settings: CopySettings, supported: Sequence[str] | None) -> Typed:
    """The inputs' texts for stored settings; the other mode is filled with what is proposed for it."""
    data: Typed = {"mode": [settings.mode]}
    unified = settings if settings.mode == UNIFIED else propose(settings, UNIFIED, supported)
    for config in unified.configs[:1]:
        data |= config_typed(config, "")
        data["symbols"] = list(config.symbols or ())
        for item in config.custom_leverages:
            data[f"lev.{item.symbol}.long"] = [number_shown(item.long_leverage)]
            data[f"lev.{item.symbol}.short"] = [number_shown(item.short_leverage)]
    by_symbol = settings if settings.mode == PER_SYMBOL else propose(settings, PER_SYMBOL, supported)
    for config in by_symbol.configs:
        data |= config_typed(config, f"{config.symbol}.")
    return data
