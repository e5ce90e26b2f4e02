"""The one reading of typed numbers, and the one way to write them."""

from __future__ import annotations

import re
from decimal import Decimal

MAX_DIGITS = 36
BLANKS = " \t\n\r\f\v"  # trimmed; other Unicode spaces are not, as the exchange counts in ASCII
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_READABLE = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]{1,2})?")
_LONGEST_ANSWER = 200


def number(text: object) -> Decimal | None:
    """Read a typed number: ASCII `-?digits(.digits)?`, trimmed, at most 36 digits, exact.

    None for everything else (also for what is not text): "1e3", "+1", ".5", "1,5", "".
    Source: open-points.md, "Settings body".
    """
    if not isinstance(text, str):
        return None
    trimmed = text.strip(BLANKS)
    if len(trimmed) > MAX_DIGITS + 2 or not _NUMBER.fullmatch(trimmed):
        return None
    if sum(character.isdigit() for character in trimmed) > MAX_DIGITS:
        return None
    return Decimal(trimmed)


def plain(value: Decimal | int) -> str:
    """Write a number as the exchange reads it: no exponent, no trailing zeros, no minus zero."""
    text = format(Decimal(value), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def answered(value: object) -> Decimal | None:
    """Read a number of an answer, more tolerant than `number`: text, integer or Decimal, exact.

    None and "" are "not set". Raises ValueError for anything that is no finite number of a sane size.
    """
    if value is None or (isinstance(value, str) and not value.strip(BLANKS)):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError(f"not a number but a {type(value).__name__}")
    if isinstance(value, int):
        value = Decimal(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or not -_LONGEST_ANSWER < value.adjusted() < _LONGEST_ANSWER:
            raise ValueError("not a number of a sane size")
        return value
    trimmed = value.strip(BLANKS)
    if len(trimmed) > _LONGEST_ANSWER or not _READABLE.fullmatch(trimmed):
        raise ValueError("not a number")
    return Decimal(trimmed)
