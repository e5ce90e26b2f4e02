"""Copy settings on the wire: the body that writes them, the answer that tells them, and the names of both.

Source: interface.md, "Copy follower settings (as returned)" and the trace config table; open-points.md,
"Read and write names of the same setting".
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from .numbers import answered, plain
from .types import FIXED, PER_SYMBOL, SPECIFY, UNIFIED, CopySettings, CustomLeverage, TraceConfig

# GET name -> POST name of the same setting.
READ_TO_WRITE: Mapping[str, str] = MappingProxyType(
    {
        "settingMode": "settingType",
        "symbol": "symbol",
        "symbols": "symbols",
        "traceType": "traceType",
        "traceValue": "traceValue",
        "maxHoldSize": "maxHoldQty",
        "takeProfitRatio": "stopProfitRatio",
        "stopLossRatio": "stopLossRatio",
        "slippageRatio": "slippageRatio",
        "marginType": "marginType",
        "leverageType": "leverageType",
        "longLeverage": "fixedLongLeverage",
        "shortLeverage": "fixedShortLeverage",
        "customLeverages": "customLeverages",
    }
)
NOT_WRITTEN = ("copyEnable", "productType", "marginCoin")

# Field of TraceConfig -> name in the answer, by kind of value.
TEXTS = {"trace_type": "traceType", "margin_type": "marginType", "leverage_type": "leverageType"}
DECIMALS = {
    "trace_value": "traceValue",
    "max_hold": "maxHoldSize",
    "take_profit": "takeProfitRatio",
    "stop_loss": "stopLossRatio",
    "slippage": "slippageRatio",
}
LEVERAGES = {"long_leverage": "longLeverage", "short_leverage": "shortLeverage"}


def written(settings_field: str) -> str:
    """The POST name of a field of TraceConfig: `max_hold` -> `maxHoldQty`."""
    return READ_TO_WRITE[{**TEXTS, **DECIMALS, **LEVERAGES}.get(settings_field, settings_field)]


def to_body(trader_id: int, settings: CopySettings) -> dict[str, Any]:
    """The POST body for these settings: ids as integers, decimals as text, what is None left out.

    Every field of the mode is sent, since the exchange fills what is missing with its own defaults;
    leverages that the leverage type does not use are not. Not checked here: see check_body.
    """
    body: dict[str, Any] = {"traderId": trader_id, "settingType": settings.mode}
    configs = [_config_body(config, settings.mode) for config in settings.configs]
    if settings.mode == PER_SYMBOL:
        body["symbolTraceConfigs"] = configs
    elif configs:
        body["unifiedTraceConfig"] = configs[0]
    return body


def _config_body(config: TraceConfig, mode: str) -> dict[str, Any]:
    written_config: dict[str, Any] = {}
    if mode == PER_SYMBOL:
        _put(written_config, "symbol", config.symbol)
    else:
        _put(written_config, "symbols", None if config.symbols is None else list(config.symbols))
    for attribute in TEXTS:
        _put(written_config, written(attribute), getattr(config, attribute) or None)
    for attribute in DECIMALS:
        _put(written_config, written(attribute), _text(getattr(config, attribute)))
    if config.leverage_type == FIXED:
        for attribute in LEVERAGES:
            _put(written_config, written(attribute), getattr(config, attribute))
    if config.leverage_type == SPECIFY:
        written_config["customLeverages"] = [
            _custom(item, drop_none=True) for item in config.custom_leverages
        ]
    return written_config


def _put(target: dict[str, Any], name: str, value: object) -> None:
    if value is not None:
        target[name] = value


def _text(value: Decimal | None) -> str | None:
    return None if value is None else plain(value)


def _custom(item: CustomLeverage, *, drop_none: bool) -> dict[str, Any]:
    record = {
        "symbol": item.symbol,
        "longLeverage": item.long_leverage,
        "shortLeverage": item.short_leverage,
    }
    return {name: value for name, value in record.items() if value is not None or not drop_none}


def from_body(body: Mapping[str, Any]) -> CopySettings:
    """The settings that a POST body asks for. What it leaves out stays None: see apply_defaults.

    The other mode's config object is ignored. Raises ValueError for a body of the wrong shape, which
    check_body describes in full.
    """
    mode = body.get("settingType")
    items = body.get("symbolTraceConfigs") if mode == PER_SYMBOL else [body.get("unifiedTraceConfig")]
    if not isinstance(mode, str) or not isinstance(items, list):
        raise ValueError("The body carries no settings of a known mode.")
    return CopySettings(mode, tuple(_config(item, READ_TO_WRITE) for item in items))


def from_answer(items: list[dict[str, Any]]) -> CopySettings:
    """The settings in an answer of GET follower settings, as they are: out-of-bounds values included.

    Numbers may be text, integers or Decimals; null and "" are "not set"; unknown fields are ignored and
    unknown words kept. Raises ValueError, saying what, where the answer cannot be understood: no item,
    items of different modes, several unified items, or a number that is none.
    """
    if not isinstance(items, list) or not items or not all(isinstance(item, Mapping) for item in items):
        raise ValueError("The settings answer is not a list of settings.")
    modes = {_mode(item) for item in items}
    if len(modes) > 1:
        raise ValueError("The settings answer mixes unified and per-symbol settings.")
    mode = modes.pop()
    if mode == UNIFIED and len(items) > 1:
        raise ValueError("The settings answer has several unified settings.")
    return CopySettings(mode, tuple(_config(item, None) for item in items))


def _mode(item: Mapping[str, Any]) -> str:
    mode = _word(item, "settingMode")
    if mode is not None:
        return mode
    return UNIFIED if _word(item, "symbol") is None else PER_SYMBOL


def _config(item: object, names: Mapping[str, str] | None) -> TraceConfig:
    """Read one config. `names` maps read names to those of the item; None when they are the same."""
    if not isinstance(item, Mapping):
        raise ValueError("A trace config is not an object.")

    def name(read: str) -> str:
        return read if names is None else names[read]

    symbols = item.get("symbols")
    if symbols in (None, ""):
        symbols = None
    elif not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
        raise ValueError("symbols is not a list of text.")
    return TraceConfig(
        symbol=_word(item, "symbol"),
        symbols=None if symbols is None else tuple(symbols),
        trace_type=_word(item, name("traceType")) or "",
        margin_type=_word(item, name("marginType")),
        leverage_type=_word(item, name("leverageType")),
        custom_leverages=_customs(item.get("customLeverages")),
        trace_value=_decimal(item, name("traceValue")),
        max_hold=_decimal(item, name("maxHoldSize")),
        take_profit=_decimal(item, name("takeProfitRatio")),
        stop_loss=_decimal(item, name("stopLossRatio")),
        slippage=_decimal(item, name("slippageRatio")),
        long_leverage=_leverage(item, name("longLeverage")),
        short_leverage=_leverage(item, name("shortLeverage")),
    )


def _customs(items: object) -> tuple[CustomLeverage, ...]:
    if items in (None, ""):
        return ()
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ValueError("customLeverages is not a list of objects.")
    return tuple(
        CustomLeverage(
            _word(item, "symbol") or "", _leverage(item, "longLeverage"), _leverage(item, "shortLeverage")
        )
        for item in items
    )


def _word(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is not text.")
    return value or None


def _decimal(item: Mapping[str, Any], name: str) -> Decimal | None:
    try:
        return answered(item.get(name))
    except ValueError as error:
        raise ValueError(f"{name}: {error}.") from None


def _leverage(item: Mapping[str, Any], name: str) -> int | None:
    value = _decimal(item, name)
    if value is None:
        return None
    if value != value.to_integral_value():
        raise ValueError(f"{name} is not a whole number.")
    return int(value)


def to_answer(settings: CopySettings, *, copy_enable: bool) -> list[dict[str, Any]]:
    """The items that GET follower settings answers for these settings. What is not set is null."""
    return [_answer_item(config, settings.mode, copy_enable) for config in settings.configs]


def _answer_item(config: TraceConfig, mode: str, copy_enable: bool) -> dict[str, Any]:
    customs = [_custom(item, drop_none=False) for item in config.custom_leverages]
    item: dict[str, Any] = {
        "copyEnable": copy_enable,
        "symbol": config.symbol,
        "symbols": None if config.symbols is None else list(config.symbols),
        "productType": "USDT-FUTURES",
        "settingMode": mode,
        "marginCoin": "USDT",
    }
    item.update({read: getattr(config, attribute) for attribute, read in TEXTS.items()})
    item.update({read: _text(getattr(config, attribute)) for attribute, read in DECIMALS.items()})
    item.update({read: getattr(config, attribute) for attribute, read in LEVERAGES.items()})
    item["customLeverages"] = customs or None
    return item
