"""Formatting for pages: money, percentages, ages and times. It lives here and nowhere else.

Money and ratios arrive as Decimal and stay exact until they become text; the full value is on hover.
`percent` takes a fraction (0.128 is shown as 12.8 %), as the statistics and the exchange's profitRate are.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from copytrade.statistics import DEFINITIONS

register = template.Library()

THIN = "\u202f"  # narrow no-break space: groups of digits stay on one line
MINUS = "\u2212"
NONE = "\u2013"
LONGEST = 28  # digits; amounts have fewer, what has more came from a division
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def number(value: Any) -> Decimal | None:
    """A Decimal of a Decimal, an int or their text; None for anything else. Floats are refused: they are not money."""
    if value is None or isinstance(value, bool | float):
        return None
    try:
        found = Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        return None
    # Nothing sensible has a hundred digits; such a number would only fill the page.
    return found if found.is_finite() and abs(found.adjusted()) < 100 else None


def grouped(value: Decimal, places: int) -> str:
    """`-1234.5` with two places -> `−1 234.50`. Zero after rounding has no sign."""
    rounded = EXACT.quantize(value, Decimal(1).scaleb(-places))
    if rounded == 0:
        rounded = abs(rounded)
    return f"{rounded:,f}".replace(",", THIN).replace("-", MINUS)


def places_for(value: Decimal) -> int:
    """Two places from 1 up; below it as many as show three digits that matter, at most eight."""
    if value == 0 or abs(value) >= 1:
        return 2
    return min(8, max(2, 2 - value.adjusted()))


def exact(value: Decimal) -> str:
    """Every digit as it came, without an exponent; of a quotient, which never ends, four more than are shown."""
    digits, places = value.as_tuple(), places_for(value) + 4
    if len(digits.digits) > LONGEST and isinstance(digits.exponent, int) and digits.exponent < -places:
        value = EXACT.quantize(value, Decimal(1).scaleb(-places))
    return f"{value:f}".replace("-", MINUS)


def _span(css: str, text: str, full: str, unit: str) -> SafeString:
    """`full` on hover, where it says more than the text."""
    tail = f"{THIN}{unit}" if unit else ""
    if _value(full) == _value(text):
        return format_html('<span class="{}">{}{}</span>', css, text, tail)
    title = f"{full} {unit}".strip()
    return format_html('<span class="{}" title="{}">{}{}</span>', css, title, text, tail)


def _value(written: str) -> Decimal:
    return Decimal(written.replace(THIN, "").replace(MINUS, "-"))


def _is_zero(text: str) -> bool:
    return not any(digit in text for digit in "123456789")


def _direction(value: Decimal, text: str) -> tuple[str, str]:
    """The class and the plus sign of a result; what reads as zero is neither gain nor loss."""
    if _is_zero(text):
        return "money", ""
    return ("money gain", "+") if value > 0 else ("money loss", "")


@register.filter
def money(value: Any, unit: str = "") -> SafeString | str:
    """`{{ x|money }}` or `{{ x|money:"USDT" }}`: 1 234.56, the full value on hover."""
    found = number(value)
    if found is None:
        return NONE
    return _span("money", grouped(found, places_for(found)), exact(found), unit)


@register.filter
def money_text(value: Any, unit: str = "") -> str:
    """The same as plain text, for attributes, titles and mails."""
    found = number(value)
    if found is None:
        return NONE
    return f"{grouped(found, places_for(found))}{THIN}{unit}" if unit else grouped(found, places_for(found))


@register.filter
def signed(value: Any, unit: str = "") -> SafeString | str:
    """A result: +24.18 as gain, −91.34 as loss, 0.00 as neither. The sign is always written."""
    found = number(value)
    if found is None:
        return NONE
    text = grouped(found, 2)
    if _is_zero(text) and found != 0:
        text = grouped(found, places_for(found))
    css, sign = _direction(found, text)
    return _span(css, sign + text, ("+" if found > 0 else "") + exact(found), unit)


@register.filter
def percent(value: Any, places: int = 1) -> SafeString | str:
    """A fraction as a percentage: 0.128 -> 12.8 %. Nothing on hover: there is nothing to add up."""
    found = number(value)
    if found is None:
        return NONE
    scaled = EXACT.multiply(found, Decimal(100))
    return format_html('<span class="money">{}{}%</span>', grouped(scaled, int(places)), THIN)


@register.filter
def signed_percent(value: Any, places: int = 1) -> SafeString | str:
    """A fraction as a percentage with its sign and colour."""
    found = number(value)
    if found is None:
        return NONE
    scaled = EXACT.multiply(found, Decimal(100))
    text = grouped(scaled, int(places))
    css, sign = _direction(found, text)
    return format_html('<span class="{}">{}{}{}%</span>', css, sign, text, THIN)


@register.filter
def ratio(value: Any) -> str:
    """How many times one thing is another, with two places: 1.74."""
    found = number(value)
    return NONE if found is None else grouped(found, 2)


@register.filter
def quantity(value: Any) -> str:
    """An amount of coin or a price: all its digits, grouped, without trailing zeros."""
    found = number(value)
    if found is None:
        return NONE
    text = f"{found:,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(",", THIN).replace("-", MINUS)


def span_words(seconds: float) -> str:
    """A length of time in its largest unit: 9 s, 40 min, 3 h, 2 days."""
    seconds = max(0, int(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    if seconds < 48 * 3600:
        return f"{seconds // 3600} h"
    return f"{seconds // 86400} days"


@register.filter
def duration(value: Any) -> str:
    """A timedelta, or seconds, in words."""
    if isinstance(value, timedelta):
        return span_words(value.total_seconds())
    found = number(value)
    return span_words(float(found)) if found is not None else NONE


@register.filter
def seconds(value: Any) -> str:
    """A length of time in seconds as a float: 0.04 s, 3.2 s, 40 s, 12 min."""
    if not isinstance(value, int | float):
        return NONE
    if value < 10:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s".replace(".0 ", " ")
    return span_words(value)


@register.filter
def length_of(start: Any, end: Any = None) -> str:
    """How long from `start` to `end` (now, without one): the age of a copy."""
    if not isinstance(start, datetime):
        return NONE
    return span_words(((end or timezone.now()) - start).total_seconds())


@register.filter
def age(value: Any) -> SafeString | str:
    """`9 s ago`, with the exact time on hover."""
    if not isinstance(value, datetime):
        return "never"
    seconds = max(0, int((timezone.now() - value).total_seconds()))
    markup = '<time datetime="{}" title="{}" data-age="{}">{} ago</time>'
    return format_html(markup, value.isoformat(" ", "seconds"), _full(value), seconds, span_words(seconds))


@register.filter
def until(value: Any) -> SafeString | str:
    """`in 9 s`, with the exact time on hover; what has come is due now."""
    if not isinstance(value, datetime):
        return NONE
    left = int((value - timezone.now()).total_seconds())
    words = f"in {span_words(left)}" if left > 0 else "now"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', value.isoformat(" ", "seconds"), _full(value), words
    )


@register.filter
def when(value: Any) -> SafeString | str:
    """`21 Nov 06:50` in the person's zone, the year when it is another one, the full time on hover."""
    if not isinstance(value, datetime):
        return day(value)
    local = timezone.localtime(value)
    year = "" if local.year == timezone.localtime().year else f" {local.year}"
    text = f"{local.day} {local:%b}{year} {local:%H:%M}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', value.isoformat(" ", "seconds"), _full(value), text
    )


