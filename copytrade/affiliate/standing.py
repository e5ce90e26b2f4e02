"""Is an account's key an affiliate's? Asked once for each key, and again when a person presses for it.

The sub-affiliate operation is the one that tells: it answers an affiliate and refuses others with -1051, while the
other five give others an empty page (open-points.md, "Keys and permissions"). Weight 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q
from django.utils import timezone

from copytrade import health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.client import ExchangeClient
from copytrade.exchange.errors import ExchangeError, Rejected
from copytrade.models import Account, AffiliateStanding, User
from copytrade.vault import VaultError

PERMISSION_MISSING = -1051


@dataclass(frozen=True)
class Standing:
    """`may`: None while nothing is known of the key in use. `reason`: the exchange's, when it may not."""

    may: bool | None
    reason: str = ""
    asked_at: datetime | None = None


def standing_of(account: Account) -> Standing:
    """What is known of the key that the account has now: what an earlier key could do says nothing of it."""
    found = AffiliateStanding.objects.filter(account=account, key_set_at=account.key_set_at).first()
    return Standing(found.may, found.reason, found.asked_at) if found else Standing(None)


def ask_standing(account: Account) -> tuple[Standing, str]:
    """Ask the exchange now, as a person pressed for it: (what is known then, what went wrong or "")."""
    try:
        with talking_to(account, interactive=True, purpose="to ask whether it is an affiliate's") as client:
            learn(account, client)
    except ExchangeError as error:
        health.failed(account, error)
        return standing_of(account), error.sentence
    except (NoKey, VaultError) as error:
        return standing_of(account), str(error)
    return standing_of(account), ""


def learn(account: Account, client: ExchangeClient) -> bool:
    """Ask, and remember the answer with the key it was asked with. Raises what the call raises, but for -1051."""
    try:
        client.sub_affiliates(product_type="SPOT", page_size=1)
    except Rejected as error:
        if error.code != PERMISSION_MISSING:
            raise
        remember(account, may=False, reason=error.sentence)
        return False
    remember(account, may=True)
    return True


def remember(account: Account, *, may: bool, reason: str = "") -> None:
    """Keep it, for the key that `account` was read with: one replaced meanwhile is not meant."""
    fields = {
        "key_set_at": account.key_set_at, "may": may, "reason": reason[:500], "asked_at": timezone.now(),
    }  # fmt: skip
    AffiliateStanding.objects.update_or_create(account=account, defaults=fields)
    show_or_hide(account.owner_id)


def show_or_hide(owner_id: int) -> None:
    """The pages stand in a person's menu while one of their keys may, or was not asked yet. Kept on the person's row,
    which every page reads anyway."""
    refused = Q(affiliate_standing__may=False, affiliate_standing__key_set_at=F("key_set_at"))
    shown = Account.objects.filter(owner=owner_id).exclude(refused).exists()
    User.objects.filter(pk=owner_id).exclude(affiliate_shown=shown).update(affiliate_shown=shown)
