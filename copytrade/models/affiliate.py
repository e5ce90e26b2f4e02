"""What a person asked the affiliate operations, how far the answer is, and its rows. Pages read these."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .accounts import Account
from .fields import NumericField


class AffiliateStanding(models.Model):
    """Whether an account's key is an affiliate's, as the exchange last said. It holds for the key it was asked with:
    `key_set_at` is the account's of that time."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="affiliate_standing")
    key_set_at = models.DateTimeField()
    may = models.BooleanField()
    reason = models.CharField(max_length=500, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)


class AffiliateReport(models.Model):
    """One question to one affiliate operation, fetched window by window. It lives for 90 days."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "being read"
        DONE = "done", "complete"
        FAILED = "failed", "failed"

    OPEN_STATES = (State.WAITING, State.RUNNING)

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="affiliate_reports")
    kind = models.CharField(max_length=24, help_text="A key of affiliate.kinds.KINDS.")
    asked = models.JSONField(default=dict, help_text="What the person chose, in one form; blanks left out.")
    steps = models.JSONField(
        default=list, help_text="The calls' windows, newest first: product, start, end (ms)."
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="Steps that are read to their end.")
    page = models.PositiveIntegerField(default=0, help_text="The last page stored of the step under way.")
    rows = models.PositiveIntegerField(default=0)
    bad = models.PositiveIntegerField(default=0, help_text="Records that could not be understood.")
    bad_records = models.JSONField(default=list, help_text="The first of those: reason and raw text.")
    told = models.JSONField(default=dict, help_text="What the answer said beside its rows.")
    error = models.CharField(max_length=500, blank=True)
    failures = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["account", "kind", "-id"], name="affiliate_reports_of"),
            models.Index(
                fields=["due_at"],
                name="affiliate_reports_due",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN_STATES


class AffiliateRow(models.Model):
    """One record of a report. `record` holds every field, decimals as exact text; the columns beside it are for
    sorting and sums (affiliate/kinds.py says which field is which)."""

    report = models.ForeignKey(
        AffiliateReport, on_delete=models.CASCADE, related_name="records", db_index=False
    )
    step = models.PositiveIntegerField()
    page = models.PositiveIntegerField()
    position = models.PositiveIntegerField(help_text="The order in which they were read.")
    key = models.CharField(
        max_length=64, blank=True, help_text="What tells it from others; '' when nothing does."
    )
    at = models.DateTimeField(null=True)
    uid = models.BigIntegerField(null=True)
    coin = models.TextField(null=True)
    product = models.TextField(null=True)
    n1 = NumericField(null=True)
    n2 = NumericField(null=True)
    n3 = NumericField(null=True)
    n4 = NumericField(null=True)
    n5 = NumericField(null=True)
    record = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        indexes = [
            models.Index(fields=["report", "position"], name="affiliate_rows_in_order"),
            models.Index(fields=["report", "key"], name="affiliate_rows_by_key"),
        ]
