"""Readings against an exchange that is a list in memory: lists that move, reaches that end, orders that are lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import ledger, versions
from copytrade.exchange.decoding import BadRecord as Unread
from copytrade.exchange.envelopes import Cursor, Page, SettingsAnswer
from copytrade.exchange.errors import Rejected, Unreachable
from copytrade.exchange.records import CopiedTrader, FollowerOrder
from copytrade.models import (
    Account,
    BadRecord,
    CoverageGap,
    DataIssue,
    SettingsVersion,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    TraderDay,
    User,
)
from copytrade.sync import history, leases, open_orders, run, traders
from copytrade.sync import settings as settings_reader
from copytrade.sync.reading import Reading, note_run

from .test_ledger import UID, closed, order

NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
TOO_FAR = Rejected("The time range reaches too far back.", code=-1170)


class Exchange:
    """The open list page by page, the history by close time; both may be changed between calls."""

    clock_offset_ms = 0

    def __init__(self) -> None:
        self.open: list[FollowerOrder] = []
        self.closed: list[FollowerOrder] = []
        self.reach = timedelta(days=10_000)
        self.calls = 0
        self.before_page: Callable[[int], None] = lambda page: None
        self.ignores_pages = False
        self.ignores_ranges = False
        self.unread: list[Unread] = []
        self.fails_after: int | None = None
        self.page_size = 100
        self.money = Decimal("5")
        self.settings: list[dict] = [{"settingMode": "odd", "words": "x" * 900}]

    def open_tracking_orders(self, *, page: int = 1) -> Page[FollowerOrder]:
        self.calls += 1
        self.before_page(page)
        start = 0 if self.ignores_pages else (page - 1) * 100
        found = self.open[start : start + 100]
        return Page(list(found), list(self.unread), next=page + 1 if len(found) == 100 else None)

    def tracking_order_history(
        self, *, start_time: datetime, end_time: datetime, cursor: Cursor | None
    ) -> Page[FollowerOrder]:
        self.calls += 1
        if start_time < datetime.now(UTC) - self.reach:
            raise TOO_FAR
        if self.fails_after is not None and self.calls > self.fails_after:
            raise Unreachable("The exchange does not answer.")
        every = sorted(self.closed, key=lambda one: (one.close_time, one.tracking_no), reverse=True)
        inside = [one for one in every if self.ignores_ranges or start_time <= one.close_time <= end_time]
        start = cursor.id if cursor else 0
        found, left = inside[start : start + self.page_size], inside[start + self.page_size :]
        key = Cursor(start + self.page_size, start + 1) if left else None
        return Page(found, next=key, more=bool(left))

    def iter_my_traders(self) -> Iterator[Page[CopiedTrader]]:
        self.calls += 1
        yield Page([CopiedTrader(trader_id=UID, trader_name="Northwind", trace_total_profit=self.money)])

    def follower_settings(self, *, trader_id: int) -> SettingsAnswer:
        self.calls += 1
        return SettingsAnswer(list(self.settings), settings=None, copy_enable=True)


@pytest.fixture
def exchange() -> Exchange:
    return Exchange()


@pytest.fixture
def account(alice: User) -> Account:
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    run.ensure_jobs(account)
    return account


READ = {
    "open": open_orders.read, "history": history.read, "traders": traders.read, "settings": settings_reader.read,
}  # fmt: skip


def read(account: Account, exchange: Exchange, kind: str, budget: float = 60.0) -> Reading:
    """One whole reading, as run.py would do it."""
    job = leases.claim(account.jobs.get(kind=kind).pk, force=True)
    assert job
    reading = Reading(job, account, exchange, budget)  # type: ignore[arg-type]
    try:
        READ[kind](reading)
    finally:
        leases.release(job, timezone.now() + DAY)
    note_run(account, kind, reading)
    return reading


def finished(number: int, days_ago: float, opened_days_ago: float | None = None) -> FollowerOrder:
    opened = NOW - (opened_days_ago or days_ago + 1) * DAY
    return closed(
        number, open_time=opened, created_time=opened, close_time=NOW - days_ago * DAY, update_time=NOW
    )


def job(account: Account, kind: str) -> SyncJob:
    return account.jobs.get(kind=kind)


def backdate(**fields: datetime) -> None:
    TrackingOrder.objects.update(first_seen_at=NOW - 300 * DAY)
    if fields:
        TrackingOrder.objects.filter(missing_since__isnull=False).update(**fields)


def issues(kind: str) -> dict[str, str]:
    return dict(DataIssue.objects.filter(kind=kind).values_list("subject", "state"))


# --- the open list ------------------------------------------------------------------------------------------


def test_an_order_that_left_a_list_of_one_page_is_missing_at_once(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(1), order(2)]
    read(account, exchange, "open")
    exchange.open.pop()
    account.jobs.filter(kind="history").update(due_at=NOW + DAY)
    reading = read(account, exchange, "open")
    assert TrackingOrder.objects.get(tracking_no=2).missing_since and reading.changed == 1
    assert job(account, "history").due_at < NOW + DAY
    assert exchange.calls == 2


def test_a_longer_list_that_holds_still_is_read_twice_only_when_somebody_is_missing(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(n) for n in range(150)]
    read(account, exchange, "open")
    assert exchange.calls == 2 and job(account, "open").cursor["digest"]
    exchange.open.pop(20)
    read(account, exchange, "open")
    assert exchange.calls == 6
    assert [o.tracking_no for o in TrackingOrder.objects.exclude(missing_since=None)] == [20]
    assert job(account, "open").partial_since is None
    read(account, exchange, "open")
    assert exchange.calls == 8, "the pass before agrees with this one"


def test_a_list_that_moves_while_it_is_read_makes_nobody_missing_and_is_told_as_partial(
    account: Account, exchange: Exchange
) -> None:
    exchange.open = [order(n) for n in range(250)]
    read(account, exchange, "open")

    def shift(page: int) -> None:
        if page == 2:  # what stood at the head of the next page slips to the one that was read
            exchange.open.pop(0)

    exchange.before_page = shift
    reading = read(account, exchange, "open")
    assert reading.changed == 0 and not TrackingOrder.objects.exclude(missing_since=None).exists()
    assert job(account, "open").partial_since and issues("partial_open") == {"open": "open"}
    read(account, exchange, "open")
    assert DataIssue.objects.get(kind="partial_open").times == 1, "told once, not at every reading"
    exchange.before_page = lambda page: None
    read(account, exchange, "open")
    assert job(account, "open").partial_since is None and issues("partial_open") == {"open": "resolved"}
    present = {one.tracking_no for one in exchange.open}
    gone = set(TrackingOrder.objects.exclude(missing_since=None).values_list("tracking_no", flat=True))
    assert gone == set(range(250)) - present


def test_pages_that_never_end_are_partial_and_end(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(n) for n in range(150)]
    exchange.ignores_pages = True
    read(account, exchange, "open")
    assert job(account, "open").partial_since and TrackingOrder.objects.count() == 100


def test_an_unread_record_without_a_number_makes_nobody_missing(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1), order(2)]
    read(account, exchange, "open")
    exchange.open, exchange.unread = [], [Unread("{}", "trackingNo: missing")]
    read(account, exchange, "open")
    assert not TrackingOrder.objects.exclude(missing_since=None).exists()
    exchange.unread = [Unread('{"trackingNo": 2}', "symbol: missing")]
    read(account, exchange, "open")
    assert [o.tracking_no for o in TrackingOrder.objects.exclude(missing_since=None)] == [1]


# --- the history --------------------------------------------------------------------------------------------


def test_pages_are_stored_twenty_at_a_time_with_the_cursor_behind_them(
    account: Account, exchange: Exchange
) -> None:
    exchange.page_size = 5
    exchange.closed = [finished(n, 1 + n / 20) for n in range(5 * 22)]
    with CaptureQueriesContext(connection) as queries:
        read(account, exchange, "history")
    assert TrackingOrder.objects.filter(closed=True).count() == 5 * 22
    copies = [query for query in queries if query["sql"].startswith("COPY")]
    assert len(copies) == 2


def test_what_was_gathered_when_the_exchange_failed_is_stored_and_not_asked_for_again(
    account: Account, exchange: Exchange
) -> None:
    exchange.page_size, exchange.fails_after = 5, 3
    exchange.closed = [finished(n, 1 + n / 10) for n in range(60)]
    with pytest.raises(Unreachable):
        read(account, exchange, "history")
    assert TrackingOrder.objects.count() == 15
    assert job(account, "history").cursor["back"]["next"] == [15, 11]
    exchange.fails_after = None
    read(account, exchange, "history")
    assert TrackingOrder.objects.count() == 60


def test_rows_and_cursor_stand_or_fall_together(account: Account, exchange: Exchange) -> None:
    exchange.closed = [finished(1, 1)]
    held = leases.claim(job(account, "history").pk, force=True)
    assert held
    SyncJob.objects.filter(pk=held.pk).update(lease_token=None)  # another one took it over
    with pytest.raises(leases.LeaseLost):
        history.read(Reading(held, account, exchange, 60.0))  # type: ignore[arg-type]
    assert not TrackingOrder.objects.exists() and job(account, "history").cursor == {}


def test_a_late_close_is_found_after_days(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1, open_time=NOW - 40 * DAY)]
    read(account, exchange, "open")
    read(account, exchange, "history")
    exchange.open = []
    backdate()
    read(account, exchange, "open")
    read(account, exchange, "history")
    assert TrackingOrder.objects.get().missing_since and not TrackingOrder.objects.get().closed
    backdate(missing_since=NOW - 3 * DAY)
    exchange.closed = [closed(1, open_time=NOW - 40 * DAY, close_time=NOW - 30 * DAY, update_time=NOW)]
    SyncJob.objects.filter(kind="history").update(
        cursor=job(account, "history").cursor | swept(NOW - 2 * DAY)
    )
    read(account, exchange, "history")
    row = TrackingOrder.objects.get()
    assert row.closed and row.missing_since is None and row.lost_since is None
    assert not DataIssue.objects.exists()


def swept(at: datetime) -> dict[str, str]:
    return {"swept": at.isoformat()}


def test_an_order_that_is_nowhere_in_all_that_can_be_read_is_lost_and_never_closed(
    account: Account, exchange: Exchange
) -> None:
    exchange.reach = 50 * DAY
    exchange.open = [order(1, open_time=NOW - 200 * DAY)]
    read(account, exchange, "open")
    read(account, exchange, "history")
    exchange.open = []
    backdate()
    read(account, exchange, "open")
    read(account, exchange, "history")
    assert TrackingOrder.objects.get().lost_since is None, "it has only just gone"
    backdate(missing_since=NOW - timedelta(hours=2))
    SyncJob.objects.filter(kind="history").update(
        cursor=job(account, "history").cursor | swept(NOW - 2 * DAY)
    )
    read(account, exchange, "history")
    row = TrackingOrder.objects.get()
    assert row.lost_since and not row.closed and issues("lost_window") == {"1": "open"}
    exchange.open = [order(1, open_time=NOW - 200 * DAY)]
    read(account, exchange, "open")
    assert TrackingOrder.objects.get().lost_since is None and issues("lost_window") == {"1": "resolved"}


def test_an_order_whose_record_could_not_be_read_is_not_lost(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1, open_time=NOW - 20 * DAY)]
    read(account, exchange, "open")
    read(account, exchange, "history")
    exchange.open = []
    backdate()
    read(account, exchange, "open")
    backdate(missing_since=NOW - timedelta(hours=2))
    BadRecord.objects.create(
        account=account,
        operation="tracking_order_history",
        fingerprint="x",
        raw='{"trackingNo": 1}',
        reason="?",
    )
    SyncJob.objects.filter(kind="history").update(
        cursor=job(account, "history").cursor | swept(NOW - 2 * DAY)
    )
    read(account, exchange, "history")
    row = TrackingOrder.objects.get()
    assert row.missing_since and row.lost_since is None and issues("lost_window") == {}


def test_an_outage_longer_than_the_reach_is_a_gap_that_is_said(account: Account, exchange: Exchange) -> None:
    read(account, exchange, "history")
    exchange.reach = 30 * DAY
    cursor = dict.fromkeys(("until", "deep", "swept"), (NOW - 100 * DAY).isoformat())
    SyncJob.objects.filter(kind="history").update(cursor=cursor)
    exchange.closed = [finished(1, 3)]
    read(account, exchange, "history")
    gap = CoverageGap.objects.get()
    assert gap.start == NOW - 100 * DAY
    assert timedelta(days=28) < NOW - gap.end < timedelta(days=31)
    assert list(issues("gap").values()) == ["open"]
    assert TrackingOrder.objects.get().closed
    read(account, exchange, "history")
    assert CoverageGap.objects.count() == 1


def test_an_exchange_that_ignores_ranges_is_not_walked_for_ever(account: Account, exchange: Exchange) -> None:
    exchange.ignores_ranges = True
    exchange.closed = [finished(n, 10 * n + 1) for n in range(30)]
    reading = read(account, exchange, "history")
    assert not reading.more and exchange.calls < 8
    assert TrackingOrder.objects.filter(closed=True).count() == 30
    assert CoverageGap.objects.get().start is None and issues("gap")


def test_a_close_is_told_with_its_trader_and_the_weight_that_it_took(
    account: Account, exchange: Exchange
) -> None:
    exchange.closed = [finished(1, 1)]
    reading = read(account, exchange, "history")
    assert reading.closed_traders == {UID} and reading.weight == 10 * exchange.calls
    assert SyncRun.objects.get().weight == reading.weight


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["open", "traders", "settings"])
def test_an_unchanged_poll_writes_at_most_a_kilobyte_of_wal(
    account: Account, exchange: Exchange, kind: str
) -> None:
    """Claim, reading, release and the folded run, all together, as the database itself counts."""
    exchange.open = [order(n) for n in range(40)]
    polls = 50
    read(account, exchange, "traders")
    for _ in range(5):
        read(account, exchange, kind)
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")  # after it each page is written whole once: not of the polls' making
    for _ in range(5):
        read(account, exchange, kind)
    before = wal_position()
    for _ in range(polls):
        read(account, exchange, kind)
    each = (wal_position() - before) / polls
    assert 0 < each <= 1000, f"{each:.0f} bytes for an unchanged poll"


def test_the_ledgers_lock_is_not_needed_for_what_is_known(account: Account, exchange: Exchange) -> None:
    exchange.open = [order(1)]
    read(account, exchange, "open")
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        assert ledger.says_nothing_new(account, ledger.observed(exchange.open, ledger.OPEN))
    assert len([q for q in queries if "SELECT" in q["sql"]]) == 1
