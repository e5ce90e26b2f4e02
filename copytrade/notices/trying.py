"""The test button: one message now, while the person waits, and its honest result."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from copytrade.models import Channel, Delivery, User

from .sending import Teller
from .telling import NotTold, tell

MOST, WITHIN = 5, timedelta(minutes=10)


class TooMany(Exception):
    """So many tests were sent just now that another one would be a nuisance. The message is a sentence."""


def send_test(channel: Channel, *, now: datetime | None = None, teller: Teller = tell) -> Delivery:
    """Tell this channel that it is tested, paused or not, and keep what came of it. Raises TooMany."""
    now = now or timezone.now()
    row = _begin(channel, now)
    try:
        teller(channel, [row], False)
    except NotTold as error:
        row.state, row.error = Delivery.State.GIVEN_UP, error.sentence[:300]
        fields = {"last_error": row.error, "last_error_at": now}
    else:
        row.state = Delivery.State.DELIVERED
        fields = {
            "last_error": "",
            "last_ok_at": now,
            "verified_at": channel.verified_at or now,
            "failures": 0,
        }
    row.done_at = now
    with transaction.atomic():
        row.save(update_fields=["state", "error", "done_at"])
        Channel.objects.filter(pk=channel.pk).update(**fields)
    return row


def _begin(channel: Channel, now: datetime) -> Delivery:
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=channel.owner_id)
        recent = Delivery.objects.filter(
            channel__owner=channel.owner_id, what=Delivery.What.TEST, created_at__gt=now - WITHIN
        )
        if recent.count() >= MOST:
            raise TooMany(
                f"{MOST} tests in {WITHIN.seconds // 60} minutes are enough. Try again a little later."
            )
        return Delivery.objects.create(
            channel=channel, what=Delivery.What.TEST, words="A test", state=Delivery.State.SENDING, attempts=1,
            said_at=now, due_at=now, tried_at=now, created_at=now,
        )  # fmt: skip
