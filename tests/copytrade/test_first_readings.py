"""The first readings of an account run side by side and meet the same traders."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from copytrade.locks import alone_with_ledger
from copytrade.models import Account, SyncJob, SyncRun, Trader
from copytrade.sync import run

NEWCOMER = 702345678901234567


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", [SyncJob.Kind.OPEN, SyncJob.Kind.HISTORY, SyncJob.Kind.TRADERS])
def test_a_trader_that_another_reading_is_just_storing_is_no_error(kind: str, account: Account) -> None:
    """Another reading holds an uncommitted row of a trader: this one waits for it instead of failing."""
    outcome: list[object] = []

    def read() -> None:
        try:
            outcome.append(run.sync_account(account.pk, [kind]))
        finally:
            connection.close()

    with transaction.atomic():
        alone_with_ledger(account.pk)
        Trader.objects.create(account=account, trader_id=NEWCOMER, name="Northwind Steady")
        reader = threading.Thread(target=read)
        reader.start()
        reader.join(1.5)
        assert reader.is_alive(), "the other reading must wait"
    reader.join(20)

    assert outcome
    assert Trader.objects.filter(account=account, trader_id=NEWCOMER).count() == 1
    assert not SyncRun.objects.exclude(error_code="", error_message="").exists()
