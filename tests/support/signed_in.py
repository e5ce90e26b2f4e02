"""A browser of Django's in which somebody has just signed in by password, without the cost of hashing one."""

from __future__ import annotations

import time

from django.test import Client

from copytrade.models import User


def signed_in(user: User, *, method: str = "password", seconds_ago: float = 0) -> Client:
    """`method` and `seconds_ago` say how and when the sign-in was proved: sending asks again when it is old."""
    client = Client()
    client.force_login(user, backend="dashboard.sessions.PersonBackend")
    session = client.session
    session["account_authentication_methods"] = [{"method": method, "at": time.time() - seconds_ago}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return client
