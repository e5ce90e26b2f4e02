"""One spot order at the exchange at most for each id of ours: lost answers, looks, sending again, what stands."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.spot import lookups, sending, tickets
from copytrade.spot.gates import SpotRefused
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import (
    at_the_exchange,
    bodies,
    confirmed,
    later,
    limit,
    market,
    not_arrived,
    only,
    sent,
    states,
)

State = SpotOrder.State


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
