"""What happens at the door, written into the audit log: sign-ins good and failed, sign-outs, passwords, factors.

The sign-in package tells it by signals; this is the one place that listens. Each entry says from which address and
with which browser, in words. What was typed is never written down: names that nobody has may be passwords.
"""

from __future__ import annotations

from typing import Any

from allauth.account import signals as door
from allauth.account.adapter import get_adapter
from allauth.account.utils import filter_users_by_email
from allauth.mfa import signals as factors
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from django.contrib.auth import signals as auth
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import HttpRequest

from copytrade import audit
from copytrade.models import AuditEntry, User

from .templatetags.desk import browser

Action = AuditEntry.Action
KINDS = {
    Authenticator.Type.TOTP: "Authenticator app",
    Authenticator.Type.WEBAUTHN: "Passkey",
    Authenticator.Type.RECOVERY_CODES: "Recovery codes",
}


def whence(request: HttpRequest | None) -> dict[str, str]:
    """{"address", "browser"} of a request, in words; the address as far as the proxies are trusted."""
    if request is None:
        return {"address": "unknown", "browser": "none"}
    try:
        address = get_adapter(request).get_client_ip(request)
    except PermissionDenied:
        address = "unknown"
    agent = request.META.get("HTTP_USER_AGENT", "").replace("\x00", "")
    return {"address": str(address)[:45], "browser": browser(agent)}


def _write(request: HttpRequest | None, user: Any, action: str, words: str, **details: Any) -> None:
    """An entry of this person. The demo's visitors share one log: where each came from is not for the others."""
    if not isinstance(user, User) or user.pk is None or user.is_demo:
        return
    if request is None or "REMOTE_ADDR" not in request.META:
        return  # no browser: a program inside the desk
    here = whence(request)
    audit.note(
        user,
        action,
        subject=f"{words}, from {here['address']} with {here['browser']}",
        details=here | details,
    )


@receiver(auth.user_logged_in)
def _signed_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    _write(request, user, Action.SIGNED_IN, "Signed in")


@receiver(auth.user_logged_out)
def _signed_out(request: HttpRequest | None, user: User | None, **_: Any) -> None:
    _write(request, user, Action.SIGNED_OUT, "Signed out")


@receiver(auth.user_login_failed)
def _refused(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """A wrong password: an entry of whoever it was meant for; of the desk's where nobody has that name."""
    here = whence(request)
    person = _meant(credentials)
    words = "Wrong password" if person else "Sign-in with a name that nobody has"
    subject = f"{words}, from {here['address']} with {here['browser']}"
    audit.count(person, Action.SIGN_IN_FAILED, of=here["address"], subject=subject, details=here)


def _meant(credentials: dict[str, Any]) -> User | None:
    name = str(credentials.get("username") or "").replace("\x00", "")[:254]
    if name and (found := User.objects.filter(username__iexact=name).first()):
        return found
    email = str(credentials.get("email") or "").replace("\x00", "")[:254]
    return next(iter(filter_users_by_email(email)), None) if "@" in email else None


@receiver(factors.authentication_failed)
def _wrong_code(request: HttpRequest, user: User, **_: Any) -> None:
    here = whence(request)
    subject = f"Wrong code of the second factor, from {here['address']} with {here['browser']}"
    audit.count(user, Action.SIGN_IN_FAILED, of=f"code {here['address']}", subject=subject, details=here)


@receiver([door.password_changed, door.password_set, door.password_reset])
def _password(request: HttpRequest, user: User, **_: Any) -> None:
    _write(request, user, Action.PASSWORD, "Password changed")


@receiver([door.email_added, door.email_changed, door.email_removed])
def _email(request: HttpRequest, user: User, **_: Any) -> None:
    _write(request, user, Action.EMAIL, "E-mail address changed")


@receiver(factors.authenticator_added)
def _factor_added(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    _factor(request, user, authenticator, "set up")


@receiver(factors.authenticator_removed)
def _factor_removed(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    _factor(request, user, authenticator, "removed")


@receiver(factors.authenticator_reset)
def _codes_made_anew(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    _factor(request, user, authenticator, "made anew")


@receiver(factors.authenticator_used)
def _code_used(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Only a recovery code is worth an entry: one fewer is left, and whoever used it had no other factor."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        _write(request, user, Action.RECOVERY_CODES, "A recovery code was used")


def _factor(request: HttpRequest, user: User, authenticator: Authenticator, what: str) -> None:
    codes = authenticator.type == Authenticator.Type.RECOVERY_CODES
    action = Action.RECOVERY_CODES if codes else Action.SECOND_FACTOR
    _write(request, user, action, f"{KINDS.get(authenticator.type, 'Second factor')} {what}")


class UserSessionsAdapter(DefaultUserSessionsAdapter):
    """Ending other sessions is a sign-out, too."""

    def end_sessions(self, sessions: Any) -> None:
        ended = list(sessions)
        super().end_sessions(ended)
        if ended:
            words = "One other browser" if len(ended) == 1 else f"{len(ended)} other browsers"
            audit.note(
                ended[0].user, Action.SIGNED_OUT, subject=f"{words} signed out from the list of sessions"
            )
