"""Whose request it is: the session and its person, asked for at every request, so by one query that is written once.

Both are Django's own, kept and checked as ever; only the way in which their rows are asked for is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Func, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from copytrade import alerts, issues
from copytrade.models import User
from copytrade.together import Prepared


class SessionStore(db.SessionStore):
    """What settings.SESSION_ENGINE looks for here. `person`: whom the list of sessions names for this one, read with
    it; who is signed in only the session itself tells."""

    person: User | None = None

    def _get_session_from_db(self) -> Session | None:
        found, people = _session(key=self.session_key, now=timezone.now())
        self.person = people[0] if found and people else None
        if not found:
            self._session_key = None  # an unknown key is no key
        return found[0] if found else None


# The session of the request whose person is being asked for: Django gives a backend the person's key alone.
_asking: ContextVar[SessionStore | None] = ContextVar("asking", default=None)


class IdentityMiddleware(AuthenticationMiddleware):
    """Django's, but the person comes with the session where the list of sessions has him."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _asked_with_session(request))


def _asked_with_session(request: HttpRequest) -> Any:
    """As Django finds who is signed in, and with its checks."""
    token = _asking.set(request.session)
    try:
        return get_user(request)
    finally:
        _asking.reset(token)


class PersonBackend(ModelBackend):
    """Signs in by name and password; one who is signed in comes back by key."""

    def get_user(self, user_id: Any) -> User | None:
        session = _asking.get()
        person = session.person if session else None
        if person is None or person.pk != user_id:
            person = next(iter(_person(pk=user_id)[0]), None)
        return person if person and self.user_can_authenticate(person) else None


def count_waiting(user: User) -> None:
    """Put how many alerts and issues wait for the person beside a row that came without: by another backend's hands, or
    in the very request that signs somebody in."""
    for row in _person(pk=user.pk)[0]:
        user.alerts_waiting, user.issues_open = row.alerts_waiting, row.issues_open


@Prepared
def _session(key: Any, now: Any) -> Sequence[QuerySet[Any]]:
    listed = UserSession.objects.filter(session_key=key).values("user")
    return (
        Session.objects.filter(session_key=key, expire_date__gt=now),
        _with_what_waits(User.objects.filter(pk__in=listed)),
    )


@Prepared
def _person(pk: Any) -> Sequence[QuerySet[Any]]:
    return (_with_what_waits(User.objects.filter(pk=pk)),)


def _with_what_waits(people: QuerySet[User]) -> QuerySet[User]:
    """With how many alerts and issues wait for the person, which every page's frame tells."""
    who: Any = OuterRef("pk")
    return people.annotate(
        alerts_waiting=_number(alerts.unread(who)),
        issues_open=_number(issues.open_of(who)),
    )


def _number(rows: QuerySet[Any]) -> Subquery:
    """How many these are, as a column; a function and no aggregate, which would group them."""
    return Subquery(rows.order_by().annotate(number=Func("pk", function="COUNT")).values("number"))
