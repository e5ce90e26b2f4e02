"""What the exchange's answers say about an account: active, pending, refused, and in which words.

open-points.md, "Keys and permissions": a new or changed key takes about 15 minutes to work, and many
refused calls can get a key disabled. So refusals are counted, and after a few polling stops.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from .exchange.errors import ExchangeError, Rejected, Unauthorized
from .models import Account

NEW_KEY_PATIENCE = timedelta(minutes=15)
REFUSALS_UNTIL_STOP = 3
TOLD_EVERY = timedelta(seconds=30)


def reading_allowed(account: Account) -> bool:
    """False once the key was refused too often: until its owner acts, nothing is asked with it."""
    return account.state != Account.State.REFUSED


def succeeded(account: Account, now: datetime | None = None) -> None:
    """A signed call was answered: the key works, whatever it looked like before.

    A key that was replaced during the call is not meant: nothing is known of the new one.
    """
    now = now or timezone.now()
    fields = {"refusals": 0, "last_success_at": now}
    if account.state != Account.State.ACTIVE:
        fields |= {"state": Account.State.ACTIVE, "state_reason": "", "state_since": now}
    # Told a moment ago and nothing else to say: thousands of readings an hour need not each write that down, nor
    # ask whether they should where the account was read for this very call.
    told = account.last_success_at
    if (
        told
        and account.state == Account.State.ACTIVE
        and not account.refusals
        and now - TOLD_EVERY < told <= now
    ):
        return
    news = ~Q(state=Account.State.ACTIVE) | Q(refusals__gt=0) | Q(last_success_at=None)
    news |= Q(last_success_at__lt=now - TOLD_EVERY) | Q(last_success_at__gt=now)
    if Account.objects.filter(news, pk=account.pk, key_set_at=account.key_set_at).update(**fields):
        _remember(account, fields)


def failed(
    account: Account, error: ExchangeError, now: datetime | None = None, *, reading: bool = False
) -> None:
    """Count a refused key; other errors say nothing about the account and change nothing.

    `reading`: a permission that a reading lacks counts as well, since nothing can be read without it.
    Which of key, secret, passphrase, clock or address is at fault is in the error's sentence."""
    lacks_reading = reading and isinstance(error, Rejected) and error.fault == "permission"
    if not isinstance(error, Unauthorized) and not lacks_reading:
        return
    now = now or timezone.now()
    # A key that was replaced during the call is not meant, as in `succeeded`.
    if not Account.objects.filter(pk=account.pk, key_set_at=account.key_set_at).update(
        refusals=F("refusals") + 1
    ):
        return
    account.refresh_from_db(fields=["refusals", "state", "key_set_at"])
    if now - account.key_set_at < NEW_KEY_PATIENCE:
        state = Account.State.PENDING
        reason = f"{error.sentence} A new key can take 15 minutes to work: it is tried again by itself."
    elif account.refusals >= REFUSALS_UNTIL_STOP:
        state = Account.State.REFUSED
        reason = f"{error.sentence} Reading has stopped so that the exchange does not disable the key."
    else:
        _store(account, {"state_reason": error.sentence})
        return
    fields: dict = {"state": state, "state_reason": reason[:500]}
    if state != account.state:
        fields["state_since"] = now
    _store(account, fields)


def _store(account: Account, fields: dict) -> None:
    _remember(account, fields)
    Account.objects.filter(pk=account.pk).update(**fields)


def _remember(account: Account, fields: dict) -> None:
    for name, value in fields.items():
        setattr(account, name, value)
