"""Connections: add, test, replace the key, remove. The only writer of stored exchange keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from . import audit, egress, health, keys
from .affiliate import standing
from .clients import NoKey, credential_context, refuse, talking_to
from .exchange.errors import ExchangeError, Rejected
from .models import (
    COPY_KINDS,
    Account,
    Credential,
    OrderRevision,
    SettingsChange,
    SpotOrder,
    SyncJob,
    TrackingOrder,
    User,
)
from .vault import VaultError

# What a person looks for first is read first; the long walk through the past begins behind it.
FIRST_READING = {
    SyncJob.Kind.TRADERS: timedelta(0),
    SyncJob.Kind.OPEN: timedelta(0),
    SyncJob.Kind.SETTINGS: timedelta(seconds=1),
    SyncJob.Kind.HISTORY: timedelta(seconds=2),
}
# Somebody waits for these; the past gives way to whatever else is due.
FIRST_PRIORITY = {kind: 2 if kind == SyncJob.Kind.HISTORY else 0 for kind in FIRST_READING}


class BadConnection(Exception):
    """What was entered cannot be stored: `field` names the input ("" for all), the message is a sentence."""

    def __init__(self, field: str, message: str):
        super().__init__(message)
        self.field = field
        self.sentence = message


@dataclass(frozen=True)
class TestResult:
    """What a test call said. `permissions` as the exchange reported them; `details` are sentences."""

    __test__ = False  # not a test class, whatever pytest thinks of the name
    ok: bool
    sentence: str
    permissions: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)


def venues_for(owner: User) -> list[tuple[str, str]]:
    """(key, label) of the venues this user may connect to: the demo user sees the sandbox alone."""
    return [
        (key, venue["label"])
        for key, venue in settings.VENUES.items()
        if key == "sandbox" or not owner.is_demo
    ]


def add(owner: User, *, label: str, venue: str, key: str, secret: str, passphrase: str) -> Account:
    """Store a new connection with its readings due at once. Calls nothing. Raises BadConnection."""
    label, parts = label.strip(), _checked(key, secret, passphrase)
    if not label or len(label) > 60:
        raise BadConnection("label", "Give the connection a name of 1 to 60 characters.")
    if venue not in dict(venues_for(owner)):
        raise BadConnection("venue", "Choose one of the exchanges in the list.")
    try:
        with transaction.atomic():
            account = Account.objects.create(
                owner=owner,
                label=label,
                venue=venue,
                key_hint=parts["key"][-4:],
                writes_enabled=settings.VENUES[venue]["writes_by_default"],
            )
            _store_key(account, parts)
            now = timezone.now()
            SyncJob.objects.bulk_create(
                SyncJob(
                    account=account,
                    kind=kind,
                    egress=egress.of(account.pk),
                    due_at=now + delay,
                    priority=FIRST_PRIORITY[kind],
                )
                for kind, delay in FIRST_READING.items()
            )
            _noted(account, "connected, with a key that ends in " + account.key_hint)
            standing.show_or_hide(owner.pk)
    except IntegrityError:
        raise BadConnection(
            "label", f"You already have a connection named '{label}'. Choose another name."
        ) from None
    return account


def replace_key(account: Account, *, key: str, secret: str, passphrase: str) -> Account:
    """Store another key for the same exchange account; readings start again at once."""
    parts, now = _checked(key, secret, passphrase), timezone.now()
    with transaction.atomic():
        _store_key(account, parts)
        fields = {
            "key_hint": parts["key"][-4:], "key_set_at": now, "state": Account.State.NEW, "state_reason": "",
            "state_since": now, "refusals": 0, "clock_offset_ms": 0, "permissions": [],
        }  # fmt: skip
        for name, value in fields.items():
            setattr(account, name, value)
        account.save(update_fields=list(fields))  # these alone: uid and switches may have changed meanwhile
        resume(account)
        standing.show_or_hide(account.owner_id)
        _noted(account, "key replaced by one that ends in " + account.key_hint)
    return account


def resume(account: Account) -> None:
    """Make every reading of the account due now; a refused account becomes untested again."""
    now = timezone.now()
    if account.state == Account.State.REFUSED:
        account.state, account.state_reason, account.state_since = Account.State.NEW, "", now
        account.refusals = 0
        account.save(update_fields=["state", "state_reason", "state_since", "refusals"])
    account.jobs.update(due_at=now, failures=0)
    account.jobs.filter(kind__in=COPY_KINDS).exclude(kind=SyncJob.Kind.HISTORY).update(priority=0)


def set_writes(account: Account, enabled: bool) -> None:
    """The owner's switch for everything that changes something at the exchange."""
    account.writes_enabled = enabled
    with transaction.atomic():
        account.save(update_fields=["writes_enabled"])
        words = "changes at the exchange allowed" if enabled else "changes at the exchange switched off"
        _noted(account, words, audit.Action.WRITES)


