"""What is to be told by which channel: a row for each alert and channel, and one for each digest."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from copytrade.models import Delivery

from . import channels, digests, sending

# One statement whatever the number of people. An alert that became loud in a pause of its channel, or before there
# was one, is not told by it; one that was read or is over is not told at all.
_NEW = """
INSERT INTO copytrade_delivery
    (channel_id, key, what, alert_id, words, state, attempts, said_at, due_at, created_at, error)
SELECT c.id, gen_random_uuid(), 'alert', a.id, a.sentence, 'waiting', 0, a.loud_at, %(now)s, %(now)s, ''
  FROM copytrade_alert a
  JOIN copytrade_channel c ON c.owner_id = a.owner_id
  JOIN copytrade_user u ON u.id = a.owner_id
 WHERE a.loud_at > %(oldest)s AND a.loud_at <= %(now)s
   AND a.read_at IS NULL AND a.resolved_at IS NULL AND a.folded_into_id IS NULL
   AND c.enabled AND c.at_once AND c.since <= a.loud_at AND u.is_active AND NOT u.is_demo
   AND (c.kind <> 'mail' OR (%(mail)s AND u.email <> '' AND a.mailed_at IS NULL))
   AND NOT EXISTS (SELECT FROM copytrade_delivery d WHERE d.channel_id = c.id AND d.alert_id = a.id)
 ORDER BY a.loud_at, a.id
    ON CONFLICT DO NOTHING
"""
# A test is made while its person waits; one that is still under way after this was interrupted.
TEST_LASTS = timedelta(minutes=5)


def plan(now: datetime | None = None) -> int:
    """Make the rows that are missing; how many channels have something to tell now. Safe at any time, by any
    number."""
    now = now or timezone.now()
    channels.ensure_mail(now)
    values = {"now": now, "oldest": now - channels.NOT_OLDER_THAN, "mail": bool(settings.EMAIL_HOST)}
    with connection.cursor() as cursor:
        cursor.execute(_NEW, values)
    digests.plan(now)
    _end_what_was_left(now)
    return sending.due(now).count()


def _end_what_was_left(now: datetime) -> None:
    """Tests whose process died, and what nobody could be told for two days (its person is not active any more)."""
    left = Delivery.objects.filter(state__in=Delivery.OPEN_STATES)
    left.filter(what=Delivery.What.TEST, created_at__lt=now - TEST_LASTS).update(
        state=Delivery.State.GIVEN_UP, error="The desk was interrupted: it is not known whether it arrived.",
        done_at=now,
    )  # fmt: skip
    left.filter(created_at__lt=now - 2 * channels.NOT_OLDER_THAN).update(
        state=Delivery.State.GIVEN_UP, error="It could not be told for two days.", done_at=now
    )
