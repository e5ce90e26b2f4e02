"""Channels: add, pause, sign anew, remove. The only writer and reader of their sealed addresses and secrets."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from copytrade import audit, keys
from copytrade.models import Channel, Delivery, User

from . import posting, services, signing

Kind = Channel.Kind
MAIL_LABEL = "E-mail"
MOST = 10  # channels of one person
# What could not be told in this time is not news any more. It also keeps a new mail server from a flood.
NOT_OLDER_THAN = timedelta(days=1)
# Of a shorter address, four characters would be a good part of the secret.
LONG_ENOUGH_TO_HINT = 16


class BadChannel(Exception):
    """What was entered cannot be stored: `field` names the input ("" for all), the message is a sentence."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field, self.sentence = field, sentence


def of(owner: User) -> list[Channel]:
    """A person's channels, the oldest first. That of mail is made by the planner (`ensure_mail`), not by a look."""
    return list(Channel.objects.filter(owner=owner))


def ensure_mail(now: datetime, owner: User | None = None) -> None:
    """Everybody with an address has a channel of mail, once the desk has a mail server."""
    if not settings.EMAIL_HOST:
        return
    people = (
        User.objects.filter(is_active=True, is_demo=False).exclude(email="").exclude(channels__kind=Kind.MAIL)
    )
    if owner is not None:
        people = people.filter(pk=owner.pk)
    made = [
        Channel(owner_id=pk, kind=Kind.MAIL, label=MAIL_LABEL, since=now - NOT_OLDER_THAN)
        for pk in people.values_list("pk", flat=True)
    ]
    if made:
        Channel.objects.bulk_create(made, ignore_conflicts=True)


def add_messenger(owner: User, label: str, address: str) -> Channel:
    """A service of Apprise's with a fixed host. Calls nothing. Raises BadChannel."""
    address = address.strip()
    try:
        service = services.check(address)
    except services.BadService as error:
        raise BadChannel("address", str(error)) from None
    return _store(owner, Channel(kind=Kind.APPRISE, label=label.strip(), service=service.schemas[0]), address)


def add_webhook(owner: User, label: str, address: str) -> tuple[Channel, str]:
    """(channel, signing secret). The secret can be read here and never again. Calls nothing. Raises BadChannel."""
    address, secret = address.strip(), signing.new_secret()
    try:
        target = posting.target_of(address, settings.WEBHOOK_INSIDE)
    except posting.BadAddress as error:
        raise BadChannel("address", str(error)) from None
    made = Channel(kind=Kind.WEBHOOK, label=label.strip(), service=target.host[:255])
    return _store(owner, made, address, secret), secret


def _store(owner: User, channel: Channel, address: str, secret: str = "") -> Channel:
    if owner.is_demo:
        raise BadChannel("", "The demo tells nobody outside: anybody could have messages sent from here.")
    if not channel.label or len(channel.label) > 60 or channel.label.lower() == MAIL_LABEL.lower():
        raise BadChannel(
            "label", f"Give the channel a name of 1 to 60 characters, other than '{MAIL_LABEL}'."
        )
    channel.owner = owner
    channel.hint = address.rstrip("/")[-4:] if len(address.partition("://")[2]) >= LONG_ENOUGH_TO_HINT else ""
    try:
        with transaction.atomic():
            User.objects.select_for_update().get(pk=owner.pk)
            if Channel.objects.filter(owner=owner).count() >= MOST:
                raise BadChannel("", f"You have {MOST} channels already. Remove one first.")
            channel.save()
            channel.address = keys.encrypt(owner.pk, address, context_of(channel, "address"))
            if secret:
                channel.secret = keys.encrypt(owner.pk, secret, context_of(channel, "secret"))
            channel.save(update_fields=["address", "secret"])
            audit.note(owner, audit.Action.CHANNEL_ADDED, subject=f"{channel.label}: {shown(channel)}")
    except IntegrityError:
        sentence = f"You already have a channel named '{channel.label}'. Choose another name."
        raise BadChannel("label", sentence) from None
    return channel


def rotate_secret(channel: Channel) -> str:
    """Another signing secret; the old one ends at once. Raises ValueError for what is no webhook."""
    if channel.kind != Kind.WEBHOOK:
        raise ValueError("Only a webhook is signed.")
    secret = signing.new_secret()
    sealed = keys.encrypt(channel.owner_id, secret, context_of(channel, "secret"))
    with transaction.atomic():
        Channel.objects.filter(pk=channel.pk).update(secret=sealed)
        _note(channel, "new signing secret")
    return secret


def set_enabled(channel: Channel, enabled: bool) -> None:
    """Pause or resume. What became loud in a pause is not told afterwards: it stands in the inbox."""
    now = timezone.now()
    with transaction.atomic():
        if (
            not Channel.objects.filter(pk=channel.pk)
            .exclude(enabled=enabled)
            .update(enabled=enabled, since=now, off_reason="", failures=0)
        ):
            return
        if not enabled:
            drop_open(channel, Delivery.State.DROPPED, "The channel was paused.", now)
        _note(channel, "resumed" if enabled else "paused")


def set_at_once(channel: Channel, at_once: bool) -> None:
    """Each alert by itself, or in the digest alone. Only mail brings the digest: ValueError for another channel."""
    if channel.kind != Kind.MAIL:
        raise ValueError("Only mail brings the digest.")
    now = timezone.now()
    changed = Channel.objects.filter(pk=channel.pk).exclude(at_once=at_once)
    with transaction.atomic():
        if changed.update(at_once=at_once, since=now) and not at_once:
            alerts = Delivery.What.ALERT
            drop_open(channel, Delivery.State.DROPPED, "It waits for the digest.", now, what=alerts)


def remove(channel: Channel) -> None:
    """Delete it with its address, its secret and its log. Raises ValueError for mail, which can be paused."""
    if channel.kind == Kind.MAIL:
        raise ValueError("Mail is paused, not removed.")
    with transaction.atomic():
        audit.note(channel.owner, audit.Action.CHANNEL_REMOVED, subject=f"{channel.label}: {shown(channel)}")
        channel.delete()


def drop_open(channel: Channel, state: str, sentence: str, now: datetime, **where: str) -> None:
    """End what is still to be told by this channel, for a reason."""
    rows = Delivery.objects.filter(channel=channel, state__in=Delivery.OPEN_STATES, **where)
    rows.exclude(what=Delivery.What.TEST).update(state=state, error=sentence, done_at=now)


def address_of(channel: Channel) -> str:
    """The address in the clear, for sending alone. Raises vault.VaultError."""
    return keys.decrypt(channel.owner_id, bytes(channel.address), context_of(channel, "address"))


def secret_of(channel: Channel) -> str:
    """The signing secret in the clear, for sending alone. Raises vault.VaultError."""
    return keys.decrypt(channel.owner_id, bytes(channel.secret), context_of(channel, "secret"))


def context_of(channel: Channel, field: str) -> tuple[str, ...]:
    """What a sealed text is bound to: table, field and row (keys.py adds the user)."""
    return ("channel", field, f"channel:{channel.pk}")


def shown(channel: Channel) -> str:
    """`Telegram, ending in 5544`: as much of an address as may stand on a page or in the audit log."""
    if channel.kind == Kind.MAIL:
        return "e-mail"
    known = services.SERVICES.get(channel.service)
    name = channel.service if channel.kind == Kind.WEBHOOK or known is None else known.label
    return f"{name}, ending in {channel.hint}" if channel.hint else name


def _note(channel: Channel, what: str) -> None:
    audit.note(channel.owner, audit.Action.CHANNEL_CHANGED, subject=f"{channel.label}: {what}")
