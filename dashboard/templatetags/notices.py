"""What a page shows of a person's channels without its view knowing of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from copytrade.models import User
from copytrade.notices import channels, digests

register = template.Library()


@register.simple_tag(takes_context=True)
def told_by(context: Mapping[str, Any]) -> dict[str, Any]:
    """{"channels": [...], "digest": "every day"} of the signed-in person. Three queries."""
    person = context["request"].user
    if not isinstance(person, User) or person.is_demo:
        return {"channels": [], "digest": ""}
    plan = digests.plan_of(person)
    rhythm = plan.get_rhythm_display() if plan.rhythm != digests.Rhythm.OFF else ""
    return {"channels": channels.of(person), "digest": rhythm}
