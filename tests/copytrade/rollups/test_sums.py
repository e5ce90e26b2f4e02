"""Daily sums equal the orders, whatever is merged in whatever order; summaries equal the reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copytrade import ledger, reports, rollups
from copytrade.locks import LEDGER_LOCK
from copytrade.models import Account, DayResult, Trader, User
from copytrade.reports.copies import copies_by_trader
from copytrade.reports.trader_page import computed
from copytrade.rollups import days, periods
from tests.support.another_session import another_session
from tests.support.rollup_truth import (
    NOW,
    assert_summaries_equal_the_reference,
    assert_whole_days_are_the_sum_of_their_parts,
    cell,
    due,
    kept,
    put,
    rows,
    serial,
    told,
)
from tests.support.told_orders import UID, closed, order

ZONES = ["UTC", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "Pacific/Chatham", "Africa/Casablanca"]


def assert_pages_equal_the_reference(account: Account, now: datetime = NOW) -> None:
    zone = reports.zone_of(account.owner)
    today = now.astimezone(zone).date()
    for trader in account.traders.all():
        for period in rollups.PERIODS:
            page = reports.trader_page(trader, period, now, zone, whole=("curve", "margin"))
            due = computed(trader, period, periods.first_day(period, today), today, now, zone)
            summary = replace(due.summary, daily_series=())
            assert page.stale is False and page.computed_at == now
            assert page == replace(due, summary=summary, computed_now=False), period


moments = st.one_of(
    # Around the owner's midnights, in the hours that a clock skips or repeats, and long ago.
    st.integers(-70, 70).map(lambda minutes: NOW - timedelta(hours=12, minutes=minutes)),
    st.integers(0, 60 * 24 * 9).map(lambda minutes: NOW - timedelta(minutes=minutes)),
    st.sampled_from([NOW, NOW - timedelta(days=40), NOW - timedelta(days=100), NOW - timedelta(days=400)]),
)
results = st.sampled_from(["0", "5", "-5", "1.10", "-0.00000001", "12345678901234567890.123456789"])
seen = st.lists(
    st.builds(
        lambda number, at, is_closed, close, held, net, symbol, uid: (
            (closed if is_closed else order)(
                number, at, symbol=symbol, trader_id=uid, open_time=close - timedelta(minutes=held),
                **({"net_profit": net and Decimal(net), "close_time": close} if is_closed else {}),
            ),
            ledger.HISTORY if is_closed else ledger.OPEN,
        ),
        st.integers(1, 12),
        st.integers(0, 2),
        st.sampled_from([True, True, True, False]),
        moments,
        st.sampled_from([0, 1, 30, 5000]),
        results | st.none(),
        st.sampled_from(["BTCUSDT", "ETHUSDT"]),
        st.sampled_from([UID, UID + 1]),
    ),
    min_size=1,
    max_size=14,
)  # fmt: skip


@given(seen, st.sampled_from(ZONES), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_equal_the_orders_whatever_is_merged_in_whatever_order(
    alice: User, seen: list, zone: str, chance: random.Random
) -> None:
    User.objects.filter(pk=alice.pk).update(zone=zone)
    account = Account.objects.create(owner=alice, label=f"s{next(serial)}", venue="sandbox")
    repeated = [*seen, *chance.choices(seen, k=len(seen))]
    chance.shuffle(repeated)
    while repeated:
        page = [repeated.pop() for _ in range(min(len(repeated), chance.randint(1, 5)))]
        for source in (ledger.HISTORY, ledger.OPEN):
            ledger.merge(account, [record for record, kind in page if kind == source], source=source)
    assert kept(account) == due(account)
    assert_whole_days_are_the_sum_of_their_parts(account)
    assert rollups.verify(account).n == 0
    rollups.summarise(account.traders.values_list("pk", flat=True), now=NOW)
    account.refresh_from_db()
    assert_summaries_equal_the_reference(account)
    assert_pages_equal_the_reference(account)


def test_copies_of_one_number_that_closed_together_have_one_order(alice: User) -> None:
    """Another order under a known number is a generation of its own: closing time and number alone order them not."""
    account = Account.objects.create(owner=alice, label=f"s{next(serial)}", venue="sandbox")
    for net, symbol in (("1.10", "ETHUSDT"), ("0", "BTCUSDT"), ("5", "ADAUSDT")):
        record = closed(
            7, symbol=symbol, open_time=NOW - timedelta(hours=1), close_time=NOW, net_profit=Decimal(net)
        )
        ledger.merge(account, [record], source=ledger.HISTORY)
    rollups.summarise(account.traders.values_list("pk", flat=True), now=NOW)
    (trader,) = account.traders.all()
    assert reports.traders.spark(copies_by_trader(trader.orders.all())[trader.pk]) == [
        0,
        5,
        5,
        Decimal("6.10"),
    ]
    assert_summaries_equal_the_reference(account)


outcomes = st.lists(
    st.tuples(
        st.integers(0, 500 * 24).map(lambda hours: NOW - timedelta(hours=hours)) | moments,
        st.sampled_from([0, 1, 90, 9000]),
        results,
        st.sampled_from(["0", "10", "100.5"]),
    ),
    max_size=60,
)


@given(
    outcomes,
    st.sampled_from(ZONES),
    st.sampled_from([None, "0", "700", "0.5"]),
    st.sampled_from([None, "1200"]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_summaries_equal_the_reference_for_any_orders_zone_and_capital(
    alice: User, outcomes: list, zone: str, entered: str | None, invested: str | None
) -> None:
    alice.zone = zone
    alice.save()
    account = Account.objects.create(owner=alice, label=f"m{next(serial)}", venue="sandbox")
    trader = Trader.objects.create(
        account=account, trader_id=UID, capital_base=entered and Decimal(entered),
        total_investment=invested and Decimal(invested), trace_total_profit=Decimal("1.5"),
    )  # fmt: skip
    for at, held, net, margin in outcomes:
        put(
            trader, net, at, open_time=at - timedelta(minutes=held), open_margin_amount=Decimal(margin),
            tracking_no=random.Random(next(serial)).randrange(2**62),
        )  # fmt: skip
    rollups.rebuild(account)
    assert rollups.summarise([trader.pk], now=NOW) == 1
    assert_summaries_equal_the_reference(account)
    assert_pages_equal_the_reference(account)


def test_two_months_of_daily_results_have_the_annualised_figures_of_the_reference(trader: Trader) -> None:
    told(put(trader, str(day % 7 - 2), NOW - timedelta(days=day)) for day in range(60))
    rollups.summarise_stale(now=NOW)
    found = {row.period: row.summary for p in rollups.PERIODS for row in rows(trader, p)}
    assert found["all"].sharpe is not None and found["90"].sortino is not None
    assert found["7"].sharpe is None
    assert_summaries_equal_the_reference(trader.account)


def test_only_what_counts_is_summed(trader: Trader) -> None:
    """Open, without a result, without a time: no. Without gross, fee or margin: yes, as 0 or as net."""
    told([
        put(trader, "3", NOW, closed=False),
        put(trader, None, NOW),
        put(trader, "3", NOW, open_time=None),
        put(trader, "3", NOW, close_time=None),
        put(trader, "7", NOW, realized_pnl=None, open_fee=None, open_margin_amount=None),
    ])  # fmt: skip
    (row,) = DayResult.objects.all()
    assert (row.n, row.net, row.gross, row.open_fees, row.margin) == (1, 7, 7, 0, 0)
    assert kept(trader.account) == due(trader.account)
    assert_whole_days_are_the_sum_of_their_parts(trader.account)


def test_a_cell_that_empties_is_removed_and_one_that_moves_is_moved(trader: Trader) -> None:
    row = put(trader, "3", NOW)
    told([row])
    before = cell(row)
    row.symbol, row.close_time = "ETHUSDT", NOW - timedelta(days=3)
    row.save()
    rollups.refresh_cells(trader.account, {before, cell(row)})
    assert [(r.day, r.symbol) for r in DayResult.objects.all()] == [(date(2026, 3, 26), "ETHUSDT")]
    assert_whole_days_are_the_sum_of_their_parts(trader.account)


def test_nothing_touched_costs_nothing_and_a_page_costs_four_queries(trader: Trader) -> None:
    with CaptureQueriesContext(connection) as queries:
        rollups.refresh_cells(trader.account, set())
        rollups.refresh_cells(trader.account, {(trader.pk, None, "BTCUSDT")})
    assert len(queries) == 0
    page = {cell(put(trader, "1", NOW - timedelta(hours=hours))) for hours in range(100)}
    with CaptureQueriesContext(connection) as queries:
        rollups.refresh_cells(trader.account, page)
    assert len(queries) == 4


@pytest.mark.parametrize("name", ZONES)
def test_a_day_in_sql_is_the_day_in_python(db: None, name: str) -> None:
    zone = ZoneInfo(name)
    moments = [datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=27 * step) for step in range(2 * 19467)]
    sql, values = days.day_sql("m", zone)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT m, {sql} FROM unnest(%s::timestamptz[]) AS t(m)", [*values, moments])
        found = cursor.fetchall()
    assert all(day == moment.astimezone(zone).date() == days.day_of(moment, zone) for moment, day in found)
    for day in {day for _, day in found}:
        first = days.first_moment(day, zone)
        assert first.astimezone(zone).date() == day
        assert (first - timedelta(microseconds=1)).astimezone(zone).date() < day


def test_a_zone_that_this_machine_does_not_know_is_utc(trader: Trader) -> None:
    User.objects.update(zone="Mars/Olympus")
    told([put(trader, "3", datetime(2026, 3, 1, 23, 59, tzinfo=UTC))])
    assert DayResult.objects.get().day == date(2026, 3, 1)


def merge_a_page(account: Account) -> None:
    ledger.merge(account, [closed()], source=ledger.HISTORY)


@pytest.mark.parametrize("write", [rollups.rebuild, merge_a_page], ids=["sums", "ledger"])
def test_sums_and_ledger_wait_for_each_other_by_one_lock(
    trader: Trader, write: Callable[[Account], object]
) -> None:
    with another_session() as other, connection.cursor() as cursor:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [LEDGER_LOCK, trader.account_id])
        cursor.execute("SET LOCAL lock_timeout = '100ms'")
        with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
            write(trader.account)
    write(trader.account)
