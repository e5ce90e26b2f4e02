"""JSON text with exact numbers: decimals as Decimal, NaN and Infinity refused where they stand."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from typing import Any

MAX_DIGITS = 60  # of a number, on either side of its point


@dataclasses.dataclass(frozen=True)
class Refused:
    """A number that JSON text may not hold here (NaN, Infinity, hundreds of digits), kept as its text."""

    text: str


def parse(text: bytes | str) -> Any:
    """JSON with exact numbers. Raises ValueError when it is not JSON (or not UTF-8, or absurdly deep)."""
    try:
        return json.loads(text, parse_float=_decimal, parse_int=_integer, parse_constant=Refused)
    except RecursionError:
        pass
    raise ValueError("nested too deep")


def _decimal(text: str) -> Decimal | Refused:
    return Decimal(text) if len(text) <= 2 * MAX_DIGITS else Refused(text)


def _integer(text: str) -> int | Refused:
    return int(text) if len(text) <= MAX_DIGITS else Refused(text)


def to_text(value: Any) -> str:
    """Back to JSON text, numbers as they were."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {to_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_text, value)) + "]"
    if isinstance(value, Refused):
        return value.text
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """The same value with nothing but JSON's own types, decimals as text; for extras and raw settings."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Refused):
        return value.text
    return format(value, "f") if isinstance(value, Decimal) else value
