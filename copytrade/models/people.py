"""Who uses the desk: users, invitations, and the data key that protects each user's secrets."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone


class User(AbstractUser):
    """A person at the desk. The first becomes the operator; the demo user never does."""

    is_operator = models.BooleanField(default=False)
    is_demo = models.BooleanField(default=False)
    affiliate_shown = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A connection of theirs is an affiliate's, or was not asked yet: the pages stand in the menu.",
    )
    zone = models.CharField(max_length=64, default="UTC", help_text="Time zone for days and times shown.")
    here_since = models.DateTimeField(null=True, blank=True, help_text="When this visit began.")
    last_here_at = models.DateTimeField(null=True, blank=True, help_text="The last page of this visit.")
    was_here_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The last page of the visit before: what is newer is new to this person.",
    )


class Invitation(models.Model):
    """A one-time link by which the operator lets a person sign up. Only the token's hash is kept."""

    token_hash = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=80, blank=True)
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    used_at = models.DateTimeField(null=True, blank=True)


class DataKey(models.Model):
    """A data key, wrapped by a key-encryption key (see vault.py). `user` is null for the desk's own key."""

    user = models.OneToOneField(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="data_key"
    )
    wrapped = models.BinaryField()
    kek_id = models.CharField(max_length=32)
    created_at = models.DateTimeField(default=timezone.now)
    rewrapped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user"], nulls_distinct=False, name="one_data_key_each")
        ]


class Erasure(models.Model):
    """A person's "delete everything", under way or done. It says nothing of the person once `user` is gone."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="The address of its progress.")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="erasure"
    )
    asked_at = models.DateTimeField(default=timezone.now)
    orders = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Orders there were at its start."
    )
    removed = models.PositiveBigIntegerField(default=0, help_text="Rows removed so far, of all tables.")
    removed_orders = models.PositiveBigIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True)
