"""Daily sums equal the orders, whatever is merged in whatever order; summaries equal the reference."""

from __future__ import annotations

import importlib
import itertools
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copytrade import ledger, reports, rollups
from copytrade.models import Account, DataIssue, DayResult, PeriodSummary, TrackingOrder, Trader, User
from copytrade.reports.copies import copies_by_trader
from copytrade.reports.trader_page import computed
from copytrade.rollups import days, locks, periods, read, summaries, upkeep
from copytrade.statistics.exact import EXACT, total

from .test_ledger import UID, closed, order

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)  # a day on which clocks in Berlin go forward
ZONES = ["UTC", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "Pacific/Chatham", "Africa/Casablanca"]
FIGURES = ("n", "wins", "losses", "net", "gross", "won", "lost", "open_fees", "margin")
serial = itertools.count(1)


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="A", venue="sandbox")


@pytest.fixture
def trader(account: Account) -> Trader:
    return Trader.objects.create(account=account, trader_id=UID, name="Northwind", copied=True)


def put(trader: Trader, net: str | None, at: datetime, **changed: Any) -> TrackingOrder:
    """A closed copy in the ledger, without the daily sums being told."""
    told = {
        "account": trader.account, "trader": trader, "tracking_no": next(serial), "symbol": "BTCUSDT",
        "position_side": "LONG", "status": "CLOSED", "closed": True, "open_leverage": 10,
        "open_time": at - timedelta(hours=5), "close_time": at, "open_margin_amount": Decimal(50),
        "open_fee": Decimal("0.3"), "realized_pnl": None if net is None else Decimal(net) + 1,
        "net_profit": None if net is None else Decimal(net),
    }  # fmt: skip
    return TrackingOrder.objects.create(**(told | changed))


def cell(row: TrackingOrder) -> tuple[int, datetime | None, str]:
    return row.trader_id, row.close_time, row.symbol


def told(rows: Iterable[TrackingOrder]) -> None:
    rows = list(rows)
    rollups.refresh_cells(rows[0].account, {cell(row) for row in rows})


def kept(account: Account) -> dict:
    """The daily sums as they stand."""
    rows = DayResult.objects.filter(account=account)
    return {(r.trader_id, r.day, r.symbol): tuple(getattr(r, name) for name in FIGURES) for r in rows}


def assert_whole_days_are_the_sum_of_their_parts(account: Account) -> None:
    parts: dict = defaultdict(lambda: [Decimal(0)] * len(FIGURES))
    for (_, day, _), figures in kept(account).items():
        parts[day] = list(map(EXACT.add, parts[day], figures))
    whole = {row.day: [getattr(row, name) for name in FIGURES] for row in account.days.all()}
    assert whole == parts


def due(account: Account) -> dict:
    """The daily sums as the orders say, in Python, from what reports count."""
    zone = ZoneInfo(User.objects.get(accounts=account).zone)
    cells = defaultdict(list)
    for key, copies in copies_by_trader(TrackingOrder.objects.filter(account=account)).items():
        for copy in copies:
            cells[key, copy.close_time.astimezone(zone).date(), copy.symbol].append(copy)
    return {
        key: (
            len(own),
            sum(copy.net > 0 for copy in own),
            sum(copy.net < 0 for copy in own),
            total(copy.net for copy in own),
            total(copy.realized for copy in own),
            total(copy.net for copy in own if copy.net > 0),
            EXACT.minus(total(copy.net for copy in own if copy.net < 0)),
            total(copy.open_fee for copy in own),
            total(copy.margin for copy in own),
        )
        for key, own in cells.items()
    }


def assert_summaries_equal_the_reference(account: Account, now: datetime = NOW) -> None:
    zone = reports.zone_of(account.owner)
    for period in rollups.PERIODS:
        own_rows = [
            row for row in read.period_rows(account.owner, period, now) if row.trader.account == account
        ]
        assert len(own_rows) == account.traders.count()
        for row in own_rows:
            since = periods.since(period, now, zone)
            expected = reports.trader_summary(row.trader, since=since, zone=zone, now=now)
            assert row.summary == replace(expected, daily_series=()), period
            assert (row.net, row.closed_copies) == (expected.net_profit, expected.closed_copies)
            own = copies_by_trader(row.trader.orders.all())[row.trader.pk]
            shown = [copy for copy in own if since is None or copy.close_time >= since]
            assert row.spark == reports.traders.spark(shown)


def assert_pages_equal_the_reference(account: Account, now: datetime = NOW) -> None:
    zone = reports.zone_of(account.owner)
    today = now.astimezone(zone).date()
    for trader in account.traders.all():
        for period in rollups.PERIODS:
            page = reports.trader_page(trader, period, now, zone)
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


