"""How far a trader's figures can be relied on, in a few words a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet

from copytrade.models import SyncJob, User
from copytrade.rollups import PERIODS
from copytrade.rollups.read import period_rows
from copytrade.statistics import MINIMUM_COPIES, MINIMUM_DAYS
from copytrade.statistics.exact import ZERO, total

from .orders import open_rows
from .together import Prepared
from .trader_page import Reach
from .traders import TraderRow

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Note:
    """`key`: "none", "few", "short", "reading", "incomplete", "gaps", "provisional"
    or "again"."""

    key: str
    words: str


def table_and_reaches(user: User, period: str) -> tuple[list[TraderRow], dict[int, Reach]]:
    """The traders' table (see traders_table), and by our account key how far back each ledger goes. Two queries."""
    kept = period_rows(user, period)
    found, opened = _jobs_and_open(owner=user.pk)
    held: dict[int, list[Decimal]] = {}
    for order in opened:
        held.setdefault(order.trader_id, []).append(order.open_margin_amount or ZERO)
    rows = [
        TraderRow(row, len(held.get(row.trader.pk, ())), total(held.get(row.trader.pk, ()))) for row in kept
    ]
    return rows, {job.account_id: _reach(job) for job in found}


@Prepared
def _jobs_and_open(owner: Any) -> Sequence[QuerySet[Any]]:
    jobs = SyncJob.objects.filter(account__owner=owner, kind=SyncJob.Kind.HISTORY)
    return jobs.annotate(gaps=Count("account__gaps")), open_rows(owner).only("trader", "open_margin_amount")


def _reach(job: SyncJob) -> Reach:
    return Reach(job.complete_from, bool(job.cursor.get("back")) or not job.cursor.get("until"), job.gaps)


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
