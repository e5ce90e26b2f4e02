"""What is long and folded away: worked out and sent only to those who open it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from .templatetags.desk import query_of

FOLDED = (
    '<p class="fold small" id="{0}"><a id="{0}-open" href="{1}#{0}" hx-get="{1}" hx-target="#{0}" '
    'hx-swap="outerHTML show:none">{2}</a></p>'
)
UNFOLDED = '<details class="fold small" id="{0}" open><summary id="{0}-open">{1}</summary>{2}</details>'


def folded(context: Mapping[str, Any], name: str, words: str, inside: Callable[[], str]) -> SafeString:
    """What is long and folded away, so it is worked out and sent only where somebody asked for it.

    A link to `?show=margin` of the same page, which htmx puts in place; without a script the page comes with it open.
    The view gives `show` (what the address asks for), and `here` where the address is not that of the page. In a part:
    `{% call fold("margin", "Show as table") %} ... {% endcall %}`.
    """
    identity = f"{name}-table"
    if context.get("show") == name:
        return format_html(UNFOLDED, identity, words, SafeString(inside()))  # a template's own output
    address = context.get("here", "") + query_of(context["request"], show=name)
    return format_html(FOLDED, identity, address, words)
