"""Short words for figures: what a percentage is a percentage of."""

from __future__ import annotations

from decimal import Decimal

from django import template

from copytrade.statistics import DEFINITIONS

from .desk import MINUS

register = template.Library()

SHORT = {
    "on money invested today": "on invested",
    "on the capital you entered": "on your capital",
    "on the highest margin held at once": "on peak margin",
}


@register.filter
def base(label: str) -> str:
    """The base of an ROI in a few words, for a table: "on money invested today" -> "on invested"."""
    return SHORT.get(label.partition(", ")[0], label)


@register.filter
def coefficient(value: Decimal) -> str:
    """A number from -1 to 1 with two places and its sign: +0.41, -0.05, 0.00."""
    text = f"{abs(value):.2f}"
    return text if text == "0.00" else ("+" if value > 0 else MINUS) + text


@register.filter
def definition(name: str) -> str:
    """The sentence that says what a figure is; a name without one is a KeyError."""
    return DEFINITIONS[name]
