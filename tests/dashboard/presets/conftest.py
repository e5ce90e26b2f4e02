"""alice with four traders that she copies, and a template."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from copytrade import presets
from copytrade.models import Account, SettingsTemplate, Trader, User
from tests.support.template_pages import followed, sized


@pytest.fixture
def account(alice: User, redis_client: object) -> Account:
    return Account.objects.create(
        owner=alice, label="Main", venue="sandbox", key_hint="-key", writes_enabled=True
    )


@pytest.fixture
def traders(account: Account) -> list[Trader]:
    return [followed(account, number, 100 + number) for number in range(4)]


@pytest.fixture
def template(alice: User) -> SettingsTemplate:
    return presets.save(alice, "Careful", sized(55))


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)
