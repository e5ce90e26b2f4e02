"""The daily sums and summaries of a ledger held against its orders: what is kept, what is due, and copies put in."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from copytrade import reports, rollups
from copytrade.models import Account, DayResult, TrackingOrder, Trader, User
from copytrade.reports.copies import copies_by_trader
from copytrade.rollups import periods, read
from copytrade.statistics import Brief
from copytrade.statistics.exact import EXACT, total

NOW = datetime(2026, 3, 29, 12, tzinfo=UTC)  # a day on which clocks in Berlin go forward
FIGURES = ("n", "wins", "losses", "net", "gross", "won", "lost", "open_fees", "margin")
serial = itertools.count(1)


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
    traders: dict = defaultdict(lambda: [Decimal(0)] * len(FIGURES))
    for (trader, day, _), figures in kept(account).items():
        traders[trader, day] = list(map(EXACT.add, traders[trader, day], figures))
    rows = account.trader_results.all()
    assert {(r.trader_id, r.day): [getattr(r, name) for name in FIGURES] for r in rows} == traders


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
            assert_brief_is_of_the_summary(row)
            own = copies_by_trader(row.trader.orders.all())[row.trader.pk]
            shown = [copy for copy in own if since is None or copy.close_time >= since]
            assert row.spark == reports.traders.spark(shown)


def assert_brief_is_of_the_summary(row: read.PeriodRow) -> None:
    for name in (field.name for field in fields(Brief) if field.name != "reasons"):
        assert getattr(row.brief, name) == getattr(row.summary, name), name
        assert row.brief.reasons.get(name) == row.summary.reasons.get(name), name


def rows(trader: Trader, period: str, now: datetime = NOW) -> list[read.PeriodRow]:
    return [row for row in read.period_rows(trader.account.owner, period, now) if row.trader == trader]
