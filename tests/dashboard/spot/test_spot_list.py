"""Whose the spot pages are, and the list of what was sent."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade.models import Account, SpotOrder, SpotTicket, User
from copytrade.spot import tickets
from dashboard.views.spot import looked_at
from tests.support.spot_orders import sent
from tests.support.spot_pages import GOOD, page, url

pytestmark = pytest.mark.django_db
State = SpotOrder.State


# --- whose it is, and the list


def test_a_stranger_gets_404_everywhere_and_nobody_is_sent_to_sign_in(
    trading: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    ticket = sent(trading)
    stranger, nobody = client_of(charlie), Client()
    places = [
        url(trading, name) for name in ("spot_account", "spot_batch", "spot_look_up", "connection_spot")
    ]
    places += [url(trading, "spot_ticket", ticket)]
    for place in places:
        assert stranger.get(place).status_code == 404 and stranger.post(place, GOOD).status_code == 404
        assert nobody.get(place).headers["Location"].startswith("/accounts/login/")
    for place in (url(trading, "spot_check"), url(trading, "spot_again", ticket)):
        assert stranger.post(place, GOOD).status_code == 404 and stranger.get(place).status_code == 405
    assert SpotTicket.objects.count() == 1


def test_a_ticket_is_found_under_its_own_connection_only(
    client: Client, alice: User, trading: Account
) -> None:
    other = Account.objects.create(owner=alice, label="Other", venue="sandbox")
    assert client.get(url(other, "spot_ticket", sent(trading))).status_code == 404


def test_the_way_in_goes_to_the_only_connection_and_lists_several(
    client: Client, alice: User, account: Account
) -> None:
    assert client.get(reverse("spot")).headers["Location"] == url(account)
    Account.objects.create(owner=alice, label="Other", venue="sandbox")
    html = page(client.get(reverse("spot")))
    assert "Main" in html and "Other" in html


def test_the_list_shows_what_was_sent_and_refreshes_by_itself(client: Client, trading: Account) -> None:
    sent(trading)
    html = page(client.get(url(trading)))
    assert "↑ Buy" in html and ">NEW<" in html and 'hx-trigger="every 5s"' in html
    part = page(client.get(url(trading), headers={"HX-Request": "true"}))
    assert "<html" not in part and 'id="spot-orders"' in part
    assert "of 20" in html and "of 100" in html, "the limit of orders"


def test_a_thousand_orders_cost_no_more_queries_than_ten(client: Client, trading: Account) -> None:
    def made(number: int) -> None:
        ticket = SpotTicket.objects.create(account=trading, symbol="BTCUSDT", way="separate")
        SpotOrder.objects.bulk_create(
            SpotOrder(
                ticket=ticket, account=trading, number=n, client_order_id=tickets.new_id(), side="BUY",
                type="LIMIT", time_in_force="GTC", quantity=1, price=1, state=State.ACCEPTED, status="FILLED",
            )
            for n in range(number)
        )  # fmt: skip

    def queries() -> int:
        looked_at.forget()
        with CaptureQueriesContext(
            connection,
        ) as counted:
            assert client.get(url(trading)).status_code == 200
        return len(counted)

    made(10)
    queries()
    ten = queries()
    made(1000)
    assert queries() == ten
    html = page(client.get(url(trading)))
    older = re.search(r'href="([^"]*before=\d+)', html)
    assert older and html.count("<tr>") == 21
    assert "Newest" in page(client.get(older[1]))
