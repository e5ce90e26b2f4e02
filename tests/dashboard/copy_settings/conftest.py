"""alice at the settings form, with the sandbox exchange behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from copytrade import connections, versions
from copytrade.models import Account, Trader, User
from copytrade.sync import run
from tests.dashboard.copy_settings.steps import (
    of_mode,
)
from tests.support.sandbox_process import Sandbox


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    account = connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )
    assert run.sync_account(account.pk, ["traders", "settings"]) == {"traders": "", "settings": ""}
    return account


@pytest.fixture
def trader(account: Account) -> Trader:
    """Copied with unified settings and one leverage for all symbols."""
    for trader in account.traders.filter(copied=True):
        settings = versions.settings_of(trader.versions.get())
        if settings.mode == "unified" and settings.configs[0].leverage_type == "fixed":
            return trader
    raise AssertionError("The sandbox has no such trader.")


@pytest.fixture
def per_symbol(account: Account) -> Trader:
    return of_mode(account, "per_symbol")