def rows(trader: Trader, period: str, now: datetime = NOW) -> list[read.PeriodRow]:
    return [row for row in read.period_rows(trader.account.owner, period, now) if row.trader == trader]


def test_a_new_capital_base_shows_at_once(trader: Trader) -> None:
    told(put(trader, str(day % 7 - 2), NOW - timedelta(days=day)) for day in range(60))
    rollups.summarise_stale(now=NOW)
    Trader.objects.filter(pk=trader.pk).update(capital_base=Decimal(333))
    (row,) = rows(trader, "all")
    trader.refresh_from_db()
    expected = reports.trader_summary(trader, now=NOW)
    assert row.summary.roi_on_capital == expected.roi_on_capital
    assert row.summary.max_drawdown_percent == expected.max_drawdown_percent
    assert row.summary.capital_label == "on the capital you entered"
    assert row.summary.sharpe is None and row.summary.reasons["sharpe"].startswith("not worked out")
    rollups.summarise([trader.pk], now=NOW)
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


def test_nothing_touched_costs_nothing_and_a_page_costs_three_queries(trader: Trader) -> None:
    with CaptureQueriesContext(connection) as queries:
        rollups.refresh_cells(trader.account, set())
        rollups.refresh_cells(trader.account, {(trader.pk, None, "BTCUSDT")})
    assert len(queries) == 0
    page = {cell(put(trader, "1", NOW - timedelta(hours=hours))) for hours in range(100)}
    with CaptureQueriesContext(connection) as queries:
        rollups.refresh_cells(trader.account, page)
    assert len(queries) == 3


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


