"""The battery, second part: trouble on the wire, and limits, for all 18 operations."""

import pytest

from copytrade.exchange import (
    OPERATIONS,
    ExchangeError,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Unreachable,
)

from .battery import CALLS, READS, WRITES, rows

everything = pytest.mark.parametrize("name", OPERATIONS)
reads = pytest.mark.parametrize("name", READS)
writes = pytest.mark.parametrize("name", WRITES)


# kind of fault -> what a read becomes when it stays; a write is always unknown.
WIRE = {
    "reset": Unreachable,
    "timeout_before": Unreachable,
    "timeout_after": Unreachable,
    "truncated": Unreachable,
    "slow_drip": Unreachable,
    "http": Unreachable,
    "maintenance": Unreachable,
    "html_200": Malformed,
}
MORE = {
    "http": {"http": 502},
    "slow_drip": {"seconds": 5},
    "timeout_before": {"seconds": 5},
    "timeout_after": {"seconds": 5},
}


@everything
@pytest.mark.parametrize("kind", WIRE)
def test_trouble_on_the_wire_has_its_policy(desk, name, kind):
    arguments = desk.arguments(name)
    before = len(desk.received(name))
    desk.sandbox.fault(name, kind, times=0, **MORE.get(kind, {}))
    with pytest.raises(ExchangeError) as error:
        getattr(desk.client(name, deadline=0.15), name)(**arguments)
    desk.sandbox.clear_faults()
    assert type(error.value) is (WIRE[kind] if name in READS else OutcomeUnknown)
    if name in WRITES:
        assert len(desk.received(name)) == before + 1


@reads
@pytest.mark.parametrize("kind", ["reset", "truncated", "http"])
def test_a_read_recovers_from_passing_trouble_on_the_wire(desk, name, kind):
    arguments = desk.arguments(name)
    desk.sandbox.fault(name, kind, **MORE.get(kind, {}))
    assert rows(getattr(desk.client(name), name)(**arguments))


def test_a_read_that_hangs_leaves_time_for_another(desk):
    desk.sandbox.fault("my_traders", "timeout_before", seconds=10)
    assert rows(desk.client(deadline=4.2).my_traders())


@writes
@pytest.mark.parametrize(
    ("fault", "happened"),
    [
        ({"kind": "timeout_before", "seconds": 5}, False),
        ({"kind": "timeout_after", "seconds": 5}, True),
        ({"kind": "reset"}, False),
        ({"kind": "reset", "applied": True}, True),
        ({"kind": "truncated"}, True),
        ({"kind": "html_200"}, False),
    ],
    ids=str,
)
def test_an_unknown_outcome_can_be_either(desk, name, fault, happened):
    """The same error, whatever really happened: only reading back tells."""
    arguments = desk.arguments(name)
    desk.sandbox.fault(name, **fault)
    with pytest.raises(OutcomeUnknown):
        getattr(desk.client(name, deadline=0.2), name)(**arguments)
    desk.sandbox.clear_faults()
    assert desk.applied(name) is happened


# --- limits -------------------------------------------------------------------------------------------------


@everything
def test_a_429_is_honoured(desk, name):
    arguments = desk.arguments(name)
    desk.sandbox.fault(name, "rate_limit", retry_after=7)
    client = desk.client(name)
    with pytest.raises(RateLimited) as error:
        getattr(client, name)(**arguments)
    assert (error.value.retry_after, error.value.local) == (7, False)
    before = len(desk.received(name))
    client._caller.deadline = 1.0
    with pytest.raises(RateLimited) as error:
        getattr(client, name)(**arguments)
    assert error.value.local
    assert len(desk.received(name)) == before


def test_the_sandboxs_limit_is_learned_and_never_overrun(desk):
    desk.sandbox.reset(limit=60)
    client = desk.client(deadline=0.5, interactive=True)
    for _ in range(6):
        client.my_traders()
    with pytest.raises(RateLimited) as error:
        client.my_traders()
    assert error.value.local
    assert {call["status"] for call in desk.received("my_traders")} == {200}
    desk.client("account", deadline=0.5, interactive=True).account()


def test_order_counts_are_kept_to(desk):
    desk.sandbox.reset(order_limit=20)
    client = desk.client(deadline=0.5)
    for number in range(20):
        client.place_order(**(CALLS["place_order"] | {"new_client_order_id": f"order-{number}"}))
    with pytest.raises(RateLimited) as error:
        client.place_order(**CALLS["place_order"])
    assert error.value.local
    assert {call["status"] for call in desk.received("place_order")} == {200}
