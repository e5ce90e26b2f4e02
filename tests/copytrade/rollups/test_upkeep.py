"""Sums made right again: after a change of zone, where they were found wrong, by a migration and by the operator."""

from __future__ import annotations

import importlib
from datetime import date, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from copytrade import rollups
from copytrade.models import Account, DataIssue, DayResult, PeriodSummary, Trader, User
from tests.support.rollup_truth import (
    NOW,
    assert_summaries_equal_the_reference,
    assert_whole_days_are_the_sum_of_their_parts,
    due,
    kept,
    put,
    told,
)


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


def test_a_wrong_sum_of_a_traders_day_is_told_and_made_right(trader: Trader) -> None:
    told([put(trader, "3", NOW)])
    trader.whole_days.update(won=9, lost=6)
    rollups.summarise_stale(now=NOW)
    assert rollups.verify(trader.account).n == 1, "his day; the account's was right"
    assert_whole_days_are_the_sum_of_their_parts(trader.account)
    assert rollups.verify(trader.account).n == 0
    assert rollups.summarise_stale(now=NOW) == 1, "what was made of the wrong day is made again"
    assert_summaries_equal_the_reference(trader.account)


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
        for name in ("0005_fill_daily_sums", "0009_costs_of_days", "0018_trader_results"):
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
