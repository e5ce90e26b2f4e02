"""A spot order whose answer was lost: followed on its page, looked up, and offered again when it did not arrive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.spot import sending
from copytrade.spot.lookups import ask, take
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import at_the_exchange, bodies, later, only, sent
from tests.support.spot_pages import page, review, send, url

pytestmark = pytest.mark.django_db
State = SpotOrder.State


# --- a lost answer


def test_a_lost_answer_is_followed_live_and_not_sent_again(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    review(client, trading)
    ticket = SpotTicket.objects.get()
    sandbox.fault("place_order", "timeout_after", times=1, seconds=3)
    html = page(send(client, ticket))
    assert "The answer was lost; looking it up" in html and 'hx-trigger="every 1s"' in html
    later(ticket, 1)
    sending.proceed(ticket.pk)
    part = page(client.get(url(trading, "spot_ticket", ticket), headers={"HX-Request": "true"}))
    assert "Taken by the exchange" in part and "<html" not in part
    assert len(bodies(sandbox)) == 1 == len(at_the_exchange(sandbox))


def test_what_did_not_arrive_is_offered_once_more_under_the_same_id(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("place_order", "http", http=502, times=1)
    ticket = sent(trading)
    later(ticket, 61)
    sending.proceed(ticket.pk)
    html = page(client.get(url(trading, "spot_ticket", ticket)))
    assert "Not at the exchange" in html and "Review and send again" in html
    answer = client.post(url(trading, "spot_again", ticket))
    second = SpotTicket.objects.get(previous=ticket)
    html = page(client.get(answer.headers["Location"]))
    assert "was sent before and did not arrive" in html and only(ticket).client_order_id in html
    assert "Taken by the exchange" in page(send(client, second))
    assert at_the_exchange(sandbox) == [only(ticket).client_order_id]
    old = page(client.get(url(trading, "spot_ticket", ticket)))
    assert "a later ticket" in old and "Review and send again" not in old
    assert client.post(url(trading, "spot_again", ticket)).status_code == 409


def test_a_look_up_by_a_person_finds_what_was_held_not_to_have_arrived(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    ticket = sent(trading)
    SpotOrder.objects.update(state=State.NOT_SEEN, order_id=None, look_at=None)
    SpotTicket.objects.update(look_again_at=None)
    client.post(url(trading, "spot_look_up"), {"client_id": only(ticket).client_order_id})
    assert only(ticket).state == State.ACCEPTED and only(ticket).order_id
    assert SpotTicket.objects.get().look_again_at, "it stands, so it is followed again"
    assert "Review and send again" not in page(client.get(url(trading, "spot_ticket", ticket)))


def test_hostile_words_of_the_exchange_are_text_and_short(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    order = only(sent(trading))
    hostile = "<script>alert(1)</script>\u202e" + "x" * 5000
    told = ask(trading, order)
    assert take(order, replace(told, status=hostile, side=hostile))
    for place in (url(trading), url(trading, "spot_ticket", order.ticket)):
        html = client.get(place).content.decode()
        assert "<script>alert" not in html and "&lt;script&gt;alert" in html
        assert "\u202e" not in html and "x" * 200 not in html
    assert "differs" in page(client.get(url(trading)))


def test_what_arrived_is_not_offered_again(client: Client, trading: Account) -> None:
    ticket = sent(trading)
    assert client.post(url(trading, "spot_again", ticket)).status_code == 409
    assert SpotTicket.objects.count() == 1