def test_a_page_merged_while_a_summary_is_made_leaves_it_stale(
    trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    told([put(trader, "3", NOW)])
    write = summaries._write

    def meanwhile(made: dict) -> int:
        told([put(trader, "4", NOW)])
        return write(made)

    monkeypatch.setattr(summaries, "_write", meanwhile)
    rollups.summarise_stale(now=NOW)
    (row,) = rows(trader, "all")
    assert row.net == 3 and row.stale
    monkeypatch.undo()
    rollups.summarise_stale(now=NOW)
    (row,) = rows(trader, "all")
    assert row.net == 7 and not row.stale


def test_an_older_summary_never_takes_the_place_of_a_newer_one(
    trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow worker comes back after a page was merged and another worker has summarised it."""
    told([put(trader, "3", NOW)])
    write = summaries._write

    def slow(made: dict) -> int:
        monkeypatch.setattr(summaries, "_write", write)
        told([put(trader, "4", NOW)])
        assert rollups.summarise([trader.pk], now=NOW) == 1
        return write(made)

    monkeypatch.setattr(summaries, "_write", slow)
    assert rollups.summarise([trader.pk], now=NOW) == 0
    (row,) = rows(trader, "all")
    assert row.net == 7 and not row.stale


def test_a_trader_at_which_another_worker_is_gets_passed_over(trader: Trader) -> None:
    told([put(trader, "3", NOW)])
    parameters = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    with psycopg.connect(**{name: parameters[name] for name in names if name in parameters}) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [locks.SUMMARY_LOCK, trader.pk])
        assert rollups.summarise_stale(now=NOW) == 0
    assert rollups.summarise_stale(now=NOW) == 1
    assert rollups.summarise_stale(now=NOW) == 0


@pytest.mark.parametrize(
    ("zone", "at"),
    [
        ("UTC", datetime(2026, 3, 30, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2026, 3, 29, 18, 30, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 3, 30, tzinfo=UTC)),  # the true-up, four hours before midnight
    ],
)
def test_summaries_are_made_again_when_the_day_ends(trader: Trader, zone: str, at: datetime) -> None:
    User.objects.update(zone=zone)
    told([put(trader, "3", NOW)])
    assert rollups.summarise_stale(now=NOW) == 1
    assert rollups.summarise_stale(now=at - timedelta(seconds=1)) == 0
    assert rollups.summarise_stale(now=at) == 1
    assert rollups.summarise_stale(now=at) == 0


def test_a_period_ends_with_today_and_loses_its_oldest_day_at_midnight(trader: Trader) -> None:
    told([put(trader, "3", NOW), put(trader, "4", NOW - timedelta(days=6))])
    rollups.summarise_stale(now=NOW)
    assert [row.net for row in rows(trader, "7")] == [7]
    tomorrow = NOW + timedelta(days=1)
    rollups.summarise_stale(now=tomorrow)
    (row,) = rows(trader, "7", tomorrow)
    assert (row.net, row.kept.net_before) == (3, 4)
    assert PeriodSummary.objects.get(period="7").as_of == date(2026, 3, 30)


def test_a_trader_without_copies_has_a_row_too(trader: Trader) -> None:
    (row,) = rows(trader, "30")
    assert row.stale and row.closed_copies == 0 and row.spark == [0]
    assert row.summary == replace(reports.trader_summary(trader, since=NOW, now=NOW), daily_series=())
    rollups.summarise_stale(now=NOW)
    assert_summaries_equal_the_reference(trader.account)


def test_a_change_of_zone_moves_the_days_with_it(alice: User, trader: Trader, client_of: Any) -> None:
    told(put(trader, "1", NOW - timedelta(hours=hours)) for hours in range(50))
    rollups.summarise_stale(now=NOW)
    before = kept(trader.account)
    client_of(alice).post("/security/zone/", {"zone": "Asia/Kolkata"})
    assert kept(trader.account) == due(trader.account) != before
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    assert Trader.objects.get().summaries_stale_since is not None
    rollups.summarise_stale(now=NOW)
    trader.account.owner.refresh_from_db()
    assert_summaries_equal_the_reference(trader.account)


def test_a_wrong_sum_is_told_made_right_and_closed_at_the_next_look(trader: Trader) -> None:
    told([put(trader, "3", NOW), put(trader, "4", NOW - timedelta(days=2))])
    rollups.summarise_stale(now=NOW)
    DayResult.objects.filter(day=date(2026, 3, 29)).update(net=Decimal("2.99"))
    DayResult.objects.filter(day=date(2026, 3, 27)).delete()
    DayResult.objects.create(
        account=trader.account, trader=trader, day=date(2020, 1, 1), symbol="X", n=1, wins=1, losses=0,
        net=1, gross=1, won=1, lost=0, open_fees=0, margin=0,
    )  # fmt: skip
    assert rollups.verify(trader.account).n == 3
    assert kept(trader.account) == due(trader.account)
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    issue = DataIssue.objects.get()
    assert (issue.kind, issue.state, issue.details["n"]) == ("rollup", "open", 3)
    assert issue.details["cells"][2]["kept"] == {"n": 1, "net": "2.99"}
    assert Trader.objects.get().summaries_stale_since is not None
    assert rollups.verify(trader.account).n == 0
    issue.refresh_from_db()
    assert issue.state == "resolved"


def test_a_wrong_sum_of_a_whole_day_is_told_and_made_right(trader: Trader) -> None:
    told([put(trader, "3", NOW)])
    trader.account.days.update(net=Decimal(2))
    assert rollups.verify(trader.account).n == 1
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    assert DataIssue.objects.get().details["n"] == 1
    assert rollups.verify(trader.account).n == 0


def test_a_wrong_total_of_a_summary_is_made_again(trader: Trader) -> None:
    told([put(trader, "3", NOW)])
    rollups.summarise_stale(now=NOW)
    PeriodSummary.objects.filter(period="all").update(net=Decimal(2))
    rollups.verify(trader.account)
    assert rollups.summarise_stale(now=NOW) == 1
    assert_summaries_equal_the_reference(trader.account)


def test_all_accounts_have_their_turn(alice: User, charlie: User) -> None:
    owners = (alice, alice, charlie)
    accounts = [Account.objects.create(owner=o, label=f"r{i}", venue="sandbox") for i, o in enumerate(owners)]
    looked = []
    for _ in range(4):
        rollups.verify_some(seconds=0, every=timedelta(hours=1))
        looked.append(Account.objects.exclude(sums_checked_at=None).count())
    assert looked == [1, 2, 3, 3]
    Account.objects.filter(pk=accounts[1].pk).update(sums_checked_at=NOW - timedelta(days=900))
    assert rollups.verify_some() == 1
    assert rollups.verify_some() == 0


def test_the_sums_of_old_orders_are_filled_in_by_the_migration(trader: Trader) -> None:
    User.objects.update(zone="Asia/Kolkata")
    for hours in range(30):
        put(trader, str(hours % 5 - 2), NOW - timedelta(hours=hours))
    put(trader, "1", NOW, realized_pnl=None, open_fee=None, open_margin_amount=None)
    put(trader, "1", NOW, closed=False)
    priced = {"open_size": 2, "open_fill_size": 1, "close_size": 1, "close_avg_price": Decimal("3.5")}
    put(trader, "1", NOW, open_price_avg=Decimal("3.1"), **priced)
    put(trader, "1", NOW, open_price_avg=0, **priced)
    with connection.cursor() as cursor:  # as the columns stood between the two migrations
        for table in ("dayresult", "accountday"):
            cursor.execute(f"ALTER TABLE copytrade_{table} ALTER close_fees SET DEFAULT 0")
            cursor.execute(f"ALTER TABLE copytrade_{table} ALTER unestimated SET DEFAULT 0")
    with connection.schema_editor(atomic=False) as editor:
        for name in ("0005_fill_daily_sums", "0009_costs_of_days"):
            importlib.import_module(f"copytrade.migrations.{name}").fill(apps, editor)
    assert sum(row.unestimated for row in DayResult.objects.all()) == 32
    assert kept(trader.account) == due(trader.account)
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    assert rollups.verify(trader.account).n == 0
    assert rollups.summarise_stale(now=NOW) == 1
    assert_summaries_equal_the_reference(trader.account)


def test_the_operator_can_have_everything_made_again_and_sees_what_differed(trader: Trader) -> None:
    put(trader, "3", NOW)
    out = StringIO()
    call_command("rebuild_rollups", account=trader.account_id, stdout=out)
    assert "1 daily sums differed and were remade, summaries of 1 traders made" in out.getvalue()
    assert "BTCUSDT: nothing kept, 1 copies, net 3, in the orders" in out.getvalue()
    assert kept(trader.account) == due(trader.account)
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    with pytest.raises(CommandError, match="There is no account 0"):
        call_command("rebuild_rollups", account=0)


def test_pages_read_sums_in_one_query_each(trader: Trader, charlie: User) -> None:
    told([put(trader, "3", NOW), put(trader, "-4", NOW - timedelta(days=2), symbol="ETHUSDT")])
    today = date(2026, 3, 29)
    with CaptureQueriesContext(connection) as queries:
        found = read.totals([trader.account_id], {"today": today, "week": date(2026, 3, 23), "all": None})
        series = read.day_series([trader.pk], date(2026, 3, 27), today)
        parted = read.symbols([trader.pk])
        together = read.account_series([trader.account_id])
    assert len(queries) == 4
    assert [(day, row.net) for day, row in together] == [(date(2026, 3, 27), -4), (today, 3)]
    assert {name: (row.n, row.net) for name, row in found.items()} == {
        "today": (1, 3), "week": (2, -1), "all": (2, -1),
    }  # fmt: skip
    assert [(row.day, row.net, row.trader) for row in series] == [
        (date(2026, 3, 27), -4, trader.pk), (today, 3, trader.pk),
    ]  # fmt: skip
    assert {symbol: (row.wins, row.losses) for symbol, row in parted.items()} == {
        "BTCUSDT": (1, 0), "ETHUSDT": (0, 1),
    }  # fmt: skip
    assert read.totals(read.accounts_of(charlie), {"all": None})["all"].n == 0
    assert read.period_rows(charlie, "all", NOW) == []
    with pytest.raises(KeyError):
        read.period_rows(charlie, "8", NOW)


def test_the_rows_of_a_period_cost_the_same_however_many(alice: User, account: Account) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert all(row.summary.closed_copies == 0 for row in read.period_rows(alice, "30"))
        return len(queries)

    Trader.objects.create(account=account, trader_id=1)
    rollups.summarise_stale()
    few = cost()
    Trader.objects.bulk_create(Trader(account=account, trader_id=uid) for uid in range(2, 300))
    rollups.summarise_stale(limit=1000)
    assert cost() == few == 1


def test_traders_read_by_a_bare_cursor_are_whole_and_in_their_order(alice: User, account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(permissions=["read"])
    whole = {"copied": True, "capital_base": Decimal("10.50"), "extras": {"bonus": [1]}}
    for uid, fields in enumerate([{"name": "B"}, {"name": "A"}, {"name": "C", **whole}], start=1):
        Trader.objects.create(account=account, trader_id=uid, **fields)
    wanted = list(Trader.objects.select_related("account").order_by("-copied", "name", "pk"))
    with CaptureQueriesContext(connection) as queries:
        found = [row.trader for row in read.period_rows(alice, "all")]
        for trader, other in zip(found, wanted, strict=True):
            for mine, theirs in ((trader, other), (trader.account, other.account)):
                for column in mine._meta.concrete_fields:
                    assert getattr(mine, column.attname) == getattr(theirs, column.attname), column
    assert len(queries) == 1 and str(found[0].capital_base) == "10.50"


def test_sums_and_ledger_wait_for_each_other_by_one_lock() -> None:
    assert locks.LEDGER_LOCK == ledger.LEDGER_LOCK
    assert upkeep.alone_with_ledger is locks.alone_with_ledger
