"""alice's account with one copied trader, as rows: what is summed is put there by the tests."""

from __future__ import annotations

import pytest

from copytrade.models import Account, Trader, User
from tests.support.told_orders import UID


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="A", venue="sandbox")


@pytest.fixture
def trader(account: Account) -> Trader:
    return Trader.objects.create(account=account, trader_id=UID, name="Northwind", copied=True)
