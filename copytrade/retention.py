"""How long rows live. What is not named here is kept until its account is removed: the ledger, and with it bills,
balances by day and a lead trader's own orders, which the exchange forgets and the desk does not."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from . import audit
from .models import (
    AffiliateReport,
    Alert,
    AuditEntry,
    BadRecord,
    DataIssue,
    Delivery,
    Digest,
    Erasure,
    SettingsChange,
    SpotTicket,
    SyncRun,
)

SPANS = {
    # A report is asked anew in minutes; its rows go with it.
    AffiliateReport: ("created_at", timedelta(days=90)),
    SyncRun: ("last_at", timedelta(days=30)),
    # Read or not: what it was about is over or stands on the pages.
    Alert: ("created_at", timedelta(days=180)),
    # What was told, or could not be; the alerts themselves stand in the inbox.
    Delivery: ("created_at", timedelta(days=90)),
    Digest: ("created_at", timedelta(days=180)),
    # Records that a later version could read after all (those that nobody can read have no such time).
    BadRecord: ("read_at", timedelta(days=90)),
    # What a finished deletion says of nobody any more: how many rows it took.
    Erasure: ("done_at", timedelta(days=30)),
}
# The audit log is kept for good, but for what would tell where somebody was years ago, or only counts.
SHORT_LIVED, SIGN_INS = (*audit.SIGN_INS, AuditEntry.Action.KEY_READ), timedelta(days=400)
# Since they were last seen: one that was dismissed and is still met must stay dismissed.
CLOSED_ISSUES = timedelta(days=180)
# A review that was opened and never confirmed; sent settings and spot orders are kept with their account.
DRAFTS = timedelta(days=7)


def tidy(now: datetime | None = None) -> int:
    """Delete what is over its span; how many rows."""
    now, gone = now or timezone.now(), 0
    for model, (column, span) in SPANS.items():
        gone += model.objects.filter(**{f"{column}__lt": now - span}).delete()[0]
    gone += AuditEntry.objects.filter(action__in=SHORT_LIVED, at__lt=now - SIGN_INS).delete()[0]
    drafts = SettingsChange.objects.filter(state=SettingsChange.State.DRAFT, created_at__lt=now - DRAFTS)
    tickets = SpotTicket.objects.filter(confirmed_at=None, created_at__lt=now - DRAFTS)
    issues = DataIssue.objects.exclude(state=DataIssue.State.OPEN).filter(
        closed_at__lt=now - CLOSED_ISSUES, last_seen_at__lt=now - CLOSED_ISSUES
    )
    return gone + drafts.delete()[0] + tickets.delete()[0] + issues.delete()[0]
