"""Between what a person types and what the exchange is sent: text in, text out, nothing rounded.

Ratios are typed as percentages (20 for 0.2). What cannot be read as a number is handed on as it was
typed, so that the rules refuse it in their own words and the person sees it again unchanged.
"""

from __future__ import annotations

from decimal import Decimal

from copytrade import rules


def shifted(value: Decimal, places: int) -> Decimal:
    """The number with its decimal point moved right by `places`; exact at any length, unlike `scaleb`."""
    sign, digits, exponent = value.as_tuple()
    return Decimal((sign, digits, exponent + places))  # type: ignore[operator]


def percent_shown(ratio: Decimal | None) -> str:
    """A ratio as the percentage in its input: 0.2 is 20."""
    return "" if ratio is None else rules.plain(shifted(ratio, 2))


def number_shown(value: Decimal | int | None) -> str:
    return "" if value is None else rules.plain(value)


def ratio_sent(text: str) -> str:
    """A typed percentage as the ratio of the body: 20 is 0.2."""
    value = rules.number(text)
    return text if value is None else rules.plain(shifted(value, -2))


def number_sent(text: str) -> str:
    """A typed number as the decimal text of the body: its zeros at the end are left out."""
    value = rules.number(text)
    return text if value is None else rules.plain(value)


def integer_sent(text: str) -> int | str:
    """A typed whole number as the integer of the body; anything else stays text, for the rules to refuse."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else text
