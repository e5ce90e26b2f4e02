"""Sending a spot order: once, as it was reviewed, and within the limit of orders; what is refused places nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from copytrade import connections
from copytrade.models import Account, AuditEntry, SpotOrder, SpotTicket
from copytrade.spot import sending, tickets
from tests.support.at_once import at_once
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import (
    SYMBOL,
    allow,
    at_the_exchange,
    bodies,
    confirmed,
    drafted,
    limit,
    market,
    only,
    sent,
    states,
)

State = SpotOrder.State


def test_an_order_is_sent_accepted_and_read_back(trading: Account, sandbox: Sandbox) -> None:
    order = only(sent(trading, limit("0.0010", "1000.50")))
    assert (order.state, order.status, order.is_working) == (State.ACCEPTED, "NEW", True)
    assert order.order_id and order.order_id > 2**53, "the id is kept exactly"
    assert order.transact_time and order.read_at and order.look_at, "it stands, so it is read again"
    (body,) = bodies(sandbox)
    assert body == {
        "symbol": SYMBOL, "side": "BUY", "type": "LIMIT", "timeInForce": "GTC", "quantity": "0.0010",
        "price": "1000.50", "newClientOrderId": order.client_order_id,
    }  # fmt: skip
    assert at_the_exchange(sandbox) == [order.client_order_id]
    assert order.read_back["clientOrderId"] == order.client_order_id


def test_a_market_order_carries_no_price_and_no_time_in_force(trading: Account, sandbox: Sandbox) -> None:
    order = only(sent(trading, market()))
    assert (order.state, order.status, order.executed) == (State.ACCEPTED, "FILLED", Decimal("0.001"))
    assert order.look_at is None, "it has ended, so it is not read again"
    (body,) = bodies(sandbox)
    assert set(body) == {"symbol", "side", "type", "quantity", "newClientOrderId"}


def test_what_was_reviewed_is_what_is_sent(trading: Account, sandbox: Sandbox) -> None:
    ticket = drafted(trading, limit("1", "2.50"))
    ((path, body),) = tickets.requests(ticket)
    tickets.confirm(ticket, ticket.key, tickets.mark(ticket), trading.owner)
    sending.proceed(ticket.pk)
    assert path == "/api/v3/order" and bodies(sandbox) == [body]


def test_nothing_is_sent_twice_whoever_asks(trading: Account, sandbox: Sandbox) -> None:
    ticket = confirmed(trading)
    for _ in range(3):
        SpotTicket.objects.filter(pk=ticket.pk).update(look_again_at=timezone.now())
        sending.proceed(ticket.pk)
        tickets.confirm(ticket, ticket.key, tickets.mark(ticket), trading.owner)
    assert len(bodies(sandbox)) == 1 == len(at_the_exchange(sandbox))
    assert AuditEntry.objects.filter(action="spot_sent").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["single", "batch"])
def test_many_workers_at_once_send_one_body(account: Account, sandbox: Sandbox, way: str) -> None:
    ticket = confirmed(allow(account), *([limit()] if way == "single" else [limit(), market()]), way=way)

    def work() -> None:
        taken = sending.load(ticket.pk)
        assert taken
        sending._send_waiting(taken)  # past the claim: the step into SENDING alone must hold

    at_once(*[work] * 4)
    assert len(bodies(sandbox)) + len(bodies(sandbox, "place_orders")) == 1
    assert states(ticket) == [State.ACCEPTED] * (1 if way == "single" else 2)


def test_what_the_exchange_refuses_is_kept_with_code_and_words(trading: Account, sandbox: Sandbox) -> None:
    order = only(sent(trading, limit(), symbol="NOSUCHUSDT"))
    assert (order.state, order.error_code) == (State.REJECTED, "-2007")
    assert order.sent_at and order.look_at is None and not order.order_id


REFUSALS = [
    (-1046, 400), (-1047, 401), (-1049, 401), (-1050, 403), (-1053, 403), (-1056, 403), (-1115, 400),
    (-1116, 400), (-1117, 400), (-1128, 400), (-1135, 400), (-1142, 400), (-1150, 405), (-2007, 404),
]  # fmt: skip


@pytest.mark.parametrize(("code", "http"), REFUSALS)
@pytest.mark.parametrize("way", ["single", "batch"])
def test_each_documented_refusal_places_nothing_and_is_a_sentence(
    trading: Account, sandbox: Sandbox, code: int, http: int, way: str
) -> None:
    operation = "place_orders" if way == "batch" else "place_order"
    sandbox.fault(operation, "code", code=code, http=http, times=0)
    orders = list(
        sent(trading, *([limit(), market()] if way == "batch" else [limit()]), way=way).orders.all()
    )
    assert {(order.state, order.error_code) for order in orders} == {(State.REJECTED, str(code))}
    assert all(order.error_message.endswith((".", "”.")) for order in orders)
    assert at_the_exchange(sandbox) == []


def test_a_shortfall_is_a_refusal_not_an_unknown(trading: Account, sandbox: Sandbox) -> None:
    order = only(sent(trading, limit("1000000", "60000")))
    assert (order.state, order.error_code) == (State.REJECTED, "-1054")
    assert "insufficient balance" in order.error_message


def test_a_key_without_the_permission_is_told_so(trading: Account, sandbox: Sandbox) -> None:
    connections.replace_key(trading, key="readonly-key", secret="readonly-secret", passphrase="sandbox")
    order = only(sent(allow(trading)))
    assert (order.state, order.error_code) == (State.REJECTED, "-1052")
    assert "Spot" in order.error_message


# --- the limit of orders


def test_the_limit_holds_an_order_back_instead_of_having_it_refused(
    trading: Account, sandbox: Sandbox, settings
) -> None:
    settings.EXCHANGE_DEADLINE = 1
    tickets_made = [sent(trading, *[limit()] * 2, way="batch") for _ in range(4)]  # 4 batches count 20
    assert {state for ticket in tickets_made for state in states(ticket)} == {State.ACCEPTED}
    held = sent(trading)
    order = only(held)
    assert (order.state, order.sent_at) == (State.CONFIRMED, None) and "Held back" in order.error_message
    assert bodies(sandbox) == [], "the exchange was not asked"
    assert order.look_at and order.look_at > timezone.now()


def test_the_order_count_is_kept_as_the_exchange_told_it(trading: Account, sandbox: Sandbox) -> None:
    ticket = sent(trading, limit(), market(), way="batch")
    counts = {window: (used, most) for window, used, most in ticket.order_counts}
    assert counts[10_000][0] >= 5 and counts[60_000][0] >= 5, "a batch counts five"
    assert counts[10_000][1] == 20 and ticket.counted_at


def test_a_refusal_for_too_many_orders_is_no_unknown(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("place_order", "rate_limit", times=1)
    order = only(sent(trading))
    assert order.state == State.REJECTED and "did not take the order" in order.error_message
