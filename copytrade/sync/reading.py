"""What a reading is given, what it hands back, and the record of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from copytrade.exchange.client import ExchangeClient
from copytrade.ledger import Merged
from copytrade.models import Account, SyncJob, SyncRun

from .leases import fenced


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
    more: bool = False  # there is work left: due again at once
    trouble: str = ""  # a part that failed while the rest was read; a sentence
    # The exchange's numbers of the traders of whom copies closed or vanished: their other followers are read soon.
    closed_traders: set[int] = field(default_factory=set)

    def time_is_up(self) -> bool:
        return (timezone.now() - self.began).total_seconds() > self.budget

    def fenced(self):
        """The transaction for one page's rows and the cursor."""
        return fenced(self.job)

    def count(self, merged: Merged) -> None:
        self.pages += 1
        self.seen += merged.seen
        self.changed += merged.added + merged.changed
        self.bad += merged.bad


def note_run(
    account: Account,
    kind: str,
    reading: Reading | None,
    error_code: str = "",
    error: str = "",
    at: datetime | None = None,
) -> SyncRun:
    """Write down a reading. One like the one before (unchanged, or the same error) folds into its row."""
    at, error = at or timezone.now(), error[:500]
    last = SyncRun.objects.filter(account=account, kind=kind).first()
    changed = reading.changed if reading else 0
    counts = {"pages": 0, "seen": 0, "bad": 0}
    if reading:
        counts = {"pages": reading.pages, "seen": reading.seen, "bad": reading.bad}
    if (
        last
        and not changed
        and not last.changed
        and (last.error_code, last.error_message) == (error_code, error)
    ):
        last.times += 1
        last.last_at = at
        for name, value in counts.items():
            setattr(last, name, value)
        last.save(update_fields=["times", "last_at", *counts])
        return last
    return SyncRun.objects.create(
        account=account, kind=kind, first_at=at, last_at=at, changed=changed,
        error_code=error_code, error_message=error, **counts,
    )  # fmt: skip
