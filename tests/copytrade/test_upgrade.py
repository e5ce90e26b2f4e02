"""A database of the release before daily sums is brought up to date: nothing is lost, and no sum is called wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from copytrade import ledger, rollups
from copytrade.models import Account, AccountDay, DataIssue, DayResult, SyncJob, Trader, TraderResult

from .test_ledger import UID, closed

BEFORE = [("copytrade", "0002_settings_changes_audit_alerts")]
# Around the hours that clocks skip and repeat, at both ends of what zone rules are kept for, and long before.
MOMENTS = [
    *(datetime(2026, 3, 29, tzinfo=UTC) + timedelta(minutes=20 * n) for n in range(-80, 80)),
    *(datetime(2025, 10, 26, tzinfo=UTC) + timedelta(minutes=20 * n) for n in range(-80, 80)),
    datetime(1970, 1, 1, 1, tzinfo=UTC), datetime(2008, 12, 31, 23, 30, tzinfo=UTC),
    datetime(2039, 7, 1, 22, 30, tzinfo=UTC), datetime(2099, 7, 1, 22, 30, tzinfo=UTC),
]  # fmt: skip
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Chatham", "Africa/Casablanca", "Mars/Olympus"]


@pytest.fixture
def old_database(transactional_db: None) -> Iterator[Any]:
    """A database of its own at the state of the release before; its models."""
    usual = connection.settings_dict["NAME"]
    name = f"{usual}_upgrade"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}"')
    _change_to(name)
    try:
        executor = MigrationExecutor(connection)
        others = [key for key in executor.loader.graph.leaf_nodes() if key[0] != "copytrade"]
        executor.migrate([*others, *BEFORE])
        yield MigrationExecutor(connection).loader.project_state(BEFORE).apps
    finally:
        _change_to(usual)
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _change_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _people(old: Any) -> None:
    """A person in each zone, with orders of every kind that the ledger had."""
    number = 0
    for zone in ZONES:
        owner = old.get_model("copytrade", "User").objects.create(
            username=zone, email=f"{number}@example.com", zone=zone
        )
        account = old.get_model("copytrade", "Account").objects.create(
            owner=owner, label="A", venue="sandbox"
        )
        trader = old.get_model("copytrade", "Trader").objects.create(
            account=account, trader_id=UID, copied=True
        )
        old.get_model("copytrade", "SyncJob").objects.create(account=account, kind="open")
        rows = []
        for at in MOMENTS:
            number += 1
            told = {"net_profit": Decimal(number % 7 - 3), "open_fee": Decimal("0.3"), "closed": True}
            told |= {
                0: {"open_fee": None, "realized_pnl": Decimal("1.5")}, 1: {"net_profit": None},
                2: {"closed": False, "close_time": None}, 3: {"open_price_avg": Decimal(0)},
            }.get(number % 11, {})  # fmt: skip
            rows.append(
                old.get_model("copytrade", "TrackingOrder")(**{
                    "account": account, "trader": trader, "tracking_no": number, "position_side": "LONG",
                    "symbol": f"S{number % 3}", "status": "CLOSED", "open_time": at - timedelta(hours=3),
                    "close_time": at, "open_price_avg": Decimal("3"), "open_fill_size": Decimal("7"),
                    "close_avg_price": Decimal("11"), "close_size": Decimal("7"), **told,
                })
            )  # fmt: skip
        old.get_model("copytrade", "TrackingOrder").objects.bulk_create(rows)


def test_a_database_of_the_release_before_is_brought_up_to_date_without_a_false_alarm(
    old_database: Any,
) -> None:
    _people(old_database)
    call_command("migrate", verbosity=0)
    for account in Account.objects.all():
        assert rollups.verify(account).n == 0, account.owner.zone
    assert not DataIssue.objects.exists()
    assert DayResult.objects.filter(close_fees__gt=0).exists() and AccountDay.objects.exists()
    assert TraderResult.objects.exists()
    assert rollups.summarise_stale() == Trader.objects.count() == len(ZONES)
    assert SyncJob.objects.count() == len(ZONES)


def test_what_was_in_the_old_ledger_is_known_and_not_stored_again(old_database: Any) -> None:
    _people(old_database)
    call_command("migrate", verbosity=0)
    account = Account.objects.order_by("pk").first()
    assert account
    row = account.orders.filter(closed=True, tracking_no=5).get()
    told = closed(
        5,
        trader_id=UID,
        symbol=row.symbol,
        position_side="LONG",
        open_time=row.open_time,
        close_time=row.close_time,
    )
    before = account.orders.count()
    assert ledger.merge(account, [told], source=ledger.HISTORY).added == 0
    assert account.orders.count() == before and rollups.verify(account).n == 0
    assert not DataIssue.objects.exists()
