"""Money, percentages, ages: what a person reads."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone
from django.utils.html import escape
from django_htmx.middleware import HtmxDetails

from copytrade.statistics import DEFINITIONS
from dashboard.templatetags import desk

NOW = datetime(2026, 11, 21, 6, 50, tzinfo=UTC)


def shown(markup: object) -> str:
    """The text a reader sees, with plain spaces."""
    return re.sub(r"<[^>]+>", "", str(markup)).replace(desk.THIN, " ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("1234.56"), "1 234.56"),
        (Decimal("-1234.565"), "−1 234.57"),
        (Decimal("0"), "0.00"),
        (Decimal("0.004"), "0.00400"),
        (Decimal("0.0000012345"), "0.00000123"),
        (Decimal("0.5"), "0.500"),
        (12, "12.00"),
        ("7.1", "7.10"),
        (None, "–"),
        ("", "–"),
        ("NaN", "–"),
        (1.5, "–"),
        (Decimal("123456789012345678901234567890.12"), "123 456 789 012 345 678 901 234 567 890.12"),
    ],
)
def test_money_is_grouped_and_fits_its_size(value: object, expected: str) -> None:
    assert shown(desk.money(value)) == expected


def test_money_keeps_the_full_value_on_hover() -> None:
    assert 'title="1234.5678901 USDT"' in desk.money(Decimal("1234.5678901"), "USDT")
    assert shown(desk.money(Decimal("1234.5678901"), "USDT")) == "1 234.57 USDT"


def test_money_as_plain_text_has_no_markup() -> None:
    assert desk.money_text(Decimal("-5"), "USDT").replace(desk.THIN, " ") == "−5.00 USDT"


@pytest.mark.parametrize(
    ("value", "text", "css"),
    [
        ("24.18", "+24.18", "gain"),
        ("-91.34", "−91.34", "loss"),
        ("0", "0.00", None),
        ("0.000000001", "0.00000000", None),
        ("-0.004", "−0.00400", "loss"),
        ("0.001", "+0.00100", "gain"),
    ],
)
def test_a_result_says_by_sign_and_class_whether_it_is_a_gain(value: str, text: str, css: str | None) -> None:
    markup = str(desk.signed(Decimal(value)))
    assert shown(markup) == text
    assert ("gain" in markup, "loss" in markup) == (css == "gain", css == "loss")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0.128", "12.8 %"), ("0", "0.0 %"), ("-0.219", "−21.9 %"), ("1", "100.0 %"), ("0.00004", "0.0 %")],
)
def test_a_fraction_is_shown_as_a_percentage(value: str, expected: str) -> None:
    assert shown(desk.percent(Decimal(value))) == expected


def test_a_signed_percentage_has_sign_and_class() -> None:
    assert shown(desk.signed_percent(Decimal("0.128"))) == "+12.8 %"
    assert "loss" in desk.signed_percent(Decimal("-0.042"))
    assert "gain" not in desk.signed_percent(Decimal("0.0001"), 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("61234.50", "61 234.5"), ("0.00001000", "0.00001"), ("100", "100"), ("1E+3", "1 000"), (None, "–")],
)
def test_a_price_keeps_all_its_digits(value: str | None, expected: str) -> None:
    assert shown(desk.quantity(value)) == expected


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (timedelta(seconds=9), "9 s ago"),
        (timedelta(minutes=40), "40 min ago"),
        (timedelta(hours=3, minutes=59), "3 h ago"),
        (timedelta(hours=47), "47 h ago"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(seconds=-5), "0 s ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(ago: timedelta, expected: str) -> None:
    with time_machine.travel(NOW, tick=False):
        assert shown(desk.age(NOW - ago)) == expected


def test_what_never_was_has_no_age() -> None:
    assert desk.age(None) == "never"


def test_times_are_in_the_persons_zone_with_the_year_when_it_is_another() -> None:
    with time_machine.travel(NOW, tick=False), timezone.override(ZoneInfo("Asia/Tokyo")):
        assert shown(desk.when(NOW)) == "21 Nov 15:50"
        assert shown(desk.when(datetime(2025, 12, 31, 20, 0, tzinfo=UTC))) == "1 Jan 05:00"
        assert shown(desk.when(datetime(2025, 5, 4, 3, 0, tzinfo=UTC))) == "4 May 2025 12:00"
        assert 'title="2026-11-21 15:50:00 JST"' in desk.when(NOW)
        assert desk.day(datetime(2026, 5, 3, 20, 0, tzinfo=UTC)) == "4 May 2026"
    assert desk.day(date(2026, 5, 4)) == "4 May 2026"


def test_how_long_a_copy_is_open() -> None:
    with time_machine.travel(NOW, tick=False):
        assert desk.length_of(NOW - timedelta(minutes=12)) == "12 min"
        assert desk.length_of(NOW - timedelta(days=9), NOW - timedelta(days=5)) == "4 days"
    assert desk.duration(timedelta(seconds=75)) == "1 min"
    assert desk.duration(None) == "–"


@pytest.mark.parametrize(("seconds", "state"), [(5, "ok"), (61, "stale"), (None, "never")])
def test_a_pill_says_whether_the_data_is_fresh(seconds: int | None, state: str) -> None:
    with time_machine.travel(NOW, tick=False):
        at = None if seconds is None else NOW - timedelta(seconds=seconds)
        markup = Template('{% fresh "Orders" at 60 %}').render(Context({"at": at}))
    assert f"fresh-{state}" in markup
    assert "Orders" in markup


def test_the_query_tag_changes_one_parameter_and_keeps_the_others() -> None:
    request = RequestFactory().get("/x/?account=3&page=2")
    out = Template("{% query page=5 %} {% query account='' %}").render(Context({"request": request}))
    assert out == "?account=3&amp;page=5 ?page=2"


def test_nothing_that_comes_from_outside_becomes_markup() -> None:
    assert "<script>" not in str(desk.money(Decimal("5"), "<script>"))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("curl/8.0", "curl/8.0"),
        ("", "An unknown browser"),
    ],
)
def test_a_browser_is_told_in_two_words(agent: str, words: str) -> None:
    assert desk.browser(agent) == words


@pytest.mark.parametrize(
    "markup",
    [
        desk.money(Decimal("24.10")),
        desk.money(Decimal("-24"), "USDT"),
        desk.signed(Decimal("1234.5")),
        desk.percent(Decimal("0.128")),
        desk.signed_percent(Decimal("-0.1280")),
    ],
)
def test_a_figure_that_is_shown_whole_has_nothing_to_add_on_hover(markup: str) -> None:
    assert "title" not in markup


def test_a_quotient_ends_on_hover_and_an_amount_never_does() -> None:
    assert 'title="33.333333"' in desk.money(desk.EXACT.divide(Decimal(100), Decimal(3)))
    assert "title" not in desk.percent(Decimal(1) / Decimal(3)), "nothing is added up from it"
    assert desk.ratio(Decimal(1) / Decimal(3)) == "0.33"
    amount = "12345678901234.12345678901234"
    assert f'title="{amount}"' in desk.money(Decimal(amount))


def what(tag: str, target: str | None = None, times: int = 1, **more: str) -> str:
    """What a page with this tag shows; `target`: as a part that htmx asked for."""
    request = RequestFactory().get("/", headers={"HX-Request": "true", "HX-Target": target} if target else {})
    request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    return Template(f"{{% load desk %}}{tag}" * times).render(Context({"request": request, **more}))


def test_a_definition_is_one_press_away_without_a_script() -> None:
    html = what('{% what "max_drawdown" %}')
    (opened,) = re.findall(r'popovertarget="([^"]+)"', html)
    assert f'<span class="what-says" id="{opened}" popover>' in html
    assert DEFINITIONS["max_drawdown"] in html.replace("&#x27;", "'")
    assert "What “Max drawdown” means" in html
    assert 'type="button"' in html, "it never sends the form that it stands in"


def test_every_definition_can_be_shown() -> None:
    for name, sentence in DEFINITIONS.items():
        assert escape(sentence) in what(f'{{% what "{name}" %}}')


def test_a_page_may_call_a_figure_by_its_own_name() -> None:
    html = what('{% what "net_profit" label=name %}', name="Result & more")
    assert "What “Result &amp; more” means" in html


def test_what_is_no_figure_of_a_trader_brings_its_own_sentence() -> None:
    html = what('{% what "margin" text=sentence %}', sentence="The margin of <all> open copies.")
    assert "The margin of &lt;all&gt; open copies." in html


def test_a_figure_that_nobody_defined_is_not_explained() -> None:
    with pytest.raises(KeyError):
        what('{% what "luck" %}')


def test_each_mark_opens_a_definition_of_its_own_also_in_a_part_that_comes_later() -> None:
    marks = what('{% what "wins" %}', times=3) + what('{% what "wins" %}', target="ledger", times=3)
    identities = re.findall(r' id="([^"]+)"', marks)
    assert len(identities) == len(set(identities)) == 6
