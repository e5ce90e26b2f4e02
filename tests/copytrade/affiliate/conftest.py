"""alice's connections to the sandbox: the affiliate's, whose key is known as such, and a follower's."""

from __future__ import annotations

import pytest

from copytrade import connections
from copytrade.affiliate import ask_standing
from copytrade.models import Account, User
from tests.support.sandbox_process import Sandbox


@pytest.fixture
def affiliate(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    account = connections.add(
        alice,
        label="Partner",
        venue="sandbox",
        key="affiliate-key",
        secret="affiliate-secret",
        passphrase="sandbox",
    )
    ask_standing(account)
    return account


@pytest.fixture
def follower(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    return connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )
