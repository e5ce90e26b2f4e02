"""Merging settings that changed on two sides: base, theirs, mine, and a choice for each setting.

Settings fall into units that only make sense together: the size with its kind, the leverages with their
type where that differs, a symbol with its own leverages. A unit is taken whole from one side, so a merge
never says what neither side said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .compare import canonical
from .differences import described, differences
from .types import FIXED, PER_SYMBOL, SPECIFY, TRADER, UNIFIED, CopySettings, CustomLeverage, TraceConfig

MINE, THEIRS = "mine", "theirs"
NOTHING = "–"
MOST_LINES = 6  # of the differences that stand for settings which are compared as a whole

# Path -> (fields of TraceConfig that belong together, their name in described()).
_FIELDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "size": (("trace_type", "trace_value"), "Size of each copy"),
    "max_hold": (("max_hold",), "Most held"),
    "take_profit": (("take_profit",), "Take profit"),
    "stop_loss": (("stop_loss",), "Stop loss"),
    "slippage": (("slippage",), "Slippage"),
    "margin_type": (("margin_type",), "Margin type"),
}
_LEVERAGES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "long_leverage": (("long_leverage",), "Long leverage"),
    "short_leverage": (("short_leverage",), "Short leverage"),
}
_LEVERAGE_FIELDS = ("leverage_type", "long_leverage", "short_leverage")


class Unchosen(ValueError):
    """Settings that both sides changed, each differently, and nobody chose. `labels` name them."""

    def __init__(self, labels: list[str]):
        first, more = ", ".join(labels[:MOST_LINES]), len(labels) - MOST_LINES
        named = first if more <= 0 else f"{first} and {more} more"
        super().__init__(f"Both sides changed these. Choose one for each: {named}.")
        self.labels = labels


@dataclass(frozen=True)
class Row:
    """One setting on which theirs or mine differs from the base, in words. `path` names it in a choice.

    `clash`: both changed it, differently, so somebody must choose; else `default` is the side that changed.
    """

    path: str
    label: str
    base: str
    theirs: str
    mine: str
    clash: bool
    default: str = ""


@dataclass(frozen=True)
class _Unit:
    """One thing to choose: its value on each side (None: not there), and how to say a side's value."""

    path: str
    label: str
    values: tuple[Any, ...]  # base, theirs, mine
    words: Callable[[int], str]

    @property
    def clash(self) -> bool:
        base, theirs, mine = self.values
        return bool(base != theirs and base != mine and theirs != mine)

    @property
    def default(self) -> str:
        base, theirs, _ = self.values
        return "" if self.clash else (MINE if theirs == base else THEIRS)

    def chosen(self, side: str) -> Any:
        return self.values[2 if side == MINE else 1]

    def row(self) -> Row:
        base, theirs, mine = (self.words(side) for side in (0, 1, 2))
        return Row(self.path, self.label, base, theirs, mine, self.clash, self.default)


def three_way(base: CopySettings, theirs: CopySettings, mine: CopySettings) -> list[Row]:
    """Every setting on which theirs or mine differs from the base; empty when both are the base."""
    units = _units(canonical(base), canonical(theirs), canonical(mine))
    return [unit.row() for unit in units if any(value != unit.values[0] for value in unit.values)]


def merged(
    base: CopySettings, theirs: CopySettings, mine: CopySettings, choices: Mapping[str, str]
) -> CopySettings:
    """The settings with each unit from the side chosen for its path, else from the side that changed it.

    Raises Unchosen for clashes without a choice, ValueError for a choice that is neither side. Choices for
    other paths are ignored. The merged settings are not checked: see check_body.
    """
    sides = (canonical(base), canonical(theirs), canonical(mine))
    units = list(_units(*sides))
    taken, unchosen = {}, []
    for unit in units:
        side = choices.get(unit.path) or unit.default
        if side not in (MINE, THEIRS, ""):
            raise ValueError(f"A choice is '{MINE}' or '{THEIRS}', not {side[:40]!r}.")
        if not side:
            unchosen.append(unit.label)
        taken[unit.path] = unit.chosen(side)
    if unchosen:
        raise Unchosen(unchosen)
    whole: CopySettings | None = taken.get("all")
    if whole is not None:
        return whole
    return canonical(_per_symbol(taken, sides) if sides[1].mode == PER_SYMBOL else _unified(taken, sides[1]))


