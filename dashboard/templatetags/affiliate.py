"""Cells of the affiliate reports. What an answer did not tell is said so; what is not known is shown as it came."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from copytrade.affiliate import BOTH, KINDS, Column, Kind
from copytrade.models import AffiliateReport, AffiliateRow
from dashboard.forms.affiliate import LABELS, WORDS

from .desk import day, exact, money, number, percent, quantity, query, when

register = template.Library()

NOT_TOLD = mark_safe('<span class="muted">not told</span>')
SOURCES = {1: "Direct", 2: "Sub-agent"}
STATUSES = {"SUCCESS": "pill-good", "FAILED": "pill-bad", "PROGRESSING": "pill-warn"}
RIGHT = ("amount", "rate")
LONGEST = 120  # characters of a text in a cell; the whole is on hover and in the files


@register.simple_tag
def affiliate_cells(kind: Kind, row: AffiliateRow) -> SafeString:
    """All cells of a row, the first of them its heading."""
    return format_html_join(
        "", "{}", ((_cell(place, column, row),) for place, column in enumerate(kind.columns))
    )


def _cell(place: int, column: Column, row: AffiliateRow) -> SafeString:
    shown = written(column, row)
    css = " ".join(filter(None, ["num" if column.shown in RIGHT else "", "only-wide" if column.wide else ""]))
    if column.name in row.record.get("partly", ()):
        shown = format_html('<span title="Not told for some of the days">at least</span> {}', shown)
    if place == 0:
        return format_html('<th scope="row" class="{}">{}{}</th>', css, shown, _extras(row))
    return format_html('<td class="{}" data-label="{}">{}</td>', css, column.label, shown)


def written(column: Column, row: AffiliateRow) -> Any:
    """One value for people; numbers with every digit on hover."""
    value = getattr(row, column.kept) if column.kept else row.record.get(column.name)
    if value is None:
        return NOT_TOLD
    return SHAPES[column.shown](value)


def _extras(row: AffiliateRow) -> SafeString | str:
    """Fields that the interface does not name, as they came."""
    extras = row.record.get("extras")
    if not extras:
        return ""
    told = ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in extras.items()
    )
    return format_html('<small class="also">also told: {}</small>', _text(told))


def _text(value: Any) -> SafeString | str:
    text = str(value)
    if len(text) <= LONGEST:
        return text
    return format_html('<span title="{}">{}…</span>', text[:2000], text[:LONGEST])


def _moment(value: Any) -> SafeString | str:
    return when(value if isinstance(value, datetime) else datetime.fromisoformat(value))


def _status(value: str) -> SafeString:
    return format_html('<span class="pill {}">{}</span>', STATUSES.get(value, ""), _text(value))


SHAPES: dict[str, Any] = {
    "time": _moment,
    "day": lambda value: day(value.astimezone(UTC).date() if isinstance(value, datetime) else value),
    "id": lambda value: format_html('<span class="mono">{}</span>', _text(value)),
    "text": _text,
    "amount": money,
    "rate": lambda value: percent(value, 1 if number(value) == round(number(value) or Decimal(0), 3) else 3),
    "flag": lambda value: "Yes" if value else "No",
    "source": lambda value: SOURCES.get(value, str(value)),
    "status": _status,
}


@register.simple_tag
def affiliate_sum(pair: tuple[Decimal | None, int], n: int) -> SafeString | str:
    """An exact sum, and of how many rows it was not told."""
    found, missing = pair
    if found is None:
        return NOT_TOLD if n else "–"
    shown = format_html('<span class="money" title="{}">{}</span>', exact(found), quantity(found))
    if not missing:
        return shown
    return format_html("{} <small>not told by {}</small>", shown, missing)


@register.simple_tag
def affiliate_group(kind: Kind, name: Any, place: int) -> SafeString | str:
    """The name of a group of totals."""
    if name is None:
        return NOT_TOLD
    shown = next(column.shown for column in kind.columns if column.kept == kind.groups[place])
    return SHAPES[shown](name)


@register.filter
def group_labels(kind: Kind) -> list[str]:
    """What the totals are told apart by."""
    return [next(c.label for c in kind.columns if c.kept == name) for name in kind.groups]


@register.filter
def asked_words(report: AffiliateReport) -> str:
    """The question in a line: `1 May 2026 to 4 May 2026, Spot, User 7310000000000000001`."""
    asked = dict(report.asked)
    since, until = asked.pop("since", None), asked.pop("until", None)
    days = {"since": _day(since), "until": _day(until)}
    if since and until:
        parts = [f"{days['since']} to {days['until']}"]
    else:
        parts = [
            f"from {days['since']}"
            if since
            else f"to {days['until']}"
            if until
            else "the exchange's own days"
        ]
    parts += [_chosen(name, asked[name]) for name in KINDS[report.kind].asks if name in asked]
    return ", ".join(parts)


def _day(text: str | None) -> str:
    return day(date.fromisoformat(text)) if text else ""


def _chosen(name: str, value: Any) -> str:
    if name == "product_type":
        return "Spot and futures" if value == BOTH else WORDS.get(value, str(value))
    if isinstance(value, list):
        return f"{len(value)} {LABELS[name].lower()}"
    return value if name == "coin" else f"{LABELS[name]} {WORDS.get(value, value)}"


@register.simple_tag
def affiliate_label(kind: Kind, place: int) -> str:
    return group_labels(kind)[place]


@register.simple_tag
def affiliate_summed(kind: Kind, place: int) -> str:
    return kind.summed[place].label


@register.simple_tag(takes_context=True)
def affiliate_heading(context: dict[str, Any], column: Column, sort: str) -> SafeString:
    """A heading that sorts: what counts the largest first, the rest from its beginning, and the other way when pressed
    again."""
    largest_first = column.shown in ("amount", "rate", "time", "day")
    now = sort.removeprefix("-") == column.name
    descending = not sort.startswith("-") if now else largest_first
    link = query(context, sort=f"-{column.name}" if descending else column.name, page=None)
    order = ("descending" if sort.startswith("-") else "ascending") if now else ""
    css = " ".join(filter(None, ["num" if column.shown in RIGHT else "", "only-wide" if column.wide else ""]))
    return format_html(
        '<th scope="col" class="{}"{}><a href="{}#rows">{}{}</a></th>',
        css,
        format_html(' aria-sort="{}"', order) if order else "",
        link,
        column.label,
        {"ascending": " ▲", "descending": " ▼"}.get(order, ""),
    )


@register.filter
def fields_again(report: AffiliateReport) -> list[tuple[str, str]]:
    """The question as a form's fields."""
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in report.asked.items()
    ]
