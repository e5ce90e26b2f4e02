"""Totals that the daily sums cannot tell are those of the newest copies alone, and say so."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from copytrade import reports
from copytrade.models import TrackingOrder, Trader, User
from copytrade.reports.history_totals import MOST_COUNTED, days_of
from tests.support.ledger_rows import account_of, trader_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)


def close(owner: User, labels: list[str], copies: int) -> None:
    """So many closed copies, in turn in each of these connections: 1, 2, 3 ... USDT, the newest first."""
    traders = [trader_of(account_of(owner, label), place, label) for place, label in enumerate(labels)]
    TrackingOrder.objects.bulk_create(
        TrackingOrder(
            account=traders[n % len(traders)].account,
            trader=traders[n % len(traders)],
            tracking_no=n,
            symbol="BTCUSDT",
            position_side="LONG",
            status="CLOSED",
            closed=True,
            open_time=NOW - timedelta(minutes=n + 5),
            close_time=NOW - timedelta(minutes=n),
            realized_pnl=Decimal(n + 2),
            net_profit=Decimal(n + 1),
        )
        for n in range(copies)
    )


CONNECTIONS = [["Main"], ["Main", "Family"], list("ABCD"), list("ABCDE"), list("ABCDEFGH")]


@pytest.mark.parametrize("labels", CONNECTIONS, ids=len)
def test_one_copy_more_than_are_counted_is_told_as_the_newest(
    alice: User, charlie: User, labels: list[str]
) -> None:
    close(charlie, ["Elsewhere"], 3)
    close(alice, labels, MOST_COUNTED + 2)
    totals = reports.history_page(alice, reports.Filters(side="LONG"), limit=5).totals
    shown = MOST_COUNTED + 1
    assert totals.newest and totals.n == totals.wins == shown
    assert totals.net == sum(range(1, shown + 1)), "of the newest of all connections, in one order"
    assert totals.gross == totals.net + shown
    none = reports.history_page(alice, reports.Filters(side="SHORT")).totals
    assert not none.newest and none.n == none.net == 0


def test_as_many_as_are_counted_are_all_of_them(alice: User) -> None:
    close(alice, ["Main"], MOST_COUNTED)
    totals = reports.history_page(alice, reports.Filters(result="gain"), limit=5).totals
    assert not totals.newest and totals.n == MOST_COUNTED and totals.losses == 0


def test_a_connection_that_closes_little_gives_all_that_it_has(alice: User) -> None:
    """Whichever it is: one of those that are walked together, or one beside them."""
    close(alice, ["A"], MOST_COUNTED - 10)
    for place, label in enumerate("BCDEF"):
        close(alice, [label], place)
    totals = reports.history_page(alice, reports.Filters(side="LONG", result="gain")).totals
    assert not totals.newest and totals.n == MOST_COUNTED


def test_filters_narrow_the_copies_that_are_counted_one_by_one(alice: User, charlie: User) -> None:
    close(charlie, ["Elsewhere"], 3)
    close(alice, list("ABCDEF"), 60)
    for trader in Trader.objects.filter(account__owner=alice):
        for own in ({"account": trader.account_id}, {"trader": trader.pk}):
            assert reports.history_page(alice, reports.Filters(side="LONG", **own)).totals.n == 10
            assert reports.history_page(charlie, reports.Filters(side="LONG", **own)).totals.n == 0
    within = reports.Filters(side="LONG", symbol="BTCUSDT", since=NOW - timedelta(minutes=19), until=NOW)
    assert reports.history_page(alice, within).totals.n == 19
    assert reports.history_page(alice, reports.Filters(side="LONG", symbol="ETHUSDT")).totals.n == 0


def test_somebody_without_a_connection_has_no_totals(alice: User) -> None:
    for filters in (reports.Filters(), reports.Filters(side="LONG"), reports.Filters(symbol="BTCUSDT")):
        totals = reports.history_page(alice, filters).totals
        assert (totals.n, totals.net, totals.undated, totals.lost) == (0, 0, 0, 0)


def test_all_that_a_page_tells_is_asked_in_one_trip(alice: User) -> None:
    """Totals and copies are of one moment; what stands around them comes along where it is asked for."""
    close(alice, ["Main"], 3)
    for filters in (reports.Filters(), reports.Filters(side="LONG"), reports.Filters(symbol="BTCUSDT")):
        for whole in (False, True):
            with CaptureQueriesContext(connection) as asked:
                page = reports.history_page(alice, filters, whole=whole)
            assert len(asked) == 1 and len(page.orders) == 3
            assert {job.account for job in page.jobs} == (set(alice.accounts.all()) if whole else set())


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("UTC", date(2024, 4, 26)),
        ("Asia/Kolkata", date(2024, 4, 26)),
        ("Africa/Cairo", date(2024, 4, 26)),  # whose midnight the clock skips
        ("Africa/Cairo", date(2024, 10, 31)),  # which ends an hour late
        ("America/Havana", date(2024, 11, 3)),  # whose midnight comes twice
    ],
)
def test_whole_days_are_told_by_the_daily_sums_whatever_the_clock_does(zone: str, day: date) -> None:
    person, midnight = User(zone=zone), datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    assert days_of(person, reports.Filters(since=midnight)) == (day, None)
    assert days_of(person, reports.Filters(until=midnight)) == (None, day - timedelta(days=1))
    assert days_of(person, reports.Filters(since=midnight + timedelta(hours=5))) is None
