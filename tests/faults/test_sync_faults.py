"""Reading under faults, on the real stack: whatever breaks, the ledger ends as what the exchange says, order by order.

Each scenario is a function with a sentence; the seed chooses the world, the victim, the moments and the ways.
`./run test` takes one seed, `./run faults --seeds 5` takes five and writes the second table of docs/reliability.md.
On a machine so slow that one seed takes longer than BUDGET, `./run test` leaves the rest of it to `./run faults`: the
exchange's own faults come last, for most of them are also tested by themselves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.conf import settings as django_settings

from . import sync_scenarios, sync_servers
from .stack import Stack
from .sync_battery import SCENARIOS, played

pytestmark = pytest.mark.slow
# Seconds for each process of a run with one seed. On two quiet cores it takes about two thirds of them.
BUDGET = 300.0
WHOLE = "COPYDESK_FAULT_SEEDS" in os.environ
IN_TURN = sorted(SCENARIOS, key=lambda name: name.startswith("sandbox: "))
SEEDS = range(1, int(os.environ.get("COPYDESK_FAULT_SEEDS", "1")) + 1)
assert sync_scenarios and sync_servers  # they have entered themselves in SCENARIOS


@pytest.fixture(scope="session")
def whole_stack(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: object) -> Iterator[Stack]:
    with ExitStack() as ends:
        with django_db_blocker.unblock():  # type: ignore[attr-defined]
            stack = ends.enter_context(Stack(tmp_path_factory.mktemp("stack")))
        yield stack


@pytest.fixture(scope="session")
def spent() -> dict[str, float]:
    """What this process has spent on scenarios so far."""
    return {}


@pytest.fixture
def stack(whole_stack: Stack, django_db_blocker: object, settings: object) -> Iterator[Stack]:
    """The stack, its rows being Django's in this test."""
    settings.REDIS_URL = whole_stack.broker.url  # type: ignore[attr-defined]
    assert "sandbox" in django_settings.VENUES
    with django_db_blocker.unblock(), whole_stack.at_home():  # type: ignore[attr-defined]
        yield whole_stack


@pytest.mark.parametrize("name", IN_TURN)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_ledger_ends_as_the_exchange_says(
    seed: int, name: str, stack: Stack, spent: dict[str, float]
) -> None:
    if not WHOLE and spent.get("seconds", 0.0) > BUDGET:
        pytest.skip(
            f"{BUDGET:.0f} s of this run went into reading under faults: ./run faults plays every scenario"
        )
    began = time.monotonic()
    played(stack, name, seed)
    spent["seconds"] = spent.get("seconds", 0.0) + time.monotonic() - began
