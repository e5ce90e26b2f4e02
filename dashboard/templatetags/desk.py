"""Formatting for pages: money, percentages, ages and times. It lives here and nowhere else.

Money and ratios arrive as Decimal and stay exact until they become text; the full value is on hover.
`percent` takes a fraction (0.128 is shown as 12.8 %), as the statistics and the exchange's profitRate are.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template import engines
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from markupsafe import escape

from copytrade.statistics import DEFINITIONS

register = template.Library()

THIN = "\u202f"  # narrow no-break space: groups of digits stay on one line
MINUS = "\u2212"
NONE = "\u2013"
LONGEST = 28  # digits; amounts have fewer, what has more came from a division
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
HUNDRED = Decimal(100)
QUANTA = tuple(Decimal(1).scaleb(-places) for places in range(9))  # of 0 to 8 places
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def number(value: Any) -> Decimal | None:
    """A Decimal of a Decimal, an int or their text; None for anything else. Floats are refused: they are not money."""
    if value is None or isinstance(value, bool | float):
        return None
    try:
        found = value if type(value) is Decimal else Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        return None
    # Nothing sensible has a hundred digits; such a number would only fill the page.
    return found if found.is_finite() and abs(found.adjusted()) < 100 else None


def grouped(value: Decimal, places: int) -> str:
    """`-1234.5` with two places -> `−1 234.50`. Zero after rounding has no sign."""
    return _written(_rounded(value, places))


def _rounded(value: Decimal, places: int) -> Decimal:
    quantum = QUANTA[places] if 0 <= places < len(QUANTA) else Decimal(1).scaleb(-places)
    rounded = EXACT.quantize(value, quantum)
    return rounded if rounded else rounded.copy_abs()


def _written(rounded: Decimal) -> str:
    return f"{rounded:,f}".replace(",", THIN).replace("-", MINUS)


def places_for(value: Decimal) -> int:
    """Two places from 1 up; below it as many as show three digits that matter, at most eight."""
    if value == 0 or abs(value) >= 1:
        return 2
    return min(8, max(2, 2 - value.adjusted()))


def exact(value: Decimal) -> str:
    """Every digit as it came, without an exponent; of a quotient, which never ends, four more than are shown."""
    return f"{_as_far_as_told(value):f}".replace("-", MINUS)


def _as_far_as_told(value: Decimal) -> Decimal:
    digits, places = value.as_tuple(), places_for(value) + 4
    if len(digits.digits) > LONGEST and isinstance(digits.exponent, int) and digits.exponent < -places:
        return EXACT.quantize(value, Decimal(1).scaleb(-places))
    return value


def _span(css: str, text: str, full: str, unit: str) -> SafeString:
    """`full` on hover, unless it is empty. Both are digits: nothing here but `unit` needs escaping."""
    unit = escape(unit) if unit else ""
    tail = f"{THIN}{unit}" if unit else ""
    title = f' title="{full} {unit}"' if full and unit else f' title="{full}"' if full else ""
    return SafeString(f'<span class="{css}"{title}>{text}{tail}</span>')


def _says_more(value: Decimal, rounded: Decimal) -> bool:
    """Whether there is more to tell on hover than what is shown."""
    return rounded != value and rounded != _as_far_as_told(value)


def _direction(rounded: Decimal) -> tuple[str, str]:
    """The class and the plus sign of a result; what reads as zero is neither gain nor loss."""
    if not rounded:
        return "money", ""
    return ("money gain", "+") if rounded > 0 else ("money loss", "")


@register.filter
def money(value: Any, unit: str = "") -> SafeString | str:
    """`{{ x|money }}` or `{{ x|money:"USDT" }}`: 1 234.56, the full value on hover."""
    found = number(value)
    if found is None:
        return NONE
    rounded = _rounded(found, places_for(found))
    return _span("money", _written(rounded), exact(found) if _says_more(found, rounded) else "", unit)


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
    rounded = _rounded(found, 2)
    if not rounded and found:
        rounded = _rounded(found, places_for(found))
    css, sign = _direction(rounded)
    full = ("+" if found > 0 else "") + exact(found) if _says_more(found, rounded) else ""
    return _span(css, sign + _written(rounded), full, unit)


@register.filter
def percent(value: Any, places: int = 1) -> SafeString | str:
    """A fraction as a percentage: 0.128 -> 12.8 %. Nothing on hover: there is nothing to add up."""
    found = number(value)
    if found is None:
        return NONE
    text = grouped(EXACT.multiply(found, HUNDRED), int(places))
    return SafeString(f'<span class="money">{text}{THIN}%</span>')


@register.filter
def signed_percent(value: Any, places: int = 1) -> SafeString | str:
    """A fraction as a percentage with its sign and colour."""
    found = number(value)
    if found is None:
        return NONE
    rounded = _rounded(EXACT.multiply(found, HUNDRED), int(places))
    css, sign = _direction(rounded)
    return SafeString(f'<span class="{css}">{sign}{_written(rounded)}{THIN}%</span>')


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
    return _time(value, f"{span_words(seconds)} ago", f' data-age="{seconds}"')


@register.filter
def until(value: Any) -> SafeString | str:
    """`in 9 s`, with the exact time on hover; what has come is due now."""
    if not isinstance(value, datetime):
        return NONE
    left = int((value - timezone.now()).total_seconds())
    return _time(value, f"in {span_words(left)}" if left > 0 else "now")


@register.filter
def when(value: Any) -> SafeString | str:
    """`21 Nov 06:50` in the person's zone, the year when it is another one, the full time on hover."""
    if not isinstance(value, datetime):
        return day(value)
    return _time(value, _when(timezone.localtime(value)))