def _units(base: CopySettings, theirs: CopySettings, mine: CopySettings) -> Iterator[_Unit]:
    sides = (base, theirs, mine)
    if len({side.mode for side in sides}) > 1 or not all(map(_regular, sides)):
        yield _Unit("all", "All settings", sides, lambda side: _whole(base, sides[side]))
    elif base.mode == PER_SYMBOL:
        yield from _units_of_symbols(sides)
    else:
        configs = tuple(side.configs[0] for side in sides)
        yield from _units_of(configs, "", "")
        yield from _units_of_coverage(configs)


def _regular(settings: CopySettings) -> bool:
    """Whether the settings can be taken apart: known mode, one config a symbol, one leverage a symbol."""
    configs = settings.configs
    if settings.mode == PER_SYMBOL:
        names = [config.symbol for config in configs]
        odd = any(config.leverage_type == SPECIFY or config.custom_leverages for config in configs)
        return None not in names and len(set(names)) == len(names) and not odd
    if settings.mode != UNIFIED or len(configs) != 1:
        return False
    customs = [item.symbol for item in configs[0].custom_leverages]
    if configs[0].leverage_type != SPECIFY:
        return not customs
    return len(set(customs)) == len(customs) and set(customs) == set(configs[0].symbols or ())


def _whole(base: CopySettings, side: CopySettings) -> str:
    mode = dict(described(side))["Mode"]
    if side.mode != base.mode or side == base:
        return mode
    lines = [f"{line.label}: {line.after}" for line in differences(base, side)]
    more = f"; and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return f"{mode}; " + "; ".join(lines[:MOST_LINES]) + more


# The units of one config, or of one symbol's.


def _units_of(configs: tuple[TraceConfig, ...], path: str, symbol: str) -> Iterator[_Unit]:
    said = _Said(configs)
    for name, (fields, label) in {**_FIELDS, **_leverage_units(configs)}.items():
        values = tuple(tuple(getattr(config, field) for field in fields) for config in configs)
        yield _Unit(path + name, label + symbol, values, said.of(label))


def _leverage_units(configs: tuple[TraceConfig, ...]) -> Mapping[str, tuple[tuple[str, ...], str]]:
    kinds = {config.leverage_type for config in configs}
    if SPECIFY in kinds:
        return {}  # see _units_of_coverage
    if len(kinds) == 1:
        return _LEVERAGES
    return {"leverage": (_LEVERAGE_FIELDS, "Leverage")}


class _Said:
    """What described() says of each side's config, worked out when it is first asked for."""

    def __init__(self, configs: tuple[TraceConfig, ...]):
        self._configs = configs
        self._words: dict[int, dict[str, str]] = {}

    def of(self, label: str) -> Callable[[int], str]:
        return lambda side: self._leverage(side) if label == "Leverage" else self._say(side, label)

    def _leverage(self, side: int) -> str:
        if self._configs[side].leverage_type in (None, TRADER):
            return self._say(side, "Long leverage")
        words = f"{self._say(side, 'Long leverage')} long, {self._say(side, 'Short leverage')} short"
        return (
            words
            if self._configs[side].leverage_type == FIXED
            else f"{self._say(side, 'Leverage type')}, {words}"
        )

    def _say(self, side: int, label: str) -> str:
        if side not in self._words:
            self._words[side] = dict(described(CopySettings(UNIFIED, (self._configs[side],))))
        return self._words[side].get(label, NOTHING)


# Which symbols unified settings cover, and the leverages of each under `specify`.


def _units_of_coverage(configs: tuple[TraceConfig, ...]) -> Iterator[_Unit]:
    kinds = {config.leverage_type for config in configs}
    if SPECIFY in kinds and len(kinds) > 1:
        values: tuple[Any, ...] = tuple(
            (*_coverage(config), config.long_leverage, config.short_leverage) for config in configs
        )
        yield _Unit("coverage", "Symbols and leverage", values, lambda side: _coverage_words(configs[side]))
    elif any(config.symbols is None for config in configs):
        values = tuple(_coverage(config) for config in configs)
        yield _Unit("symbols", "Symbols", values, _Said(configs).of("Symbols"))
    else:
        per_side = [_by_symbol(config) for config in configs]
        for symbol in sorted(set().union(*per_side)):
            values = tuple(side.get(symbol) for side in per_side)
            yield _Unit(f"symbols.{symbol}", f"Symbol {symbol}", values, _symbol_words(values))


