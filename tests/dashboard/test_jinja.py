"""Parts of pages in Jinja say what Django's templates would: the same functions, the same escaping."""

from __future__ import annotations

import gc
import re
import weakref
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template import engines
from django.test import RequestFactory
from django.utils import timezone
from django.utils.functional import SimpleLazyObject, lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from jinja2 import UndefinedError
from markupsafe import Markup, escape

from dashboard.context import navigation
from dashboard.jinja import DJANGO, places
from dashboard.templatetags import desk

HOSTILE = "<img src=x onerror=alert(1)> \"'&"
PARTS = sorted((Path(settings.BASE_DIR) / "templates" / "jinja2").rglob("*.jinja"))
VALUES = [
    Decimal("-1234567.891"),
    Decimal("0.00000001"),
    Decimal("0.128"),
    Decimal(0),
    "12.5",
    7,
    None,
    "",
    HOSTILE,
    datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
    date(2025, 12, 31),
]


def written(part: str, **values: Any) -> str:
    request = RequestFactory().get("/traders/?period=30&sort=net")
    return engines["jinja2"].from_string(part).render(values, request)


def as_django(part: str, **values: Any) -> str:
    return engines["django"].from_string("{% load desk figures trader %}" + part).render(values)


def same(one: str, other: str) -> bool:
    """Quotes are written as different numbers of the same character."""
    return one.replace("&#39;", "&#x27;").replace("&#34;", "&quot;") == other


@pytest.mark.parametrize("name", sorted([*desk.register.filters, "capfirst", "pluralize"]))
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_filter_says_the_same_in_both(name: str, value: Any) -> None:
    with timezone.override("Europe/Berlin"):
        try:
            due = as_django("{{ value|" + name + " }}", value=value)
        except (AttributeError, TypeError) as error:
            with pytest.raises(type(error)):
                written("{{ value|" + name + " }}", value=value)
            return
        if name not in ("age", "until", "length_of"):  # they hang on the moment
            assert same(written("{{ value|" + name + " }}", value=value), due)
        assert "<img" not in due


def test_a_date_is_told_in_the_persons_zone() -> None:
    late = datetime(2026, 3, 31, 23, 30, tzinfo=UTC)
    with timezone.override("Asia/Kolkata"):
        assert (
            written("{{ at|date('M Y') }}", at=late)
            == as_django("{{ at|date:'M Y' }}", at=late)
            == "Apr 2026"
        )


def test_what_people_and_the_exchange_wrote_is_escaped_once() -> None:
    text = written("{{ name }}|{{ name|lower }}|{{ name|capfirst }}|{{ 5|money(name) }}", name=HOSTILE)
    assert "<img" not in text and "&amp;lt;" not in text and text.count("&lt;img") == 4


def test_an_explanation_escapes_its_words_and_counts_on_the_page() -> None:
    text = written("{{ what('net_profit') }}{{ what('x', label, label) }}", label=HOSTILE)
    assert 'id="w1"' in text and 'popovertarget="w2"' in text
    assert "<img" not in text
    with pytest.raises(KeyError):
        written("{{ what('nobody defined this') }}")


def test_links_keep_the_rest_of_the_address() -> None:
    assert written("{{ query(period='all', sort=none) }}") == "?period=all"
    assert written("{{ query(after='a&b') }}") == "?period=30&amp;sort=net&amp;after=a%26b"
    assert written("{{ url('order', 7) }}") == "/orders/7/"


def test_all_forms_of_a_page_have_one_token() -> None:
    tokens = re.findall(r'value="(\w+)"', written("{{ csrf() }}{{ csrf() }}"))
    assert len(tokens) == 2 and len(set(tokens)) == 1


