"""Alerts by e-mail: one letter to a person for all that is new, each alert in one letter only.

An alert is claimed before its letter goes out and given back when the mail server refuses, so it is tried
again. A worker that is killed in between loses the letter, never the alert: that stands in the inbox.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from smtplib import SMTPException

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from .alerts import cure
from .models import Alert, User

log = structlog.get_logger(__name__)

# What could not be mailed in this time is not news any more. It also keeps a new mail server from a flood.
NOT_OLDER_THAN = timedelta(days=1)


def deliver(now: datetime | None = None) -> int:
    """Mail what is new, open and unread; how many alerts went out. Nothing without EMAIL_HOST."""
    if not settings.EMAIL_HOST:
        return 0
    now, sent = now or timezone.now(), 0
    for owner in User.objects.filter(pk__in=_due(now).values("owner"), is_active=True):
        sent += _write_to(owner, now)
    return sent


def _due(now: datetime) -> QuerySet[Alert]:
    return Alert.objects.filter(
        mailed_at=None,
        loud_at__lte=now,
        folded_into=None,
        read_at=None,
        resolved_at=None,
        created_at__gt=now - NOT_OLDER_THAN,
        owner__is_demo=False,
    ).exclude(owner__email="")


def _write_to(owner: User, now: datetime) -> int:
    with transaction.atomic():
        mine = list(_due(now).filter(owner=owner).select_for_update(skip_locked=True, of=("self",)))
        Alert.objects.filter(pk__in=[alert.pk for alert in mine]).update(mailed_at=now)
    if not mine:
        return 0
    try:
        _letter(owner, mine).send()
    except (SMTPException, OSError) as error:
        Alert.objects.filter(pk__in=[alert.pk for alert in mine]).update(mailed_at=None)
        log.warning("alert mail not sent", owner=owner.pk, error=type(error).__name__)
        return 0
    return len(mine)


def _letter(owner: User, alerts: list[Alert]) -> EmailMessage:
    subject = alerts[0].get_kind_display() if len(alerts) == 1 else f"{len(alerts)} things to look at"
    parts = [_paragraph(alert) for alert in alerts]
    parts.append(
        "This is written once for each alert. What has healed by itself since is marked so in the list:\n"
        + _address(reverse("alerts"))
    )
    return EmailMessage(f"Copydesk: {subject}", "\n\n".join(parts) + "\n", to=[owner.email])


def _paragraph(alert: Alert) -> str:
    path, words = cure(alert)
    seen = f"{alert.created_at:%Y-%m-%d %H:%M} UTC"
    return f"{alert.sentence}\nSeen {seen}. {words}: {_address(path)}"


def _address(path: str) -> str:
    return f"{settings.SITE_URL}{path}"
