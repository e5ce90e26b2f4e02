"""Spot orders: one order at the exchange at most for each id of ours, whatever happens in between."""

from __future__ import annotations

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from copytrade import audit, connections, retention
from copytrade.exchange.errors import LocalRefusal
from copytrade.models import Account, AuditEntry, SpotOrder, SpotTicket, User
from copytrade.spot import gates, lookups, sending, tickets
from copytrade.spot.gates import SpotRefused
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import (
    SYMBOL,
    allow,
    at_the_exchange,
    bodies,
    confirmed,
    drafted,
    later,
    limit,
    market,
    only,
    sent,
    states,
)

State = SpotOrder.State


@pytest.fixture(autouse=True)
def impatient(settings) -> None:
    """Calls give up after two seconds, so that lost answers do not take twenty."""
    settings.EXCHANGE_DEADLINE = 2


@pytest.fixture
def trading(account: Account) -> Account:
    return allow(account)


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
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        taken = sending.load(ticket.pk)
        assert taken
        sending._send_waiting(taken)  # past the claim: the step into SENDING alone must hold
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bodies(sandbox)) + len(bodies(sandbox, "place_orders")) == 1
    assert states(ticket) == [State.ACCEPTED] * (1 if way == "single" else 2)


@pytest.mark.parametrize("kind", ["timeout_after", "truncated"])
def test_an_answer_lost_after_it_was_applied_is_found_by_looking(
    trading: Account, sandbox: Sandbox, kind: str
) -> None:
    sandbox.fault("place_order", kind, times=1, seconds=3)
    ticket = sent(trading)
    assert states(ticket) == [State.UNKNOWN]
    later(ticket, 1)
    sending.proceed(ticket.pk)
    order = only(ticket)
    assert order.state == State.ACCEPTED and order.order_id and order.status == "NEW"
    assert len(at_the_exchange(sandbox)) == 1 == len(bodies(sandbox))


