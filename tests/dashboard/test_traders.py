"""All traders in one table, and each on a page of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Trader, User
from tests.dashboard.test_overview import FRAME, chart_of, text
from tests.support.ledger_rows import account_of, closed_copy, open_copy, trader_of, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    """Six closed copies in the last three months: +10, +10, -5, 0, +5, and one of -2 long ago."""
    trader = trader_of(account_of(alice), trace_total_profit=Decimal(18))
    for number, (net, days) in enumerate(
        [("10", 40), ("10", 30), ("-5", 20), ("0", 10), ("5", 5), ("-2", 200)]
    ):
        closed_copy(trader, number, net, days, symbol="ETHUSDT" if number % 2 else "BTCUSDT")
    return trader


def names(html: str) -> list[str]:
    return re.findall(r'class="trader-name" href="[^"]+">([^<]+)<', html)


# --- the table ---


def test_the_table_is_sorted_by_net_result_and_by_whatever_is_asked(client: Client, alice: User) -> None:
    account = account_of(alice)
    for number, (name, nets) in enumerate(
        [("Alpha", ["1"]), ("Beta", ["9", "-1"]), ("Gamma", ["-3", "-3", "-3"])]
    ):
        one = trader_of(account, number, name, copied=name != "Gamma")
        for place, net in enumerate(nets):
            closed_copy(one, 10 * number + place, net)
    assert names(client.get("/traders/").content.decode()) == ["Beta", "Alpha", "Gamma"]
    for query, order in [
        ("sort=net&dir=up", ["Gamma", "Alpha", "Beta"]),
        ("sort=name", ["Alpha", "Beta", "Gamma"]),
        ("sort=name&dir=down", ["Gamma", "Beta", "Alpha"]),
        ("sort=n", ["Gamma", "Beta", "Alpha"]),
        ("sort=win", ["Alpha", "Beta", "Gamma"]),
        ("sort=nonsense", ["Beta", "Alpha", "Gamma"]),
    ]:
        assert names(client.get(f"/traders/?{query}").content.decode()) == order, query


def test_a_heading_says_the_direction_and_turns_it_round(client: Client, trader: Trader) -> None:
    html = client.get("/traders/?sort=net&dir=down").content.decode()
    assert 'aria-sort="descending"><a hx-boost="true" href="?sort=net&amp;dir=up"' in html


def test_the_table_counts_only_the_period_but_keeps_every_trader(client: Client, trader: Trader) -> None:
    closed_copy(trader_of(trader.account, 9, "Long ago", copied=False), 99, "50", 300)
    html = client.get("/traders/?period=30").content.decode()
    assert set(names(html)) == {"Northwind Steady", "Long ago"}
    assert "2 traders, 1 copied now: 0.00" in text(html)


def test_percentages_name_their_base(client: Client, trader: Trader) -> None:
    trader_of(trader.account, 9, "Former", copied=False, total_investment=None)
    closed_copy(Trader.objects.get(name="Former"), 99, "4")
    page = text(client.get("/traders/").content.decode())
    assert "+1.8 % on invested" in page
    assert "+10.0 % on peak margin" in page


def test_an_htmx_request_gets_the_table_alone(client: Client, trader: Trader) -> None:
    html = client.get("/traders/", headers={"HX-Request": "true"}).content.decode()
    assert "Northwind Steady" in html and "<html" not in html


def test_twenty_traders_cost_as_many_queries_as_ten(client: Client, alice: User) -> None:
    account = account_of(alice)
    counts = []
    for round_ in range(2):
        for number in range(10):
            closed_copy(trader_of(account, 100 * round_ + number, f"T{number}"), 100 * round_ + number)
        client.get("/traders/")
        with CaptureQueriesContext(connection) as captured:
            client.get("/traders/")
        counts.append(len(captured))
    assert counts[0] == counts[1] <= FRAME + 5


# --- one trader ---


def page_of(client: Client, trader: Trader, query: str = "") -> str:
    return client.get(reverse("trader", args=[trader.pk]) + query).content.decode()


def test_the_summary_of_the_last_ninety_days(client: Client, trader: Trader) -> None:
    page = text(page_of(client, trader))
    assert "Net result +20.00 USDT after costs" in page
    assert "ROI on money invested today" in page
    assert "+2.0 % of 998.00" in page, "the base is what was there before the period: 1000 - 2"
    assert "75 % 3 of 5, 1 even" in page
    assert "Profit factor 5.00 payoff 1.67" in page
    assert "5.00 USDT" in page
    assert "5 closed copies in the last 90 days" in page


def test_all_of_it_counts_the_copy_of_long_ago_too(client: Client, trader: Trader) -> None:
    page = text(page_of(client, trader, "?period=all"))
    assert "Net result +18.00" in page and "6 closed copies in all the time in the ledger" in page


def test_figures_that_are_undefined_say_why(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    closed_copy(trader, 1, "4")
    page = text(page_of(client, trader))
    assert "Profit factor – no losses" in page
    assert "few to judge by" in page


def test_a_trader_without_copies_is_a_page_and_not_an_error(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    page = text(page_of(client, trader))
    assert "No copy closed in the last 90 days." in page
    assert "No copy of this trader is open." in page
    assert "no closed copies" in page


def test_the_chart_has_its_table_and_a_sentence_for_those_who_do_not_see_it(
    client: Client, trader: Trader
) -> None:
    html = page_of(client, trader)
    assert chart_of(html)["equity"] == [10, 20, 15, 15, 20]
    assert chart_of(html)["drawdown"] == [0, 0, -5, -5, 0]
    assert "Line of the cumulative net result over 5 closed copies: it ends at 20.00" in text(
        html
    ) + html.replace("\u202f", " ")
    table = html[html.index('id="equity-table"') :]
    assert table.index("+10.00") < table.index("</table>")


def test_it_adds_up_with_the_exchanges_own_total(client: Client, trader: Trader) -> None:
    page = text(page_of(client, trader))
    assert "Own ledger, all of it 18.00 Exchange says 18.00 Difference 0.00 ✓" in page


def test_a_difference_to_the_exchanges_total_is_shown(client: Client, trader: Trader) -> None:
    Trader.objects.filter(pk=trader.pk).update(trace_total_profit=Decimal("20.5"))
    page = text(page_of(client, trader))
    assert "Exchange says 20.50 Difference 2.50" in page and "✓" not in page


def test_costs_are_split_into_what_is_known_and_what_is_not(client: Client, trader: Trader) -> None:
    page = text(page_of(client, trader))
    assert "Realized by the copies 26.00" in page
    assert re.search(r"Opening fees known − ?0\.600", page)
    assert re.search(r"not itemised by the exchange − ?5\.40", page)
    assert "Net +20.00" in page


def test_results_are_broken_down_with_bars_that_need_no_style_attribute(
    client: Client, trader: Trader
) -> None:
    html = page_of(client, trader)
    assert text(html).index("BTCUSDT 3") < text(html).index("ETHUSDT 2")
    assert '<rect class="bar-gain"' in html
    assert "style=" not in html, "the policy forbids style attributes"


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


def test_one_who_was_left_is_told_so(client: Client, alice: User) -> None:
    left = timezone.now() - timedelta(days=3)
    trader = trader_of(account_of(alice), copied=False, left_at=left)
    assert "Not copied now, left" in text(page_of(client, trader))


def test_a_stranger_gets_404(trader: Trader, charlie: User, client_of: Callable[[User], Client]) -> None:
    assert client_of(charlie).get(reverse("trader", args=[trader.pk])).status_code == 404


def test_twenty_copies_cost_as_many_queries_as_ten(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    counts = []
    for round_ in range(2):
        for number in range(10):
            closed_copy(trader, 100 * round_ + number, "3", 1 + number)
            open_copy(trader, 1000 + 100 * round_ + number)
        version_of(trader)
        page_of(client, trader)
        with CaptureQueriesContext(connection) as captured:
            page_of(client, trader)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= FRAME + 16
