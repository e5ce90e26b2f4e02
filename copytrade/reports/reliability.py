"""How far a trader's figures can be relied on, in a few words a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count
from django.utils import timezone

from copytrade.models import SyncJob, User
from copytrade.readiness import Readiness
from copytrade.rollups import PERIODS
from copytrade.rollups.read import rows_asked, rows_of
from copytrade.statistics import MINIMUM_COPIES, MINIMUM_DAYS
from copytrade.statistics.exact import ZERO, total
from copytrade.together import Prepared, Query, refer

from .freshness import Freshness, freshness_of, jobs_of
from .orders import open_rows
from .readiness import facts_asked, ready_of
from .trader_page import Reach
from .traders import TraderRow, walking

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Note:
    """`key`: "none", "few", "short", "reading", "incomplete", "gaps", "provisional"
    or "again"."""

    key: str
    words: str


@dataclass(frozen=True)
class Table:
    """The traders' table (see traders_table), with what stands beside it: by our account key how far back each ledger
    goes, by our trader key what would keep or shrink the next copy. All of it as of `at`."""

    at: datetime

    rows: list[TraderRow]
    reaches: dict[int, Reach]
    ready: Mapping[int, Readiness]
    freshness: Freshness


def table(user: User, period: str, now: datetime | None = None) -> Table:
    """What the page of all traders shows, in one query. Raises KeyError for a period that is none."""
    now = now or timezone.now()
    PERIODS[period]
    *told, facts = _of_the_table(owner=user.pk, period=period)
    rows, jobs = _rows_and_jobs(told, period, now)
    ready = ready_of(facts, [row.trader for row in rows], now)
    return Table(
        now,
        rows,
        _reaches(jobs),
        ready,
        freshness_of(jobs, [SyncJob.Kind.TRADERS, SyncJob.Kind.HISTORY], now),
    )


def table_and_reaches(user: User, period: str) -> tuple[list[TraderRow], dict[int, Reach]]:
    """The traders' table alone, and by our account key how far back each ledger goes. One query."""
    PERIODS[period]
    rows, jobs = _rows_and_jobs(_of_the_rows(owner=user.pk, period=period), period, timezone.now())
    return rows, _reaches(jobs)


def _rows_and_jobs(told: Sequence[Any], period: str, now: datetime) -> tuple[list[TraderRow], list[SyncJob]]:
    *kept, jobs, opened = told
    _, accounts, _ = kept
    refer(jobs, "account", {account.pk: account for account in accounts})
    held: dict[int, list[Decimal]] = {}
    for order in opened:
        held.setdefault(order.trader_id, []).append(order.open_margin_amount or ZERO)
    rows = [
        TraderRow(row, len(held.get(row.trader.pk, ())), total(held.get(row.trader.pk, ())))
        for row in rows_of(kept, period, now)
    ]
    return rows, jobs


@Prepared
def _of_the_rows(owner: Any, period: Any) -> Sequence[Query]:
    return _rows_asked(owner, period)


@Prepared
def _of_the_table(owner: Any, period: Any) -> Sequence[Query]:
    return *_rows_asked(owner, period), facts_asked(owner)


def _rows_asked(owner: Any, period: Any) -> Sequence[Query]:
    return (
        *rows_asked(owner, period),
        jobs_of(owner).annotate(gaps=Count("account__gaps")),
        open_rows(owner).only("trader", "open_margin_amount"),
    )


def _reaches(jobs: Sequence[SyncJob]) -> dict[int, Reach]:
    return {job.account_id: _reach(job) for job in jobs if job.kind == SyncJob.Kind.HISTORY}


def _reach(job: SyncJob) -> Reach:
    return Reach(job.complete_from, walking(job), job.gaps)


def notes(row: TraderRow, period: str, reach: Reach | None) -> list[Note]:
    """What to keep in mind about this line. `reach`: that of its connection."""
    found, summary = [], row.brief
    if not summary.closed_copies:
        found.append(Note("none", "nothing closed"))
    elif summary.closed_copies < MINIMUM_COPIES:
        found.append(Note("few", "few copies"))
    if _short(row, period):
        found.append(Note("short", "short time"))
    found += _of_reach(reach, summary.since)
    if summary.provisional_copies:
        found.append(Note("provisional", "part provisional"))
    if row.stale:
        found.append(Note("again", "being summed again"))
    return found


def _short(row: TraderRow, period: str) -> bool:
    """In a month or less every trader's time is short; that is said once, under the table."""
    days, summary = PERIODS[period], row.brief
    if (days is not None and days <= MINIMUM_DAYS) or summary.since is None or summary.until is None:
        return False
    return summary.until - summary.since < MINIMUM_DAYS * _DAY


def _of_reach(reach: Reach | None, first: datetime | None) -> list[Note]:
    if reach is None or reach.walking:
        return [Note("reading", "past still being read")]
    if first and (reach.complete_from is None or reach.complete_from > first):
        return [Note("incomplete", "past not complete")]
    return [Note("gaps", "a gap in the past")] if reach.gaps else []
