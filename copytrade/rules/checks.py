"""When a body of POST follower settings is valid: the whole of the interface's trace config table.

One pass over the body, linear in its size, and never an exception, whatever the JSON is.
Source: interface.md, "POST /capi/v3/copy/follower/settings"; open-points.md, "Settings body".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

from .numbers import number
from .types import (
    FIXED,
    LEVERAGE_TYPES,
    LIMITS,
    MARGIN_TYPES,
    MODES,
    PER_SYMBOL,
    SPECIFY,
    TRACE_TYPES,
    TRADER,
    UNIFIED,
    Violation,
)
from .words import LABELS, RANGE_SENTENCES, in_mode, listed, repeated, shown

CONFIG_OF = {UNIFIED: "unifiedTraceConfig", PER_SYMBOL: "symbolTraceConfigs"}
RATIOS = ("maxHoldQty", "stopProfitRatio", "stopLossRatio", "slippageRatio")
LONG_AND_SHORT = ("fixedLongLeverage", "fixedShortLeverage")
CONFIG_FIELDS = frozenset(
    ("traceType", "traceValue", "marginType", "leverageType", "customLeverages", *RATIOS, *LONG_AND_SHORT)
)
MAX_ID = 2**63 - 1


def check_body(body: object, *, supported: Collection[str] | None, ours: bool) -> list[Violation]:
    """Every rule that this POST body breaks, in the order of the body; an empty list when it is valid.

    `body` is raw JSON: decimals as text, integers as integers. `supported` are the symbols of copy
    trading, None when they are not known: membership is then not checked, and with `ours` a per-symbol
    body is refused. `ours` adds what this desk never sends although the exchange may take it: a unified
    body without `symbols`, the other mode's config, leverages that the leverage type does not use or
    that would fall back to the exchange's default, and fields that the interface does not name.

    A leverage has no upper bound here: none is documented.
    """
    return _Check(supported, ours).body(body)


class _Check:
    """One run over one body. Methods add to `found`; paths are those of Violation.field."""

    def __init__(self, supported: Collection[str] | None, ours: bool) -> None:
        self.supported = None if supported is None else frozenset(supported)
        self.ours = ours
        self.found: list[Violation] = []

    def add(self, path: str, code: str, message: str) -> None:
        self.found.append(Violation(path, code, message))

    # The body

    def body(self, body: object) -> list[Violation]:
        if not isinstance(body, dict):
            self.add("", "type", "The settings must be sent as one object.")
            return self.found
        self.trader_id(body)
        mode = self.word(body, "", "settingType", MODES, required=True, what="The mode")
        if mode is None:
            return self.found
        if self.ours:
            self.nothing_else(body, "", {"traderId", "settingType", *CONFIG_OF.values()})
            self.not_the_other_mode(body, mode)
        name = CONFIG_OF[mode]
        if name not in body:
            self.add(name, "missing", f"The settings of the mode “{mode}” are missing ({name}).")
        elif mode == UNIFIED:
            self.unified(body[name])
        else:
            self.per_symbol(body[name])
        return self.found

    def trader_id(self, body: dict[str, Any]) -> None:
        if "traderId" not in body:
            self.add("traderId", "missing", "The trader is missing (traderId).")
            return
        value = body["traderId"]
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.add("traderId", "type", "The trader (traderId) must be a whole number.")
        elif not 1 <= value <= MAX_ID:
            self.add("traderId", "range", "The trader (traderId) must be a positive 64-bit number.")

    def not_the_other_mode(self, body: dict[str, Any], mode: str) -> None:
        for other, name in CONFIG_OF.items():
            if other != mode and name in body:
                self.add(name, "not_allowed", f"Settings of the mode “{mode}” are sent without {name}.")

    # The two modes

    def unified(self, config: object) -> None:
        path = CONFIG_OF[UNIFIED]
        if not isinstance(config, dict):
            self.add(path, "type", "The unified settings must be one object.")
            return
        symbols = self.symbols(config, path)
        if "symbol" in config:
            self.add(
                f"{path}.symbol", "not_allowed", "Unified settings take a list of symbols, not one symbol."
            )
        leverage_type = self.config(config, path, UNIFIED)
        self.leverages(config, path, leverage_type, symbols)

    def per_symbol(self, configs: object) -> None:
        path = CONFIG_OF[PER_SYMBOL]
        if not isinstance(configs, list):
            self.add(path, "type", "The settings of each symbol must be a list.")
            return
        if self.ours and self.supported is None:
            message = "The symbols of copy trading are not known yet, so settings per symbol cannot be sent."
            self.add(path, "incomplete", message)
        if not configs and not self.supported:
            self.add(path, "missing", "Settings per symbol need at least one symbol.")
        seen: set[str] = set()
        for index, config in enumerate(configs):
            self.item(config, f"{path}[{index}]", seen)
        missing = (self.supported or frozenset()) - seen
        if missing:
            message = (
                f"Settings per symbol must cover every symbol of copy trading. Missing: {listed(missing)}."
            )
            self.add(path, "incomplete", message)

    def item(self, config: object, path: str, seen: set[str]) -> None:
        if not isinstance(config, dict):
            self.add(path, "type", "The settings of a symbol must be one object.")
            return
        self.one_symbol(config, path, seen)
        if "symbols" in config:
            self.add(f"{path}.symbols", "not_allowed", "Settings per symbol take one symbol, not a list.")
        leverage_type = self.config(config, path, PER_SYMBOL)
        for name in RATIOS:
            if name not in config:
                self.add(f"{path}.{name}", "missing", f"{LABELS[name]} is required for every symbol.")
        self.fixed_leverages(config, path, leverage_type, required=leverage_type == FIXED)
        self.no_customs(config, path)

    # Symbols

    def symbols(self, config: dict[str, Any], config_path: str) -> list[str] | None:
        """Check the symbol list. Returns it, or None when it is left out or is no list of text."""
        path = f"{config_path}.symbols"
        if "symbols" not in config:
            if self.ours:
                self.add(path, "missing", "Choose the symbols to copy.")
            return None
        symbols = config["symbols"]
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            self.add(path, "type", "The symbols must be a list of text.")
            return None
        if not symbols:
            self.add(path, "missing", "Choose at least one symbol.")
        unknown = [symbol for symbol in symbols if not self.is_symbol(symbol)]
        if unknown:
            message = f"Copy trading does not support {listed(unknown)}."
            self.add(path, "unknown_symbol", message)
        again = repeated(symbols)
        if again:
            self.add(path, "repeated", f"Name each symbol once. Repeated: {listed(again)}.")
        return symbols

    def one_symbol(self, config: dict[str, Any], config_path: str, seen: set[str]) -> None:
        path = f"{config_path}.symbol"
        if "symbol" not in config:
            self.add(path, "missing", "The symbol is missing.")
            return
        symbol = config["symbol"]
        if not isinstance(symbol, str):
            self.add(path, "type", "The symbol must be text.")
        elif not self.is_symbol(symbol):
            self.add(path, "unknown_symbol", f"Copy trading does not support {shown(symbol)}.")
        elif symbol in seen:
            self.add(path, "repeated", f"Name each symbol once. Repeated: {shown(symbol)}.")
        else:
            seen.add(symbol)

    def is_symbol(self, symbol: str) -> bool:
        if self.supported is None:
            return bool(symbol.strip())
        return symbol in self.supported

    # The fields of one config

    def config(self, config: dict[str, Any], path: str, mode: str) -> str | None:
        """Check the fields that both modes have. Returns the leverage type: "trader" when left out, None
        when it is not one of the mode's."""
        if self.ours:
            self.nothing_else(config, path, CONFIG_FIELDS | {"symbol", "symbols"})
        self.word(config, path, "traceType", TRACE_TYPES, required=True, what="The kind of size")
        if "traceValue" not in config:
            self.add(f"{path}.traceValue", "missing", "Size of each copy is required.")
        for name in ("traceValue", *RATIOS):
            self.decimal(config, path, name)
        self.word(
            config,
            path,
            "marginType",
            MARGIN_TYPES[mode],
            required=False,
            what=in_mode("The margin type", mode),
        )
        if "leverageType" not in config:
            return TRADER
        what = in_mode("The leverage type", mode)
        return self.word(config, path, "leverageType", LEVERAGE_TYPES[mode], required=False, what=what)

    def word(
        self,
        holder: dict[str, Any],
        holder_path: str,
        name: str,
        allowed: tuple[str, ...],
        *,
        required: bool,
        what: str,
    ) -> str | None:
        """Check a choice. Returns the word when it is an allowed one, else None."""
        path = _path(holder_path, name)
        words = " or ".join((", ".join(allowed[:-1]), allowed[-1])) if len(allowed) > 1 else allowed[0]
        if name not in holder:
            if required:
                self.add(path, "missing", f"{what} is missing: choose {words}.")
            return None
        value = holder[name]
        if not isinstance(value, str):
            self.add(path, "type", f"{what} must be text: {words}.")
            return None
        if value not in allowed:
            self.add(path, "choice", f"{what} must be {words}.")
            return None
        return value

    def decimal(self, config: dict[str, Any], config_path: str, name: str) -> None:
        if name not in config:
            return
        path, text = f"{config_path}.{name}", config[name]
        if not isinstance(text, str):
            self.add(path, "type", f"{LABELS[name]} must be sent as text, such as 0.5 in quotes.")
            return
        value = number(text)
        if value is None:
            message = f"{LABELS[name]} must be a plain number such as 0.5, of at most 36 digits."
            self.add(path, "format", message)
        elif not _IN_RANGE[name](value):
            self.add(path, "range", RANGE_SENTENCES[name])

    def nothing_else(self, holder: dict[str, Any], path: str, known: Collection[str]) -> None:
        for name in holder:
            if name not in known:
                known_as = shown(str(name))
                # Nonsense as a name would be no path: then the object that holds it is named.
                where = _path(path, name) if known_as == name and name.isidentifier() else path
                self.add(where, "not_allowed", f"The interface has no setting named {known_as}.")

    # Leverages

    def leverages(
        self, config: dict[str, Any], path: str, leverage_type: str | None, symbols: list[str] | None
    ) -> None:
        """The leverages of a unified config: fixed ones, or those of each symbol."""
        self.fixed_leverages(config, path, leverage_type, required=self.ours and leverage_type == FIXED)
        if leverage_type == SPECIFY:
            self.customs(config, path, symbols)
        elif leverage_type is not None:
            self.no_customs(config, path)

    def fixed_leverages(
        self, config: dict[str, Any], config_path: str, leverage_type: str | None, *, required: bool
    ) -> None:
        for name in LONG_AND_SHORT:
            path = f"{config_path}.{name}"
            if name in config:
                self.leverage(config[name], path, name)
                if self.ours and leverage_type not in (None, FIXED):
                    message = f"{LABELS[name]} is set only with the leverage type “fixed”."
                    self.add(path, "not_allowed", message)
            elif required:
                self.add(path, "missing", f"{LABELS[name]} is required with the leverage type “fixed”.")

    def leverage(self, value: object, path: str, name: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            self.add(path, "type", f"{LABELS[name]} must be a whole number.")
        elif value < 1:
            self.add(path, "leverage", f"{LABELS[name]} must be 1 or more.")

    def no_customs(self, config: dict[str, Any], config_path: str) -> None:
        """Without `specify` the exchange ignores customLeverages; this desk never sends them."""
        if self.ours and "customLeverages" in config:
            message = "Leverages of each symbol are set only with the leverage type “specify”."
            self.add(f"{config_path}.customLeverages", "not_allowed", message)

    def customs(self, config: dict[str, Any], config_path: str, symbols: list[str] | None) -> None:
        path = f"{config_path}.customLeverages"
        if "customLeverages" not in config:
            self.add(path, "missing", "Set the leverages of each symbol, or choose another leverage type.")
            return
        items = config["customLeverages"]
        if not isinstance(items, list):
            self.add(path, "type", "The leverages of each symbol must be a list.")
            return
        named = [self.custom(item, f"{path}[{index}]") for index, item in enumerate(items)]
        if None in named:
            return
        names = [name for name in named if name is not None]
        again = repeated(names)
        if again:
            self.add(path, "repeated", f"Set the leverages of each symbol once. Repeated: {listed(again)}.")
        self.customs_match(path, set(names), symbols, left_out="symbols" not in config)

    def custom(self, item: object, path: str) -> str | None:
        """Check one symbol's leverages. Returns the symbol, or None when there is none to read."""
        if not isinstance(item, dict):
            self.add(path, "type", "The leverages of a symbol must be one object.")
            return None
        if self.ours:
            self.nothing_else(item, path, {"symbol", "longLeverage", "shortLeverage"})
        for name in ("longLeverage", "shortLeverage"):
            if name in item:
                self.leverage(item[name], f"{path}.{name}", name)
            elif self.ours:
                self.add(f"{path}.{name}", "missing", f"{LABELS[name]} is required for every symbol.")
        if "symbol" not in item:
            self.add(f"{path}.symbol", "missing", "The symbol is missing.")
            return None
        if not isinstance(item["symbol"], str):
            self.add(f"{path}.symbol", "type", "The symbol must be text.")
            return None
        return item["symbol"]

    def customs_match(self, path: str, names: set[str], symbols: list[str] | None, *, left_out: bool) -> None:
        """The symbols must be those of the config. A config without any means all that are supported."""
        expected: Collection[str] | None = self.supported if left_out else symbols
        if expected is None or names == set(expected):
            return
        missing, extra = set(expected) - names, names - set(expected)
        parts = ["The leverages of each symbol must be for exactly the chosen symbols."]
        if missing:
            parts.append(f"Missing: {listed(missing)}.")
        if extra:
            parts.append(f"Not chosen: {listed(extra)}.")
        self.add(path, "mismatch", " ".join(parts))


def _path(holder: str, name: str) -> str:
    return f"{holder}.{name}" if holder else name


def _between(name: str) -> Callable[[Decimal], bool]:
    low, high = LIMITS[name]
    return lambda value: low <= value <= high


_IN_RANGE: dict[str, Callable[[Decimal], bool]] = {
    "traceValue": lambda value: value > 0,
    "maxHoldQty": _between("maxHoldQty"),
    "stopProfitRatio": _between("stopProfitRatio"),
    "stopLossRatio": _between("stopLossRatio"),
    "slippageRatio": lambda value: value == 0 or _between("slippageRatio")(value),
}
