"""An exchange whose lists the test writes, and alice's account whose jobs read them."""

from __future__ import annotations

import pytest

from copytrade.models import Account, User
from copytrade.sync import run
from tests.support.listed_exchange import Exchange


@pytest.fixture
def exchange() -> Exchange:
    return Exchange()


@pytest.fixture
def account(alice: User) -> Account:
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    run.ensure_jobs(account)
    return account
