"""What pages show: exact sums, steady query counts, keyset pages without gaps, days of a person's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import ledger, reports, rollups
from copytrade.models import COPY_KINDS, Account, SyncJob, TrackingOrder, Trader, User
from copytrade.reports import history
from copytrade.reports.orders import orders_of, overview_of
from copytrade.rollups.read import symbols_of
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

from .test_ledger import UID, closed, order

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def desk(alice: User) -> Account:
    """alice's account with two traders: 5 and 3 USDT net after 12 and 6 closed copies, and three open ones."""
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    SyncJob.objects.bulk_create(SyncJob(account=account, kind=kind) for kind in COPY_KINDS)
    fill(account, 12, UID, "BTCUSDT", 0)
    fill(account, 6, UID + 1, "ETHUSDT", 100)
    opened = [
        order(201, open_time=NOW - timedelta(hours=2), tp_trigger_price=Decimal("66000.11")),
        order(202, open_fill_size=Decimal("0.004"), open_time=NOW - timedelta(hours=1), symbol="ETHUSDT"),
        order(203, trader_id=UID + 1, open_time=NOW),
    ]
    ledger.merge(account, opened, source=ledger.OPEN)
    return account


def fill(account: Account, n: int, uid: int, symbol: str, first: int, start: datetime = NOW) -> None:
    """n closed copies, one per hour back from `start`: every third loses 1.10, the others win 1.05."""
    records = [
        closed(
            first + i,
            net="-1.10" if i % 3 == 0 else "1.05",
            trader_id=uid,
            symbol=symbol,
            open_time=start - timedelta(hours=i + 1),
            close_time=start - timedelta(hours=i),
        )
        for i in range(n)
    ]
    ledger.merge(account, records, source=ledger.HISTORY)


def cost(call) -> int:
    with CaptureQueriesContext(connection) as queries:
        call()
    return len(queries)


def test_the_summary_is_exact_and_names_its_base(desk: Account) -> None:
    trader = Trader.objects.get(trader_id=UID)
    summary = reports.trader_summary(trader, now=NOW)
    assert summary.net_profit == Decimal("4.00") and summary.closed_copies == 12
    assert round(summary.win_rate, 12) == round(Decimal(2) / 3, 12)
    assert "margin" in summary.capital_label
    trader.total_investment = Decimal("500")
    assert "invested today" in reports.trader_summary(trader, now=NOW).capital_label
    trader.capital_base = Decimal("400")
    summary = reports.trader_summary(trader, now=NOW)
    assert "you entered" in summary.capital_label and summary.roi_on_capital == Decimal("0.01")


def test_a_period_counts_what_was_earned_before_it_as_capital(desk: Account) -> None:
    trader = Trader.objects.get(trader_id=UID)
    trader.capital_base = Decimal("400")
    since = NOW - timedelta(hours=3, minutes=30)
    summary = reports.trader_summary(trader, since=since, now=NOW)
    assert summary.closed_copies == 4
    assert summary.net_profit == Decimal("1.05") * 2 - Decimal("1.10") * 2
    before = Decimal("1.05") * 6 - Decimal("1.10") * 2
    assert round(summary.roi_on_capital, 20) == round(summary.net_profit / (400 + before), 20)


def test_ten_rows_and_twenty_cost_the_same(desk: Account, alice: User) -> None:
    calls = [
        lambda: reports.traders_table(alice, now=NOW),
        lambda: reports.since_last_visit(alice, UTC, NOW),
        lambda: reports.open_overview(alice, now=NOW),
        lambda: reports.history_page(alice),
        lambda: reports.overview(alice, now=NOW),
        lambda: reports.freshness(alice, now=NOW),
        lambda: reports.trader_page(Trader.objects.filter(trader_id=UID).first(), now=NOW, zone=UTC),
        lambda: symbols_of(alice),
    ]
    before = [cost(call) for call in calls]
    fill(desk, 30, UID + 2, "SOLUSDT", 300)
    ledger.merge(desk, [order(400 + i, trader_id=UID + i) for i in range(20)], source=ledger.OPEN)
    assert [cost(call) for call in calls] == before
    assert max(before) <= 12


def test_the_table_has_every_trader_with_open_copies_and_a_curve(
    desk: Account, alice: User, charlie: User
) -> None:
    rollups.summarise_stale(now=NOW)
    rows = {row.trader.trader_id: row for row in reports.traders_table(alice, now=NOW)}
    assert rows[UID].open_count == 2 and rows[UID].open_margin == Decimal("120.0002")
    assert rows[UID].spark[0] == 0 and rows[UID].spark[-1] == Decimal("4.00")
    assert rows[UID + 1].summary.net_profit == Decimal("1.05") * 4 - Decimal("1.10") * 2
    assert reports.traders_table(charlie, now=NOW) == []
    fill(desk, 200, UID, "BTCUSDT", 1000)
    assert reports.traders_table(alice, now=NOW)[0].stale
    rollups.summarise_stale(now=NOW)
    spark = reports.traders_table(alice, now=NOW)[0].spark
    assert len(spark) == 40


