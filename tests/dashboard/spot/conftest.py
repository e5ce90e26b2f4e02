"""alice at the spot pages: her connection to the sandbox exchange, and the same with its switches on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from copytrade import connections
from copytrade.models import Account, User
from dashboard.views.spot import looked_at
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import allow


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
