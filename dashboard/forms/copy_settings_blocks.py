"""The parts that the copy settings form is made of: the unified block, a card per symbol, the leverages' rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.utils.safestring import SafeString

from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, TraceConfig

from .copy_settings_fields import SPECS, Field
from .mode_switch import propose
from .typed import number_shown
from .widgets import leverage_inputs

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

    @property
    def note_id(self) -> str:
        return f"lev-{slug(self.symbol)}-note"

    @property
    def inputs(self) -> SafeString:
        return leverage_inputs(self.fields, self.note_id)

    @property
    def errors(self) -> list[str]:
        return [message for item in self.fields for message in item.errors]


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

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {item.spec.name: item for item in self.fields}

    @property
    def note_id(self) -> str:
        return f"{self.id}-note"

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """Every message of the block as (id of the field, message); the id is empty for the block's own."""
        return [("", message) for message in self.errors] + [
            (item.id, message) for item in self.fields for message in item.errors
        ]

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


def settings_typed(settings: CopySettings) -> Typed:
    """The inputs' texts for settings, in their own mode."""
    data: Typed = {"mode": [settings.mode]}
    if settings.mode == PER_SYMBOL:
        for config in settings.configs:
            data |= config_typed(config, f"{config.symbol}.")
        return data
    for config in settings.configs[:1]:
        data |= config_typed(config, "")
        data["symbols"] = list(config.symbols or ())
        for item in config.custom_leverages:
            data[f"lev.{item.symbol}.long"] = [number_shown(item.long_leverage)]
            data[f"lev.{item.symbol}.short"] = [number_shown(item.short_leverage)]
    return data


def mode_typed(settings: CopySettings | None, mode: str, supported: Sequence[str] | None) -> Typed:
    """The inputs' texts of one mode: the settings themselves, or what is proposed for them in the other mode."""
    if settings is None or mode not in (UNIFIED, PER_SYMBOL):
        return {}
    return settings_typed(propose(settings, mode, supported))


def row_symbols(supported: Sequence[str] | None, base: CopySettings | None) -> list[str]:
    """One row per copy-trading symbol, and one for each symbol that was read beside them: shown, not dropped."""
    if supported is None:
        return []
    read = [c.symbol for c in base.configs if c.symbol] if base and base.mode == PER_SYMBOL else []
    return sorted({*supported, *read})