def test_open_copies_with_distance_share_and_age(desk: Account, alice: User) -> None:
    overview = reports.open_overview(alice, now=NOW)
    assert [row.order.tracking_no for row in overview.orders] == [203, 202, 201]
    newest, partial, oldest = overview.orders
    assert oldest.age == timedelta(hours=2)
    assert oldest.tp_distance == (Decimal("66000.11") - Decimal("60000.10")) / Decimal("60000.10")
    assert oldest.sl_distance is None
    assert partial.partial and partial.filled == Decimal("0.4")
    assert partial.notional == Decimal("60000.10") * Decimal("0.004")
    assert overview.totals.n == 3 and overview.totals.margin == 3 * Decimal("60.0001")
    assert [(group.key.trader_id, group.n) for group in overview.by_trader] == [(UID, 2), (UID + 1, 1)]
    assert sum(group.share for group in overview.by_symbol).quantize(Decimal("1e-20")) == 1
    ledger.note_absent(desk, {202, 203}, timezone.now() + timedelta(seconds=5))
    overview = reports.open_overview(alice, now=NOW)
    assert overview.totals.n == 2 and overview.missing == 1
    assert not newest.partial


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, 18),
        ({"symbol": "ETHUSDT"}, 6),
        ({"symbol": "NOSUCH"}, 0),
        ({"result": "loss"}, 6),
        ({"result": "gain"}, 12),
        ({"result": "even"}, 0),
        ({"side": "LONG"}, 18),
        ({"side": "SHORT"}, 0),
        ({"since": NOW - timedelta(hours=2)}, 6),
        ({"until": NOW - timedelta(hours=2)}, 12),
    ],
)
def test_the_history_is_filtered_and_its_totals_are_those_of_all_pages(
    desk: Account, alice: User, filters: dict, expected: int
) -> None:
    page = reports.history_page(alice, reports.Filters(**filters), limit=5)
    assert page.totals.n == expected and len(page.orders) == min(5, expected)
    rows = TrackingOrder.objects.filter(pk__in=[order.pk for order in page.orders])
    if expected <= 5:
        assert page.totals.net == sum((row.net_profit for row in rows), Decimal(0))


def test_filters_by_trader_and_account_are_a_persons_own(desk: Account, alice: User, charlie: User) -> None:
    trader = Trader.objects.get(trader_id=UID)
    assert reports.history_page(alice, reports.Filters(trader=trader.pk)).totals.n == 12
    assert reports.history_page(alice, reports.Filters(account=desk.pk)).totals.n == 18
    assert reports.history_page(charlie, reports.Filters(trader=trader.pk, account=desk.pk)).totals.n == 0
    assert reports.open_overview(charlie, reports.Filters(trader=trader.pk)).orders == []
    assert reports.open_overview(charlie).traders == [] and symbols_of(charlie) == []
    rollups.summarise_stale(now=NOW)
    assert [trader.trader_id for trader in reports.open_overview(alice).traders] == [UID, UID + 1]
    assert symbols_of(alice) == ["BTCUSDT", "ETHUSDT"]


def test_pages_follow_each_other_without_gap_or_repetition_there_and_back(desk: Account, alice: User) -> None:
    other = Account.objects.create(owner=alice, label="B", venue="sandbox")
    fill(other, 12, UID, "BTCUSDT", 0)  # the same exchange account, connected twice
    everything = [order.pk for order in reports.history_page(alice, limit=1000).orders]
    assert len(everything) == 30
    for size in (1, 4, 7):
        seen, after, pages = [], "", []
        while True:
            page = reports.history_page(alice, after=after, limit=size)
            pages.append(page)
            seen += [order.pk for order in page.orders]
            after = page.next
            if not after:
                break
        assert seen == everything
        back = reports.history_page(alice, before=pages[-1].previous, limit=size)
        assert [o.pk for o in back.orders] == [o.pk for o in pages[-2].orders]
        first = reports.history_page(alice, before=pages[1].previous, limit=size)
        assert [o.pk for o in first.orders] == everything[:size] and first.previous == ""


@pytest.mark.parametrize(("way", "bound"), [("lt", "close_time <= "), ("gt", "close_time >= ")])
def test_a_page_far_back_is_found_without_a_walk_over_all_before_it(
    alice: User, way: str, bound: str
) -> None:
    beyond = history._beyond(way, NOW, 9, 9)
    rows = orders_of(alice).filter(beyond, account=1, closed=True).order_by(*history.NEWEST_FIRST)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
        )
    plan = rows.explain()
    assert bound in next(line for line in plan.splitlines() if "Index Cond" in line and "closed" in line), (
        plan
    )


@pytest.mark.parametrize(
    "key",
    ["x", "_", "2026-01-01_1_1", "2026-01-01T00:00:00+00:00_9_99999999999999999999", "1_2_3_4", "²_1_1"],
)
def test_a_key_that_no_page_gave_out_is_refused(desk: Account, alice: User, key: str) -> None:
    with pytest.raises(ValueError):
        reports.history_page(alice, after=key)


