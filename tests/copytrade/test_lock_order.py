"""Whoever writes several traders locks them in the order of their keys, so that nobody waits in a circle."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction

from copytrade import connections, erasure, rollups, versions
from copytrade.exchange.records import CopiedTrader
from copytrade.models import Account, SettingsVersion, TrackingOrder, Trader, User
from copytrade.rollups import summaries
from copytrade.sync import leases, run, traders
from copytrade.sync.reading import Reading
from tests.support.listed_exchange import Exchange
from tests.support.rollup_truth import cell, put

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENCE = 120


def _ledger(account: Account) -> None:
    with transaction.atomic():
        rollups.refresh_cells(account, {cell(row) for row in TrackingOrder.objects.all()})


def _change_of_zone(account: Account) -> None:
    rollups.rebuild(account)


def _balances(account: Account) -> None:
    class Backwards(Exchange):
        def iter_my_traders(self):
            told = [
                CopiedTrader(trader_id=uid, trader_name="N", trace_total_profit=Decimal(7))
                for uid in (3, 2, 1)
            ]
            yield from [type("Page", (), {"records": told, "bad": [], "size": 3})]

    job = leases.claim(account.jobs.get(kind="traders").pk, force=True)
    assert job
    traders.read(Reading(job, account, Backwards(), 60.0))  # type: ignore[arg-type]


def _settings_seen_again(account: Account) -> None:
    versions.seen_again(list(SettingsVersion.objects.order_by("-pk")))


def _summaries(account: Account) -> None:
    rollups.summarise(account.traders.values_list("pk", flat=True))


def _removed_with_its_owner(account: Account) -> None:
    erasure.begin(account.owner)
    erasure.proceed(seconds=60)


WRITERS = (
    _ledger, _change_of_zone, _balances, _settings_seen_again, _summaries, connections.remove, _removed_with_its_owner,
)  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("write", WRITERS)
def test_traders_are_locked_in_the_order_of_their_keys(write: Callable[[Account], None]) -> None:
    owner = User.objects.create_user("owner")
    account = Account.objects.create(owner=owner, label="A", venue="sandbox")
    run.ensure_jobs(account)
    found = [Trader.objects.create(account=account, trader_id=uid, copied=True) for uid in (1, 2, 3)]
    for trader in found:
        put(trader, "3", AT)
        SettingsVersion.objects.create(
            trader=trader, mode="", answer=[], fingerprint="x", author="first", last_seen_at=AT
        )
    for trader in reversed(found):  # so that the table holds them in another order than that of their keys
        Trader.objects.filter(pk=trader.pk).update(balances_at=AT - timedelta(days=trader.trader_id))
    failed: list[BaseException] = []
    thread = threading.Thread(target=_on_its_own_connection, args=(write, account, failed))
    try:
        with transaction.atomic():
            Trader.objects.select_for_update(no_key=True).get(pk=found[-1].pk)
            thread.start()
            _wait_until_it_waits(thread, failed)
            locked = Trader.objects.select_for_update(no_key=True, skip_locked=True)
            free = set(locked.filter(pk__in=[one.pk for one in found[:2]]).values_list("pk", flat=True))
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive() and not failed
    assert free == set(), "it waits for the last one, and holds those before it"


@pytest.mark.django_db(transaction=True)
def test_who_removes_a_connection_waits_for_its_traders_before_it_holds_the_account() -> None:
    """A summary that is being stored holds its traders, and looks at the account when it commits."""
    owner = User.objects.create_user("owner")
    account = Account.objects.create(owner=owner, label="A", venue="sandbox")
    trader = Trader.objects.create(account=account, trader_id=1)
    failed: list[BaseException] = []
    thread = threading.Thread(target=_on_its_own_connection, args=(connections.remove, account, failed))
    try:
        with transaction.atomic():
            Trader.objects.select_for_update(no_key=True).get(pk=trader.pk)
            thread.start()
            _wait_until_it_waits(thread, failed)
            free = Account.objects.select_for_update(skip_locked=True).filter(pk=account.pk).exists()
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive() and not failed and free
    assert not Account.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_at_midnight_nobody_waits_for_a_trader_who_is_being_written() -> None:
    owner = User.objects.create_user("owner")
    account = Account.objects.create(owner=owner, label="A", venue="sandbox")
    found = [Trader.objects.create(account=account, trader_id=uid) for uid in (1, 2, 3)]
    marked: list[int] = []

    def mark(account: Account) -> None:
        marked.append(summaries.mark_rolled_over(AT))

    thread = threading.Thread(target=_on_its_own_connection, args=(mark, account, []))
    with transaction.atomic():
        Trader.objects.select_for_update(no_key=True).get(pk=found[0].pk)
        thread.start()
        thread.join(PATIENCE)
        assert marked == [2]
    assert summaries.mark_rolled_over(AT) == 1, "the next look finds the one that was passed over"


def _on_its_own_connection(
    write: Callable[[Account], None], account: Account, failed: list[BaseException]
) -> None:
    try:
        write(account)
    except BaseException as error:
        failed.append(error)
    finally:
        connection.close()


def _wait_until_it_waits(thread: threading.Thread, failed: list[BaseException]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and thread.is_alive():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                " WHERE NOT l.granted AND a.datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError(f"it did not wait: {failed or 'it found nothing to wait for'}")
