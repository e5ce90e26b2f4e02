"""What copy settings are: the dataclasses, the words they use and the bounds of their numbers.

Source: interface.md, "Trace config object" and "Copy follower settings (as returned)".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

UNIFIED = "unified"
PER_SYMBOL = "per_symbol"
MODES = (UNIFIED, PER_SYMBOL)

TRADER = "trader"
FIXED = "fixed"
SPECIFY = "specify"

TRACE_TYPES = ("percent", "amount")

# What each mode allows. The interface gives both columns in its trace config table.
MARGIN_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {UNIFIED: ("cross", "isolated", TRADER), PER_SYMBOL: (TRADER,)}
)
LEVERAGE_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {UNIFIED: (FIXED, TRADER, SPECIFY), PER_SYMBOL: (FIXED, TRADER)}
)

# Inclusive bounds by write name. A slippage of 0 ("no limit") stands outside its range.
LIMITS: Mapping[str, tuple[Decimal, Decimal]] = MappingProxyType(
    {
        "maxHoldQty": (Decimal(10), Decimal(100000)),
        "stopProfitRatio": (Decimal(0), Decimal(4)),
        "stopLossRatio": (Decimal(0), Decimal(4)),
        "slippageRatio": (Decimal("0.001"), Decimal("0.01")),
    }
)

DEFAULT_LEVERAGE = 10  # what the exchange stores for a leverage that was left out


@dataclass(frozen=True)
class CustomLeverage:
    """The leverages of one symbol under the unified leverage type `specify`; None when unset."""

    symbol: str
    long_leverage: int | None
    short_leverage: int | None


@dataclass(frozen=True)
class TraceConfig:
    """One trace config: the unified one, or the one of a symbol.

    Money and ratios are exact decimals; None means "not set" (left out of the body, null in an answer).
    Enum-like fields keep whatever text the exchange sent, known or not.
    """

    symbol: str | None  # per_symbol only
    symbols: tuple[str, ...] | None  # unified only
    trace_type: str
    trace_value: Decimal | None
    max_hold: Decimal | None = None  # USDT held at most (inferred)
    take_profit: Decimal | None = None  # a ratio: 0.2 is 20 %
    stop_loss: Decimal | None = None
    slippage: Decimal | None = None
    margin_type: str | None = None
    leverage_type: str | None = None
    long_leverage: int | None = None
    short_leverage: int | None = None
    custom_leverages: tuple[CustomLeverage, ...] = ()


@dataclass(frozen=True)
class CopySettings:
    """The settings by which one follower copies one trader. `unified` has exactly one config."""

    mode: str
    configs: tuple[TraceConfig, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class Violation:
    """One broken rule: where in the POST body (`unifiedTraceConfig.traceValue`,
    `symbolTraceConfigs[3].slippageRatio`), which rule, and the sentence for a person.

    `code` is one of missing, type, choice, format, range, leverage, unknown_symbol, repeated,
    mismatch, incomplete, not_allowed. `field` is "" when the whole body is meant.
    """

    field: str
    code: str
    message: str
