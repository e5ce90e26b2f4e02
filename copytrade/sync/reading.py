"""What a reading is given, what it hands back, and the record of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.db.models import F, Subquery
from django.utils import timezone

from copytrade.exchange.client import ExchangeClient
from copytrade.ledger import Merged
from copytrade.models import Account, SyncJob, SyncRun

from .leases import fenced, make_due

CALL_WEIGHT = 10  # of every copy-trading operation
SPOT_WEIGHT = 5  # of the account and of both kinds of bills (interface.md, "Limits")
OWED = "owed"  # of a job's cursor: kinds of readings that are to be brought forward
ON_SPOT_ROOT = (SyncJob.Kind.ACCOUNT, SyncJob.Kind.BILLS, SyncJob.Kind.FUNDING)


def call_weight(kind: str) -> int:
    """What one call of a reading of this kind weighs."""
    return SPOT_WEIGHT if kind in ON_SPOT_ROOT else CALL_WEIGHT


@dataclass
class Reading:
    """One reading of one account: its job (leased to us), the client to ask with, and what came so far."""

    job: SyncJob
    account: Account
    client: ExchangeClient
    budget: float  # seconds after which a long walk hands its job back
    began: datetime = field(default_factory=timezone.now)
    pages: int = 0
    seen: int = 0
    changed: int = 0
    bad: int = 0
    closed_traders: set[int] = field(default_factory=set)  # UIDs of those whose copies were seen closed
    more: bool = False  # there is work left: due again at once
    trouble: str = ""  # a part that failed while the rest was read; a sentence
    kept_at: float = field(default_factory=time.monotonic)  # when the lease was last looked at between calls

    def time_is_up(self) -> bool:
        return (timezone.now() - self.began).total_seconds() > self.budget

    def fenced(self):
        """The transaction for one page's rows and the cursor."""
        return fenced(self.job)

    def keep_the_lease(self) -> None:
        """Between calls that found nothing to store: renew the lease before it ends. Raises LeaseLost."""
        if time.monotonic() - self.kept_at > settings.SYNC_LEASE_SECONDS / 4:
            with self.fenced():
                pass
            self.kept_at = time.monotonic()

    def owe(self, *kinds: str) -> None:
        """Within a fence: what was found makes these readings due. It is noted with the cursor, so that a worker
        that dies before `pay` leaves it to the next reading of this job."""
        self.job.cursor[OWED] = sorted({*self.job.cursor.get(OWED, ()), *kinds})

    def pay(self) -> None:
        """After the fence, as who holds one job waits for no other: bring forward what is owed."""
        if owed := self.job.cursor.pop(OWED, ()):
            make_due(self.account, *owed)

    @property
    def weight(self) -> int:
        """The request weight that this reading has spent."""
        return call_weight(self.job.kind) * self.pages

    def count(self, merged: Merged, pages: int = 1) -> None:
        """Another page, or several."""
        self.pages += pages
        self.seen += merged.seen
        self.changed += merged.added + merged.changed
        self.bad += merged.bad
        self.closed_traders |= merged.closed_traders


def note_run(
    account: Account,
    kind: str,
    reading: Reading | None,
    error_code: str = "",
    error: str = "",
    at: datetime | None = None,
) -> None:
    """Write down a reading. One like the one before (unchanged, or the same error) folds into its row."""
    at, error = at or timezone.now(), error[:500]
    counts = {"changed": 0, "pages": 0, "seen": 0, "bad": 0}
    if reading:
        counts = {name: getattr(reading, name) for name in counts}
    weight = reading.weight if reading else 0
    if not counts["changed"] and _fold(account, kind, error_code, error, at, weight, counts):
        return
    SyncRun.objects.create(
        account=account, kind=kind, first_at=at, last_at=at, weight=weight, error_code=error_code,
        error_message=error, **counts,
    )  # fmt: skip


def _fold(
    account: Account,
    kind: str,
    error_code: str,
    error: str,
    at: datetime,
    weight: int,
    counts: dict[str, int],
) -> bool:
    """Count this reading in the run before, where that was like it; one statement."""
    latest = SyncRun.objects.filter(account=account, kind=kind).order_by("-pk").values("pk")[:1]
    like = SyncRun.objects.filter(pk=Subquery(latest), changed=0, error_code=error_code, error_message=error)
    return bool(like.update(times=F("times") + 1, weight=F("weight") + weight, last_at=at, **counts))
