"""The spot pages: ticket, batch, look-up, review, outcome and the two switches, against the sandbox."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade import connections
from copytrade.models import Account, AuditEntry, DeskPolicy, SpotOrder, SpotTicket, User
from copytrade.spot import sending, tickets
from copytrade.spot.lookups import ask, take
from dashboard import demo
from dashboard.views.spot import looked_at
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in
from tests.support.spot_orders import allow, at_the_exchange, bodies, later, limit, market, only, sent

pytestmark = pytest.mark.django_db
State = SpotOrder.State
GOOD = {
    "symbol": "BTCUSDT", "o1-side": "BUY", "o1-type": "LIMIT", "o1-quantity": "0.001", "o1-price": "1000",
    "o1-time_in_force": "GTC",
}  # fmt: skip


@pytest.fixture(autouse=True)
def impatient(settings) -> None:
    settings.EXCHANGE_DEADLINE = 2
    looked_at.forget()


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    return connections.add(
        alice, label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox"
    )  # fmt: skip


@pytest.fixture
def trading(account: Account) -> Account:
    return allow(account)


def url(account: Account, name: str = "spot_account", ticket: SpotTicket | None = None) -> str:
    return reverse(name, args=[account.pk, *([ticket.key] if ticket else [])])


def page(answer: Any) -> str:
    return unescape(answer.content.decode()).replace("\u202f", " ")


def field(html: str, name: str) -> str:
    """What stands around the input of this name."""
    found = re.search(
        rf'<div class="field[^"]*" id="field-{name}">.*?</div>\s*</div>|id="field-{name}">.*?</div>',
        html,
        re.S,
    )
    assert found, name
    return found[0]


def review(client: Client, account: Account, name: str = "spot_account", **typed: str) -> Any:
    return client.post(
        url(account, name), GOOD | {key.replace("__", "-"): value for key, value in typed.items()}
    )


def press(client: Client, ticket: SpotTicket, **more: str) -> Any:
    """Send the reviewed ticket as a browser would."""
    fields = {"key": str(ticket.key), "seen": tickets.mark(ticket)} | more
    return client.post(url(ticket.account, "spot_ticket", ticket), fields, follow=True)


def send(client: Client, ticket: SpotTicket) -> Any:
    """Press, let the worker do its part, and look again."""
    assert press(client, ticket).status_code == 200
    sending.proceed(ticket.pk)
    return client.get(url(ticket.account, "spot_ticket", ticket))


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


# --- the look-up


def test_an_order_is_looked_up_by_either_id(client: Client, trading: Account) -> None:
    order = only(sent(trading))
    for typed in ({"order_id": str(order.order_id)}, {"client_id": order.client_order_id}):
        html = page(client.post(url(trading, "spot_look_up"), typed))
        assert str(order.order_id) in html and "GTC" in html and "its ticket" in html


def test_a_look_up_needs_no_switch(client: Client, account: Account, sandbox: Sandbox) -> None:
    html = page(client.get(url(account, "spot_look_up")))
    assert "needs no switch" in html
    answer = client.post(url(account, "spot_look_up"), {"order_id": "1"})
    assert answer.status_code == 404 and "No such order" in page(answer)
    assert [call["operation"] for call in sandbox.calls()["calls"]].count("order") == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "Give one of the two"),
        ({"order_id": "1", "client_id": "a"}, "Give one of the two"),
        ({"order_id": "12x"}, "digits only"),
        ({"order_id": "9223372036854775808"}, "below 9223372036854775808"),
        ({"order_id": "١٢"}, "digits only"),
        ({"client_id": "a\u0007b"}, "cannot be sent"),
        ({"client_id": "x" * 65}, "at most 64"),
    ],
)
def test_a_look_up_without_one_id_asks_nobody(
    client: Client, account: Account, sandbox: Sandbox, typed: dict[str, str], said: str
) -> None:
    answer = client.post(url(account, "spot_look_up"), typed)
    assert answer.status_code == 422 and said in page(answer)
    assert sandbox.calls()["calls"] == []


def test_a_look_up_shows_unknown_words_and_tells_what_is_absent(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    order = only(sent(trading))
    sandbox.fault("order", "unknown_status", times=1)
    html = page(client.post(url(trading, "spot_look_up"), {"order_id": str(order.order_id)}))
    status = re.search(r'<span class="pill told"><bdi>([^<]+)</bdi></span></div>\s*<dl', html)
    assert status and status[1] not in ("NEW", "FILLED", "CANCELED")
    sandbox.fault("order", "missing_fields", times=1, fields=["isWorking", "time"])
    html = page(client.post(url(trading, "spot_look_up"), {"order_id": str(order.order_id)}))
    assert "<dt>Active</dt><dd>not told</dd>" in html and "<dt>Created</dt><dd>not told</dd>" in html


@pytest.mark.parametrize(
    ("fault", "status"),
    [({"kind": "http", "http": 503}, 503), ({"kind": "code", "code": -1052, "http": 403}, 409)],
)
def test_a_failed_look_up_is_a_sentence(
    client: Client, account: Account, sandbox: Sandbox, fault: dict[str, Any], status: int
) -> None:
    sandbox.fault("order", times=0, **fault)
    answer = client.post(url(account, "spot_look_up"), {"order_id": "1"})
    assert answer.status_code == status and 'role="alert"' in page(answer)


# --- off, and who can switch it on


def test_while_it_is_off_the_page_says_why_and_who_can_switch_it_on(client: Client, account: Account) -> None:
    html = page(client.get(url(account)))
    assert "Spot orders are switched off for this desk." in html and "Its operator can" in html
    assert "What this key may do is not known yet." in html and 'id="spot-form"' not in html
    answer = review(client, account)
    assert answer.status_code == 409 and not SpotTicket.objects.exists()


def test_the_operator_switches_it_on_for_the_desk(
    client: Client, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    switch = reverse("spot_policy")
    assert client.post(switch, {"spot_trading": "on"}).status_code == 404, "not an operator"
    assert "spot-policy" not in page(client.get(reverse("security")))
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    html = page(client.get(reverse("security")))
    assert 'id="spot-policy"' in html
    client.post(switch, {"spot_trading": "on"})
    assert DeskPolicy.objects.get().spot_trading
    client.post(switch, {"spot_trading": "nonsense"})
    assert DeskPolicy.objects.get().spot_trading
    client.post(switch, {"spot_trading": "off"})
    assert not DeskPolicy.objects.get().spot_trading
    assert AuditEntry.objects.filter(action="policy").count() == 2
    old = signed_in(alice, seconds_ago=3600).post(switch, {"spot_trading": "on"})
    assert "reauthenticate" in old.headers["Location"] and not DeskPolicy.objects.get().spot_trading


def test_the_owner_switches_it_on_for_a_connection_and_off_again(
    client: Client, alice: User, account: Account
) -> None:
    switch = url(account, "connection_spot")
    assert "cannot be switched on yet" in page(client.get(switch))
    assert client.post(switch, {"enabled": "1"}).status_code == 409
    assert connections.test(account).ok
    old = signed_in(alice, seconds_ago=3600)
    assert "reauthenticate" in old.post(switch, {"enabled": "1"}).headers["Location"]
    account.refresh_from_db()
    assert not account.spot_enabled
    assert client.post(switch, {"enabled": "1"}).status_code == 302
    account.refresh_from_db()
    assert account.spot_enabled
    assert old.post(switch, {"enabled": "0"}).status_code == 302, "off asks for nothing"
    account.refresh_from_db()
    assert not account.spot_enabled
    assert AuditEntry.objects.filter(action="spot_switched").count() == 2


def test_a_readonly_key_cannot_be_switched_on(
    client: Client, alice: User, sandbox: Sandbox, redis_client: object
) -> None:
    account = connections.add(
        alice, label="Looking", venue="sandbox", key="readonly-key", secret="readonly-secret", passphrase="sandbox"
    )  # fmt: skip
    assert connections.test(account).ok
    assert client.post(url(account, "connection_spot"), {"enabled": "1"}).status_code == 409
    assert "no permission for spot orders" in page(client.get(url(account, "connection_spot")))


def test_the_demos_visitors_may_try_it_at_the_sandbox(
    sandbox: Sandbox, redis_client: object, client_of: Callable[[User], Client]
) -> None:
    visitor = demo.demo_user()
    account, _ = demo.ensure_connection(visitor)
    assert connections.test(account).ok
    client = client_of(visitor)
    html = page(client.get(url(account)))
    assert "switched off for this desk" not in html and "switched off for this connection" in html
    assert client.post(url(account, "connection_spot"), {"enabled": "1"}).status_code == 302
    review(client, account)
    assert "Taken by the exchange" in page(send(client, SpotTicket.objects.get()))


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
