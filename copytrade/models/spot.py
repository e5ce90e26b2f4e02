"""Spot orders sent from here: what was reviewed, each order's own state, and what the exchange says of it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .accounts import Account
from .fields import NumericField


class SpotTicket(models.Model):
    """One or several orders of one symbol that were reviewed together and confirmed by one press.

    It has no state of its own but `confirmed_at` (none: under review); each order has one.
    """

    class Way(models.TextChoices):
        SINGLE = "single", "one order"
        BATCH = "batch", "a batch"
        SEPARATE = "separate", "several, one after the other"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="spot_tickets")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="Minted when the review is made.")
    symbol = models.CharField(max_length=64)
    way = models.CharField(max_length=16, choices=Way.choices, default=Way.SINGLE)
    previous = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="following",
        help_text="The ticket that this one repeats, or takes apart.",
    )  # fmt: skip
    balances = models.JSONField(default=dict, help_text="{asset: free} of the pair, read for the review.")
    balances_at = models.DateTimeField(null=True, blank=True)
    order_counts = models.JSONField(
        default=list, help_text="[[window in ms, used, limit], ...] after the last order was sent."
    )
    counted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    look_again_at = models.DateTimeField(null=True, blank=True, help_text="When the tick takes it up again.")

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["look_again_at"], condition=Q(look_again_at__isnull=False), name="spot_ticket_due"
            )
        ]


class SpotOrder(models.Model):
    """One intended order. Recorded before the call, sent at most once, then looked up by our own id."""

    class State(models.TextChoices):
        DRAFT = "draft", "being reviewed"
        CONFIRMED = "confirmed", "confirmed, waiting to be sent"
        SENDING = "sending", "being sent"
        ACCEPTED = "accepted", "taken by the exchange"
        REJECTED = "rejected", "refused"
        UNKNOWN = "unknown", "outcome unknown, looking it up"
        NOT_SEEN = "not_seen", "not found at the exchange"

    OPEN_STATES = (State.CONFIRMED, State.SENDING, State.UNKNOWN)

    ticket = models.ForeignKey(SpotTicket, on_delete=models.CASCADE, related_name="orders")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="spot_orders")
    number = models.PositiveSmallIntegerField(default=1, help_text="Its line on the ticket.")
    client_order_id = models.CharField(max_length=64, help_text="Ours, sent as newClientOrderId.")
    attempt = models.PositiveSmallIntegerField(
        default=1, help_text="2 and more: a person sent it once more under the same id."
    )
    side = models.CharField(max_length=16)
    type = models.CharField(max_length=16)
    time_in_force = models.CharField(max_length=16, blank=True, help_text="Empty for MARKET.")
    quantity = NumericField()
    price = NumericField(null=True, blank=True, help_text="None for MARKET.")

    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    error_code = models.CharField(max_length=64, blank=True)
    error_field = models.CharField(max_length=64, blank=True, help_text="The parameter it names, if any.")
    error_message = models.TextField(blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    order_id = models.BigIntegerField(null=True, blank=True)
    transact_time = models.DateTimeField(null=True, blank=True)

    looks = models.PositiveSmallIntegerField(default=0, help_text="Look-ups so far of an unknown outcome.")
    failed_looks = models.PositiveSmallIntegerField(default=0, help_text="In a row, without an answer.")
    look_at = models.DateTimeField(null=True, blank=True, help_text="When it is to be looked up.")
    read_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=64, blank=True, help_text="As the exchange writes it.")
    executed = NumericField(null=True, blank=True)
    executed_value = NumericField(null=True, blank=True, help_text="In the quote asset.")
    is_working = models.BooleanField(null=True)
    update_time = models.DateTimeField(null=True, blank=True)
    read_back = models.JSONField(default=dict, help_text="What the look-up said of the order's own fields.")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["client_order_id", "attempt"], name="one_spot_order_per_attempt"),
            models.UniqueConstraint(fields=["ticket", "number"], name="one_spot_order_per_line"),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="spot_orders_newest")]
