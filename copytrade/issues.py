"""Data issues: what is wrong with the data, told once per subject, and closed when it heals or is dismissed."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F, QuerySet
from django.utils import timezone

from .models import Account, DataIssue, User

OPEN, RESOLVED, DISMISSED = DataIssue.State.OPEN, DataIssue.State.RESOLVED, DataIssue.State.DISMISSED


def tell(
    account: Account,
    kind: str,
    subject: str,
    sentence: str,
    details: dict | None = None,
    at: datetime | None = None,
) -> DataIssue:
    """Raise an issue, or count the one that there is. One that had healed opens again; one that was dismissed
    stays so. Safe inside the ledger's transaction: the rows of a subject are never doubled."""
    at = at or timezone.now()
    row, made = DataIssue.objects.get_or_create(
        account=account, kind=kind, subject=subject[:200],
        defaults={
            "sentence": sentence[:500], "details": details or {}, "first_seen_at": at, "last_seen_at": at,
        },
    )  # fmt: skip
    if made:
        return row
    again = DataIssue.objects.filter(pk=row.pk)
    again.update(sentence=sentence[:500], details=details or {}, last_seen_at=at, times=F("times") + 1)
    again.filter(state=RESOLVED).update(state=OPEN, closed_at=None)
    row.refresh_from_db()
    return row


def heal(account: Account, kind: str, *subjects: str, at: datetime | None = None) -> int:
    """Close the open issues of these subjects (of the whole kind without any): the cause is gone. How many."""
    rows = DataIssue.objects.filter(account=account, kind=kind, state=OPEN)
    if subjects:
        rows = rows.filter(subject__in=[subject[:200] for subject in subjects])
    return rows.update(state=RESOLVED, closed_at=at or timezone.now())


def dismiss(issue: DataIssue, note: str, at: datetime | None = None) -> bool:
    """Close an open issue because its reader says so; False when it was closed already."""
    rows = DataIssue.objects.filter(pk=issue.pk, state=OPEN)
    return rows.update(state=DISMISSED, note=note.strip()[:500], closed_at=at or timezone.now()) == 1


def open_of(user: User) -> QuerySet[DataIssue]:
    """A person's issues that are open."""
    return DataIssue.objects.filter(account__owner=user, state=OPEN)