def remove(account: Account) -> None:
    """Delete the connection with its key and everything read through it. Raises BadConnection."""
    with transaction.atomic():
        # Jobs, traders, the account: as a reading or a summary that is being stored locks them, so that nobody waits in
        # a circle. Deleting alone would take the traders in any order.
        list(account.jobs.select_for_update().order_by("pk"))
        list(account.traders.select_for_update().order_by("pk"))
        Account.objects.select_for_update().get(pk=account.pk)
        if SettingsChange.objects.filter(
            trader__account=account, state__in=SettingsChange.OPEN_STATES
        ).exists():
            raise BadConnection(
                "", "A settings change of this connection is under way. Wait until it has ended."
            )
        if account.spot_orders.filter(state__in=SpotOrder.OPEN_STATES).exists():
            raise BadConnection("", "A spot order of this connection is under way. Wait until it has ended.")
        OrderRevision.objects.filter(order__account=account).delete()
        TrackingOrder.objects.filter(account=account).delete()
        _noted(account, "connection and key removed, with everything read through it")
        account.delete()
        standing.show_or_hide(account.owner_id)


def test(account: Account) -> TestResult:
    """Ask the exchange who this key is and what it may do; the account's state follows the answer."""
    try:
        with talking_to(account, interactive=True, whose=False, purpose="for a test") as client:
            info = client.account()
            details = [_try_copy_reading(client), _try_affiliate(account, client)]
    except ExchangeError as error:
        health.failed(account, error)
        return TestResult(False, account.state_reason or error.sentence)
    except (NoKey, VaultError) as error:
        return TestResult(False, str(error))
    if account.uid is not None and info.uid is not None and info.uid != account.uid:
        refuse(account)
        return TestResult(False, account.state_reason)
    if account.state != Account.State.ACTIVE:
        account.jobs.filter(due_at__gt=timezone.now()).update(due_at=timezone.now(), failures=0)
    health.succeeded(account)
    account.uid = info.uid if info.uid is not None else account.uid
    account.permissions = list(info.permissions or [])
    account.save(update_fields=["uid", "permissions"])
    if info.can_withdraw:
        details.append(
            "The account reports withdrawals as enabled. Copydesk never needs that: leave it off the key."
        )
    return TestResult(True, "The key works.", account.permissions, [line for line in details if line])


def _noted(account: Account, words: str, action: str = audit.Action.KEY_STORED) -> None:
    audit.note(account.owner, action, account=account, subject=f"{account.label}: {words}")


def _try_copy_reading(client) -> str:
    try:
        client.my_traders(page=1, page_size=1)
    except Rejected as error:
        return f"It may not read copy trading: {error.sentence}"
    return "It may read copy trading."


def _try_affiliate(account: Account, client) -> str:
    """Whether the affiliate pages are for this key: learned here, so that nobody has to ask for it."""
    try:
        return "It is an affiliate's key." if standing.learn(account, client) else ""
    except ExchangeError:
        return ""


def _checked(key: str, secret: str, passphrase: str) -> dict[str, str]:
    """The three parts, trimmed. Printable ASCII only: they travel in HTTP headers or sign them."""
    parts = {"key": key.strip(), "secret": secret.strip(), "passphrase": passphrase.strip()}
    for name, text in parts.items():
        if not text:
            raise BadConnection(name, f"Enter the {name}.")
        if len(text) > 512 or not text.isascii() or not text.isprintable():
            raise BadConnection(
                name, f"This does not look like a {name}: only plain characters, at most 512 of them."
            )
    return parts


def _store_key(account: Account, parts: dict[str, str]) -> None:
    sealed = {
        name: keys.encrypt(account.owner_id, text, credential_context(account.pk, name))
        for name, text in parts.items()
    }
    Credential.objects.update_or_create(account=account, defaults=sealed)