def test_tiles_count_by_the_day_of_the_zone(desk: Account, alice: User) -> None:
    rollups.summarise_stale(now=NOW)
    tiles = {tile.key: tile for tile in reports.overview(alice, zone=UTC, now=NOW).tiles}
    assert [tiles[key].n for key in ("today", "week", "month", "all")] == [18, 18, 18, 18]
    assert tiles["all"].net == sum(
        (o.net_profit for o in TrackingOrder.objects.filter(closed=True)), Decimal(0)
    )
    alice.zone = "Asia/Tokyo"
    alice.save()
    rollups.rebuild_all_of(alice)
    rollups.summarise_stale(now=NOW)
    tokyo = {t.key: t for t in reports.overview(alice, now=NOW).tiles}
    hours_of_their_day = 21  # noon UTC is 21:00 there
    assert tokyo["today"].since == NOW - timedelta(hours=hours_of_their_day)
    assert tokyo["today"].provisional == sum(
        (
            o.net_profit
            for o in TrackingOrder.objects.filter(closed=True, close_time__gte=NOW.replace(hour=0))
        ),
        Decimal(0),
    )
    late = {t.key: t for t in reports.overview(alice, zone=UTC, now=NOW + timedelta(days=1)).tiles}
    assert late["today"].n == 0 and late["today"].provisional == 0 and late["week"].n == 18
    assert tiles["today"].provisional == tiles["today"].net


def test_an_unknown_zone_falls_back_to_utc(alice: User) -> None:
    alice.zone = "Mars/Olympus"
    assert reports.zone_of(alice) is UTC
    alice.zone = "Europe/Berlin"
    assert reports.day_start(datetime(2026, 7, 1, 23, tzinfo=UTC), reports.zone_of(alice)) == datetime(
        2026, 7, 1, 22, tzinfo=UTC
    )


def test_freshness_is_that_of_the_oldest_reading(desk: Account, alice: User, charlie: User) -> None:
    assert reports.freshness(charlie).state == "none"
    assert reports.freshness(alice, now=NOW).state == "waiting"
    SyncJob.objects.update(last_success_at=NOW - timedelta(seconds=20))
    SyncJob.objects.filter(kind="open").update(last_success_at=NOW - timedelta(seconds=50))
    fresh = reports.freshness(alice, now=NOW)
    assert fresh.state == "fresh" and fresh.oldest == NOW - timedelta(seconds=50)
    assert reports.freshness(alice, ["traders"], now=NOW).oldest == NOW - timedelta(seconds=20)
    stale = reports.freshness(alice, now=NOW + timedelta(minutes=2))
    assert stale.state == "stale" and "open orders" in stale.sentence
    Account.objects.update(state="refused", state_reason="The key was refused.")
    refused = reports.freshness(alice, now=NOW)
    assert refused.state == "refused" and refused.sentence == "A: The key was refused."


def test_the_walk_through_the_past_is_shown_while_it_lasts(desk: Account, alice: User) -> None:
    back = {"end": "2026-01-05T00:00:00+00:00", "seen": 700}
    SyncJob.objects.filter(kind="history").update(cursor={"until": NOW.isoformat(), "back": back})
    fresh = reports.freshness(alice, now=NOW)
    assert fresh.backfill == {"reached": datetime(2026, 1, 5, tzinfo=UTC), "orders": 700}
    report = reports.trader_page(Trader.objects.get(trader_id=UID), now=NOW, zone=UTC)
    assert report.reconciliation.walking and "still being read" in report.reconciliation.sentence


def test_the_ledger_agrees_with_the_exchanges_own_totals(
    account: Account, alice: User, sandbox: Sandbox
) -> None:
    run.sync_account(account.pk)
    rollups.summarise_stale()
    rows = reports.traders_table(alice)
    assert {row.trader.name for row in rows if not row.trader.copied} == {"Ember Fund", "Lantern Fade"}
    for row in rows:
        report = reports.trader_page(row.trader, "all", zone=UTC)
        if row.trader.copied:
            assert report.reconciliation.difference == 0 and "agrees" in report.reconciliation.sentence
            assert row.summary.reconciliation_gap == 0
        else:
            assert report.reconciliation.difference is None
        assert report.still[-1][1] == row.summary.net_profit == row.spark[-1]
        assert sum(net for _, net in report.daily) == row.summary.net_profit
        assert sum(line.n for line in report.breakdowns["symbol"]) == row.summary.closed_copies


def test_sums_of_open_copies_and_corrections_lose_no_digit() -> None:
    large, small = Decimal(10) ** 25, Decimal("0.0000000001")
    exact = Decimal(f"{large}.0000000001")
    now = timezone.now()
    shown = [
        reports.open_order(
            TrackingOrder(trader=Trader(pk=1, name="Northwind"), open_margin_amount=margin), now
        )
        for margin in (large, small)
    ]
    assert overview_of(shown).totals.margin == exact
    assert reports.TruedUp(1, "BTCUSDT", now, now, large, exact).difference == small
    assert reports.TruedUp(1, "BTCUSDT", now, now, -large, small).difference == exact
