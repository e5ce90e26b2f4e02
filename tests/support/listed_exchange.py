"""An exchange that is a list in memory, whole readings of it, and what they leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from copytrade.exchange.decoding import BadRecord as Unread
from copytrade.exchange.envelopes import Cursor, Page, SettingsAnswer
from copytrade.exchange.errors import Rejected, Unreachable
from copytrade.exchange.records import CopiedTrader, FollowerOrder
from copytrade.models import Account, DataIssue, SyncJob
from copytrade.sync import handing_back, history, leases, open_orders, traders
from copytrade.sync import settings as settings_reader
from copytrade.sync.reading import Reading
from tests.support.told_orders import UID

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
        self.trader: dict[str, Any] = {}  # what else my traders say of the one
        self.left = False
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
        told = {"trader_name": "Northwind", "trace_total_profit": self.money} | self.trader
        yield Page([] if self.left else [CopiedTrader(trader_id=UID, **told)])

    def follower_settings(self, *, trader_id: int) -> SettingsAnswer:
        self.calls += 1
        return SettingsAnswer(list(self.settings), settings=None, copy_enable=True)


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
    except Exception:
        leases.release(job, timezone.now() + DAY)
        raise
    assert handing_back.done(job, reading, DAY, 1, {})
    return reading


def job(account: Account, kind: str) -> SyncJob:
    return account.jobs.get(kind=kind)


def issues(kind: str) -> dict[str, str]:
    return dict(DataIssue.objects.filter(kind=kind).values_list("subject", "state"))
