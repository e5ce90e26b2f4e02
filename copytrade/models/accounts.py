"""Connections: an exchange account of a user, and its encrypted key."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Account(models.Model):
    """One API key of one user at one venue. Everything read through it hangs on this row."""

    class State(models.TextChoices):
        NEW = "new", "not tested yet"
        PENDING = "pending", "waiting for a new key to become active"
        ACTIVE = "active", "active"
        REFUSED = "refused", "key refused"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="accounts")
    label = models.CharField(max_length=60)
    venue = models.CharField(max_length=32, help_text="A key of settings.VENUES, never an address.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.NEW)
    state_reason = models.CharField(max_length=500, blank=True)
    state_since = models.DateTimeField(default=timezone.now)
    key_hint = models.CharField(max_length=4, blank=True, help_text="Last four characters of the API key.")
    key_set_at = models.DateTimeField(default=timezone.now)
    uid = models.BigIntegerField(null=True, blank=True, help_text="The exchange's account number, once read.")
    refusals = models.PositiveIntegerField(
        default=0, help_text="Refused calls in a row; polling stops after a few."
    )
    writes_enabled = models.BooleanField(default=False)
    spot_enabled = models.BooleanField(
        default=False, help_text="The owner's switch for spot orders; the operator's is in DeskPolicy."
    )
    clock_offset_ms = models.BigIntegerField(
        default=0, help_text="Exchange clock minus ours, as last learned."
    )
    permissions = models.JSONField(default=list, help_text="As the account operation last reported them.")
    last_success_at = models.DateTimeField(null=True, blank=True)
    sums_checked_at = models.DateTimeField(
        null=True, blank=True, help_text="When its daily sums were last held against its orders."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["label", "id"]
        constraints = [models.UniqueConstraint(fields=["owner", "label"], name="one_label_per_owner")]

    def __str__(self) -> str:
        return self.label


class Credential(models.Model):
    """The key, secret and passphrase of an account, each encrypted under its owner's data key."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="credential")
    key = models.BinaryField()
    secret = models.BinaryField()
    passphrase = models.BinaryField()
    updated_at = models.DateTimeField(auto_now=True)
