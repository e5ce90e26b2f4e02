"""What an account says of itself: fee rates, balances, bills of both wallets, and a lead trader's own orders."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .accounts import Account
from .fields import NumericField


class AccountFacts(models.Model):
    """The last answer of the account operation, one row per account. None is "not told", never false or 0."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="facts")
    read_at = models.DateTimeField()
    maker_commission = models.IntegerField(null=True, help_text="Basis points.")
    taker_commission = models.IntegerField(null=True, help_text="Basis points.")
    maker_rate = NumericField(null=True, help_text="A fraction.")
    taker_rate = NumericField(null=True, help_text="A fraction.")
    can_trade = models.BooleanField(null=True)
    can_withdraw = models.BooleanField(null=True)
    can_deposit = models.BooleanField(null=True)
    brokered = models.BooleanField(null=True)
    self_trade_prevention = models.BooleanField(null=True)
    prevent_sor = models.BooleanField(null=True)
    update_time = models.DateTimeField(null=True)
    account_type = models.TextField(null=True)
    permissions = models.JSONField(null=True, help_text="As they came; None: not told.")
    uid = models.BigIntegerField(null=True)
    symbol_commissions = models.JSONField(null=True, help_text="Of unknown structure, as it came.")
    balances_told = models.BooleanField(default=False)
    extras = models.JSONField(default=dict, help_text="Fields the interface does not name, as they came.")


class Balance(models.Model):
    """One asset of an account as it was last read. `gone_at`: the last answer did not name it any more."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="balances")
    asset = models.CharField(max_length=200)
    free = NumericField(null=True)
    locked = NumericField(null=True)
    extras = models.JSONField(default=dict)
    gone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["asset"]
        constraints = [models.UniqueConstraint(fields=["account", "asset"], name="one_balance_per_asset")]


class BalanceDay(models.Model):
    """A balance as it was last seen on a day (UTC) on which it differed from the day before."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="balance_days")
    asset = models.CharField(max_length=200)
    day = models.DateField()
    free = NumericField(null=True)
    locked = NumericField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "asset", "day"], name="one_balance_a_day")]


class Bill(models.Model):
    """One movement on a wallet, kept beyond the exchange's own reach. `delta` is negative for a decrease."""

    class Wallet(models.TextChoices):
        SPOT = "spot", "Spot wallet"
        FUNDING = "funding", "Funding wallet"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bills")
    wallet = models.CharField(max_length=8, choices=Wallet.choices)
    bill_id = models.CharField(max_length=200, help_text="Text, verbatim.")
    place = models.CharField(max_length=200, help_text="Sorts bills of one moment: their number, padded.")
    coin_id = models.IntegerField(null=True)
    coin = models.CharField(max_length=200, blank=True)
    biz_type = models.CharField(max_length=200, blank=True, help_text="Verbatim, known or not.")
    fill_size = NumericField(null=True)
    fill_value = NumericField(null=True)
    delta = NumericField(null=True)
    after = NumericField(null=True)
    fees = NumericField(null=True)
    at = models.DateTimeField(null=True, help_text="None: the exchange told no time.")
    extras = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, help_text="When these values were first read.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "wallet", "bill_id"], name="one_row_per_bill")
        ]
        indexes = [
            models.Index(fields=["account", "wallet", "-at", "-place"], name="bills_newest"),
            models.Index(fields=["account", "wallet", "coin", "-at", "-place"], name="bills_of_coin"),
        ]


class LeadOrder(models.Model):
    """A tracking order of a lead trader, as a copy-trade key reads it. The interface gives its names only, and no
    closing time: where `status` is CLOSED, `update_time` is taken for it, and said so."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="lead_orders")
    tracking_no = models.BigIntegerField()
    symbol = models.CharField(max_length=200)
    position_side = models.CharField(max_length=200)
    status = models.CharField(max_length=200, help_text="Verbatim, known or not.")
    open_order_id = models.BigIntegerField(null=True)
    open_leverage = models.IntegerField(null=True)
    open_price_avg = NumericField(null=True)
    open_time = models.DateTimeField(null=True)
    open_size = NumericField(null=True)
    open_fee = NumericField(null=True)
    open_margin_amount = NumericField(null=True)
    open_fill_size = NumericField(null=True)
    tp_trigger_price = NumericField(null=True)
    sl_trigger_price = NumericField(null=True)
    realized_pnl = NumericField(null=True)
    profit_rate = NumericField(null=True)
    net_profit = NumericField(null=True)
    follow_count = models.IntegerField(null=True)
    created_time = models.DateTimeField(null=True)
    update_time = models.DateTimeField(null=True)
    extras = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, help_text="When these values were first read.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "tracking_no"], name="one_lead_order")]
        indexes = [models.Index(fields=["account", "-open_time", "-tracking_no"], name="lead_newest")]