def test_what_is_folded_is_made_only_for_those_who_opened_it() -> None:
    part = "{% call fold('days', 'Show as table') %}{{ touched.append(1) or '' }}<b>all</b>{% endcall %}"
    touched: list[int] = []
    link = written(part, touched=touched, here="/here/")
    assert (
        "<b>" not in link and not touched and 'hx-get="/here/?period=30&amp;sort=net&amp;show=days"' in link
    )
    shown = written(part, touched=touched, show="days")
    assert "<b>all</b>" in shown and touched and "open" in shown


def test_a_name_that_nobody_gave_is_found_by_the_tests() -> None:
    with pytest.raises(UndefinedError):
        written("{{ nobody }}")


@pytest.mark.parametrize("path", PARTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_part_trusts_a_text_that_came_from_elsewhere(path: Path) -> None:
    assert not re.search(r"\|\s*safe\b|autoescape|Markup", path.read_text())
    assert path.read_text().count("{#") or path.read_text().strip(), "no part is empty"


def test_djangos_filters_are_those_that_parts_use() -> None:
    used = "".join(path.read_text() for path in PARTS)
    assert [name for name in DJANGO if not re.search(rf"\|{name}\b", used)] == []


class Text(str):
    """Somebody's own kind of text."""


class Shown:
    def __html__(self) -> str:
        return "<b>made safe by itself</b>"


@pytest.mark.parametrize(
    "value",
    [
        *VALUES, Text(HOSTILE), format_lazy("{}", HOSTILE), SafeString("<b>"), Markup("<i>"), Shown(), True, 2**70, 1.5,
        [HOSTILE], format_html("<i>{}</i>", HOSTILE),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_value_of_any_kind_is_written_as_safely_as_in_a_page(value: Any) -> None:
    parts = ["{{ value }}", "<p>{% if 1 %}{{ value }}{% endif %}</p>"]
    macro = "{% macro one(it) %}<i>{{ it }}</i>{% endmacro %}{{ one(value) }}"
    held = "{% set it %}{{ value }}{% endset %}{{ it }}"
    due = escape(value)
    assert [written(part, value=value) for part in parts] == [due, f"<p>{due}</p>"]
    assert written(macro, value=value) == f"<i>{due}</i>" and written(held, value=value) == due
    assert "<img" not in written(parts[0], value=value)


def test_a_lazy_text_is_safe_where_what_it_comes_to_is() -> None:
    rules = lazy(lambda: format_html("<ul><li>{}</li></ul>", "Not <too> short"), str)()
    assert written("{{ rules }}", rules=rules) == as_django("{{ rules }}", rules=rules)
    assert written("{{ rules }}", rules=rules) == "<ul><li>Not &lt;too&gt; short</li></ul>"
    assert "<img" not in written("{{ text }}", text=lazy(lambda: HOSTILE, str)())


@pytest.mark.parametrize("part", ["partials/side_places.jinja", "partials/thumb_places.jinja"])
def test_the_list_of_places_tells_what_waits_and_keeps_hold_of_no_request(part: str) -> None:
    class Asked:
        waiting = 37

    def asked() -> weakref.ref[Asked]:
        request = Asked()
        nav = SimpleLazyObject(lambda: navigation("alerts", "", request))
        told = places(part, nav, SimpleLazyObject(lambda: request.waiting), 0)
        assert "37" in told and 'aria-current="page"' in told
        assert places(part, navigation("alerts"), 37, 0) is told, "the same values are written once"
        return weakref.ref(request)

    gone = asked()
    gc.collect()
    assert gone() is None
    told = places(part, navigation("alerts"), 38, 0)
    assert "38" in told and "37" not in told


def test_a_template_and_its_blocks_hand_over_their_text_in_one_piece() -> None:
    made = engines["jinja2"].env.from_string(
        "{% for x in many %}<b>{{ x }}</b>{% endfor %}{% block end %}{% if many %}!{% endif %}{% endblock %}"
    )
    pieces = made.root_render_func(made.new_context({"many": [1, 2.5, "<", True, None]}))
    assert list(pieces) == ["<b>1</b><b>2.5</b><b>&lt;</b><b>True</b><b>None</b>!"]
