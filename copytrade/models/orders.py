"""The ledger: every tracking order ever seen, its revisions, and what could not be read."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from .accounts import Account
from .fields import NumericField
from .traders import Trader

# Closed copies that are in no sum (rollups/counted.py): without a result, or without one of their times.
UNCOUNTED = models.Q(closed=True) & (
    models.Q(close_time=None) | models.Q(open_time=None) | models.Q(net_profit=None)
)


def _opened_value() -> Coalesce:
    """USDT, exact: price by size, else margin by leverage; NULL where either lacks a number (the exchange writes 0 for
    some that it does not have)."""
    size = Coalesce("open_fill_size", "open_size")
    products = (models.F("open_price_avg") * size, models.F("open_margin_amount") * models.F("open_leverage"))
    none = models.Value(Decimal(0), NumericField())
    wrapped = (models.ExpressionWrapper(product, NumericField()) for product in products)
    return Coalesce(*(NullIf(product, none) for product in wrapped), output_field=NumericField())


# What the whole position of a copy was worth when it was opened.
OPENED_VALUE = _opened_value()


class TrackingOrder(models.Model):
    """A copy follower tracking order (interface.md), one row per (account, trackingNo, generation).

    `closed` is set by a history record alone; absence from the open list only sets `missing_since`.
    `generation` is 0 unless the exchange used the number again for another order: see ledger/.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="orders")
    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="orders")
    tracking_no = models.BigIntegerField()
    generation = models.BigIntegerField(
        default=0,
        help_text="Told from the order's own unchanging fields, so that any order of reading agrees.",
    )
    trader_name = models.CharField(max_length=200, blank=True)
    symbol = models.CharField(max_length=64)
    position_side = models.CharField(max_length=32)
    status = models.CharField(max_length=64, help_text="Verbatim, known or not.")
    open_order_id = models.BigIntegerField(null=True)
    close_order_id = models.BigIntegerField(null=True)
    open_leverage = models.IntegerField(null=True)
    open_price_avg = NumericField(null=True)
    open_time = models.DateTimeField(null=True)
    open_size = NumericField(null=True)
    open_fill_size = NumericField(null=True)
    open_fee = NumericField(null=True)
    open_margin_amount = NumericField(null=True)
    tp_trigger_price = NumericField(null=True)
    sl_trigger_price = NumericField(null=True)
    close_avg_price = NumericField(null=True)
    close_size = NumericField(null=True)
    close_time = models.DateTimeField(null=True)
    realized_pnl = NumericField(null=True)
    profit_rate = NumericField(null=True)
    net_profit = NumericField(null=True)
    created_time = models.DateTimeField(null=True)
    update_time = models.DateTimeField(null=True)
    extras = models.JSONField(default=dict, help_text="Fields the interface does not name, as they came.")

    beneath = models.JSONField(
        null=True,
        help_text="Of two observations, one of which told no opening time, the one that the row does not show.",
    )
    closed = models.BooleanField(default=False)
    first_seen_at = models.DateTimeField(default=timezone.now)
    missing_since = models.DateTimeField(
        null=True, help_text="Gone from the open list, not yet in the history."
    )
    lost_since = models.DateTimeField(
        null=True, help_text="LOST_WINDOW: gone, looked for in all of the history there is, and not there."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "tracking_no", "generation"], name="one_row_per_generation"
            )
        ]
        indexes = [
            models.Index(fields=["account", "closed", "-close_time", "-tracking_no"], name="order_history"),
            models.Index(fields=["trader", "closed", "-close_time", "-tracking_no"], name="order_by_trader"),
            models.Index(
                fields=["account", "open_time"], condition=models.Q(closed=False), name="order_open"
            ),
            models.Index(fields=["account"], condition=UNCOUNTED, name="order_uncounted"),
        ]


class OrderRevision(models.Model):
    """A change of an order after it was first stored: which fields, from what to what."""

    order = models.ForeignKey(TrackingOrder, on_delete=models.CASCADE, related_name="revisions")
    seen_at = models.DateTimeField(default=timezone.now)
    update_time = models.DateTimeField(null=True)
    changed = models.JSONField(help_text="{field: [before, after]}, numbers as text.")

    class Meta:
        ordering = ["seen_at", "id"]
        indexes = [models.Index(fields=["seen_at"], name="revisions_lately")]


class BadRecord(models.Model):
    """A record of an answer that could not be understood: kept as it came, shown, never dropped."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bad_records")
    operation = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    raw = models.TextField()
    reason = models.CharField(max_length=500)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)
    tried_with = models.CharField(
        max_length=32,
        blank=True,
        help_text="The reader's version that last failed on it; another one tries again.",
    )
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="When a later version could read it after all."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "operation", "fingerprint"], name="one_bad_record")
        ]
