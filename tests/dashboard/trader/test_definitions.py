"""The definition of a figure is one press away on every page that shows it."""

from __future__ import annotations

from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from copytrade.models import Trader, User
from tests.support.ledger_rows import account_of, open_copy, trader_of
from tests.support.page_text import explained
from tests.support.trader_page import summed

pytestmark = pytest.mark.django_db
# Page -> the definitions that open from it, each as often as its figure has a label of its own.
SHOWN = {
    "overview": [*["net_profit"] * 5, "margin_at_risk", "roi_on_capital", "win_rate", "max_drawdown_percent",
                 "closed_copies"],
    "history": ["net_profit", "gross", "gains_and_losses"],
    "open": ["margin_at_risk", "notional"],
    "order": ["notional", "net,_after_costs", "realized", "profit_rate"],
}  # fmt: skip
# Of a trader's page, by the id of the card's heading; "" is the tiles.
OF_A_TRADER = {
    "": ["net_profit", "roi_on_capital", "max_drawdown_percent", "win_rate", "profit_factor", "payoff",
         "closed_copies"],
    "costs-title": ["cost_gap", "gross", "opening_fees", "closing_fees", "unexplained"],
    "break-title": ["win_rate", "profit_factor"],
    "adds-title": ["reconciliation_gap"],
    "margin-title": ["peak_margin"],
    "holding-title": ["holding"],
}  # fmt: skip


@pytest.mark.parametrize("page", SHOWN)
def test_each_figure_of_a_page_says_what_it_is(client: Client, trader: Trader, page: str) -> None:
    open_copy(trader, 70)
    order = trader.orders.filter(closed=True).first()
    assert order is not None
    address = {
        "overview": reverse("overview"),
        "history": reverse("history"),
        "open": reverse("open_orders"),
        "order": reverse("order", args=[order.pk]),
    }[page]
    assert not Counter(SHOWN[page]) - Counter(explained(client.get(address).content.decode()))


@pytest.mark.parametrize("card", OF_A_TRADER)
def test_each_figure_of_a_trader_says_what_it_is(client: Client, trader: Trader, card: str) -> None:
    html = client.get(reverse("trader", args=[trader.pk])).content.decode()
    start = html.index(f'aria-labelledby="{card}"' if card else '<div class="tiles')
    end = html.index("</section>" if card else "<section", start)
    assert not set(OF_A_TRADER[card]) - set(explained(html[start:end]))


def test_a_drawdown_without_a_percentage_is_explained_as_the_sum_that_it_is(
    client: Client, alice: User
) -> None:
    without = summed(trader_of(account_of(alice), total_investment=None))
    html = client.get(reverse("trader", args=[without.pk])).content.decode()
    label = html[html.index("Max drawdown") :].partition("</p>")[0]
    assert explained(label) == ["max_drawdown"]
