"""What the desk speaks up about, once each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from .accounts import Account
from .traders import Trader


class Alert(models.Model):
    """One thing its owner should know. `key` makes it happen once, however often it is noticed."""

    class Kind(models.TextChoices):
        KEY_REFUSED = "key_refused", "key refused"
        DATA_STALE = "data_stale", "data is stale"
        SETTINGS_OUTSIDE = "settings_outside", "settings changed outside the desk"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alerts")
    kind = models.CharField(max_length=32, choices=Kind.choices)
    key = models.CharField(max_length=160, unique=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="alerts")
    trader = models.ForeignKey(Trader, null=True, blank=True, on_delete=models.CASCADE, related_name="alerts")
    sentence = models.CharField(max_length=500)
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(
        null=True, blank=True, help_text="When the cause went away by itself or by cure."
    )
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["owner", "-created_at"], name="alert_by_owner")]
