"""Settings changes under faults: one body at most, and every end is what the exchange's truth confirms.

The scenarios are in settings_scenarios.py; the seed chooses trader, edits, moments and further faults.
`./run test` takes one seed, `./run faults --seeds 5` takes five and writes the table in docs/reliability.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from copytrade import connections
from copytrade.models import User
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

from .battery import Desk, judge
from .settings_scenarios import SCENARIOS

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEEDS = range(1, int(os.environ.get("COPYDESK_FAULT_SEEDS", "1")) + 1)


@pytest.fixture
def make_desk(
    process_env: dict[str, str], sandbox: Sandbox, alice: User, settings: object
) -> Callable[[int], Desk]:
    """A desk by seed. Calls give up after a second, so that lost answers do not take twenty."""
    settings.EXCHANGE_DEADLINE = 1  # type: ignore[attr-defined]
    account = connections.add(
        alice, label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox",
    )  # fmt: skip
    assert run.sync_account(account.pk, ["traders", "settings"]) == {"traders": "", "settings": ""}
    environment = process_env | {"EXCHANGE_DEADLINE": "5"}
    return lambda seed: Desk(sandbox, account, alice, seed, environment)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_one_body_at_most_and_the_truth_in_the_end(
    name: str, seed: int, make_desk: Callable[[int], Desk]
) -> None:
    desk = make_desk(seed)
    SCENARIOS[name](desk)
    judge(name, seed, desk)
