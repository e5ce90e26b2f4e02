"""Whose request it is: the session and its person, asked for at every request, so by queries that are written once.

Both are Django's own, kept and checked as ever; only the way in which their rows are asked for is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Func, QuerySet, Subquery
from django.utils import timezone

from copytrade import alerts, issues
from copytrade.models import User
from copytrade.reports import Prepared


class SessionStore(db.SessionStore):
    """What settings.SESSION_ENGINE looks for here."""

    def _get_session_from_db(self) -> Session | None:
        found = _session(key=self.session_key, now=timezone.now())[0]
        if not found:
            self._session_key = None  # an unknown key is no key
        return found[0] if found else None


class PersonBackend(ModelBackend):
    """Signs in by name and password; one who is signed in comes back by key."""

    def get_user(self, user_id: Any) -> User | None:
        found = _person(pk=user_id)[0]
        return found[0] if found and self.user_can_authenticate(found[0]) else None


def count_waiting(user: User) -> None:
    """Put how many alerts and issues wait for the person beside a row that came without: by another backend's hands, or
    in the very request that signs somebody in."""
    for row in _person(pk=user.pk)[0]:
        user.alerts_waiting, user.issues_open = row.alerts_waiting, row.issues_open


@Prepared
def _session(key: Any, now: Any) -> Sequence[QuerySet[Any]]:
    return (Session.objects.filter(session_key=key, expire_date__gt=now),)


@Prepared
def _person(pk: Any) -> Sequence[QuerySet[Any]]:
    """With how many alerts and issues wait for the person, which every page's frame tells."""
    found = User.objects.filter(pk=pk)
    return (
        found.annotate(
            alerts_waiting=_number(alerts.unread(pk)),
            issues_open=_number(issues.open_of(pk)),
        ),
    )


def _number(rows: QuerySet[Any]) -> Subquery:
    """How many these are, as a column; a function and no aggregate, which would group them."""
    return Subquery(rows.order_by().annotate(number=Func("pk", function="COUNT")).values("number"))