@register.filter
def day(value: Any) -> str:
    """`4 May 2026`, of a date or of a time in the person's zone."""
    if isinstance(value, datetime):
        value = timezone.localtime(value).date()
    if not isinstance(value, date):
        return NONE
    return f"{value.day} {value:%b %Y}"


def _full(value: datetime) -> str:
    local = timezone.localtime(value)
    return f"{local:%Y-%m-%d %H:%M:%S} {local.tzname() or 'UTC'}"


BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


@register.filter
def browser(agent: str) -> str:
    """`Firefox on Linux`, as far as the browser's own words tell; those words otherwise."""
    name = next((label for mark, label in BROWSERS if mark in agent), "")
    system = next((label for mark, label in SYSTEMS if mark in agent), "")
    if not name:
        return agent[:60] or "An unknown browser"
    return f"{name} on {system}" if system else name


@register.inclusion_tag("partials/fresh.html")
def fresh(label: str, at: datetime | None, stale_after: int = 60) -> dict[str, Any]:
    """A pill that says how old something is: `{% fresh "Orders" last_success_at 60 %}`. Older than that: stale."""
    seconds = None if at is None else (timezone.now() - at).total_seconds()
    state = "never" if seconds is None else ("stale" if seconds > stale_after else "ok")
    return {"label": label, "at": at, "state": state}