@register.filter
def when_text(value: Any) -> str:
    """The same as plain text, for attributes."""
    return _when(timezone.localtime(value)) if isinstance(value, datetime) else day(value)


def _when(local: datetime) -> str:
    year = "" if local.year == timezone.localtime().year else f" {local.year}"
    return f"{local.day} {MONTHS[local.month - 1]}{year} {local.hour:02}:{local.minute:02}"


@register.filter
def day(value: Any) -> str:
    """`4 May 2026`, of a date or of a time in the person's zone."""
    if isinstance(value, datetime):
        value = timezone.localtime(value).date()
    if not isinstance(value, date):
        return NONE
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


@register.filter
def month(value: date) -> str:
    """`May 2026`."""
    return f"{MONTHS[value.month - 1]} {value.year}"


@register.filter
def month_alone(value: date) -> str:
    """`May`, where the year stands beside it."""
    return MONTHS[value.month - 1]


def _time(value: datetime, words: str, more: str = "") -> SafeString:
    """Words and numbers of our own, so nothing to escape."""
    local = timezone.localtime(value)
    full = f"{local.replace(tzinfo=None).isoformat(' ', 'seconds')} {escape(local.tzname() or 'UTC')}"
    return SafeString(
        f'<time datetime="{value.isoformat(" ", "seconds")}" title="{full}"{more}>{words}</time>'
    )


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


@register.simple_tag
def fresh(label: str, at: datetime | None, stale_after: int = 60) -> SafeString:
    """A pill that says how old something is: `{% fresh "Orders" last_success_at 60 %}`. Older than that: stale."""
    seconds = None if at is None else (timezone.now() - at).total_seconds()
    state = "never" if seconds is None else ("stale" if seconds > stale_after else "ok")
    return _part("partials/fresh.jinja", {"label": label, "at": at, "state": state})


@register.simple_tag
def field(bound: Any, hint: str = "") -> SafeString:
    """A form field with label, help and errors, tied together for screen readers."""
    return _part("partials/field.jinja", {"field": bound, "hint": hint or bound.help_text})


LABELS = {"roi_on_capital": "ROI", "roi_on_peak_margin": "ROI on peak margin", "net_profit": "Net result"}


# All of it may stand inside of a <p> or a <th>; the browser opens and closes it without a script.
WHAT = (
    '&nbsp;<button type="button" class="what" popovertarget="{identity}" aria-label="What “{label}” means"><i>?</i>'
    '</button><span class="what-says" id="{identity}" popover><strong>{label}</strong> {sentence}</span>'
)


@register.simple_tag(takes_context=True)
def what(context: dict[str, Any], name: str, label: str = "", text: str = "") -> SafeString:
    """A "?" that opens the definition of a figure: `{% what "max_drawdown" %}`, right after its label.

    `label` where the page calls it something else; `text` for what is no figure of statistics. An unknown name
    without a text is a KeyError: a page may not explain what nobody defined.
    """
    return explanation(context["request"], name, label, text)


def explanation(request: HttpRequest, name: str, label: str = "", text: str = "") -> SafeString:
    """The same for a request; the parts written in Jinja call it by the same name (dashboard/jinja.py)."""
    told = request.told = getattr(request, "told", 0) + 1
    # Short: a page has some forty, each named twice. A part that htmx puts into a page counts on its own: its numbers
    # must not be those of the page around it.
    part = getattr(getattr(request, "htmx", None), "target", None)
    identity = f"w{told}-{escape(part)}" if part else f"w{told}"
    return SafeString(_explanation(name, label, text).replace("\0", identity))


@lru_cache(1024)
def _explanation(name: str, label: str, text: str) -> str:
    """The words, which are the same every time, with a place for what is not."""
    label = label or LABELS.get(name) or name.replace("_", " ").capitalize()
    return format_html(WHAT, identity="\0", label=label, sentence=text or DEFINITIONS[name])


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: Any) -> str:
    """The page's address query with some parameters changed; None or "" drops one."""
    return query_of(context["request"], **changes)


def query_of(request: HttpRequest, **changes: Any) -> str:
    values = dict(request.GET.lists())
    for name, value in changes.items():
        if value in (None, ""):
            values.pop(name, None)
        else:
            values[name] = [value]
    return f"?{urlencode(values, doseq=True)}"


@register.simple_tag(takes_context=True)
def jinja(context: template.Context, name: str, **more: Any) -> SafeString:
    """`{% jinja "traders/table.jinja" rows=rows %}`: a part of templates/jinja2, which sees what the page sees."""
    return _part(name, context.flatten() | more)


def _part(name: str, context: dict[str, Any]) -> SafeString:
    return SafeString(engines["jinja2"].env.get_template(name).render(context))  # it escapes what it writes
