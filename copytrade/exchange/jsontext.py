"""JSON text with exact numbers: decimals as Decimal, NaN and Infinity refused where they stand."""

from __future__ import annotations

import dataclasses
import json
import re
from decimal import Decimal
from typing import Any

MAX_DIGITS = 60  # of a number, on either side of its point
# What JSON can spell and neither UTF-8 nor PostgreSQL can hold: NUL, and half of a surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAY_BE_UNSTORABLE = re.compile(r"\\u(0000|[dD][89a-fA-F])")


@dataclasses.dataclass(frozen=True)
class Refused:
    """A number that JSON text may not hold here (NaN, Infinity, hundreds of digits), kept as its text."""

    text: str


def parse(text: bytes | str) -> Any:
    """JSON with exact numbers and storable text. Raises ValueError: not JSON, not UTF-8, or absurdly deep."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")  # json would let half a surrogate pair through
    try:
        value = json.loads(text, parse_float=_decimal, parse_int=_integer, parse_constant=Refused)
        return storable(value) if _MAY_BE_UNSTORABLE.search(text) else value
    except RecursionError:
        pass
    raise ValueError("nested too deep")


def storable(value: Any) -> Any:
    """The same value with NUL left out of its texts, and U+FFFD for half of a surrogate pair."""
    if isinstance(value, str):
        return _UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return [storable(item) for item in value] if isinstance(value, list) else value


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
