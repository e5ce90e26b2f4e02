"""The whole desk as numbers, for /metrics: how many of what, without anybody's name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone

from copytrade.models import (
    Account,
    Alert,
    Chore,
    CoverageGap,
    DataIssue,
    SettingsChange,
    SyncJob,
    TrackingOrder,
)


@dataclass(frozen=True)
class JobNumbers:
    """One kind of reading: how many are due and wait for a worker, how long the first of them has waited (seconds),
    how many are being made now, and how many open lists or histories are not whole."""

    due: int = 0
    waiting: float = 0.0
    at_work: int = 0
    partial: int = 0
    backfilling: int = 0


@dataclass(frozen=True)
class DeskNumbers:
    """Counts by what tells them apart. `chores`: name -> (seconds since the last success or None, failures)."""

    accounts: dict[tuple[str, str], int]
    jobs: dict[str, JobNumbers]
    changes: dict[str, int]
    issues: dict[str, int]
    alerts: dict[str, int]
    chores: dict[str, tuple[float | None, int]]
    open_orders: int
    missing_orders: int
    lost_orders: int
    gaps: int


def desk_numbers(now: datetime | None = None) -> DeskNumbers:
    """Eight queries, however large the desk. Nothing counts the closed orders: they may be millions."""
    now = now or timezone.now()
    orders = TrackingOrder.objects.filter(closed=False).aggregate(
        open=Count("pk", filter=Q(missing_since=None, lost_since=None)),
        missing=Count("pk", filter=Q(missing_since__isnull=False, lost_since=None)),
        lost=Count("pk", filter=Q(lost_since__isnull=False)),
    )
    return DeskNumbers(
        accounts={(row["venue"], row["state"]): row["n"] for row in _counted(Account, "venue", "state")},
        jobs=_jobs(now),
        changes=_by(SettingsChange.objects.exclude(state=SettingsChange.State.DRAFT), "state"),
        issues=_by(DataIssue.objects.filter(state=DataIssue.State.OPEN), "kind"),
        alerts=_by(Alert.objects.filter(read_at=None, resolved_at=None, folded_into=None), "kind"),
        chores={
            chore.name: (
                (now - chore.last_success_at).total_seconds() if chore.last_success_at else None,
                chore.failures,
            )
            for chore in Chore.objects.order_by("name")
        },
        open_orders=orders["open"],
        missing_orders=orders["missing"],
        lost_orders=orders["lost"],
        gaps=CoverageGap.objects.count(),
    )


def _counted(model, *names: str):
    return model.objects.order_by().values(*names).annotate(n=Count("pk"))


def _by(rows, name: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(name).annotate(n=Count("pk")))


def _jobs(now: datetime) -> dict[str, JobNumbers]:
    waits = (
        Q(due_at__lte=now)
        & (Q(lease_until=None) | Q(lease_until__lt=now))
        & ~Q(account__state=Account.State.REFUSED)
    )
    rows = (
        SyncJob.objects.order_by()
        .values("kind")
        .annotate(
            due=Count("pk", filter=waits),
            first=Min("due_at", filter=waits),
            at_work=Count("pk", filter=Q(lease_until__gte=now)),
            partial=Count("pk", filter=Q(partial_since__isnull=False)),
            backfilling=Count("pk", filter=Q(cursor__has_key="back")),
        )
    )
    return {
        row["kind"]: JobNumbers(
            row["due"],
            (now - row["first"]).total_seconds() if row["first"] else 0.0,
            row["at_work"],
            row["partial"],
            row["backfilling"],
        )
        for row in rows
    }
