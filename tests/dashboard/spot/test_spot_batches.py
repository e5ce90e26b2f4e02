"""Several spot orders on one ticket: the result of each, one by one where the venue takes no batch, blank lines."""

from __future__ import annotations

import pytest
from django.test import Client

from copytrade.models import Account, SpotTicket
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import bodies, limit, market, sent
from tests.support.spot_pages import field, page, send, url

pytestmark = pytest.mark.django_db


# --- batches

TWO = {
    "symbol": "BTCUSDT", "o1-side": "BUY", "o1-type": "LIMIT", "o1-quantity": "0.001", "o1-price": "1000",
    "o1-time_in_force": "GTC", "o3-side": "SELL", "o3-type": "MARKET", "o3-quantity": "1000000", "o3-price": "",
}  # fmt: skip


def test_a_batch_shows_the_result_of_each_order(client: Client, trading: Account, sandbox: Sandbox) -> None:
    answer = client.post(url(trading, "spot_batch"), TWO)
    ticket = SpotTicket.objects.get()
    html = page(client.get(answer.headers["Location"]))
    assert "a batch of 2" in html and "/api/v3/order/batch" in html and "This counts 5" in html
    html = page(send(client, ticket))
    assert "1. Taken by the exchange" in html and "2. Refused: nothing was placed" in html
    assert "INSUFFICIENT_BALANCE" in html
    (body,) = bodies(sandbox, "place_orders")
    assert len(body["orderList"]) == 2, "the blank lines are left out"


def test_a_batch_that_the_venue_does_not_take_is_offered_one_by_one(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("place_orders", "code", code=-1150, http=405, times=1)
    ticket = sent(trading, limit(), market(), way="batch")
    html = page(client.get(url(trading, "spot_ticket", ticket)))
    assert "does not take several orders in one call" in html and "Review one by one" in html
    answer = client.post(url(trading, "spot_again", ticket))
    second = SpotTicket.objects.get(previous=ticket)
    assert "One after the other" in page(client.get(answer.headers["Location"]))
    html = page(send(client, second))
    assert "1. Taken by the exchange" in html and "2. Taken by the exchange" in html
    assert len(bodies(sandbox)) == 2


def test_a_batch_of_nothing_is_refused(client: Client, trading: Account) -> None:
    answer = client.post(url(trading, "spot_batch"), {"symbol": "BTCUSDT"})
    assert answer.status_code == 422 and "Fill in at least one order." in page(answer)


def test_what_is_wrong_in_a_batch_stands_beside_its_line(client: Client, trading: Account) -> None:
    answer = client.post(
        url(trading, "spot_batch"), TWO | {"o7-quantity": "2", "o7-type": "LIMIT", "o7-side": "BUY"}
    )
    html = page(answer)
    assert answer.status_code == 422
    assert "Price is required for a limit order" in field(html, "o7-price")
    assert '<details class="fold" open>' in html, "the folded lines are open where something is wrong"
    assert "Order 7: Price is required" in html


def test_the_eleventh_line_does_not_exist(client: Client, trading: Account) -> None:
    ten = {"symbol": "BTCUSDT"}
    for number in range(1, 13):
        ten |= {f"o{number}-side": "BUY", f"o{number}-type": "MARKET", f"o{number}-quantity": "0.001"}
    client.post(url(trading, "spot_batch"), ten)
    assert SpotTicket.objects.get().orders.count() == 10
