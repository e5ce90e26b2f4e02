"""The pictures of a trader's page: what they show, and the tables behind them, folded away until somebody opens one."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Trader, TraderNote, User
from tests.dashboard.test_overview import chart_of
from tests.support.ledger_rows import account_of, closed_copy, summed_once, trader_of, version_of
from tests.support.page_text import text
from tests.support.trader_page import page_of, part_of, section, summed

pytestmark = pytest.mark.django_db


# --- pictures ---


def test_the_chart_has_its_table_and_a_sentence_for_those_who_do_not_see_it(
    client: Client, trader: Trader
) -> None:
    html = page_of(client, trader)
    chart = chart_of(client, html)
    assert chart["equity"] == [10, 20, 15, 15, 20]
    assert chart["drawdown"] == [0, 0, -5, -5, 0]
    assert "+20.00 USDT, at its peak" in text(html), "the end of the line, as it is read off"
    assert "Line of the cumulative net result over 5 closed copies: it ends at 20.00" in html.replace(
        "\u202f", " "
    )
    assert html[html.index('id="equity-table"') :].partition("</p>")[0].endswith("Show as table</a>")
    assert "+10.00" in folded(client, trader, "equity")


FOLDS = ("equity", "calendar", "holding", "margin", "costs", "symbols")


@pytest.mark.parametrize("name", [*FOLDS, "days"])
def test_what_is_folded_is_empty_where_nothing_closed(client: Client, alice: User, name: str) -> None:
    """Its link is not there then; an address that was typed, or was right a moment ago, is no error."""
    idle = trader_of(account_of(alice, "Idle"), 99, "Idle")
    for query in ("?period=all", "?period=range&from=2020-01-01&to=2020-02-01"):
        answer = client.get(
            f"{reverse('trader', args=[idle.pk])}{query}&show={name}", headers={"HX-Request": "true"}
        )
        assert answer.status_code == 200


def folded(client: Client, trader: Trader, name: str) -> str:
    """A table that is folded away, as a press on its link brings it: the same as the page with it open."""
    part = part_of(client, trader, f"?period=all&show={name}")
    assert part.lstrip().startswith(f'<details class="fold small" id="{name}-table" open>')
    assert "<html" not in part and part.rstrip().endswith("</details>")
    whole = page_of(client, trader, f"?period=all&show={name}")
    assert text(part).strip() in text(whole), "without a script, too"
    return text(part)


@pytest.mark.parametrize("name", FOLDS)
def test_what_is_folded_away_is_sent_when_it_is_opened(client: Client, alice: User, name: str) -> None:
    trader = trader_of(account_of(alice))
    with summed_once():
        for number in range(20):  # more symbols than are shown, in two months
            closed_copy(trader, number, "5", 1 + 2 * number, symbol=f"C{number}USDT")
    summed(trader)
    html = page_of(client, trader, "?period=all")
    link = re.search(
        rf'<p class="fold small" id="{name}-table"><a [^>]*href="([^"]+)"[^>]*hx-get="([^"]+)"', html
    )
    assert link and link[1] == f"{link[2]}#{name}-table"
    assert f"show={name}" in link[2] and "period=all" in link[2]
    assert "<table" in page_of(client, trader, f"?period=all&show={name}")
    assert folded(client, trader, name)


def test_a_rate_that_is_not_known_says_why_by_symbol_and_in_breakdowns(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    closed_copy(trader, 1, "0")
    html = page_of(client, summed(trader))
    for card in ("symbol-title", "break-title"):
        part = html[html.index(f'aria-labelledby="{card}"') :].partition("</section>")[0]
        assert '–</span><span class="sr-only"> only break-even copies</span>' in part, card


def test_what_nobody_folded_is_the_page(client: Client, trader: Trader) -> None:
    assert 'id="figures"' in part_of(client, trader, "?show=<script>")
    assert 'id="notes"' in page_of(client, trader, "?show=chart"), (
        "a person who follows the link sees the page"
    )


def test_every_picture_is_there_without_a_script_and_names_its_table(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    for kind in ("draw-line", "draw-fall", "draw-margin", "draw-gains", "draw-losses"):
        assert re.search(f'class="{kind}" d="[Mm]', html)
    for identity in re.findall(r'data-table="([^"]+)"', html):
        assert f'<p class="fold small" id="{identity}"><a ' in html
    assert len(re.findall(r"data-table=", html)) == 4
    assert "style=" not in html, "the policy forbids style attributes"
    assert "<script" not in html[html.index('id="figures"') :], "no script per row"


def test_the_calendar_names_each_day_and_leads_to_its_copies(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    assert 'class="day-loss level-' in html and "data-day=" not in html, (
        "a picture, until somebody goes there"
    )
    assert 'hx-get="' in html[html.index('id="calendar"') :][:500]
    html = part_of(client, trader, "?show=days")
    assert html.lstrip().startswith('<div class="months') and "days" in page_of(client, trader, "?show=days")
    day = (timezone.now() - timedelta(days=20)).date()
    assert re.search(rf'since={day}&amp;until={day}"[^>]*><title>{day.day} \S+ {day.year}: −5\.00', html)
    assert html.count('tabindex="0" data-day=') == 1, "one stop of the tab key"
    assert 'class="day-loss level-' in html and 'rx="7.5"' in html, "told by shape, too"


def test_results_are_broken_down_by_everything(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    assert text(html).index("BTCUSDT 3") < text(html).index("ETHUSDT 2")
    words = section(html, "break-title")
    for title in ("Side", "Weekday", "Leverage", "Holding time"):
        assert title in words
    assert "Long 5 75 %" in words and "4-5x 5" in words and "1 h to 4 h 5" in words


def test_the_dots_tell_how_long_gains_and_losses_were_held(client: Client, trader: Trader) -> None:
    words = section(page_of(client, trader), "holding-title")
    assert "Gains were held 1 h at the median, losses 1 h." in words


def test_settings_and_notes_are_marked_on_the_time_axis(client: Client, trader: Trader) -> None:
    version_of(trader)
    version = version_of(trader)
    seen = timezone.now() - timedelta(days=15)
    trader.versions.filter(pk=version.pk).update(author="outside", first_seen_at=seen)
    TraderNote.objects.create(trader=trader, day=(timezone.now() - timedelta(days=12)).date(), text="Doubled")
    TraderNote.objects.create(trader=trader, day=date(2020, 1, 1), text="Before all of it")
    html = page_of(client, trader)
    marks = [(mark["kind"], mark["label"]) for mark in chart_of(client, html)["marks"]]
    assert marks == [
        ("note", "Note: Before all of it"),
        ("settings", "Settings changed outside the desk"),
        ("note", "Note: Doubled"),
    ]
    still = html[html.index('class="plot plot-tall"') : html.index('data-plot="drawdown"')]
    assert "Settings changed outside the desk" in still and "Note: Doubled" in still
    assert "Before all of it" not in still
