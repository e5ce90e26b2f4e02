"""Days of one's own choice equal the reference, copy by copy, and cost what they hold, not what the ledger does."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from copytrade import reports, rollups
from copytrade.models import TrackingOrder, Trader, User
from copytrade.reports.trader_page import RANGE, TraderPage, computed
from copytrade.rollups import ranges
from tests.support.ledger_rows import account_of, trader_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)
ZONES = ["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Chatham"]


def closed(trader: Trader, number: int, at: datetime, minutes: int, **more: Any) -> TrackingOrder:
    """A closed copy that is not in the ledger yet."""
    told = {
        "symbol": "BTCUSDT", "position_side": "LONG", "status": "CLOSED", "closed": True, "open_leverage": 10,
        "open_time": at - timedelta(minutes=minutes), "close_time": at, "open_margin_amount": Decimal(50),
        "open_fee": Decimal("0.3"), "open_price_avg": Decimal(10), "open_size": Decimal(5),
        "close_avg_price": Decimal(11), "close_size": Decimal(5), "realized_pnl": Decimal(5), "net_profit": Decimal(1),
    }  # fmt: skip
    return TrackingOrder(account=trader.account, trader=trader, tracking_no=number, **(told | more))


def ledger(owner: User, copies: int, seed: int = 1) -> Trader:
    """A trader with so many closed copies in the 100 days before NOW, and another one of the same account."""
    rng = random.Random(seed)
    account = account_of(owner)
    trader, other = (
        trader_of(account, 1, "One", total_investment=Decimal(1000)),
        trader_of(account, 2, "Other"),
    )
    TrackingOrder.objects.bulk_create(
        closed(
            trader if number % 4 else other,
            number,
            NOW - timedelta(minutes=rng.randrange(100 * 1440)),
            rng.randrange(1, 9000),
            net_profit=Decimal(rng.randrange(-9000, 10_000)) / 1000,
            symbol=f"C{rng.randrange(5)}USDT",
            position_side=rng.choice(["LONG", "SHORT"]),
            open_leverage=rng.choice([1, 5, 20, 100]),
        )
        for number in range(copies)
    )
    rollups.rebuild(account)
    rollups.summarise([trader.pk, other.pk], NOW)
    trader.refresh_from_db()
    return trader


def both(trader: Trader, first: date, last: date) -> tuple[TraderPage, TraderPage]:
    zone = reports.zone_of(trader.account.owner)
    return (
        reports.trader_range(trader, first, last, NOW, zone, whole=("curve", "margin")),
        computed(trader, RANGE, first, last, NOW, zone),
    )


@pytest.mark.parametrize("zone", ZONES)
def test_any_range_equals_the_reference(alice: User, zone: str) -> None:
    alice.zone = zone
    alice.save()
    trader = ledger(alice, 120)
    today = NOW.astimezone(ZoneInfo(zone)).date()
    for ago, days in [(0, 1), (0, 100), (3, 7), (20, 30), (60, 1), (95, 40), (300, 20), (120, 121)]:
        last = today - timedelta(days=ago)
        page, expected = both(trader, last - timedelta(days=days - 1), last)
        assert page == expected, (ago, days)


def test_a_trader_without_copies_has_a_range_too(alice: User) -> None:
    trader = trader_of(account_of(alice))
    page, expected = both(trader, date(2026, 1, 1), date(2026, 2, 1))
    assert page == expected and page.daily == []


def test_a_range_ends_today_whatever_is_asked(alice: User) -> None:
    trader = ledger(alice, 12)
    page = reports.trader_range(trader, date(2026, 3, 1), date(9999, 12, 31), NOW, UTC)
    assert page == reports.trader_range(trader, date(2026, 3, 1), NOW.date(), NOW, UTC)


def test_more_copies_than_are_read_are_told_by_day(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    trader = ledger(alice, 200)
    first, last = date(2026, 1, 20), date(2026, 3, 29)
    _, expected = both(trader, first, last)
    monkeypatch.setattr(ranges, "MOST_COPIES", expected.summary.closed_copies - 1)
    page, _ = both(trader, first, last)
    assert page.by_day and not expected.by_day
    for name in ("closed_copies", "wins", "losses", "net_profit", "gross", "open_fees", "win_rate", "payoff",
                 "profit_factor", "expectancy", "roi_on_capital", "best_day", "worst_day", "margin_turned_over",
                 "provisional_copies", "provisional_net", "capital"):  # fmt: skip
        assert getattr(page.summary, name) == getattr(expected.summary, name), name
    for name in ("daily", "costs", "costs_by_month", "reconciliation", "first_open"):
        assert getattr(page, name) == getattr(expected, name), name
    for by in ("symbol", "weekday"):
        assert page.breakdowns[by] == expected.breakdowns[by]
    days = [net for _, net in page.daily if net]
    assert [net for _, net, _ in page.curve][-1] == sum(days) == page.summary.net_profit
    assert 0 < page.summary.max_drawdown <= expected.summary.max_drawdown, "seen from day to day"
    for name in ("peak_margin", "time_in_market", "longest_loss_streak"):
        assert getattr(page.summary, name) is None and "choose fewer days" in page.summary.reasons[name]
    assert page.margin == page.scatter == page.breakdowns["leverage"] == []


def test_a_thousand_copies_cost_as_many_queries_as_ten(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    usual = psycopg.Cursor.execute

    def execute(self: Any, query: Any, *more: Any, **named: Any) -> Any:
        asked.append(query)
        return usual(self, query, *more, **named)

    # Not by Django's own count: the copies come by a cursor that it does not see.
    monkeypatch.setattr(psycopg.Cursor, "execute", execute)

    def queries(trader: Trader) -> int:
        asked.clear()
        reach = reports.Reach(None, False, 0)
        reports.trader_range(trader, date(2026, 1, 1), date(2026, 3, 29), NOW, UTC, reach)
        return len(asked)

    trader = ledger(alice, 12)
    few = queries(trader)
    more = range(1000, 1990)
    TrackingOrder.objects.bulk_create(closed(trader, n, NOW - timedelta(hours=n), 5) for n in more)
    rollups.rebuild(trader.account)
    assert queries(trader) == few == 1
    monkeypatch.setattr(ranges, "MOST_COPIES", 5)
    assert queries(trader) == 1, "by day, too"
