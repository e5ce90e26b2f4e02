"""What the desk speaks up about, once each; and what a person wants to hear of it, and when."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .accounts import Account
from .fields import NumericField
from .orders import TrackingOrder
from .traders import Trader


class Alert(models.Model):
    """One thing its owner should know. `key` makes it happen once, however often it is noticed.

    Many of one kind at once are folded: a row that counts them (`times`), and each of them with `folded_into`.
    """

    class Kind(models.TextChoices):
        KEY_REFUSED = "key_refused", "key refused"
        DATA_STALE = "data_stale", "data is stale"
        SETTINGS_OUTSIDE = "settings_outside", "settings changed outside the desk"
        OPENED = "opened", "copy opened"
        CLOSED = "closed", "copy closed"
        LOSS = "loss", "loss of a copy"
        PARTIAL = "partial", "partial copy"
        DRAWDOWN = "drawdown", "drawdown"
        MARGIN = "margin", "margin in use"
        QUIET = "quiet", "trader quiet"
        GONE = "gone", "trader gone"
        RECONCILIATION = "reconciliation", "sums do not agree"
        QUOTA = "quota", "request budget short"
        CHANNEL_OFF = "channel_off", "channel switched off"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alerts")
    kind = models.CharField(max_length=32, choices=Kind.choices)
    key = models.CharField(max_length=160, unique=True)
    account = models.ForeignKey(
        Account, null=True, blank=True, on_delete=models.CASCADE, related_name="alerts"
    )
    trader = models.ForeignKey(Trader, null=True, blank=True, on_delete=models.CASCADE, related_name="alerts")
    order = models.ForeignKey(
        TrackingOrder, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    sentence = models.CharField(max_length=500)
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(
        null=True, blank=True, help_text="When the cause went away by itself or by cure."
    )
    mailed_at = models.DateTimeField(null=True, blank=True)
    silent = models.BooleanField(default=False, help_text="In the inbox only: not counted, not told.")
    loud_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="From when on channels may tell it: at once, or after quiet hours. None: they do not.",
    )
    folded_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="folded"
    )
    times = models.PositiveIntegerField(default=1, help_text="How many it stands for.")

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="alert_by_owner"),
            models.Index(
                fields=["owner"],
                condition=Q(read_at=None, resolved_at=None, folded_into=None),
                name="alerts_waiting",
            ),
            models.Index(fields=["kind"], condition=Q(resolved_at=None), name="alerts_not_healed"),
            models.Index(fields=["loud_at"], condition=Q(loud_at__isnull=False), name="alerts_to_tell"),
        ]


class AlertRule(models.Model):
    """What a person wants of one kind, for all traders (`trader` None) or for one of them.

    No row: the default (copytrade/alerts/kinds.py). `threshold` in `unit`, None where the kind has none.
    """

    class Mode(models.TextChoices):
        ON = "on", "on"
        SILENT = "silent", "silent"
        OFF = "off", "off"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alert_rules")
    kind = models.CharField(max_length=32, choices=Alert.Kind.choices)
    trader = models.ForeignKey(
        Trader, null=True, blank=True, on_delete=models.CASCADE, related_name="alert_rules"
    )
    mode = models.CharField(max_length=8, choices=Mode.choices, default=Mode.ON)
    threshold = NumericField(null=True, blank=True)
    unit = models.CharField(max_length=8, blank=True)
    since = models.DateTimeField(
        default=timezone.now, help_text="When it was last changed: what happened before it raises nothing."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "kind", "trader"], nulls_distinct=False, name="one_rule_per_kind_and_trader"
            )
        ]


class QuietHours(models.Model):
    """When channels keep still for a person, by the clock of the person's zone; it may go over midnight."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="quiet_hours"
    )
    begins = models.TimeField()
    ends = models.TimeField()
