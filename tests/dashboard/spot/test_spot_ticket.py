"""The spot ticket: filled in, reviewed, sent once and read back, with each bound told beside its field."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from copytrade.models import Account, AuditEntry, SpotTicket, User
from copytrade.spot import tickets
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in
from tests.support.spot_orders import at_the_exchange, bodies, only
from tests.support.spot_pages import GOOD, field, page, press, review, send, url

pytestmark = pytest.mark.django_db


# --- the ticket


def test_a_ticket_is_reviewed_sent_once_and_read_back(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    answer = review(client, trading)
    ticket = SpotTicket.objects.get()
    assert answer.headers["Location"] == url(trading, "spot_ticket", ticket)
    html = page(client.get(answer.headers["Location"]))
    assert "Buys 0.001 BTC for at most 1 USDT before fees, at 1 000 USDT or less." in html
    assert '"newClientOrderId": "cd' in html and '"timeInForce": "GTC"' in html
    assert re.search(r"USDT</dt><dd>[\d ]+", html), "what is free of the pair"
    assert "no way to cancel" in html
    assert bodies(sandbox) == [], "nothing is sent by looking at a review"
    html = page(send(client, ticket))
    assert "Taken by the exchange" in html and "NEW, working" in html and "0 of 0.001" in html
    assert str(only(ticket).order_id) in html, "the id with all its digits"
    assert "What the exchange tells of it is what was sent." in html
    assert len(bodies(sandbox)) == 1


def test_pressing_twice_sends_once(client: Client, trading: Account, sandbox: Sandbox) -> None:
    review(client, trading)
    ticket = SpotTicket.objects.get()
    for _ in range(2):
        send(client, ticket)
    assert len(bodies(sandbox)) == 1 == len(at_the_exchange(sandbox))
    assert AuditEntry.objects.filter(action="spot_sent").count() == 1


def test_a_page_confirms_and_a_worker_sends(client: Client, trading: Account, sandbox: Sandbox) -> None:
    review(client, trading)
    html = page(press(client, SpotTicket.objects.get()))
    assert bodies(sandbox) == [] and 'hx-trigger="every 1s"' in html
    assert re.search(r"<noscript>.*?Look again.*?</noscript>", html, re.S)


@pytest.mark.parametrize(
    "more", [{"seen": ""}, {"seen": "0" * 64}, {"key": "00000000-0000-0000-0000-000000000000"}]
)
def test_another_key_or_body_sends_nothing(client: Client, trading: Account, more: dict[str, str]) -> None:
    review(client, trading)
    answer = press(client, SpotTicket.objects.get(), **more)
    assert answer.status_code == 409 and "not what this would send" in page(answer)
    assert SpotTicket.objects.get().confirmed_at is None


def test_an_old_proof_is_asked_for_before_anything_is_sent(alice: User, trading: Account) -> None:
    client = signed_in(alice, seconds_ago=3600)
    review(client, trading)
    ticket = SpotTicket.objects.get()
    answer = client.post(
        url(trading, "spot_ticket", ticket), {"key": str(ticket.key), "seen": tickets.mark(ticket)}
    )
    assert answer.status_code == 302 and "reauthenticate" in answer.headers["Location"]
    assert "You are about to send a spot order" in page(client.get(answer.headers["Location"]))
    assert SpotTicket.objects.get().confirmed_at is None


@pytest.mark.parametrize(
    ("typed", "name", "said"),
    [
        ({"symbol": ""}, "symbol", "Write the pair as the exchange does"),
        ({"symbol": "BTC USDT"}, "symbol", "Write the pair"),
        ({"symbol": "BTC\u202eUSDT"}, "symbol", "Write the pair"),
        ({"symbol": "ＢＴＣＵＳＤＴ"}, "symbol", "Write the pair"),
        ({"symbol": "A" * 41}, "symbol", "at most 40"),
        ({"o1__quantity": ""}, "o1-quantity", "Quantity is required"),
        ({"o1__quantity": "0"}, "o1-quantity", "must be more than 0"),
        ({"o1__quantity": "-1"}, "o1-quantity", "must be more than 0"),
        ({"o1__quantity": "1e3"}, "o1-quantity", "Write a plain number"),
        ({"o1__quantity": "1,5"}, "o1-quantity", "Write a plain number"),
        ({"o1__quantity": "9" * 37}, "o1-quantity", "Write a plain number"),
        ({"o1__price": ""}, "o1-price", "Price is required for a limit order"),
        ({"o1__price": "0"}, "o1-price", "must be more than 0"),
        ({"o1__price": "NaN"}, "o1-price", "Write a plain number"),
        ({"o1__time_in_force": ""}, "o1-time_in_force", "Time in force is required for a limit order"),
        ({"o1__time_in_force": "GTD"}, "o1-time_in_force", "not one of the available choices"),
    ],
)
def test_every_bound_is_told_beside_its_field(
    client: Client, trading: Account, sandbox: Sandbox, typed: dict[str, str], name: str, said: str
) -> None:
    answer = review(client, trading, **typed)
    html = page(answer)
    assert answer.status_code == 422 and said in field(html, name)
    assert not SpotTicket.objects.exists() and bodies(sandbox) == []
    kept = next(iter(typed.values()))
    assert not kept or kept in html, "what was typed is still there"


@pytest.mark.parametrize(("name", "value"), [("o1__side", "HOLD"), ("o1__type", "STOP")])
def test_another_side_or_type_than_the_interface_has_is_refused(
    client: Client, trading: Account, name: str, value: str
) -> None:
    assert review(client, trading, **{name: value}).status_code == 422
    assert not SpotTicket.objects.exists()


def test_a_market_order_leaves_price_and_time_in_force_out(client: Client, trading: Account) -> None:
    answer = review(client, trading, o1__type="MARKET", o1__price="not a number")
    html = page(client.get(answer.headers["Location"]))
    assert "Buys 0.001 BTC at once, at the market's price." in html
    assert '"price"' not in html and "timeInForce" not in html and "A limit order has a bound." in html


def test_a_symbol_is_taken_in_any_case(client: Client, trading: Account) -> None:
    review(client, trading, symbol=" btcusdt ")
    assert SpotTicket.objects.get().symbol == "BTCUSDT"


def test_an_unknown_symbol_comes_back_beside_its_field(client: Client, trading: Account) -> None:
    review(client, trading, symbol="NOSUCHUSDT")
    ticket = SpotTicket.objects.get()
    html = page(send(client, ticket))
    assert "Refused: nothing was placed" in html and "-2007" in html
    again = page(client.get(f"{url(trading)}?ticket={ticket.key}"))
    assert "does not know this spot symbol" in field(again, "symbol")
    assert 'value="NOSUCHUSDT"' in again and 'value="0.001"' in again


def test_more_than_is_free_is_said_before_it_is_sent_and_refused_by_the_exchange(
    client: Client, trading: Account
) -> None:
    answer = review(client, trading, o1__quantity="1000000", o1__price="60000")
    assert "USDT are free: the exchange will refuse it." in page(client.get(answer.headers["Location"]))
    html = page(send(client, SpotTicket.objects.get()))
    assert "insufficient balance" in html and "Code -1054" in html


def test_balances_that_cannot_be_read_are_said_to_be_unknown(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("account", "http", http=503, times=0)
    answer = review(client, trading)
    assert "Not known: the balances could not be read." in page(client.get(answer.headers["Location"]))


def test_the_check_says_in_words_what_an_order_will_do(client: Client, trading: Account) -> None:
    typed = GOOD | {"o1-side": "SELL", "o1-quantity": "0.5", "o1-price": "60000"}
    answer = client.post(url(trading, "spot_check"), typed, headers={"HX-Request": "true"})
    html = page(answer)
    assert "Sells 0.5 BTC for at least 30 000 USDT before fees, at 60 000 USDT or more." in html
    assert "<html" not in html
    whole = page(client.post(url(trading, "spot_check"), typed))
    assert "<html" in whole and "at least 30 000 USDT" in whole, "the same without JavaScript"
