"""alice at the page of a trader whose copies won and lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from copytrade.models import Trader, User
from tests.support.ledger_rows import account_of, winner_and_loser
from tests.support.trader_page import summed


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    return summed(winner_and_loser(account_of(alice)))
