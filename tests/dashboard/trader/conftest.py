"""alice at the page of a trader whose copies won and lost."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client

from copytrade.models import Trader, User
from tests.support.ledger_rows import account_of, closed_copy, trader_of
from tests.support.trader_page import summed


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    """Six closed copies in the last three months: +10, +10, -5, 0, +5, and one of -2 long ago."""
    trader = trader_of(account_of(alice), trace_total_profit=Decimal(18))
    for number, (net, days) in enumerate(
        [("10", 40), ("10", 30), ("-5", 20), ("0", 10), ("5", 5), ("-2", 200)]
    ):
        closed_copy(trader, number, net, days, symbol="ETHUSDT" if number % 2 else "BTCUSDT")
    return summed(trader)
