"""Words and numbers of a trader's page."""

from __future__ import annotations

from decimal import Decimal

from django import template

from .desk import NONE, span_words

register = template.Library()


@register.filter
def hours(value: Decimal | None) -> str:
    """A length of time in hours, in its largest unit: 40 min, 3 h, 2 days."""
    return NONE if value is None else span_words(float(value * 3600))


@register.filter
def absolute(value: Decimal) -> Decimal:
    """The same number without its sign, where the sign is written apart."""
    return abs(value)