def _coverage(config: TraceConfig) -> tuple[Any, ...]:
    return (config.symbols, config.leverage_type, config.custom_leverages)


def _by_symbol(config: TraceConfig) -> dict[str, tuple[int | None, ...]]:
    customs = {item.symbol: (item.long_leverage, item.short_leverage) for item in config.custom_leverages}
    return {symbol: customs.get(symbol, ()) for symbol in config.symbols or ()}


def _symbol_words(values: tuple[Any, ...]) -> Callable[[int], str]:
    def words(side: int) -> str:
        value = values[side]
        if value is None:
            return "not copied"
        return "copied" + (f", {_times(value[0])} long, {_times(value[1])} short" if value else "")

    return words


def _coverage_words(config: TraceConfig) -> str:
    rows = described(CopySettings(UNIFIED, (config,)))
    kept = [f"{label}: {value}" for label, value in rows if "everage" in label]
    return "; ".join([dict(rows)["Symbols"], *kept])


def _times(leverage: int | None) -> str:
    return "not set" if leverage is None else f"{leverage}x"


# Settings per symbol.


def _units_of_symbols(sides: tuple[CopySettings, ...]) -> Iterator[_Unit]:
    per_side = [{config.symbol or "": config for config in side.configs} for side in sides]
    for symbol in sorted(set().union(*per_side)):
        configs = tuple(side.get(symbol) for side in per_side)
        if all(config is not None for config in configs):
            yield from _units_of(tuple(filter(None, configs)), f"{symbol}.", f" {symbol}")
        else:
            yield _Unit(f"{symbol}.all", f"Settings of {symbol}", configs, _config_words(configs))


def _config_words(configs: tuple[TraceConfig | None, ...]) -> Callable[[int], str]:
    def words(side: int) -> str:
        config = configs[side]
        if config is None:
            return "none"
        rows = described(CopySettings(UNIFIED, (config,)))
        return "; ".join(f"{label}: {value}" for label, value in rows if label not in ("Mode", "Symbols"))

    return words


# Putting the chosen units together again.


def _unified(taken: Mapping[str, Any], theirs: CopySettings) -> CopySettings:
    config = _filled(theirs.configs[0], taken, "")
    if "coverage" in taken:
        symbols, kind, customs, long, short = taken["coverage"]
        config = replace(
            config, symbols=symbols, leverage_type=kind, custom_leverages=customs,
            long_leverage=long, short_leverage=short,
        )  # fmt: skip
    elif "symbols" in taken:
        symbols, kind, customs = taken["symbols"]
        config = replace(config, symbols=symbols, custom_leverages=customs)
    else:
        prefix = "symbols."
        kept = {path.removeprefix(prefix): value for path, value in taken.items() if path.startswith(prefix)}
        kept = {symbol: value for symbol, value in kept.items() if value is not None}
        customs = tuple(CustomLeverage(symbol, *pair) for symbol, pair in kept.items() if pair)
        config = replace(config, symbols=tuple(kept), custom_leverages=customs)
    return CopySettings(UNIFIED, (config,))


def _per_symbol(taken: Mapping[str, Any], sides: tuple[CopySettings, ...]) -> CopySettings:
    found = {config.symbol or "": config for side in reversed(sides) for config in side.configs}
    theirs = {config.symbol or "": config for config in sides[1].configs}
    configs = []
    for symbol in sorted(found):
        whole = f"{symbol}.all"
        config = taken[whole] if whole in taken else _filled(theirs[symbol], taken, f"{symbol}.")
        if config is not None:
            configs.append(config)
    return CopySettings(PER_SYMBOL, tuple(configs))


def _filled(config: TraceConfig, taken: Mapping[str, Any], path: str) -> TraceConfig:
    """A config with its fields from the chosen units."""
    changed: dict[str, Any] = {}
    known = {**_FIELDS, **_LEVERAGES, "leverage": (_LEVERAGE_FIELDS, "")}
    for name, (fields, _) in known.items():
        if path + name in taken:
            changed |= zip(fields, taken[path + name], strict=True)
    return replace(config, **changed)
