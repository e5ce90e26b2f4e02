"""Fixtures of the domain's tests: alice's connection to the sandbox, with its key old enough to be refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from copytrade import connections
from copytrade.models import Account, Trader, User
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    """alice's account at the sandbox; nothing has been read yet."""
    return connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )


@pytest.fixture
def old_account(account: Account) -> Account:
    """The same with a key that was set an hour ago, so that a refusal is not put down to its being new."""
    account.key_set_at = timezone.now() - timedelta(hours=1)
    account.save()
    return account


@pytest.fixture
def trader(account: Account) -> Trader:
    """A copied trader with unified settings, read from the sandbox."""
    assert run.sync_account(account.pk, ["traders", "settings"]) == {"traders": "", "settings": ""}
    return next(t for t in account.traders.filter(copied=True) if t.versions.get().mode == "unified")
