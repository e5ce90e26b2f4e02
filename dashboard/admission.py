"""Who may sign up: the first person with the set-up token, after that people with an invitation.

The set-up token is derived from SECRET_KEY, so that every web process knows it and nothing has to be stored.
It is worth something only while nobody but the demo user exists.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from copytrade import audit
from copytrade.models import AuditEntry, Invitation, User

log = structlog.get_logger("copydesk")

SESSION_KEY = "admission"
SETUP = "setup"
INVITATION_DAYS = 7
# Any number, used for this one purpose: two people cannot both be the first.
FIRST_ACCOUNT_LOCK = 7_301_642


class NotAdmitted(Exception):
    """The token was used, withdrawn or has expired since the page was opened."""


def nobody_yet() -> bool:
    """True until the first account exists. The demo user does not count."""
    return not User.objects.filter(is_demo=False).exists()


def setup_token() -> str:
    """The token of the log, in groups of six: `a1b2c3-...`."""
    digest = salted_hmac("copydesk.setup", "first account", secret=settings.SECRET_KEY, algorithm="sha256")
    text = digest.hexdigest()[:24]
    return "-".join(text[i : i + 6] for i in range(0, 24, 6))


def setup_token_fits(typed: str) -> bool:
    given = "".join(typed.lower().split()).replace("-", "")
    return nobody_yet() and constant_time_compare(given, setup_token().replace("-", ""))


def announce() -> None:
    """Write the set-up token into the log while there is no account. It is meant to be read there."""
    try:
        if nobody_yet():
            log.warning(f"No account yet. To make the first one, open /setup/ and enter {setup_token()}")
    except DatabaseError:
        log.warning("The database is not ready, so it is not known whether an account exists.")


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def invite(operator: User, note: str) -> str:
    """A new invitation; returns its token, which is kept nowhere."""
    token = secrets.token_urlsafe(24)
    expires = timezone.now() + timedelta(days=INVITATION_DAYS)
    Invitation.objects.create(
        token_hash=token_hash(token), note=note, invited_by=operator, expires_at=expires
    )
    return token


def open_invitation(hashed: str) -> Invitation | None:
    """The invitation of this hash, unless used or expired."""
    return Invitation.objects.filter(
        token_hash=hashed, used_at__isnull=True, expires_at__gt=timezone.now()
    ).first()


def remember(request: HttpRequest, admission: str) -> None:
    """Keep what was shown at the door (SETUP or an invitation's hash) until the form is sent."""
    request.session[SESSION_KEY] = admission


def admitted(request: HttpRequest) -> bool:
    """May this visitor see the sign-up form now?"""
    admission = request.session.get(SESSION_KEY)
    if not admission:
        return False
    return nobody_yet() if admission == SETUP else open_invitation(admission) is not None


@transaction.atomic
def settle(admission: str | None, user: User) -> None:
    """Use up what let `user` in; the first becomes the operator. Saves the user. Raises NotAdmitted."""
    if not admission:
        raise NotAdmitted
    if admission == SETUP:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_ACCOUNT_LOCK])
        if not nobody_yet():
            raise NotAdmitted
        user.is_operator = True
        user.save()
        audit.note(None, AuditEntry.Action.DESK, subject="The desk's first account was made")
        return
    user.save()
    now = timezone.now()
    claimed = Invitation.objects.filter(
        token_hash=admission, used_at__isnull=True, expires_at__gt=now
    ).update(used_by=user, used_at=now)
    if not claimed:
        raise NotAdmitted
    # Without the name: it goes when the person goes.
    audit.note(None, AuditEntry.Action.DESK, subject="Somebody signed up with an invitation")
