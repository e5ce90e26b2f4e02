"""What an account says of itself, for its page: facts, balances, and how a balance went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from copytrade.models import Account, AccountFacts, Balance, BalanceDay, SyncJob
from copytrade.models.fields import NumericField

MOST_DAYS = 400


@dataclass(frozen=True)
class Flag:
    """A yes, no or "not told" (None), and what it means in plain words."""

    label: str
    value: bool | None
    meaning: str


FLAGS = (
    ("can_trade", "Trading", "Orders can be placed on this account."),
    ("can_deposit", "Deposits", "Money can be sent to this account."),
    ("can_withdraw", "Withdrawals", "Money can be sent away from this account. Copydesk never does."),
    ("brokered", "Broker managed", "The account is run through a broker."),
    ("self_trade_prevention", "Self-trade prevention", "Orders of this account do not trade with each other."),
    ("prevent_sor", "Smart order routing switched off", "Orders are not spread over other books."),
)  # fmt: skip


def flags(facts: AccountFacts | None) -> list[Flag]:
    return [Flag(label, getattr(facts, name) if facts else None, meaning) for name, label, meaning in FLAGS]


def job_of(account: Account, kind: str) -> SyncJob | None:
    """The reading of this kind; None before the first was made ready."""
    return SyncJob.objects.filter(account=account, kind=kind).select_related("account").first()


def balances(account: Account, search: str = "", hide_zero: bool = False) -> QuerySet[Balance]:
    """What the account holds by its last answer, the assets in their order, those with something in them first."""
    zero, numeric = Value(Decimal(0), output_field=NumericField()), NumericField()
    rows = Balance.objects.filter(account=account, gone_at=None).annotate(
        total=Coalesce(F("free"), zero, output_field=numeric)
        + Coalesce(F("locked"), zero, output_field=numeric)
    )
    if search:
        rows = rows.filter(asset__icontains=search)
    if hide_zero:
        # What was not told is not zero.
        rows = rows.exclude(Q(free=0, locked=0) & Q(free__isnull=False) & Q(locked__isnull=False))
    return rows.order_by("asset", "pk")


def past_of(account: Account, asset: str) -> Sequence[tuple[date, Decimal | None, Decimal | None]]:
    """(day, free, locked) of the days on which a balance was seen to change, oldest first; the last 400 of them."""
    rows = BalanceDay.objects.filter(account=account, asset=asset).order_by("-day")
    return list(rows.values_list("day", "free", "locked")[:MOST_DAYS])[::-1]
