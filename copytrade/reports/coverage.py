"""How much of an account's past the ledger holds: from when it is complete, what is missing, what was read when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from copytrade.models import Account, CoverageGap, SyncJob, TrackingOrder


@dataclass(frozen=True)
class Backfill:
    """The first walk through the past, while it is under way: how far back it got and what it found.

    `empty` windows in a row without an order; the walk ends after a few of them or where the exchange ends.
    """

    reached: datetime
    orders: int
    empty: int


@dataclass(frozen=True)
class LastReading:
    """`at` None: never read. `due_at` when it is next; `error` what went wrong last time."""

    kind: str
    label: str
    at: datetime | None
    due_at: datetime
    error: str


@dataclass(frozen=True)
class Coverage:
    """Of one account. `complete_from` None: nothing is complete yet. `partial_since`: the open list is not
    certain since then. `missing` copies are being looked up; `lost` ones closed beyond the exchange's history.
    """

    account: Account
    complete_from: datetime | None
    backfill: Backfill | None
    gaps: list[CoverageGap]
    partial_since: datetime | None
    readings: list[LastReading]
    missing: int
    lost: int

    @property
    def state(self) -> str:
        """ "waiting" (not walked yet), "walking", "gaps" (something is missing for good), or "complete"."""
        if self.backfill:
            return "walking"
        if self.complete_from is None:
            return "waiting"
        return "gaps" if self.gaps or self.lost else "complete"

    @property
    def sentence(self) -> str:
        return {
            "waiting": "The order history has not been walked through yet.",
            "walking": "The past is still being read. Figures grow until it is done.",
            "gaps": "Some of the past could not be read and is in no figure.",
            "complete": "Every order that the exchange still gives is in the ledger.",
        }[self.state]


def coverage(account: Account, jobs: Iterable[SyncJob] | None = None) -> Coverage:
    """Of one account; `jobs`: its readings where they were read already."""
    return coverages([account], jobs)[account.pk]


def coverages(accounts: Iterable[Account], told: Iterable[SyncJob] | None = None) -> dict[int, Coverage]:
    """Account key -> its coverage; three queries, however many accounts, and one less with their jobs `told`."""
    rows = {account.pk: account for account in accounts}
    jobs, gaps = defaultdict(dict), defaultdict(list)
    if told is None:
        told = SyncJob.objects.filter(account__in=rows).order_by("account_id", "pk")
    for job in told:
        jobs[job.account_id][job.kind] = job
    for gap in CoverageGap.objects.filter(account__in=rows):
        gaps[gap.account_id].append(gap)
    gone = _gone(list(rows))
    return {pk: _coverage(account, jobs[pk], gaps[pk], *gone.get(pk, (0, 0))) for pk, account in rows.items()}


def _coverage(
    account: Account, jobs: dict[str, SyncJob], gaps: list[CoverageGap], missing: int, lost: int
) -> Coverage:
    history, open_list = jobs.get(SyncJob.Kind.HISTORY), jobs.get(SyncJob.Kind.OPEN)
    return Coverage(
        account=account,
        complete_from=history.complete_from if history else None,
        backfill=_backfill(history) if history else None,
        gaps=gaps,
        partial_since=open_list.partial_since if open_list else None,
        readings=[
            LastReading(job.kind, job.get_kind_display(), job.last_success_at, job.due_at, job.last_error)
            for job in jobs.values()
        ],
        missing=missing,
        lost=lost,
    )


def _backfill(job: SyncJob) -> Backfill | None:
    walk = job.cursor.get("back")
    if not walk:
        return None
    return Backfill(datetime.fromisoformat(walk["end"]), walk.get("seen", 0), walk.get("empty", 0))


def _gone(accounts: list[int]) -> dict[int, tuple[int, int]]:
    """Account key -> (copies being looked up, copies lost), of those that left the open list."""
    rows = (
        TrackingOrder.objects.filter(account__in=accounts, closed=False)
        .exclude(missing_since=None, lost_since=None)
        .values("account_id")
        .annotate(
            missing=Count("pk", filter=Q(lost_since=None)),
            lost=Count("pk", filter=Q(lost_since__isnull=False)),
        )
    )
    return {row["account_id"]: (row["missing"], row["lost"]) for row in rows}
