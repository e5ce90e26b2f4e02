"""How long rows live. What is not named here is kept until its account is removed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from .models import SettingsChange, SyncRun

SPANS = {
    SyncRun: ("last_at", timedelta(days=30)),
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