def test_one_look_that_finds_nothing_decides_nothing(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("place_order", "timeout_before", times=1, seconds=3)
    ticket = sent(trading)
    later(ticket, 1)
    sending.proceed(ticket.pk)
    order = only(ticket)
    assert (order.state, order.looks) == (State.UNKNOWN, 1), "once not seen says little"
    assert at_the_exchange(sandbox) == []


@pytest.mark.parametrize(("code", "http"), [(-1000, 500), (None, 502), (None, 503)])
def test_a_server_error_is_unknown_and_never_sent_again_by_itself(
    trading: Account, sandbox: Sandbox, code: int | None, http: int
) -> None:
    more = {"code": code, "http": http} if code else {"http": http}
    sandbox.fault("place_order", "code" if code else "http", times=1, **more)
    ticket = sent(trading)
    assert states(ticket) == [State.UNKNOWN]
    for _ in range(len(lookups.LOOK_AFTER)):
        later(ticket, 15)
        sending.proceed(ticket.pk)
    order = only(ticket)
    assert order.state == State.NOT_SEEN and "has not arrived" in order.error_message
    assert order.look_at is None and SpotTicket.objects.get().look_again_at is None
    assert len(bodies(sandbox)) == 1 and at_the_exchange(sandbox) == []


def test_a_sender_killed_in_the_midst_leaves_a_question_that_a_look_answers(
    trading: Account, sandbox: Sandbox
) -> None:
    ticket = confirmed(trading)
    taken = sending.load(ticket.pk)
    assert taken
    (order,) = sending._take(taken)
    SpotTicket.objects.filter(pk=ticket.pk).update(look_again_at=timezone.now())
    sending.proceed(ticket.pk)
    assert states(ticket) == [State.SENDING], "its sender may still be at it"
    later(ticket, 60)
    sending.proceed(ticket.pk)
    assert states(ticket) == [State.NOT_SEEN], "asked a minute later, and not there"
    assert bodies(sandbox) == []
    assert not sending._take(taken), "nobody sends it now"
    assert order.client_order_id not in at_the_exchange(sandbox)


def test_a_look_that_cannot_be_made_does_not_count_and_waits_longer_each_time(
    trading: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("place_order", "timeout_after", times=1, seconds=3)
    ticket = sent(trading)
    sandbox.fault("order", "http", http=503, times=0)
    pauses = []
    for _ in range(3):
        later(ticket, 100)
        sending.proceed(ticket.pk)
        order = only(ticket)
        assert order.state == State.UNKNOWN and order.look_at
        pauses.append((order.look_at - timezone.now()).total_seconds())
    assert pauses[0] < pauses[1] < pauses[2] and order.looks == 0
    sandbox.clear_faults()
    later(ticket, 0)
    sending.proceed(ticket.pk)
    assert states(ticket) == [State.ACCEPTED]


def not_arrived(account: Account, sandbox: Sandbox, *orders, way: str = "single") -> SpotTicket:
    operation = "place_orders" if way == "batch" else "place_order"
    sandbox.fault(operation, "http", http=502, times=max(1, len(orders)) if way != "batch" else 1)
    ticket = sent(account, *orders, way=way)
    later(ticket, 61)
    sending.proceed(ticket.pk)
    assert set(states(ticket)) == {State.NOT_SEEN}
    return ticket


def test_what_did_not_arrive_is_sent_again_under_the_same_id_when_a_person_says_so(
    trading: Account, sandbox: Sandbox
) -> None:
    first = not_arrived(trading, sandbox)
    second = tickets.again(first, trading.owner)
    assert states(second) == [State.DRAFT] and second.previous == first
    tickets.confirm(second, second.key, tickets.mark(second), trading.owner)
    sending.proceed(second.pk)
    order = only(second)
    assert (order.state, order.attempt) == (State.ACCEPTED, 2)
    assert at_the_exchange(sandbox) == [order.client_order_id] == [only(first).client_order_id]


def test_a_first_that_arrived_after_all_is_found_before_the_second_goes_out(
    trading: Account, sandbox: Sandbox
) -> None:
    """Filled by then, so that the exchange itself would not see the second as a repeat."""
    sandbox.fault("place_order", "timeout_after", times=1, seconds=3)
    first = sent(trading, market())
    SpotOrder.objects.update(state=State.NOT_SEEN, look_at=None)
    second = tickets.again(first, trading.owner)
    tickets.confirm(second, second.key, tickets.mark(second), trading.owner)
    sending.proceed(second.pk)
    assert states(second) == [State.ACCEPTED] and only(second).status == "FILLED"
    assert len(bodies(sandbox)) == 1 == len(at_the_exchange(sandbox))


def test_a_second_that_cannot_be_looked_up_first_waits_and_is_given_up(
    trading: Account, sandbox: Sandbox
) -> None:
    first = not_arrived(trading, sandbox)
    sandbox.fault("order", "http", http=503, times=0)
    second = tickets.again(first, trading.owner)
    tickets.confirm(second, second.key, tickets.mark(second), trading.owner)
    sending.proceed(second.pk)
    assert states(second) == [State.CONFIRMED] and "looked up first" in only(second).error_message
    SpotTicket.objects.filter(pk=second.pk).update(
        confirmed_at=timezone.now() - timedelta(minutes=3), look_again_at=timezone.now()
    )
    sending.proceed(second.pk)
    assert states(second) == [State.REJECTED] and "Nothing was sent" in only(second).error_message
    assert len(bodies(sandbox)) == 1


def test_a_repeat_is_drafted_anew_but_never_confirmed_twice(trading: Account, sandbox: Sandbox) -> None:
    first = not_arrived(trading, sandbox)
    forgotten = tickets.again(first, trading.owner)
    second = tickets.again(first, trading.owner)
    assert not SpotTicket.objects.filter(pk=forgotten.pk).exists()
    tickets.confirm(second, second.key, tickets.mark(second), trading.owner)
    with pytest.raises(SpotRefused, match="later ticket"):
        tickets.again(first, trading.owner)


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


# --- batches


def test_a_batch_tells_of_each_order_and_one_failure_stops_no_other(
    trading: Account, sandbox: Sandbox
) -> None:
    ticket = sent(trading, limit(), limit("1000000", "60000"), market(), way="batch")
    assert states(ticket) == [State.ACCEPTED, State.REJECTED, State.ACCEPTED]
    refused = ticket.orders.get(number=2)
    assert refused.error_code == "INSUFFICIENT_BALANCE" and "insufficient balance" in refused.error_message
    (body,) = bodies(sandbox, "place_orders")
    assert body["symbol"] == SYMBOL and len(body["orderList"]) == 3
    assert len(at_the_exchange(sandbox)) == 2


def test_a_batch_whose_answer_is_lost_is_looked_up_order_by_order(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("place_orders", "timeout_after", times=1, seconds=3)
    ticket = sent(trading, limit(), limit("1000000", "60000"), market(), way="batch")
    assert states(ticket) == [State.UNKNOWN] * 3
    later(ticket, 61)
    sending.proceed(ticket.pk)
    assert states(ticket) == [State.ACCEPTED, State.NOT_SEEN, State.ACCEPTED]
    assert len(at_the_exchange(sandbox)) == 2 and len(bodies(sandbox, "place_orders")) == 1


def test_where_there_are_no_batches_they_are_offered_one_by_one(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("place_orders", "code", code=-1150, http=405, times=1)
    first = sent(trading, limit(), market(), way="batch")
    assert {order.error_code for order in first.orders.all()} == {"-1150"}
    second = tickets.again(first, trading.owner)
    assert second.way == "separate" and at_the_exchange(sandbox) == []
    tickets.confirm(second, second.key, tickets.mark(second), trading.owner)
    sending.proceed(second.pk)
    assert states(second) == [State.ACCEPTED] * 2
    assert len(bodies(sandbox)) == 2 == len(at_the_exchange(sandbox))


def test_several_that_did_not_arrive_go_again_as_they_went(trading: Account, sandbox: Sandbox) -> None:
    first = not_arrived(trading, sandbox, limit(), market(), way="batch")
    assert tickets.again(first, trading.owner).way == "batch"


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


# --- switches, drafts, bounds


def test_nothing_is_drafted_while_a_switch_is_off(account: Account) -> None:
    names = [gate.name for gate in gates.closed(account)]
    assert names == ["operator", "key", "account"], "the sandbox may write from the start"
    with pytest.raises(SpotRefused, match="operator can switch them on"):
        drafted(account)


@pytest.mark.parametrize("gate", ["operator", "writes", "account"])
def test_a_switch_turned_off_after_the_confirmation_stops_the_order(
    trading: Account, sandbox: Sandbox, gate: str
) -> None:
    ticket = confirmed(trading)
    if gate == "operator":
        User.objects.filter(pk=trading.owner_id).update(is_operator=True)
        gates.set_for_desk(User.objects.get(pk=trading.owner_id), False)
    elif gate == "writes":
        connections.set_writes(trading, False)
    else:
        gates.set_for_account(trading, False, trading.owner)
    sending.proceed(ticket.pk)
    order = only(ticket)
    assert (order.state, order.error_code, order.sent_at) == (State.REJECTED, "switched_off", None)
    assert bodies(sandbox) == []


def test_switching_on_for_an_account_needs_writing_and_the_permission(account: Account) -> None:
    with pytest.raises(SpotRefused, match="not known yet"):
        gates.set_for_account(account, True, account.owner)
    account.permissions = ["READ_ONLY"]
    with pytest.raises(SpotRefused, match="no permission"):
        gates.set_for_account(account, True, account.owner)
    assert connections.test(account).ok
    gates.set_for_account(account, True, account.owner)
    gates.set_for_account(account, True, account.owner)
    account.refresh_from_db()
    assert account.spot_enabled
    assert AuditEntry.objects.filter(action="spot_switched").count() == 1, "the second changed nothing"


def test_only_the_operator_turns_the_desks_switch_and_it_is_in_the_log(alice: User) -> None:
    with pytest.raises(ValueError):
        gates.set_for_desk(alice, True)
    alice.is_operator = True
    alice.save()
    assert gates.set_for_desk(alice, True).spot_trading and audit.policy().spot_trading
    gates.set_for_desk(alice, True)
    assert AuditEntry.objects.filter(action="policy").count() == 1


def test_an_old_review_is_not_sent(trading: Account) -> None:
    ticket = drafted(trading)
    SpotTicket.objects.update(created_at=timezone.now() - timedelta(minutes=16))
    ticket.refresh_from_db()
    with pytest.raises(SpotRefused, match="older than 15 minutes"):
        tickets.confirm(ticket, ticket.key, tickets.mark(ticket), trading.owner)


def test_another_key_or_other_content_is_not_sent(trading: Account) -> None:
    ticket = drafted(trading)
    seen = tickets.mark(ticket)
    for key, mark in (("00000000-0000-0000-0000-000000000000", seen), (ticket.key, "0" * 64)):
        with pytest.raises(SpotRefused, match="not what this would send"):
            tickets.confirm(ticket, key, mark, trading.owner)
    ticket.orders.update(quantity=Decimal(9))
    with pytest.raises(SpotRefused):
        tickets.confirm(SpotTicket.objects.get(), ticket.key, seen, trading.owner)


@pytest.mark.parametrize("number", [0, 11])
@pytest.mark.parametrize("way", ["batch", "separate"])
def test_a_ticket_holds_one_to_ten_orders(trading: Account, number: int, way: str) -> None:
    with pytest.raises((LocalRefusal, SpotRefused)):
        tickets.draft(trading, SYMBOL, [limit()] * number, trading.owner, way)
    assert not SpotTicket.objects.exists()


def test_reviews_nobody_confirmed_go_after_a_week_and_sent_ones_stay(trading: Account) -> None:
    drafted(trading)
    sent(trading)
    SpotTicket.objects.update(created_at=timezone.now() - timedelta(days=8))
    retention.tidy()
    assert [ticket.confirmed_at is not None for ticket in SpotTicket.objects.all()] == [True]


def test_a_connection_with_an_order_under_way_is_not_removed_and_later_takes_its_orders_along(
    trading: Account, sandbox: Sandbox
) -> None:
    ticket = confirmed(trading)
    with pytest.raises(connections.BadConnection, match="spot order"):
        connections.remove(trading)
    sending.proceed(ticket.pk)
    connections.remove(trading)
    assert not SpotOrder.objects.exists() and not SpotTicket.objects.exists()
    assert "BTCUSDT: BUY" in AuditEntry.objects.get(action="spot_sent").subject


# --- following what stands


def test_a_standing_order_is_followed_until_it_ends(trading: Account, sandbox: Sandbox) -> None:
    ticket = sent(trading, limit("0.001", "10000000"))
    order = only(ticket)
    assert order.status == "FILLED", "priced through the market it fills at once"
    resting = sent(trading, limit())
    assert lookups.watch(trading) == 0, "it was read a moment ago"
    SpotOrder.objects.filter(ticket=resting).update(read_at=timezone.now() - timedelta(seconds=9))
    assert lookups.watch(trading) == 1
    assert resting.pk in sending.take_up()


def test_statuses_nobody_knows_are_kept_as_they_came(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("order", "unknown_status", times=1)
    order = only(sent(trading))
    assert order.state == State.ACCEPTED
    assert order.status and order.status not in ("NEW", "FILLED", "CANCELED")


def test_an_absent_field_of_a_look_up_stays_untold(trading: Account, sandbox: Sandbox) -> None:
    sandbox.fault("order", "missing_fields", times=1, fields=["isWorking", "executedQty", "price"])
    order = only(sent(trading))
    assert order.is_working is None and order.executed is None and "price" not in order.read_back
    assert order.look_at, "not known to have ended, so it is asked again"
