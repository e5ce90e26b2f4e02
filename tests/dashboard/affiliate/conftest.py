"""alice with the connection of an affiliate, whose key is known as such."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from copytrade import connections
from copytrade.affiliate import ask_standing
from copytrade.models import Account, User
from tests.support.affiliate_pages import AFFILIATE
from tests.support.sandbox_process import Sandbox


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    made = connections.add(alice, label="Partner", venue="sandbox", **AFFILIATE)
    ask_standing(made)
    return made


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)
