"""Settings of 200 symbols, in both modes."""

from __future__ import annotations

from decimal import Decimal

from copytrade.rules import CopySettings, CustomLeverage, TraceConfig

SYMBOLS = tuple(f"S{number:03}USDT" for number in range(200))


def config(symbol: str | None, **more: object) -> TraceConfig:
    values: dict = {
        "symbol": symbol,
        "symbols": None,
        "trace_type": "amount",
        "trace_value": Decimal("100.5"),
        "max_hold": Decimal(1000),
        "take_profit": Decimal("0.5"),
        "stop_loss": Decimal("0.2"),
        "slippage": Decimal("0.005"),
        "margin_type": "trader",
        "leverage_type": "fixed",
        "long_leverage": 5,
        "short_leverage": 4,
    }
    return TraceConfig(**values | more)


def per_symbol() -> CopySettings:
    return CopySettings("per_symbol", tuple(config(symbol) for symbol in SYMBOLS))


def unified() -> CopySettings:
    """All symbols, each with leverages of its own: the largest body of this mode."""
    customs = tuple(CustomLeverage(symbol, 5, 4) for symbol in SYMBOLS)
    more = {"leverage_type": "specify", "long_leverage": None, "short_leverage": None}
    return CopySettings("unified", (config(None, symbols=SYMBOLS, custom_leverages=customs, **more),))
