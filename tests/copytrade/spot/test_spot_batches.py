"""Several spot orders in one call: each has its own result, and its own look-up when the answer is lost."""

from __future__ import annotations

from copytrade.models import Account, SpotOrder
from copytrade.spot import sending, tickets
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import (
    SYMBOL,
    at_the_exchange,
    bodies,
    later,
    limit,
    market,
    not_arrived,
    sent,
    states,
)

State = SpotOrder.State


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
