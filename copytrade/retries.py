"""What a person may ask for when a reading failed or its data is in doubt: do it again now.

Nothing is called here: what is asked for becomes due, and a worker takes it up by the same rules as ever.
A key that was refused is not tried again by a press of a button: that is for its owner to mend.
"""

from __future__ import annotations

from django.db.models import QuerySet
from django.db.models.functions import Now

from . import quarantine
from .models import Account, BadRecord, DataIssue, SyncJob

Kind = DataIssue.Kind
# What has to be read again to settle an issue.
READ_AGAIN: dict[str, tuple[str, ...]] = {
    Kind.GENERATION: (SyncJob.Kind.OPEN, SyncJob.Kind.HISTORY),
    Kind.LOST_WINDOW: (SyncJob.Kind.HISTORY,),
    Kind.PARTIAL_OPEN: (SyncJob.Kind.OPEN,),
    Kind.GAP: (SyncJob.Kind.HISTORY,),
    Kind.RECONCILIATION: (SyncJob.Kind.TRADERS, SyncJob.Kind.HISTORY),
}


# What the button says.
AGAIN: dict[str, str] = {
    Kind.BAD_RECORD: "Try the record again",
    Kind.ROLLUP: "Check the sums again",
    **dict.fromkeys(READ_AGAIN, "Read again now"),
}


class KeyRefused(Exception):
    """Nothing can be read with this account's key until its owner has acted."""


def retry_reading(job: SyncJob) -> None:
    """Make a reading due now. Twice changes nothing. Raises KeyRefused."""
    _need_a_key(job.account)
    _make_due(SyncJob.objects.filter(pk=job.pk))


def retry_issue(issue: DataIssue) -> str:
    """Try again what an issue is about; a sentence of what was done. Raises KeyRefused."""
    if issue.state != DataIssue.State.OPEN:
        return "This issue is closed already. Nothing was done."
    if issue.kind == Kind.BAD_RECORD:
        return _retry_record(issue)
    if issue.kind == Kind.ROLLUP:
        # Made of what is here already. The next look of rollups.verify_some begins with those never looked at.
        Account.objects.filter(pk=issue.account_id).update(sums_checked_at=None)
        return "The sums are held against the orders again within the hour. If they agree, this issue closes."
    _need_a_key(issue.account)
    _make_due(issue.account.jobs.filter(kind__in=READ_AGAIN[issue.kind]))
    return "It is read again now. If that settles it, this issue closes by itself."


def record_of(issue: DataIssue) -> str:
    """The fingerprint of the record that a BAD_RECORD is about; "" for other kinds."""
    return issue.subject if issue.kind == Kind.BAD_RECORD else ""


def _retry_record(issue: DataIssue) -> str:
    """The record is here: trying it again calls nobody, and needs no key."""
    record = BadRecord.objects.filter(account=issue.account, fingerprint=record_of(issue)).first()
    if record is None:
        return "The record itself is not kept any more. Dismiss this issue."
    if quarantine.retry(record):
        return "It could be read this time, and is in the ledger."
    return "It still cannot be read. It is tried again after every upgrade of Copydesk."


def _need_a_key(account: Account) -> None:
    if account.state == Account.State.REFUSED:
        raise KeyRefused(account.state_reason)


def _make_due(jobs: QuerySet[SyncJob]) -> None:
    """Now, not sparingly as a hint would: somebody asked. What is due already keeps its place in the queue."""
    jobs.filter(due_at__gt=Now()).update(due_at=Now())
