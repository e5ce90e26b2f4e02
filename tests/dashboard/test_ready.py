"""The copy-readiness check on the trader's page and in the table: from stored rows, one query for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import connections, reports
from copytrade.models import Account, Trader, User
from copytrade.rules import PER_SYMBOL, CopySettings
from copytrade.sync.run import sync_account
from tests.support.ledger_rows import (
    UNIFIED,
    account_of,
    closed_copy,
    open_copy,
    summed_once,
    trader_of,
    version_of,
)
from tests.support.trader_page import section

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    found = trader_of(account_of(alice), available_balance=Decimal(500))
    closed_copy(found, 1, days_ago=2)
    version_of(found)
    return found


def of(trader: Trader) -> dict[str, str]:
    found = reports.ready([Trader.objects.select_related("account").get(pk=trader.pk)])[trader.pk]
    return {check.key: check.state for check in found.checks}


def test_a_trader_with_room_is_ready(client: Client, trader: Trader) -> None:
    assert set(of(trader).values()) == {"ok"}
    told = section(client.get(f"/traders/{trader.pk}/").content.decode(), "ready-title")
    assert "ready" in told and "500.00 USDT free, and a copy takes 100.00 USDT of margin" in told
    assert "#ready" not in client.get("/traders/").content.decode()


def test_too_little_balance_is_told_with_the_way_to_the_field(client: Client, trader: Trader) -> None:
    Trader.objects.filter(pk=trader.pk).update(available_balance=Decimal(19))
    html = client.get(f"/traders/{trader.pk}/").content.decode()
    assert "no next copy" in section(html, "ready-title")
    assert f'href="/traders/{trader.pk}/settings/#u-trace_value"' in html
    table = client.get("/traders/").content.decode()
    assert f'href="/traders/{trader.pk}/#ready"' in table and "no next copy" in table


def test_the_field_that_is_linked_to_is_there(client: Client, trader: Trader) -> None:
    html = client.get(f"/traders/{trader.pk}/settings/").content.decode()
    for identity in ("u-trace_value", "u-max_hold", "u-slippage", "symbols"):
        assert f'id="{identity}"' in html


def test_margin_of_copies_that_are_open_counts_and_of_those_gone_does_not(trader: Trader) -> None:
    for number in range(24):
        open_copy(trader, 100 + number)
    assert of(trader)["most_held"] == "warn", "960 of 1,000 in use, a copy takes 100"
    trader.orders.filter(closed=False).update(missing_since=timezone.now())
    assert of(trader)["most_held"] == "ok"


def test_the_newest_settings_count(trader: Trader) -> None:
    config = replace(UNIFIED.configs[0], symbols=("ETHUSDT",), slippage=Decimal("0.001"))
    version_of(trader, CopySettings("unified", (config,)))
    found = of(trader)
    assert (found["symbols"], found["slippage"]) == ("blocks", "warn")
    version_of(trader, copy_enable=False)
    assert of(trader) == {"copying": "blocks"}


def test_copies_of_before_the_settings_say_nothing_of_a_multiples_size(trader: Trader) -> None:
    config = replace(UNIFIED.configs[0], trace_type="percent", trace_value=Decimal("0.5"))
    version = version_of(trader, CopySettings("unified", (config,)))
    with summed_once():
        for number in range(3):
            closed_copy(trader, 10 + number, days_ago=3)
    assert of(trader)["balance"] == "unknown"
    type(version).objects.filter(pk=version.pk).update(first_seen_at=timezone.now() - timedelta(days=30))
    trader.versions.exclude(pk=version.pk).delete()
    assert of(trader)["balance"] == "ok"


def test_settings_of_an_unknown_shape_and_rows_without_figures_break_nothing(
    client: Client, trader: Trader
) -> None:
    version = version_of(trader)
    type(version).objects.filter(pk=version.pk).update(answer=[], copy_enable=None)
    open_copy(trader, 50, symbol="<b>", open_margin_amount=None, open_time=None)
    assert of(trader)["settings"] == "unknown"
    assert "<b>" not in section(client.get(f"/traders/{trader.pk}/").content.decode(), "ready-title")


def test_a_size_is_estimated_from_copies_of_all_symbols_since_the_settings_came(trader: Trader) -> None:
    parts = tuple(replace(one, trace_type="ratio", trace_value=Decimal(1)) for one in UNIFIED.configs)
    version = version_of(trader, replace(UNIFIED, configs=parts))
    trader.versions.update(first_seen_at=timezone.now() - timedelta(days=5))
    trader.versions.filter(pk=version.pk).update(first_seen_at=timezone.now() - timedelta(days=1))
    sizes = (("BTCUSDT", "10", 0.2), ("ETHUSDT", "20.5", 0.3), ("BTCUSDT", "30", 0.4), ("BTCUSDT", "99", 1.5))
    for number, (symbol, margin, days) in enumerate(sizes, start=10):
        closed_copy(trader, number, days_ago=days, symbol=symbol, open_margin_amount=Decimal(margin))
    closed_copy(trader, 20, days_ago=0.1, open_margin_amount=None)
    (found,) = reports.ready([trader]).values()
    (balance,) = [check for check in found.checks if check.key == "balance"]
    assert "a copy takes about 20.50 USDT, estimated from the last 3" in balance.sentence


def test_a_refused_key_is_told(trader: Trader) -> None:
    Account.objects.filter(pk=trader.account_id).update(state="refused", state_reason="Key unknown.")
    assert of(trader)["data"] == "warn"


def test_twenty_traders_with_a_thousand_copies_cost_one_query(alice: User) -> None:
    account = account_of(alice)
    for number in range(20):
        trader = trader_of(account, number, f"T{number}")
        for copy in range(5):
            open_copy(trader, 100 * number + copy)
        version_of(trader, UNIFIED)
    traders = list(Trader.objects.select_related("account"))
    with CaptureQueriesContext(connection) as captured:
        found = reports.ready(traders)
    assert len(captured) == 1 and len(found) == 20
    with CaptureQueriesContext(connection) as captured:
        assert reports.ready([]) == {}
    assert not captured


def test_what_the_sandbox_answers_is_judged_as_it_copies(
    alice: User, sandbox: object, redis_client: object
) -> None:
    account = connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )
    sync_account(account.pk, ["traders", "open", "settings"])
    traders = list(Trader.objects.filter(account=account).select_related("account"))
    found = reports.ready(traders)
    copied = [trader for trader in traders if trader.copied]
    assert copied
    for trader in copied:
        states = {check.key: check.state for check in found[trader.pk].checks}
        assert states["copying"] == "ok" and states["data"] == "ok"
    assert {check.state for trader in copied for check in found[trader.pk].checks} >= {"ok"}
    left = [trader for trader in traders if not trader.copied]
    assert all([check.key for check in found[trader.pk].checks] == ["copying"] for trader in left)
    assert any(v.mode == PER_SYMBOL for trader in traders for v in trader.versions.all()), (
        "both modes are among the demo's settings"
    )
