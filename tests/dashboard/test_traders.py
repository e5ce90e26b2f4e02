"""All traders in one table, and each on a page of its own."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from copytrade.models import Trader, User
from tests.dashboard.test_overview import FRAME, text
from tests.support.ledger_rows import account_of, closed_copy, summed_once, trader_of, winner_and_loser

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    return winner_and_loser(account_of(alice))


def names(html: str) -> list[str]:
    return re.findall(r'class="trader-name" href="[^"]+">([^<]+)<', html)


# --- the table ---


def test_the_table_is_sorted_by_net_result_and_by_whatever_is_asked(client: Client, alice: User) -> None:
    account = account_of(alice)
    with summed_once():
        for number, (name, nets) in enumerate(
            [("Alpha", ["1"]), ("Beta", ["9", "-1"]), ("Gamma", ["-3", "-3", "-3"])]
        ):
            one = trader_of(account, number, name, copied=name != "Gamma")
            for place, net in enumerate(nets):
                closed_copy(one, 10 * number + place, net)
    assert names(client.get("/traders/").content.decode()) == ["Beta", "Alpha", "Gamma"]
    for query, order in [
        ("sort=net-up", ["Gamma", "Alpha", "Beta"]),
        ("sort=name", ["Alpha", "Beta", "Gamma"]),
        ("sort=name-down", ["Gamma", "Beta", "Alpha"]),
        ("sort=n", ["Gamma", "Beta", "Alpha"]),
        ("sort=win", ["Alpha", "Beta", "Gamma"]),
        ("sort=nonsense", ["Beta", "Alpha", "Gamma"]),
    ]:
        assert names(client.get(f"/traders/?{query}").content.decode()) == order, query


def test_a_heading_says_the_direction_and_turns_it_round(client: Client, trader: Trader) -> None:
    html = client.get("/traders/?sort=net-down").content.decode()
    assert 'aria-sort="descending"><button id="sort-net" name="sort" value="net-up" form="pick"' in html


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


def test_a_row_shows_the_course_the_drawdown_and_how_far_to_trust_it(client: Client, trader: Trader) -> None:
    row = row_of(client, "/traders/?period=90")
    assert re.search(r'<svg class="spark spark-gain"[^>]*><polyline [^>]*points="[\d., ]+"', row)
    assert "5.00" in text(row[row.index('data-label="Drawdown"') :].partition("</td>")[0]), "10, 20, 15"
    assert re.search(r'<small class="care">[^<]*few copies[^<]*</small>', row)


def test_a_figure_that_is_not_known_says_why_in_its_row(client: Client, alice: User) -> None:
    closed_copy(trader_of(account_of(alice), total_investment=None), 1, "0", open_margin_amount=None)
    row = row_of(client, "/traders/")
    for label in ("ROI", "Win rate", "Profit factor", "Drawdown"):
        assert re.search(rf'data-label="{label}"><small>[^<]{{5,}}</small>', row), label


def row_of(client: Client, address: str) -> str:
    """The first trader's row."""
    html = client.get(address).content.decode()
    return html[html.index('class="trader-name"') :].partition("</tr>")[0]


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
    assert counts[0] == counts[1] <= FRAME + 4
