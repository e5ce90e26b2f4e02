"""Totals that the daily sums cannot tell are those of the newest copies alone, and say so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from copytrade import reports
from copytrade.models import TrackingOrder, User
from copytrade.reports.history import MOST_COUNTED
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


@pytest.mark.parametrize("labels", [["Main"], ["Main", "Family"]])
def test_one_copy_more_than_are_counted_is_told_as_the_newest(
    alice: User, charlie: User, labels: list[str]
) -> None:
    close(charlie, ["Elsewhere"], 3)
    close(alice, labels, MOST_COUNTED + 2)
    totals = reports.history_page(alice, reports.Filters(side="LONG"), limit=5).totals
    shown = MOST_COUNTED + 1
    assert totals.newest and totals.n == totals.wins == shown
    assert totals.net == sum(range(1, shown + 1)), "of the newest of both connections, in one order"
    assert totals.gross == totals.net + shown
    none = reports.history_page(alice, reports.Filters(side="SHORT")).totals
    assert not none.newest and none.n == none.net == 0


def test_as_many_as_are_counted_are_all_of_them(alice: User) -> None:
    close(alice, ["Main"], MOST_COUNTED)
    totals = reports.history_page(alice, reports.Filters(result="gain"), limit=5).totals
    assert not totals.newest and totals.n == MOST_COUNTED and totals.losses == 0
