"""Copy settings as read from the exchange, and the changes sent to it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .traders import Trader


class SettingsVersion(models.Model):
    """What the exchange held for a trader from `first_seen_at` on. A new row only when a read differs."""

    class Author(models.TextChoices):
        FIRST = "first", "found at the first reading"
        ME = "me", "set from this desk"
        OUTSIDE = "outside", "changed outside the desk"

    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="versions")
    mode = models.CharField(max_length=32)
    answer = models.JSONField(help_text="The settings items as they came, numbers as text.")
    fingerprint = models.CharField(max_length=64)
    copy_enable = models.BooleanField(null=True)
    author = models.CharField(max_length=16, choices=Author.choices)
    change = models.ForeignKey(
        "SettingsChange", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-first_seen_at", "-id"]


class ChangeGroup(models.Model):
    """Changes of several traders that were reviewed together, each sent and decided on its own."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="Minted when the review is rendered.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="change_groups"
    )
    label = models.CharField(max_length=120, help_text="What was done, in words: a template's name, say.")
    refused = models.JSONField(
        default=list, help_text="[[trader pk, sentence], ...]: where no draft came about."
    )
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]


class SettingsTemplate(models.Model):
    """Settings under a name, to be applied to any trader. No trader id is in `body`."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="templates")
    name = models.CharField(max_length=80)
    body = models.JSONField(help_text="A POST body without traderId (rules.to_body).")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_template_per_name")]


class SettingsChange(models.Model):
    """One intended write. Recorded before the call, sent at most once, then read back."""

    class State(models.TextChoices):
        DRAFT = "draft", "being reviewed"
        CONFIRMED = "confirmed", "confirmed, waiting to be sent"
        SENDING = "sending", "being sent"
        APPLIED = "applied", "applied and read back"
        REJECTED = "rejected", "refused by the exchange"
        UNKNOWN = "unknown", "outcome unknown, reading back"
        NOT_SEEN = "not_seen", "not applied"
        CONFLICT = "conflict", "the exchange holds something else"

    OPEN_STATES = (State.CONFIRMED, State.SENDING, State.UNKNOWN)

    class Origin(models.TextChoices):
        EDIT = "edit", "edited"
        RESTORE = "restore", "restored from an earlier version"
        TEMPLATE = "template", "from a template"
        COPY = "copy", "copied from another trader"
        MERGE = "merge", "merged with a change made elsewhere"
        IMPORT = "import", "imported"
        DERISK = "derisk", "de-risk preset"
        AGAIN = "again", "sent again"

    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.EDIT)
    previous = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="following",
        help_text="The change that this one repeats or merges.",
    )  # fmt: skip
    group = models.ForeignKey(
        ChangeGroup, null=True, blank=True, on_delete=models.SET_NULL, related_name="changes"
    )
    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="Minted when the review is rendered.")
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="changes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    base = models.ForeignKey(SettingsVersion, null=True, on_delete=models.SET_NULL, related_name="+")
    body = models.JSONField(help_text="The exact body to send.")
    differences = models.JSONField(default=list, help_text="[[what, before, after], ...] in words.")
    not_kept = models.JSONField(default=list, help_text="What the read-back shows otherwise, in words.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    accepted = models.BooleanField(
        null=True, help_text="True once the exchange answered the write with success."
    )
    error_code = models.CharField(max_length=32, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    read_backs = models.PositiveIntegerField(default=0, help_text="Looks at the outcome so far.")
    look_again_at = models.DateTimeField(null=True, blank=True, help_text="When the tick takes it up again.")
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["trader"],
                condition=Q(state__in=["confirmed", "sending", "unknown"]),
                name="one_open_change_per_trader",
            )
        ]


class CopySymbols(models.Model):
    """The symbols that copy trading supports at a venue: from a per-symbol answer, or the operator's list."""

    venue = models.CharField(max_length=32, unique=True)
    symbols = models.JSONField(default=list)
    source = models.CharField(
        max_length=16, choices=[("answer", "a per-symbol answer"), ("operator", "the operator")]
    )
    seen_at = models.DateTimeField(default=timezone.now)
