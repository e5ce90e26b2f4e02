"""Readings that find nothing new: they write nothing, lock nothing, and fold into one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from itertools import count

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import ledger, versions
from copytrade.models import (
    Account,
    SettingsVersion,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    TraderDay,
)
from copytrade.sync import leases, run
from copytrade.sync import settings as settings_reader
from copytrade.sync.reading import Reading
from tests.support.listed_exchange import DAY, NOW, READ, Exchange, job, read
from tests.support.told_orders import closed, order

# --- readings that find nothing new -------------------------------------------------------------------------


def test_an_unchanged_list_and_unchanged_balances_write_nothing(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(n) for n in range(40)]
    for kind in ("open", "traders", "settings"):
        read(account, exchange, kind)
        held = leases.claim(job(account, kind).pk, force=True)
        assert held
        with CaptureQueriesContext(connection) as queries:
            READ[kind](Reading(held, account, exchange, 60.0))  # type: ignore[arg-type]
        leases.release(held, timezone.now())
        assert queries.captured_queries
        assert not [q for q in queries if not q["sql"].lstrip().startswith("SELECT")]
    exchange.money = Decimal("5.1")
    assert read(account, exchange, "traders").changed == 1
    assert (
        Trader.objects.get().trace_total_profit
        == TraderDay.objects.get().trace_total_profit
        == Decimal("5.1")
    )


def brought_forward(account: Account, exchange: Exchange) -> bool:
    """Does a reading of the traders make the history due?"""
    SyncJob.objects.filter(kind="history").update(due_at=NOW + DAY)
    read(account, exchange, "traders")
    return job(account, "history").due_at < NOW + DAY


@pytest.mark.parametrize(
    "said",
    [
        {"trader_name": "Southwind"},
        {"extras": {"avatar": "another.png"}},
        {"copy_trading_balance": Decimal("105"), "total_investment": Decimal("100")},
        {"available_balance": Decimal("80"), "transferable_balance": Decimal("75")},
    ],
    ids=["name", "avatar", "top-up", "margin"],
)
def test_what_tells_of_no_close_brings_no_history_forward(
    account: Account, exchange: Exchange, said: dict[str, object]
) -> None:
    assert brought_forward(account, exchange), "he joined"
    exchange.trader = said
    assert not brought_forward(account, exchange)
    trader = Trader.objects.get()
    assert {name: getattr(trader, {"trader_name": "name"}.get(name, name)) for name in said} == said


def test_another_total_and_a_trader_who_leaves_or_comes_back_bring_the_history_forward(
    account: Account, exchange: Exchange
) -> None:
    read(account, exchange, "traders")
    assert not brought_forward(account, exchange)
    exchange.money = Decimal("5.1")
    assert brought_forward(account, exchange)
    exchange.money = Decimal("5.10")
    assert not brought_forward(account, exchange), "the same number"
    exchange.left = True
    assert brought_forward(account, exchange)
    assert not brought_forward(account, exchange)
    exchange.left = False
    assert brought_forward(account, exchange), "he is back"


def test_a_total_that_the_copies_in_the_ledger_explain_brings_no_history_forward(
    account: Account, exchange: Exchange
) -> None:
    """An open list that missed them has had them looked up already: once is enough."""
    read(account, exchange, "traders")
    start, an_hour_ago, numbers = exchange.money, timezone.now() - timedelta(hours=1), count(1)
    Trader.objects.update(balances_at=an_hour_ago)
    uid = Trader.objects.get().trader_id

    def close(net: str) -> None:
        number = next(numbers)
        at = an_hour_ago + timedelta(minutes=number)
        opened = at - timedelta(hours=1)
        copy = closed(number, net=net, close_time=at, trader_id=uid, open_time=opened)
        ledger.merge(account, [copy], source=ledger.HISTORY)

    close("2.50")
    close("-0.25")
    exchange.money = start + Decimal("2.25")
    assert not brought_forward(account, exchange)
    exchange.money += Decimal("2.25")
    assert brought_forward(account, exchange), "what is counted once is not counted again"
    Trader.objects.update(balances_at=an_hour_ago + timedelta(minutes=2.5))
    close("1")
    exchange.money += Decimal("1.5")
    assert brought_forward(account, exchange), "another copy has closed, or a result was trued up"


def test_settings_that_were_found_as_they_were_count_as_read_without_a_write(
    account: Account, exchange: Exchange
) -> None:
    read(account, exchange, "traders")
    assert read(account, exchange, "settings").changed == 1
    trader = Trader.objects.get()
    version, first = trader.versions.get(), trader.settings_read_at
    later = timezone.now() + timedelta(minutes=5)
    assert read(account, exchange, "settings").changed == 0
    SyncJob.objects.filter(kind="settings").update(last_success_at=later, last_error="")
    trader.refresh_from_db()
    assert trader.settings_read_at == first and versions.read_at(trader) == later
    SyncJob.objects.filter(kind="settings").update(last_error="Settings of another could not be read.")
    assert versions.read_at(trader) == first, "it may be this one's that could not"
    long_ago = timezone.now() - timedelta(minutes=11)
    SettingsVersion.objects.update(first_seen_at=long_ago, last_seen_at=long_ago)
    read(account, exchange, "settings")
    version.refresh_from_db()
    trader.refresh_from_db()
    assert version.last_seen_at > long_ago + timedelta(minutes=10) and trader.settings_read_at > first
    exchange.settings = [{"settingMode": "another"}]
    assert read(account, exchange, "settings").changed == 1
    assert trader.versions.count() == 2


def test_settings_of_many_traders_keep_the_lease_between_calls(
    account: Account, exchange: Exchange, settings
) -> None:
    """An unchanged reading locks nothing, so it has to look after its lease all the same."""
    settings.SYNC_LEASE_SECONDS = 0
    read(account, exchange, "traders")
    read(account, exchange, "settings")
    held = leases.claim(job(account, "settings").pk, force=True)
    assert held
    SyncJob.objects.filter(pk=held.pk).update(lease_token="1" * 32)
    with pytest.raises(leases.LeaseLost):
        settings_reader.read(Reading(held, account, exchange, 60.0))  # type: ignore[arg-type]


def test_unchanged_readings_fold_into_one_run_with_all_their_weight(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(1)]
    for _ in range(4):
        read(account, exchange, "open")
    changed, same = SyncRun.objects.order_by("pk")
    assert (changed.changed, changed.times, changed.weight) == (1, 1, 10)
    assert (same.changed, same.times, same.weight, same.seen) == (0, 3, 30, 1)


def wal_position() -> int:
    """Bytes of WAL that this connection has written: others may be writing to the same server."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT wal_bytes FROM pg_stat_get_backend_wal(pg_backend_pid())")
        return int(cursor.fetchone()[0])


