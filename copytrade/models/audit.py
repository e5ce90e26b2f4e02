"""Who did what that matters, and what the operator demands before money is moved."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from .accounts import Account
from .traders import Trader


class AuditEntry(models.Model):
    """One deed of a person at this desk, or (`user` null) something that the desk saw and that is nobody's.

    Never without a date; no secret is in it. Never changed, but for entries with a `fold`: what happens thousands of
    times a day is one entry that counts.
    """

    class Action(models.TextChoices):
        SEND = "send", "settings sent"
        RESTORE = "restore", "restore prepared"
        TEMPLATE_USED = "template_used", "template used"
        TEMPLATE_SAVED = "template_saved", "template saved"
        TEMPLATE_DELETED = "template_deleted", "template deleted"
        IMPORTED = "imported", "settings imported"
        EXPORTED = "exported", "settings exported"
        POLICY = "policy", "operator's policy changed"
        SPOT_SENT = "spot_sent", "spot orders sent"
        SPOT_SWITCHED = "spot_switched", "spot orders switched on or off"
        SIGNED_IN = "signed_in", "signed in"
        SIGN_IN_FAILED = "sign_in_failed", "sign-in failed"
        SIGNED_OUT = "signed_out", "signed out"
        PASSWORD = "password", "password changed"
        EMAIL = "email", "e-mail changed"
        SECOND_FACTOR = "second_factor", "second factor changed"
        RECOVERY_CODES = "recovery_codes", "recovery codes"
        KEY_STORED = "key_stored", "key stored or removed"
        KEY_USED = "key_used", "key used"
        KEY_READ = "key_read", "key used for readings"
        WRITES = "writes", "changes allowed or not"
        INVITATION = "invitation", "invitation"
        DESK = "desk", "desk"
        ALERT_RULES = "alert_rules", "alert rules changed"
        CHANNEL_ADDED = "channel_added", "channel added"
        CHANNEL_CHANGED = "channel_changed", "channel changed"
        CHANNEL_REMOVED = "channel_removed", "channel removed"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="audit_entries"
    )
    at = models.DateTimeField(default=timezone.now)
    action = models.CharField(max_length=32, choices=Action.choices)
    account = models.ForeignKey(Account, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    trader = models.ForeignKey(Trader, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    subject = models.CharField(
        max_length=200, help_text="In words, readable when the rows it names are gone."
    )
    details = models.JSONField(default=dict)
    times = models.PositiveIntegerField(default=1)
    last_at = models.DateTimeField(null=True, blank=True, help_text="Of a fold: when it last happened.")
    fold = models.CharField(
        max_length=200,
        null=True,
        blank=True,
        unique=True,
        help_text="What is counted here: kind, of what, day.",
    )

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["user", "-at"], name="audit_by_user")]


class DeskPolicy(models.Model):
    """The operator's switches: one row, made when it is first needed."""

    second_factor_for_sending = models.BooleanField(default=False)
    spot_trading = models.BooleanField(
        default=False, help_text="Whether anybody may place spot orders from this desk."
    )
    changed_at = models.DateTimeField(auto_now=True)
