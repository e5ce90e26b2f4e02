"""kill -9 while a spot order is under way: looked up by our id, never sent again."""

from __future__ import annotations

from pathlib import Path

import pytest

from copytrade import connections, tasks
from copytrade.models import SpotOrder, User
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import allow, at_the_exchange, bodies, confirmed, limit, market, states

from .desk_workers import Workers

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
State = SpotOrder.State


@pytest.mark.parametrize("way", ["single", "batch"])
def test_a_sender_killed_while_its_answer_is_awaited_leaves_one_order_and_the_truth(
    sandbox: Sandbox, redis_client: object, tmp_path: Path, way: str
) -> None:
    account = connections.add(
        User.objects.create_user("alice"),
        label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox",
    )  # fmt: skip
    orders = [limit()] if way == "single" else [limit(), market()]
    operation = "place_order" if way == "single" else "place_orders"
    sandbox.fault(operation, "timeout_after", seconds=60, times=1)
    with Workers(tmp_path, sandbox.url) as workers:
        workers.start()
        ticket = confirmed(allow(account), *orders, way=way)
        tasks.hint_spot(ticket.pk)
        workers.wait(lambda: len(bodies(sandbox, operation)) == 1)
        workers.kill()
        assert set(states(ticket)) == {State.SENDING}, "the kill came after the outcome was stored"
        workers.start()
        workers.wait(lambda: set(states(ticket)) == {State.ACCEPTED})
    assert len(bodies(sandbox, operation)) == 1
    held = at_the_exchange(sandbox)
    assert len(held) == len(set(held)) == len(orders)
