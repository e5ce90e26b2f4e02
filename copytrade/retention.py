"""How long rows live. What is not named here is kept until its account is removed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from .models import Alert, SettingsChange, SyncRun

SPANS = {
    SyncRun: ("last_at", timedelta(days=30)),
    # Read or not: what it was about is over or stands on the pages. The audit log is kept for good.
    Alert: ("created_at", timedelta(days=180)),
}
# A review that was opened and never confirmed.
DRAFTS = timedelta(days=7)


def tidy(now: datetime | None = None) -> int:
    """Delete what is over its span; how many rows."""
    now, gone = now or timezone.now(), 0
    for model, (column, span) in SPANS.items():
        gone += model.objects.filter(**{f"{column}__lt": now - span}).delete()[0]
    drafts = SettingsChange.objects.filter(state=SettingsChange.State.DRAFT, created_at__lt=now - DRAFTS)
    return gone + drafts.delete()[0]