@register.inclusion_tag("partials/field.html")
def field(bound: Any, hint: str = "") -> dict[str, Any]:
    """A form field with label, help and errors, tied together for screen readers."""
    return {"field": bound, "hint": hint or bound.help_text}


LABELS = {"roi_on_capital": "ROI", "roi_on_peak_margin": "ROI on peak margin", "net_profit": "Net result"}


@register.inclusion_tag("partials/what.html", takes_context=True)
def what(context: dict[str, Any], name: str, label: str = "", text: str = "") -> dict[str, str]:
    """A "?" that opens the definition of a figure: `{% what "max_drawdown" %}`, right after its label.

    `label` where the page calls it something else; `text` for what is no figure of statistics. An unknown name
    without a text is a KeyError: a page may not explain what nobody defined.
    """
    request = context["request"]
    request.told = getattr(request, "told", 0) + 1
    # A part that htmx puts into a page counts on its own: its numbers must not be those of the page around it.
    part = getattr(getattr(request, "htmx", None), "target", None) or "page"
    return {
        "identity": f"what-{name}-{part}-{request.told}",
        "label": label or LABELS.get(name) or name.replace("_", " ").capitalize(),
        "sentence": text or DEFINITIONS[name],
    }


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: Any) -> str:
    """The page's address query with some parameters changed; None or "" drops one."""
    values = context["request"].GET.copy()
    for name, value in changes.items():
        if value in (None, ""):
            values.pop(name, None)
        else:
            values[name] = value
    return f"?{values.urlencode()}" if values else "?"


class _Fold(template.Node):
    """What `{% fold %}` holds is worked out and sent only where somebody asked for it."""

    def __init__(self, name: str, words: str, nodes: template.NodeList) -> None:
        self.name, self.words, self.nodes = name, words, nodes

    def render(self, context: template.Context) -> str:
        words, identity = self.words, f"{self.name}-table"
        if context.get("show") == self.name:
            summary = format_html('<summary id="{}-open">{}</summary>', identity, words)
            inside = mark_safe(self.nodes.render(context))  # noqa: S308 (a template's own output)
            markup = '<details class="fold small" id="{}" open>{}{}</details>'
            return format_html(markup, identity, summary, inside)
        address = context.get("here", "") + query(context, show=self.name)
        return format_html(
            '<p class="fold small" id="{0}"><a id="{0}-open" href="{1}#{0}" hx-get="{1}" hx-target="#{0}" '
            'hx-swap="outerHTML show:none">{2}</a></p>',
            identity,
            address,
            words,
        )


@register.tag
def fold(parser: template.base.Parser, token: template.base.Token) -> _Fold:
    """`{% fold "margin" "Show as table" %} ... {% endfold %}`: long and folded away, so it is sent when it is opened.

    A link to `?show=margin` of the same page, which htmx puts in place; without a script the page comes with it open.
    The view gives `show` (what the address asks for), and `here` where the address is not that of the page.
    """
    _, name, words = token.split_contents()
    nodes = parser.parse(("endfold",))
    parser.delete_first_token()
    return _Fold(name.strip('"'), words.strip('"'), nodes)
