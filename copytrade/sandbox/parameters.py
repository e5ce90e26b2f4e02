"""Reading parameters: the types, bounds and choices of interface.md, checked on what really arrived.

In a query everything is text. In a JSON body decimals are strings and integers are integers; a
string of digits is taken for a Long, nothing else is converted (open-points.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import unquote_to_bytes

from .catalogue import INT_MAX, LONG_MAX, Operation, Param
from .errors import Refusal

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOST_DIGITS = 36
LONGEST_TEXT = 128
LONGEST_LIST = 500

Values = dict[str, Any]


def from_query(operation: Operation, raw_query: str) -> Values:
    """The parameters of a GET, converted and with defaults filled in. Unknown ones are ignored."""
    given: dict[str, list[str]] = {}
    for part in raw_query.split("&"):
        if part:
            name, _, value = part.partition("=")
            given.setdefault(_unquote(name), []).append(_unquote(value))
    values: Values = {}
    for param in operation.params:
        texts = given.get(param.name, [])
        if len(texts) > 1 and param.kind != "longs":
            raise Refusal(-1142, f"{param.name} is given more than once.")
        if param.kind == "longs":
            values[param.name] = [_integer(param, text, LONG_MAX) for text in texts][:LONGEST_LIST]
        else:
            values[param.name] = _settle(param, texts[0] if texts else None, body=False)
    return values


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a POST; an empty body counts as an empty object. Raises Refusal -1135."""
    if not body:
        return {}
    try:
        found = json.loads(body.decode(), parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refusal(-1135) from None
    if not isinstance(found, dict):
        raise Refusal(-1135, "The body must be a JSON object.")
    return found


def from_body(params: Iterable[Param], body: dict[str, Any], where: str = "") -> Values:
    """The parameters of a POST, converted and with defaults filled in. null means absent."""
    return {param.name: _settle(param, body.get(param.name), body=True, where=where) for param in params}


def _settle(param: Param, value: Any, *, body: bool, where: str = "") -> Any:
    if value is None:
        if param.required:
            raise Refusal(-1128, f"{where}{param.name} is required.")
        return param.default
    try:
        return _convert_body(param, value) if body else _convert_text(param, value)
    except Refusal as refusal:
        if where:
            raise Refusal(refusal.code, where + refusal.message) from None
        raise


def _convert_body(param: Param, value: Any) -> Any:
    if param.kind in ("long", "int"):
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer and not (param.kind == "long" and isinstance(value, str)):
            raise Refusal(-1142, f"{param.name} must be an integer.")
        return _integer(param, str(value), LONG_MAX if param.kind == "long" else INT_MAX)
    if param.kind in ("object", "objects"):
        return _structure(param, value)
    if not isinstance(value, str):
        raise Refusal(param.code, f"{param.name} must be a string.")
    return _convert_text(param, value)


def _structure(param: Param, value: Any) -> Any:
    if param.kind == "object":
        if not isinstance(value, dict):
            raise Refusal(-1142, f"{param.name} must be an object.")
        return value
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Refusal(-1142, f"{param.name} must be a list of objects.")
    _bounds(param, len(value), "the length of ")
    return value


def _convert_text(param: Param, text: str) -> Any:
    if param.kind in ("long", "int"):
        return _integer(param, text, LONG_MAX if param.kind == "long" else INT_MAX)
    if param.kind == "choice" and text not in param.choices:
        raise Refusal(param.code, f"{param.name} must be one of {', '.join(param.choices)}.")
    if param.kind == "decimal":
        return _positive(param, text)
    if param.kind == "date":
        return _day(param, text)
    if not text or len(text) > LONGEST_TEXT or not text.isprintable():
        raise Refusal(-1142, f"{param.name} must be a text of 1 to {LONGEST_TEXT} characters.")
    return text


def _integer(param: Param, text: str, most: int) -> int:
    if not _INTEGER.fullmatch(text) or not -most - 1 <= int(text) <= most:
        raise Refusal(-1142, f"{param.name} must be an integer.")
    _bounds(param, int(text))
    return int(text)


def _bounds(param: Param, number: int, what: str = "") -> None:
    if param.low is not None and number < param.low:
        raise Refusal(-1140, f"{what}{param.name} must be at least {param.low}.")
    if param.high is not None and number > param.high:
        raise Refusal(-1140, f"{what}{param.name} must be at most {param.high}.")


def _positive(param: Param, text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text) or sum(letter.isdigit() for letter in text) > MOST_DIGITS:
        raise Refusal(-1142, f"{param.name} must be a decimal number as a string.")
    if Decimal(text) <= 0:
        raise Refusal(-1140, f"{param.name} must be above 0.")
    return Decimal(text)


def _day(param: Param, text: str) -> date:
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise Refusal(-1142, f"{param.name} must be a date like 2026-01-31.")


def _unquote(text: str) -> str:
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError:
        raise Refusal(-1142, "The query is not UTF-8.") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)
