"""Short words for figures: what a percentage is a percentage of."""

from __future__ import annotations

from django import template

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
