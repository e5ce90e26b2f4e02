"""The rules of copy settings: what they are, when they hold, and how they are named.

Pure: the standard library only. One set of checks with three callers: the settings form (a message
beside the field), the exchange client (refused before any network) and the sandbox (an error answer).

Source: interface.md, "GET/POST /capi/v3/copy/follower/settings", and open-points.md, "Settings body".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

UNIFIED = "unified"
PER_SYMBOL = "per_symbol"


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
    `symbolTraceConfigs[3].slippageRatio`), which rule, and the sentence for a person."""

    field: str
    code: str
    message: str
