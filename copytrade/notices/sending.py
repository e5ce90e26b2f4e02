"""Telling what is to be told: one worker at a time for a channel, in order, with pauses that grow.

At least once: what was under way when a worker was killed is sent again, because an alert that comes twice does less
harm than one that never comes. Its `id` (webhook) is the same, and the text of a messenger or mail says so.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from copytrade import alerts
from copytrade.models import Alert, Channel, Delivery

from . import channels
from .telling import NotTold, tell

log = structlog.get_logger(__name__)

State, What = Delivery.State, Delivery.What
# Longer than the longest telling: a mail server's time-outs, one for each of its answers.
LEASE = timedelta(seconds=90)
# Pauses after the first, second, ... failure, in minutes: 22 hours together. After one more it is given up.
PAUSES = (1, 5, 15, 60, 180, 360, 720)
# Failures in a row after which a channel is switched off: something given up, and what came next failed, too.
OFF_AFTER = len(PAUSES) + 5
LETTER = 50  # alerts in one letter at most
Teller = Callable[[Channel, Sequence[Delivery], bool], None]


@dataclass(frozen=True)
class Held:
    """A channel that this worker may use, and what it is to tell now. `again`: it may have been told already."""

    channel: Channel
    token: uuid.UUID
    rows: list[Delivery]
    again: bool


def due(now: datetime) -> QuerySet[Channel]:
    """Channels with something to tell that nobody is at, the one that waits longest first."""
    head = _open(channel=OuterRef("pk")).order_by("said_at", "pk").values("due_at")[:1]
    rows = Channel.objects.filter(Q(lease_until=None) | Q(lease_until__lt=now), enabled=True)
    rows = rows.filter(owner__is_active=True, owner__is_demo=False).annotate(head_due=Subquery(head))
    return rows.filter(head_due__lte=now).order_by("head_due", "pk")


def work(now: datetime | None = None, *, seconds: float = 60, teller: Teller = tell) -> int:
    """Tell what is due, a channel at a time, until nothing is or the time is over; how many deliveries arrived.
    `now` stands for the clock (tests)."""
    ends, arrived = time.monotonic() + seconds, 0
    while time.monotonic() < ends and (held := _claim(now or timezone.now())) is not None:
        arrived += _make(held, now, teller)
    return arrived


def _open(**where: object) -> QuerySet[Delivery]:
    return Delivery.objects.filter(state__in=Delivery.OPEN_STATES, **where).exclude(what=What.TEST)


def _claim(now: datetime) -> Held | None:
    """The channel that waits longest, under a lease, with its next rows marked as being sent."""
    with transaction.atomic():
        channel = due(now).select_related("owner").select_for_update(skip_locked=True, of=("self",)).first()
        if channel is None:
            return None
        rows = _next(channel, now)
        again = any(row.state == State.SENDING for row in rows)
        token = uuid.uuid4()
        if rows:
            Channel.objects.filter(pk=channel.pk).update(lease_token=token, lease_until=now + LEASE)
        for row in rows:
            row.attempts, row.tried_at, row.state = row.attempts + 1, now, State.SENDING
        Delivery.objects.bulk_update(rows, ["attempts", "tried_at", "state"])
    return Held(channel, token, rows, again)


def _next(channel: Channel, now: datetime) -> list[Delivery]:
    """The first in order: one, or for mail all alerts up to the next digest. What need not be told any more, or was
    tried often enough, is ended on the way."""
    rows = _open(channel=channel).select_related("alert__account", "alert__trader__account", "digest")
    wanted: list[Delivery] = []
    for row in rows.order_by("said_at", "pk")[:LETTER]:
        if sentence := _not_needed(row):
            _end(row, State.DROPPED, sentence, now)
        elif row.attempts > len(PAUSES):
            _end(row, State.GIVEN_UP, row.error or "It was interrupted every time.", now)
        elif not wanted or (channel.kind == Channel.Kind.MAIL and wanted[0].what == row.what == What.ALERT):
            wanted.append(row)
        else:
            break
    return wanted


def _not_needed(row: Delivery) -> str:
    alert = row.alert
    if alert is None:
        return ""
    if alert.read_at or alert.resolved_at:
        return "It was read, or over, before it could be told."
    return "It is counted in another one." if alert.folded_into_id else ""


def _end(row: Delivery, state: str, sentence: str, now: datetime) -> None:
    Delivery.objects.filter(pk=row.pk).update(state=state, error=sentence[:300], done_at=now)


def _make(held: Held, now: datetime | None, teller: Teller) -> int:
    if not held.rows:
        return 0
    try:
        teller(held.channel, held.rows, held.again)
    except NotTold as error:
        _failed(held, error, now or timezone.now())
        return 0
    except Exception as error:  # a fault of ours must not hold the channel until its lease ends
        log.error("telling failed", channel=held.channel.pk, error=type(error).__name__)
        _failed(
            held,
            NotTold("A fault of the desk itself. The operator finds it in the log."),
            now or timezone.now(),
        )
        return 0
    return _arrived(held, now or timezone.now())


def _mine(held: Held) -> QuerySet[Channel]:
    """The channel while its lease is still ours: whoever slept through it writes nothing."""
    return Channel.objects.filter(pk=held.channel.pk, lease_token=held.token)


def _arrived(held: Held, now: datetime) -> int:
    rows = Delivery.objects.filter(pk__in=[row.pk for row in held.rows])
    with transaction.atomic():
        if not _mine(held).update(
            lease_token=None, lease_until=None, failures=0, last_ok_at=now, last_error="",
            verified_at=Coalesce("verified_at", now),
        ):  # fmt: skip
            return 0
        rows.update(state=State.DELIVERED, done_at=now, error="")
        if held.channel.kind == Channel.Kind.MAIL:
            told = [row.alert_id for row in held.rows if row.alert_id]
            Alert.objects.filter(pk__in=told, mailed_at=None).update(mailed_at=now)
    return len(held.rows)


def _failed(held: Held, error: NotTold, now: datetime) -> None:
    """Try again later; give up what failed too often, and the channel with it when nothing else arrives."""
    sentence = error.sentence[:300]
    with transaction.atomic():
        failures = held.channel.failures + 1
        if not _mine(held).update(
            lease_token=None, lease_until=None, failures=failures, last_error=sentence, last_error_at=now
        ):
            return
        for row in held.rows:
            if row.attempts > len(PAUSES):
                _end(row, State.GIVEN_UP, sentence, now)
            else:
                pause = timedelta(minutes=PAUSES[row.attempts - 1])
                Delivery.objects.filter(pk=row.pk).update(
                    state=State.FAILED, error=sentence, due_at=now + pause
                )
    log.warning("not told", channel=held.channel.pk, kind=held.channel.kind, failures=failures)
    if error.gone or failures >= OFF_AFTER:
        _switch_off(held.channel, sentence, failures, now)


def _switch_off(channel: Channel, sentence: str, failures: int, now: datetime) -> None:
    with transaction.atomic():
        if not Channel.objects.filter(pk=channel.pk, enabled=True).update(enabled=False, off_reason=sentence):
            return
        channels.drop_open(channel, State.GIVEN_UP, f"The channel was switched off. {sentence}"[:300], now)
        alerts.tell(
            channel.owner,
            Alert.Kind.CHANNEL_OFF,
            f"channel_off:{channel.pk}:{now:%Y%m%dT%H%M%S.%f}",
            f"{channel.label}: switched off after {failures} failure{'' if failures == 1 else 's'} in a row. "
            f"{sentence} Alerts do not reach you by it until you switch it on again.",
            now=now,
        )
