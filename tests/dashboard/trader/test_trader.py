"""A trader's page: whose it is, its first screen, what stands around the figures, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import SyncJob, Trader, TraderNote, User
from copytrade.statistics import DEFINITIONS
from dashboard import watching
from tests.dashboard.test_overview import FRAME
from tests.support.ledger_rows import (
    account_of,
    closed_copies,
    closed_copy,
    open_copy,
    summed_once,
    trader_of,
    version_of,
)
from tests.support.page_text import explained, text
from tests.support.trader_page import page_of, part_of, section, summed, without_definitions

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\"'&\u202egnp"


# --- whose it is ---


def test_a_stranger_and_nobody_get_nothing(
    trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    assert client_of(charlie).get(reverse("trader", args=[trader.pk])).status_code == 404
    assert client_of(charlie).get(reverse("trader", args=[trader.pk + 99])).status_code == 404
    response = Client().get(reverse("trader", args=[trader.pk]))
    assert response.status_code == 302 and "/accounts/login/" in response["Location"]


def test_only_reading_is_done_by_its_address(client: Client, trader: Trader) -> None:
    assert client.post(reverse("trader", args=[trader.pk])).status_code == 405


# --- the first screen ---


def test_the_summary_of_the_last_ninety_days(client: Client, trader: Trader) -> None:
    page = without_definitions(page_of(client, trader))
    assert re.search(r"Net result \+20\.00 USDT after costs", page)
    assert re.search(r"ROI on invested \+2\.0 % of 998\.00, with what was earned before", page)
    assert "Win rate 75 % 3 gains, 1 loss, 1 even: few to judge by" in page
    assert re.search(r"Profit factor 5\.00 payoff 1\.67", page)
    assert re.search(r"Max drawdown − ?0\.5 % realized, 5\.00 USDT; now none", page)
    assert "Copies closed 5 in the last 90 days" in page


def test_all_of_it_counts_the_copy_of_long_ago_too_and_has_nothing_before_it(
    client: Client, trader: Trader
) -> None:
    page = without_definitions(page_of(client, trader, "?period=all"))
    assert "Net result +18.00" in page and "Copies closed 6 in all the time in the ledger" in page
    assert "against" not in section(page_of(client, trader, "?period=all"), "equity-title")
    assert "No comparison" not in page


def test_the_period_before_is_compared_with(client: Client, trader: Trader) -> None:
    page = without_definitions(page_of(client, trader, "?period=30"))
    assert "Net result 0.00 USDT after costs −20.00 against the 30 days before" in page
    assert "before: 100 %" in page, "the win rate"
    assert "before: 2" in page, "the copies"


def test_where_nothing_is_before_the_page_says_why(client: Client, trader: Trader, alice: User) -> None:
    assert "No comparison: no copy closed in the 7 days before" in without_definitions(
        page_of(client, summed(trader), "?period=7")
    ) or "against the 7 days before" in without_definitions(page_of(client, trader, "?period=7"))
    young = trader_of(trader.account, 9, "Young")
    closed_copy(young, 77, "4", 3)
    summed(young)
    assert "No comparison: there was no copy before" in text(page_of(client, young))
    SyncJob.objects.filter(kind="history").update(complete_from=timezone.now() - timedelta(days=1))
    assert "No comparison: the 90 days before are not all in the ledger" in text(page_of(client, young))
    SyncJob.objects.filter(kind="history").update(cursor={})
    assert "No comparison: the past is still being read" in text(page_of(client, young))


def test_a_comparison_with_days_that_the_ledger_does_not_hold_says_so(client: Client, trader: Trader) -> None:
    SyncJob.objects.filter(kind="history").update(complete_from=timezone.now() - timedelta(days=45))
    page = text(page_of(client, trader, "?period=30"))
    assert "against the 30 days before, which are not all in the ledger" in page


def test_figures_that_are_hidden_or_undefined_say_why(client: Client, trader: Trader, alice: User) -> None:
    one = trader_of(trader.account, 9, "One copy")
    closed_copy(one, 77, "4")
    page = without_definitions(page_of(client, summed(one)))
    assert "Profit factor – no losses" in page
    assert "One copy closed in the last 90 days. A line needs two." in page
    assert "Sharpe, a year needs 30 days and 20 closed copies; here are" in page
    assert "Net by max drawdown no drawdown" in page


def test_every_figure_has_its_definition_one_press_away(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    shown = set(explained(html))
    assert shown >= {"net_profit", "roi_on_capital", "max_drawdown", "win_rate", "profit_factor", "sharpe"}
    assert shown - {"opening_fees", "closing_fees", "unexplained"} <= set(DEFINITIONS), (
        "these are told by the costs alone"
    )
    identities = re.findall(r'\bid="([^"]+)"', html)
    assert len(identities) == len(set(identities)), "each id is there once"


def test_a_trader_who_only_won_has_no_losses_to_divide_by(client: Client, trader: Trader) -> None:
    winner = trader_of(trader.account, 9, "Winner")
    with summed_once():
        for number in range(5):
            closed_copy(winner, 50 + number, "3", 1 + number)
    page = without_definitions(page_of(client, summed(winner)))
    assert "Profit factor – no losses" in page and "Max drawdown 0 %" in page
    assert "inf" not in page.lower().replace("info", "").replace("infer", "")


def test_a_trader_without_copies_is_a_page_and_not_an_error(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    for query in ("", "?period=all", "?period=range&from=2026-01-01&to=2026-01-31"):
        page = text(page_of(client, trader, query))
        assert "No copy of this trader is open." in page
        assert "no closed copies" in page
    assert "No copy closed in the last 90 days." in text(page_of(client, trader))


def test_one_who_was_left_is_told_so(client: Client, alice: User) -> None:
    left = timezone.now() - timedelta(days=3)
    trader = trader_of(account_of(alice), copied=False, left_at=left)
    assert "Not copied now, left" in text(page_of(client, trader))


def test_hostile_names_and_notes_are_text(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice), name=HOSTILE)
    order = closed_copy(trader, 1, "5", 2, symbol="<b>X</b>", position_side="<i>")
    closed_copy(trader, 2, "-5", 1, symbol="</script><b>")
    TraderNote.objects.create(trader=trader, day=timezone.now().date(), text=HOSTILE)
    html = page_of(client, summed(trader))
    assert "<script>alert" not in html and "<b>" not in html and "\u202egnp" not in html.split("note-text")[0]
    assert "</script><b>" not in html
    assert reverse("order", args=[order.pk]) in html


# --- around it ---


def test_settings_in_force_are_in_words_with_their_age(client: Client, trader: Trader) -> None:
    version_of(trader)
    page = text(page_of(client, trader))
    assert "Size of each copy 100 USDT" in page and "Stop loss 20 % of margin" in page
    assert "found at the first reading" in page


def test_settings_that_cannot_be_understood_do_not_break_the_page(client: Client, trader: Trader) -> None:
    version = version_of(trader)
    version.answer = [{"settingMode": "unified", "traceValue": "lots"}]
    version.save()
    assert "cannot be understood" in page_of(client, trader)


def test_open_copies_and_the_last_closed_ones_are_listed(client: Client, trader: Trader) -> None:
    order = open_copy(trader, 77, symbol="SOLUSDT")
    html = page_of(client, trader)
    assert reverse("order", args=[order.pk]) in html and "SOLUSDT" in html
    assert f'href="/orders/history/?trader={trader.pk}"' in html
    assert "1 open now, 40.00 USDT" in text(html)


@pytest.mark.parametrize(
    ("query", "gains", "losses"),
    [
        ("?period=all", 3, 4),
        ("?period=30", 3, 1),
        ("?period=range&from={from_}&to={to}", 2, 4),
    ],
)
def test_the_longest_runs_of_gains_and_of_losses_are_shown(
    client: Client, alice: User, query: str, gains: int, losses: int
) -> None:
    """Two gains, four losses, a gain, a result of 0, three gains, a loss: the 0 parts the gains about it."""
    trader = trader_of(account_of(alice))
    nets = ("1", "2", "-1", "-1", "-3", "-1", "4", "0", "1", "1", "2", "-2")
    days = (50, 49, 44, 43, 42, 41, 35, 20, 15, 12, 11, 9)
    closed_copies(
        trader, *((n, net, day, "BTCUSDT") for n, (net, day) in enumerate(zip(nets, days, strict=True)))
    )
    today = timezone.now().date()
    query = query.format(from_=today - timedelta(days=60), to=today - timedelta(days=33))
    said = without_definitions(page_of(client, trader, query))
    assert f"Most gains in a row {gains} Most losses in a row {losses} " in said


# --- what it costs ---


def queries(call: Callable[[], Any]) -> int:
    watching.remembered.forget()
    call()  # the first look asks for quicker readings; the next ones within a while do not
    with CaptureQueriesContext(connection) as captured:
        call()
    return len(captured)


def test_a_thousand_copies_cost_as_many_queries_as_ten(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    pages, parts = [], []
    for round_, n in enumerate((10, 990)):
        closed_copies(
            trader,
            *((2000 * round_ + i, "3" if i % 3 else "-2", 1.0 + i % 80, "BTCUSDT") for i in range(n)),
        )
        for number in range(10):
            open_copy(trader, 10_000 + 100 * round_ + number)
            TraderNote.objects.create(trader=trader, day=timezone.now().date(), text="A note")
        version_of(trader)
        summed(trader)
        pages.append(queries(lambda: page_of(client, trader)))
        parts.append(queries(lambda: part_of(client, trader)))
    assert pages[0] == pages[1] <= FRAME + 5
    assert parts[0] == parts[1] <= 1 + 3, "the session with its user besides"
