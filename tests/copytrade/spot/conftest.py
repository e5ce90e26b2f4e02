"""An account that may place spot orders, and calls that give up soon."""

from __future__ import annotations

import pytest

from copytrade.models import Account
from tests.support.spot_orders import allow


@pytest.fixture(autouse=True)
def impatient(settings) -> None:
    """Calls give up after two seconds, so that lost answers do not take twenty."""
    settings.EXCHANGE_DEADLINE = 2


@pytest.fixture
def trading(account: Account) -> Account:
    return allow(account)
