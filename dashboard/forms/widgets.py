"""The inputs of the long lists: a row for each symbol, ten fields in a row.

Made in Python and not by a template each: 200 symbols are 2,000 inputs, and an include for every one of them
took half a second. Everything that a person or the exchange wrote is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from django.utils.safestring import SafeString, mark_safe

from .copy_settings_fields import SPECS, Choices, Field, Spec

# The columns of the table: name -> (head, unit under the head).
HEADS = {
    "trace_type": ("Sized in", ""),
    "trace_value": ("Size", ""),
    "max_hold": ("Most held", "USDT"),
    "take_profit": ("Take profit", "% margin"),
    "stop_loss": ("Stop loss", "% margin"),
    "slippage": ("Slippage", "%"),
    "margin_type": ("Margin", ""),
    "leverage_type": ("Leverage", ""),
    "long_leverage": ("Long", "x"),
    "short_leverage": ("Short", "x"),
}
SHORT = {"amount": "USDT", "percent": "× trader's", "fixed": "Fixed", "trader": "As trader"}
LEAVE = "leave"


def short(choices: Choices) -> Choices:
    """The choices in words that fit a column."""
    return tuple((value, SHORT.get(value, label)) for value, label in choices)


def _options(choices: Choices, value: str) -> str:
    return "".join(
        f'<option value="{escape(key)}"{" selected" if key == value else ""}>{escape(label)}</option>'
        for key, label in choices
    )


def _state(was: str | None, wrong_note: str) -> str:
    """What an input says about itself: the value on the exchange, if another is typed, and where it is told wrong."""
    changed = "" if was is None else f' data-was="{escape(was)}"'
    return (
        changed + f' aria-invalid="true" aria-describedby="{escape(wrong_note)}"' if wrong_note else changed
    )


def cell(symbol: str, item: Field, was: str | None, wrong_note: str) -> str:
    """One input of the table, named for those who do not see its column. Not marked safe: parts of a row."""
    about = f'id="{item.id}" name="{escape(item.name)}" aria-label="{escape(symbol)} {item.label}"'
    about += _state(was, wrong_note)
    if item.choices:
        return f"<select {about}>{_options(short(item.choices), item.value)}</select>"
    return f'<input {about} value="{escape(item.value)}" inputmode="decimal">'


def hidden(item: Field) -> str:
    return f'<input type="hidden" name="{escape(item.name)}" value="{escape(item.value)}">'


def many(spec: Spec, value: str) -> SafeString:
    """The input that sets one field in many rows; empty leaves it as it is."""
    about = f'id="set-{spec.name}" name="set.{spec.name}" aria-label="Set many: {spec.label}"'
    choices = spec.choices_for(True)
    if choices:
        options = _options((("", LEAVE), *short(choices)), value)
        return mark_safe(f"<select {about}>{options}</select>")  # noqa: S308 - escaped above
    return mark_safe(  # noqa: S308 - escaped
        f'<input {about} value="{escape(value)}" inputmode="decimal" placeholder="{LEAVE}">'
    )


def columns(with_margin: bool) -> list[Spec]:
    return [spec for spec in SPECS if with_margin or spec.name != "margin_type"]


def leverage_inputs(fields: Sequence[Field], note_id: str) -> SafeString:
    """Long and short of one symbol under `specify`."""
    made = ""
    for word, item in zip(("Long", "Short"), fields, strict=True):
        wrong = f' aria-invalid="true" aria-describedby="{note_id}"' if item.errors else ""
        made += (
            f'<label><span aria-hidden="true">{word}</span><input id="{item.id}" name="{escape(item.name)}" '
            f'aria-label="{escape(item.label)}" value="{escape(item.value)}" inputmode="numeric"{wrong}></label>'
        )
    return mark_safe(made)  # noqa: S308 - escaped above
