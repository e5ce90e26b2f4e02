"""Copied traders, now and formerly, with the money put to each."""

from __future__ import annotations

import re

from django.db import models
from django.utils import timezone

from .accounts import Account
from .fields import NumericField

# A trader chooses his name. Control characters, and Unicode's marks and overrides of writing direction.
_TURNING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without control characters and marks that turn the direction of what stands around it."""
    return _TURNING.sub("", text)


class Trader(models.Model):
    """A trader as one account follows him. Never deleted when left: `copied` turns false."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="traders")
    trader_id = models.BigIntegerField(help_text="Copy trader UID, exact 64 bits.")
    name = models.CharField(max_length=200, blank=True)
    copied = models.BooleanField(default=False, help_text="In my traders at the last complete reading.")
    copy_trading_balance = NumericField(null=True, blank=True)
    trace_total_profit = NumericField(null=True, blank=True)
    total_investment = NumericField(null=True, blank=True)
    available_balance = NumericField(null=True, blank=True)
    transferable_balance = NumericField(null=True, blank=True)
    balances_at = models.DateTimeField(null=True, blank=True)
    capital_base = NumericField(null=True, blank=True, help_text="The user's own base for ROI, in USDT.")
    first_seen_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True)
    settings_read_at = models.DateTimeField(null=True, blank=True)
    extras = models.JSONField(default=dict)
    summaries_stale_since = models.DateTimeField(
        null=True, blank=True, help_text="A result changed since the period summaries were made."
    )
    total_differs_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The exchange's total has differed from the ledger, unexplained, since.",
    )

    class Meta:
        ordering = ["name", "trader_id"]
        indexes = [
            models.Index(
                fields=["summaries_stale_since"],
                condition=models.Q(summaries_stale_since__isnull=False),
                name="stale_summaries",
            ),
            models.Index(fields=["trader_id"], name="followers_of_trader"),
        ]
        constraints = [models.UniqueConstraint(fields=["account", "trader_id"], name="one_row_per_trader")]

    def __str__(self) -> str:
        """The name without control characters and marks that turn the direction of what stands around it."""
        return plain(self.name).strip() or str(self.trader_id)


class TraderDay(models.Model):
    """The balances of a trader as last read on a UTC day, so that the past can be told after a top-up."""

    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    copy_trading_balance = NumericField(null=True)
    trace_total_profit = NumericField(null=True)
    total_investment = NumericField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trader", "day"], name="one_balance_per_day")]


class TraderNote(models.Model):
    """What a person wrote down about a trader, for a day: shown on the page and on its time axis."""

    trader = models.ForeignKey(Trader, on_delete=models.CASCADE, related_name="notes")
    day = models.DateField(help_text="The day that the note is about, in the owner's zone.")
    text = models.CharField(max_length=2000)
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-day", "-id"]