@pytest.fixture
def in_production(
    account: Account, exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """A whole reading by the worker's own way, hand-back included; the exchange alone is another."""

    @contextmanager
    def talking(*_: object, **__: object) -> Iterator[Exchange]:
        yield exchange

    monkeypatch.setattr(run, "talking_to", talking)

    def poll(kind: str) -> None:
        outcome = run.MORE
        while outcome == run.MORE:
            outcome = run.run_job(job(account, kind).pk, force=True)
        assert outcome == run.DONE

    return poll


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", run.ALL)
def test_an_unchanged_poll_writes_at_most_a_kilobyte_of_wal(
    in_production: Callable[[str], None], exchange: Exchange, kind: str
) -> None:
    """Claim, reading, hand-back and the folded run, all together, as the database itself counts."""
    exchange.open = [order(n) for n in range(40)]
    polls = 50
    for first in run.ALL:
        in_production(first)
    for _ in range(5):
        in_production(kind)
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")  # after it each page is written whole once: not of the polls' making
    for _ in range(5):
        in_production(kind)
    before = wal_position()
    for _ in range(polls):
        in_production(kind)
    each = (wal_position() - before) / polls
    assert 0 < each <= 1000, f"{each:.0f} bytes for an unchanged poll"
    folded = SyncRun.objects.filter(kind=kind, changed=0, times__gte=polls)
    assert folded.count() == 1, "each poll wrote a record of its own"


def test_the_ledgers_lock_is_not_needed_for_what_is_known(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1)]
    read(account, exchange, "open")
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        assert ledger.says_nothing_new(account, ledger.observed(exchange.open, ledger.OPEN))
    assert len([q for q in queries if "SELECT" in q["sql"]]) == 1


def test_a_worker_that_dies_between_storing_and_telling_leaves_the_telling_to_the_next(
    account: Account,
    exchange: Exchange,
    in_production: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exchange.open = [order(1), order(2)]
    for kind in run.ALL:
        in_production(kind)
    SyncJob.objects.update(due_at=NOW + DAY, last_success_at=None)
    exchange.open = [order(2)]

    def die(reading: Reading) -> None:
        if reading.job.cursor.get("owed"):
            raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(Reading, "pay", die)
        with pytest.raises(SystemExit):
            in_production("open")
    assert TrackingOrder.objects.get(tracking_no=1).missing_since, "it was stored"
    assert job(account, "history").due_at == NOW + DAY, "it was not told"
    SyncJob.objects.update(lease_until=timezone.now() - DAY)
    in_production("open")
    assert job(account, "history").due_at <= timezone.now()
    assert job(account, "open").cursor == {}
