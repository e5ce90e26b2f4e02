"""The kinds of values that the interface carries, each read exactly.

A kind is a function `(value, note) -> typed value`. A value in the other form than the interface says (a number
as a string, or the reverse) is taken exactly and told through `note`; what cannot be understood is a BadValue.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from .jsontext import MAX_DIGITS, plain, to_text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INT64 = range(-(2**63), 2**63)
INT32 = range(-(2**31), 2**31)
LAST_MS = 253402300799999  # the end of year 9999
_DIGITS = re.compile(r"-?[0-9]{1,20}\Z")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?\Z")
_USUAL_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?\Z")  # within MAX_DIGITS by its form


class BadValue(ValueError):
    """A value that cannot be understood; the message says which and why."""


Note = Callable[[str], None]


def long(value: Any, note: Note) -> int | None:
    """A 64-bit integer, exact."""
    return _whole(value, note, INT64)


def loose_long(value: Any, note: Note) -> int | None:
    """A 64-bit integer that the interface itself shows in both forms."""
    return _whole(value, lambda _: None, INT64)


def integer(value: Any, note: Note) -> int | None:
    """A 32-bit integer."""
    return _whole(value, note, INT32)


def _whole(value: Any, note: Note, bounds: range) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and _DIGITS.match(value.strip()):
        note("a string where a number is meant")
        value = int(value)
    elif isinstance(value, Decimal) and abs(value.adjusted()) < 20 and value == value.to_integral_value():
        note("a number with a point where an integer is meant")
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadValue(f"{shown(value)} is not an integer")
    if value not in bounds:
        raise BadValue(f"{shown(value)} is out of the range of its type")
    return value


def money(value: Any, note: Note) -> Decimal | None:
    """An exact, finite decimal; "" and null are None."""
    if value is None or value == "":
        return None
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        note("a number where a string is meant")
        value = str(value)
    if not isinstance(value, str) or not _NUMBER.match(value.strip()):
        raise BadValue(f"{shown(value)} is not a decimal")
    number = Decimal(value.strip())
    if len(value) > 2 * MAX_DIGITS or abs(number.adjusted()) > MAX_DIGITS:
        raise BadValue(f"{shown(value)} is out of any reasonable size")
    return number


def text(value: Any, note: Note) -> str | None:
    """Text, verbatim: unknown states and names are kept."""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        note("a number where a string is meant")
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise BadValue(f"{shown(value)} is not text")
    return value.replace("\x00", "") if value else value  # PostgreSQL holds no NUL


def flag(value: Any, note: Note) -> bool | None:
    """true or false."""
    if value is None or isinstance(value, bool):
        return value
    if value in ("true", "false", 0, 1):
        note("not a boolean")
        return value in ("true", 1)
    raise BadValue(f"{shown(value)} is not true or false")


def moment(value: Any, note: Note) -> datetime | None:
    """Unix ms as a number; aware UTC. 0, "" and null are None."""
    return _moment(_whole(value, note, INT64))


def moment_text(value: Any, note: Note) -> datetime | None:
    """Unix ms as a string, "" while there is none."""
    if isinstance(value, int) and not isinstance(value, bool) and value:
        note("a number where a string is meant")
    return _moment(_whole(value, lambda _: None, INT64))


def _moment(ms: int | None) -> datetime | None:
    if not ms:
        return None
    if not 0 < ms <= LAST_MS:
        raise BadValue(f"{ms} is not a time in milliseconds")
    return EPOCH + timedelta(milliseconds=ms)


def day(value: Any, note: Note) -> date | None:
    """A yyyy-MM-dd date."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}\Z", value, re.ASCII):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise BadValue(f"{shown(value)} is not a date")


def texts(value: Any, note: Note) -> tuple[str, ...]:
    """A list of text."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadValue(f"{shown(value)} is not a list")
    return tuple(text(item, note) or "" for item in value)


def mapping(value: Any, note: Note) -> dict[str, Any] | None:
    """An object whose inner structure the interface does not show, kept as it is; None when it is not told.
    What is no object is kept as well, under no name: nobody reckons with it."""
    if value is None:
        return None
    if not isinstance(value, dict):
        note(f"{shown(value)} is not an object")
        return {"": plain(value)}
    return dict(plain(value))


def shown(value: Any) -> str:
    """The value as JSON, short enough for a sentence."""
    said = to_text(value)
    return said if len(said) <= 60 else said[:57] + "..."


# --- the quick way ------------------------------------------------------------------------------------------
# For a value just as the interface says: the same as its kind would read, or ODD, and then the kind itself decides.

ODD: Any = object()
Quick = Callable[[Any], Any]


def quick(kind: Callable[[Any, Note], Any], required: bool) -> Quick:
    """The quick way of a kind; for one that has none everything is odd. None is never given where it may not be."""
    return _QUICK.get(kind, _always_odd) if kind is not money or not required else _always_odd


def _always_odd(value: Any) -> Any:
    return ODD


def _usual_long(value: Any) -> Any:
    return value if type(value) is int and -(2**63) <= value < 2**63 else ODD


def _usual_integer(value: Any) -> Any:
    return value if type(value) is int and -(2**31) <= value < 2**31 else ODD


def _usual_money(value: Any) -> Any:
    if type(value) is not str:
        return ODD
    if _USUAL_NUMBER.match(value):
        return Decimal(value)
    return ODD if value else None


def _usual_text(value: Any) -> Any:
    return value if type(value) is str and "\x00" not in value else ODD


def _usual_moment(value: Any) -> Any:
    return EPOCH + timedelta(0, 0, 0, value) if type(value) is int and 0 < value <= LAST_MS else ODD


def _usual_moment_text(value: Any) -> Any:
    return _usual_moment(int(value)) if type(value) is str and _DIGITS.match(value) else ODD


_QUICK: dict[Callable[[Any, Note], Any], Quick] = {
    long: _usual_long,
    loose_long: _usual_long,
    integer: _usual_integer,
    money: _usual_money,
    text: _usual_text,
    moment: _usual_moment,
    moment_text: _usual_moment_text,
}
