"""Reading under faults, on the real stack: whatever breaks, the ledger ends as what the exchange says, order by order.

Each scenario is a function with a sentence; the seed chooses the world, the victim, the moments and the ways.
`./run test` takes one seed, `./run faults --seeds 5` takes five and writes the second table of docs/reliability.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.conf import settings as django_settings

from . import sync_scenarios, sync_servers
from .stack import Stack
from .sync_battery import SCENARIOS, played

pytestmark = pytest.mark.slow
SEEDS = range(1, int(os.environ.get("COPYDESK_FAULT_SEEDS", "1")) + 1)
assert sync_scenarios and sync_servers  # they have entered themselves in SCENARIOS


@pytest.fixture(scope="module")
def whole_stack(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: object) -> Iterator[Stack]:
    """It ends with the last test here: its workers, which read every second, would slow down all that come after."""
    with ExitStack() as ends:
        with django_db_blocker.unblock():  # type: ignore[attr-defined]
            stack = ends.enter_context(Stack(tmp_path_factory.mktemp("stack")))
        yield stack


@pytest.fixture
def stack(whole_stack: Stack, django_db_blocker: object, settings: object) -> Iterator[Stack]:
    """The stack, its rows being Django's in this test."""
    settings.REDIS_URL = whole_stack.broker.url  # type: ignore[attr-defined]
    assert "sandbox" in django_settings.VENUES
    with django_db_blocker.unblock(), whole_stack.at_home():  # type: ignore[attr-defined]
        yield whole_stack


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_ledger_ends_as_the_exchange_says(seed: int, name: str, stack: Stack) -> None:
    played(stack, name, seed)
