"""Worked examples under the fields of copy settings: what the typed values mean on one copy, in USDT."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from copytrade import rules
from dashboard.templatetags import desk

EXAMPLE_MARGIN = Decimal(100)
EXAMPLE_ORDER = Decimal(1000)
EXAMPLE_LEVERAGE = Decimal(10)


def grouped(value: Decimal, places: int = 2) -> str:
    """A number for a sentence: thin spaces between thousands, no zeros at the end."""
    text = desk.grouped(value, places)
    return text.rstrip("0").rstrip(".") if "." in text else text


def sensible(text: str) -> Decimal | None:
    """The number, if an example can be told with it: positive, and of a size that people trade with."""
    value = rules.number(text)
    return value if value is not None and Decimal("1e-6") < value < Decimal("1e12") else None


def examples(values: Mapping[str, str]) -> dict[str, str]:
    """Field name -> sentence, for the fields whose typed values allow one."""
    size = sensible(values["trace_value"])
    fixed = values["trace_type"] == "amount"
    margin = size if fixed and size else EXAMPLE_MARGIN
    leverage = _leverage(values)
    found = {
        "trace_value": _size(size, fixed, leverage, values["leverage_type"]),
        "max_hold": _held(sensible(values["max_hold"]), size if fixed else None),
        "take_profit": _exit(
            values["take_profit"], margin, leverage, "closes with about {amount} USDT gained"
        ),
        "stop_loss": _exit(values["stop_loss"], margin, leverage, "closes with about {amount} USDT lost"),
        "slippage": _slippage(values["slippage"]),
        "leverage_type": _kind(values["leverage_type"]),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def _leverage(values: Mapping[str, str]) -> Decimal | None:
    return sensible(values["long_leverage"]) if values["leverage_type"] == "fixed" else None


def _size(size: Decimal | None, fixed: bool, leverage: Decimal | None, kind: str) -> str:
    if size is None:
        return ""
    if not fixed:
        copied = grouped(EXAMPLE_ORDER * size)
        return f"When the trader opens {grouped(EXAMPLE_ORDER)} USDT, your copy opens {copied} USDT."
    position = f"{grouped(size)} USDT at {grouped(leverage or EXAMPLE_LEVERAGE)}x opens a position of "
    position += f"{grouped(size * (leverage or EXAMPLE_LEVERAGE))} USDT"
    if leverage:
        return f"{position}."
    return (
        f"{position}, if the trader uses {EXAMPLE_LEVERAGE}x."
        if kind == "trader"
        else f"{position}, for example."
    )


def _held(limit: Decimal | None, size: Decimal | None) -> str:
    if limit is None or size is None:
        return ""
    copies = int(limit / size)
    if copies == 0:
        return f"Less than one copy of {grouped(size)} USDT."
    return f"{grouped(Decimal(copies))} {'copy' if copies == 1 else 'copies'} of {grouped(size)} USDT at the same time."


def _exit(text: str, margin: Decimal, leverage: Decimal | None, outcome: str) -> str:
    if rules.number(text) == 0:
        return "Off."
    percent = sensible(text)
    if percent is None:
        return ""
    sentence = f"A copy with {grouped(margin)} USDT of margin {outcome.format(amount=grouped(margin * percent / 100))}"
    if leverage is None:
        return f"{sentence}."
    return f"{sentence}: a price move of {grouped(percent / leverage)} % at {grouped(leverage)}x."


def _slippage(text: str) -> str:
    if rules.number(text) == 0:
        return "No limit: a copy opens at whatever price it gets."
    percent = sensible(text)
    if percent is None:
        return ""
    price = Decimal(1000)
    highest = grouped(price + price * percent / 100)
    return f"If the trader buys at {grouped(price)}, your copy buys at {highest} at most, or not at all."


def _kind(kind: str) -> str:
    return "Each copy opens with the leverage of the trader's own order." if kind == "trader" else ""
