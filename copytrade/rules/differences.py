"""How two settings differ, in words: for the review, the timeline and the read-back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from decimal import Context, Decimal

from .compare import canonical
from .numbers import plain
from .types import FIXED, PER_SYMBOL, SPECIFY, TRADER, UNIFIED, CopySettings, CustomLeverage, TraceConfig

NOT_SET = "not set"
NARROW = "\u202f"  # between groups of three digits
_EXACT = Context(prec=1000)

Words = dict[str, str]  # label -> value in words


@dataclass(frozen=True)
class Difference:
    """One setting that differs, ready to be shown: "Stop loss", "off", "20 % of margin"."""

    label: str
    before: str
    after: str


def differences(before: CopySettings, after: CopySettings) -> list[Difference]:
    """What changes from one to the other, in words; empty exactly when they are the same.

    Lines of per-symbol settings name their symbol; a change that all symbols share is one line. Across a
    change of mode the unified settings are compared with those of each symbol, which is what changes.
    """
    old, new = canonical(before), canonical(after)
    if old == new:
        return []
    if _is_unified(old) and _is_unified(new) and old.mode == new.mode:
        found = _unified(old.configs[0], new.configs[0])
    else:
        found = _changed({"Mode": _mode(old)}, {"Mode": _mode(new)}) + _by_symbol(old, new)
    # Answers that make no sense (two configs for one symbol) may differ in ways that have no words.
    return found or [Difference("Settings", "as they were", "different")]


def described(settings: CopySettings) -> list[tuple[str, str]]:
    """All of the settings as (label, value in words). Where symbols differ, each value says how many have it."""
    rows = [("Mode", _mode(settings)), ("Symbols", _all_symbols(settings))]
    if _is_unified(settings):
        return rows + _described_unified(settings.configs[0])
    words = [{**_fields(config), **_leverages(config)} for config in settings.configs]
    for label in words[0] if words else ():
        counts = Counter(each[label] for each in words).most_common()
        values = [value if n == len(words) else f"{value} ({n} of {len(words)})" for value, n in counts]
        rows.append((label, ", ".join(values)))
    return rows


def _described_unified(config: TraceConfig) -> list[tuple[str, str]]:
    rows = list(_fields(config).items())
    if config.leverage_type != SPECIFY:
        return rows + list(_leverages(config).items())
    for item in config.custom_leverages:
        words = f"{_times(item.long_leverage)} long, {_times(item.short_leverage)} short"
        rows.append((f"Leverage {item.symbol}", words))
    return rows


def _all_symbols(settings: CopySettings) -> str:
    if _is_unified(settings):
        return _symbols(settings.configs[0])
    return ", ".join(config.symbol or "" for config in settings.configs) or "none"


def _is_unified(settings: CopySettings) -> bool:
    return settings.mode != PER_SYMBOL and len(settings.configs) == 1


def _mode(settings: CopySettings) -> str:
    words = {UNIFIED: "one for all symbols", PER_SYMBOL: "each symbol its own"}
    return words.get(settings.mode, settings.mode)


def _changed(old: Words, new: Words) -> list[Difference]:
    labels = dict.fromkeys((*old, *new))
    rows = (Difference(label, old.get(label, NOT_SET), new.get(label, NOT_SET)) for label in labels)
    return [row for row in rows if row.before != row.after]


def _unified(old: TraceConfig, new: TraceConfig) -> list[Difference]:
    symbols = sorted({item.symbol for item in (*old.custom_leverages, *new.custom_leverages)})
    of_each = SPECIFY in (old.leverage_type, new.leverage_type)

    def words(config: TraceConfig) -> Words:
        described = {"Symbols": _symbols(config), **_fields(config)}
        if not of_each:
            described |= _leverages(config)
        customs = _customs(config)
        for symbol in symbols:
            on_symbol = _leverages_on(config, customs.get(symbol, []))
            described |= {f"{label} {symbol}": value for label, value in on_symbol.items()}
        return described

    return _changed(words(old), words(new))


def _by_symbol(old: CopySettings, new: CopySettings) -> list[Difference]:
    """Compare symbol by symbol, and fold the lines that all of them share."""
    before, after = _configs(old), _configs(new)
    everywhere = {symbol for symbol in (*before, *after) if symbol}
    rows = {}
    for symbol in sorted(everywhere):
        rows[symbol] = _changed(_on(before, symbol), _on(after, symbol))
    return _folded(rows)


def _configs(settings: CopySettings) -> dict[str, Words]:
    """How each symbol is copied; "" holds that of all symbols, when a unified config names none."""
    found: dict[str, Words] = {}
    for config in settings.configs:
        fields, customs = {"Copied": "yes", **_fields(config)}, _customs(config)
        symbols = config.symbols if settings.mode != PER_SYMBOL else None
        for symbol in symbols if symbols is not None else (config.symbol or "",):
            found[symbol] = {**fields, **_leverages_on(config, customs.get(symbol, []))}
    return found


def _on(configs: dict[str, Words], symbol: str) -> Words:
    return configs.get(symbol) or configs.get("") or {"Copied": "no"}


def _folded(rows: dict[str, list[Difference]]) -> list[Difference]:
    first = next(iter(rows.values()), [])
    shared = (
        [row for row in first if all(row in changes for changes in rows.values())] if len(rows) > 1 else []
    )
    found = [replace(row, label=f"{row.label}, all {len(rows)} symbols") for row in shared]
    for symbol, changes in rows.items():
        found += [replace(row, label=f"{row.label} {symbol}") for row in changes if row not in shared]
    return found


# One config in words. Different values always give different words.


def _fields(config: TraceConfig) -> Words:
    """Every field but the symbols and the leverages."""
    return {
        "Size of each copy": _size(config),
        "Most held": NOT_SET if config.max_hold is None else f"{_grouped(config.max_hold)} USDT",
        "Take profit": _ratio(config.take_profit, zero="off", of=" of margin"),
        "Stop loss": _ratio(config.stop_loss, zero="off", of=" of margin"),
        "Slippage": _ratio(config.slippage, zero="no limit", of=""),
        "Margin type": _kind(config.margin_type),
        "Leverage type": _kind(config.leverage_type),
    }


def _customs(config: TraceConfig) -> dict[str, list[CustomLeverage]]:
    found: dict[str, list[CustomLeverage]] = {}
    for item in config.custom_leverages:
        found.setdefault(item.symbol, []).append(item)
    return found


def _leverages(config: TraceConfig) -> Words:
    """The leverages of the config itself."""
    if config.leverage_type in (None, TRADER):
        return {"Long leverage": "the trader's", "Short leverage": "the trader's"}
    return {"Long leverage": _times(config.long_leverage), "Short leverage": _times(config.short_leverage)}


def _leverages_on(config: TraceConfig, customs: list[CustomLeverage]) -> Words:
    """The leverages that hold for a symbol: its own under `specify`, else those of the config."""
    if config.leverage_type in (None, TRADER, FIXED):
        return _leverages(config)
    long = " and ".join(_times(item.long_leverage) for item in customs)
    short = " and ".join(_times(item.short_leverage) for item in customs)
    return {"Long leverage": long or "none", "Short leverage": short or "none"}


def _symbols(config: TraceConfig) -> str:
    if config.symbols is None:
        return "all"
    return ", ".join(config.symbols) or "none"


def _size(config: TraceConfig) -> str:
    if config.trace_value is None:
        return f"{NOT_SET} ({config.trace_type})"
    if config.trace_type == "amount":
        return f"{_grouped(config.trace_value)} USDT"
    if config.trace_type == "percent":
        return f"{_grouped(config.trace_value)}x the trader's size"
    return f"{_grouped(config.trace_value)} ({config.trace_type})"


def _ratio(value: Decimal | None, *, zero: str, of: str) -> str:
    if value is None:
        return NOT_SET
    if value == 0:
        return zero
    return f"{_grouped(value.scaleb(2, context=_EXACT))} %{of}"


def _kind(word: str | None) -> str:
    words = {None: NOT_SET, TRADER: "as the trader", SPECIFY: "of each symbol", FIXED: "fixed"}
    return words.get(word, word or NOT_SET)


def _times(leverage: int | None) -> str:
    return NOT_SET if leverage is None else f"{leverage}x"


def _grouped(value: Decimal) -> str:
    """A number with its thousands apart: 1 500.5; every digit kept."""
    return format(Decimal(plain(value)), ",f").replace(",", NARROW)
