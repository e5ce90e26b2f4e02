"""Readings of the history: pages stored together, late closes, orders that are lost, reaches that end."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from copytrade.exchange.errors import Unreachable
from copytrade.exchange.records import FollowerOrder
from copytrade.models import Account, BadRecord, CoverageGap, DataIssue, SyncJob, SyncRun, TrackingOrder
from copytrade.sync import history, leases
from copytrade.sync.reading import Reading
from tests.support.listed_exchange import DAY, NOW, Exchange, issues, job, read
from tests.support.told_orders import UID, closed, order


def finished(number: int, days_ago: float, opened_days_ago: float | None = None) -> FollowerOrder:
    opened = NOW - (opened_days_ago or days_ago + 1) * DAY
    return closed(
        number, open_time=opened, created_time=opened, close_time=NOW - days_ago * DAY, update_time=NOW
    )


def backdate(**fields: datetime) -> None:
    TrackingOrder.objects.update(first_seen_at=NOW - 300 * DAY)
    if fields:
        TrackingOrder.objects.filter(missing_since__isnull=False).update(**fields)


def one_that_left(account: Account, exchange: Exchange, opened_days_ago: int) -> None:
    """An order was in the open list, long enough to be known, and is there no more."""
    exchange.open = [order(1, open_time=NOW - opened_days_ago * DAY)]
    read(account, exchange, "open")
    read(account, exchange, "history")
    exchange.open = []
    backdate()
    read(account, exchange, "open")


# --- the history --------------------------------------------------------------------------------------------


def test_pages_are_stored_forty_at_a_time_with_the_cursor_behind_them(
    account: Account, exchange: Exchange
) -> None:
    exchange.page_size = 5
    exchange.closed = [finished(n, 1 + n / 40) for n in range(5 * 42)]
    with CaptureQueriesContext(connection) as queries:
        read(account, exchange, "history")
    assert TrackingOrder.objects.filter(closed=True).count() == 5 * 42
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
    one_that_left(account, exchange, opened_days_ago=40)
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
    one_that_left(account, exchange, opened_days_ago=200)
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
    one_that_left(account, exchange, opened_days_ago=20)
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
