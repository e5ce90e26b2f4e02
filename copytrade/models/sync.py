"""What is due, who is at it, how far it got, and what each reading did."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .accounts import Account


class SyncJob(models.Model):
    """One kind of reading of one account: due time, lease and cursor live here, never only in Redis."""

    class Kind(models.TextChoices):
        OPEN = "open", "open orders"
        HISTORY = "history", "order history"
        TRADERS = "traders", "copied traders"
        SETTINGS = "settings", "copy settings"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    due_at = models.DateTimeField(default=timezone.now)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    hinted_until = models.DateTimeField(
        null=True, blank=True, help_text="A message for this job is on its way."
    )
    cursor = models.JSONField(default=dict, help_text="Where a walk stands; see sync/history.py.")
    failures = models.PositiveIntegerField(default=0)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    complete_from = models.DateTimeField(
        null=True, blank=True, help_text="The ledger is complete from here on."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "kind"], name="one_job_per_kind")]
        indexes = [models.Index(fields=["due_at"], name="job_due")]


class SyncRun(models.Model):
    """A reading and what came of it. Unchanged readings in a row fold into one row (`times`)."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=16, choices=SyncJob.Kind.choices)
    first_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)
    pages = models.PositiveIntegerField(default=0)
    seen = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    bad = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=64, blank=True)
    error_message = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-last_at", "-id"]
        indexes = [models.Index(fields=["account", "kind", "-last_at"], name="run_latest")]
