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
        ACCOUNT = "account", "account and balances"
        BILLS = "bills", "spot bills"
        FUNDING = "funding", "funding bills"
        LEAD = "lead", "own lead orders"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    egress = models.CharField(
        max_length=64, default="default", help_text="The address that this account's calls leave from."
    )
    due_at = models.DateTimeField(default=timezone.now)
    priority = models.SmallIntegerField(
        default=1, help_text="0 somebody waits, 1 usual, 2 the first backfill."
    )
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    boost_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Read at the floor until then: somebody looks, or a change is in flight.",
    )
    interval = models.FloatField(null=True, blank=True, help_text="Seconds, as the planner last solved it.")
    changes = models.FloatField(default=0, help_text="Readings that found something new; decays.")
    exposure = models.FloatField(default=0, help_text="Seconds under watch; decays like `changes`.")
    weight = models.FloatField(default=10, help_text="What one reading weighs, as lately measured.")
    cursor = models.JSONField(default=dict, help_text="Where a walk stands; see sync/history.py.")
    key_uses = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Readings with the key that the audit log has not counted yet."
    )
    failures = models.PositiveIntegerField(default=0)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    complete_from = models.DateTimeField(
        null=True, blank=True, help_text="The ledger is complete from here on."
    )
    partial_since = models.DateTimeField(
        null=True, blank=True, help_text="Two passes of a list of several pages have not agreed since."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "kind"], name="one_job_per_kind")]
        indexes = [models.Index(fields=["due_at"], name="job_due")]


# What every page about copying rests on; and what an account says of itself, which nothing else waits for.
COPY_KINDS = (SyncJob.Kind.OPEN, SyncJob.Kind.HISTORY, SyncJob.Kind.TRADERS, SyncJob.Kind.SETTINGS)
OWN_KINDS = (SyncJob.Kind.ACCOUNT, SyncJob.Kind.BILLS, SyncJob.Kind.FUNDING, SyncJob.Kind.LEAD)


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
    weight = models.PositiveIntegerField(default=0, help_text="Request weight spent, all `times` together.")
    error_code = models.CharField(max_length=64, blank=True)
    error_message = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-last_at", "-id"]
        # Without `last_at`, which every unchanged reading moves: so it touches no index.
        indexes = [models.Index(fields=["account", "kind", "-id"], name="run_newest")]


class Chore(models.Model):
    """Work of the whole desk that comes round: due here, so that no single process has to remember it."""

    name = models.CharField(max_length=64, primary_key=True)
    due_at = models.DateTimeField(default=timezone.now)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)


class CoverageGap(models.Model):
    """A stretch of an account's past that could not be read and never will be: said, not papered over."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="gaps")
    start = models.DateTimeField(null=True, help_text="None: everything before `end`.")
    end = models.DateTimeField()
    reason = models.CharField(max_length=500)
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-end", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["account", "start", "end"], nulls_distinct=False, name="one_gap")
        ]


class DataIssue(models.Model):
    """Something about the data that a person should know: raised once per subject, resolved when it heals."""

    class Kind(models.TextChoices):
        BAD_RECORD = "bad_record", "A record could not be read"
        GENERATION = "generation", "An order number was used twice"
        LOST_WINDOW = "lost_window", "A closed order is beyond the exchange's history"
        PARTIAL_OPEN = "partial_open", "The open list could not be read whole"
        GAP = "gap", "A part of the past could not be read"
        ROLLUP = "rollup", "A daily sum did not equal the orders"
        RECONCILIATION = "reconciliation", "The exchange's total does not agree"

    class State(models.TextChoices):
        OPEN = "open", "open"
        RESOLVED = "resolved", "resolved"
        DISMISSED = "dismissed", "dismissed"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="issues")
    kind = models.CharField(max_length=32, choices=Kind.choices)
    subject = models.CharField(max_length=200, help_text="What it is about: an order number, a fingerprint.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    sentence = models.CharField(max_length=500, help_text="What happened, what it means, what to do.")
    details = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)
    note = models.CharField(max_length=500, blank=True, help_text="Why it was dismissed.")
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-last_seen_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["account", "kind", "subject"], name="one_issue_per_subject")
        ]
        indexes = [models.Index(fields=["account", "state", "-last_seen_at"], name="issues_of_account")]
