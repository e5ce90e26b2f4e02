"""How alerts reach a person: channels, what was to be told by each and what became of it, and the digest."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .alerts import Alert


class Channel(models.Model):
    """A way to one person. Address and signing secret are sealed under the owner's data key (copytrade/notices)."""

    class Kind(models.TextChoices):
        MAIL = "mail", "e-mail"
        APPRISE = "apprise", "messenger"
        WEBHOOK = "webhook", "signed webhook"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    label = models.CharField(max_length=60)
    service = models.CharField(max_length=255, blank=True, help_text="Apprise's word for it, or a host.")
    hint = models.CharField(max_length=4, blank=True, help_text="Last four characters of the address.")
    address = models.BinaryField(default=bytes, help_text="Sealed. Empty for mail: the person's own is used.")
    secret = models.BinaryField(default=bytes, help_text="Sealed: what a webhook is signed with.")
    enabled = models.BooleanField(default=True)
    at_once = models.BooleanField(default=True, help_text="Alerts one by one; otherwise the digest alone.")
    since = models.DateTimeField(default=timezone.now, help_text="Only what became loud later is told.")
    created_at = models.DateTimeField(default=timezone.now)
    verified_at = models.DateTimeField(null=True, blank=True, help_text="When a test first arrived.")
    last_ok_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0, help_text="Failed attempts in a row.")
    off_reason = models.CharField(max_length=300, blank=True, help_text="Why the desk switched it off.")
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "label"], name="one_channel_per_label"),
            models.UniqueConstraint(fields=["owner"], condition=Q(kind="mail"), name="one_mail_channel_each"),
        ]

    def __str__(self) -> str:
        return self.label


class DigestPlan(models.Model):
    """When a person wants the digest, by the clock of the person's zone. No row: never."""

    class Rhythm(models.TextChoices):
        OFF = "off", "never"
        DAILY = "daily", "every day"
        WEEKLY = "weekly", "once a week"

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="digest_plan"
    )
    rhythm = models.CharField(max_length=8, choices=Rhythm.choices, default=Rhythm.OFF)
    hour = models.PositiveSmallIntegerField(default=8, validators=[MaxValueValidator(23)])
    weekday = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(6)], help_text="Monday is 0."
    )
    since = models.DateTimeField(default=timezone.now, help_text="Hours that struck before it are not told.")


class Digest(models.Model):
    """One digest of one person, about whole days of the person's zone, both included."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="digests")
    rhythm = models.CharField(max_length=8, choices=DigestPlan.Rhythm.choices)
    first_day = models.DateField()
    last_day = models.DateField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "rhythm", "last_day"], name="one_digest_per_rhythm_and_day"
            )
        ]


class Delivery(models.Model):
    """One thing to be told by one channel: each alert and each digest once. `key` stays the same over repeats."""

    class What(models.TextChoices):
        ALERT = "alert", "alert"
        DIGEST = "digest", "digest"
        TEST = "test", "test"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENDING = "sending", "being sent"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed, tried again"
        GIVEN_UP = "given_up", "given up"
        DROPPED = "dropped", "not needed any more"

    OPEN_STATES = (State.WAITING, State.SENDING, State.FAILED)

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    what = models.CharField(max_length=8, choices=What.choices, default=What.ALERT)
    alert = models.ForeignKey(
        Alert, null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    digest = models.ForeignKey(
        Digest, null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    words = models.CharField(max_length=500, blank=True, help_text="What it tells, for the log.")
    state = models.CharField(max_length=12, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    said_at = models.DateTimeField(help_text="Its place in the order: when it was to be told.")
    due_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    tried_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["channel", "alert"], name="each_alert_once_per_channel"),
            models.UniqueConstraint(fields=["channel", "digest"], name="each_digest_once_per_channel"),
        ]
        indexes = [
            models.Index(
                fields=["channel", "said_at", "id"],
                condition=Q(state__in=["waiting", "sending", "failed"]),
                name="deliveries_to_make",
            )
        ]
