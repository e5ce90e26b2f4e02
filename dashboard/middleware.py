"""What holds for every request of a signed-in person."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.usersessions.middleware import UserSessionsMiddleware
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils import timezone

from copytrade import reports, visits
from copytrade.exchange.errors import ExchangeError
from copytrade.models import User

from . import htmx
from .errors import demo_page, exchange_page

Answer = Callable[[HttpRequest], HttpResponse]

SEEN_EVERY = 60  # seconds
# What the demo's visitors share they must not change: the sign-in, its second factor and each other's sessions.
DEMO_CLOSED = ("account_", "mfa_", "usersessions_", "invitation", "channel_", "digest_plan")
DEMO_OPEN = ("account_logout", "account_login")

# Pages that show a secret that stays the same when they are loaded again: keys of the second factor, invitations.
SECRETS = ("mfa_", "invitation")


class CompressionMiddleware(GZipMiddleware):
    """Pages and parts as gzip; what streams or is saved as a file goes out as it is.

    BREACH reads a secret off the lengths of compressed answers that also repeat what the attacker sent. It needs a
    secret that stays: the CSRF token is masked anew in each answer, and pages with another secret are not compressed.
    It needs many requests with the cookie from another site: ours is SameSite=Lax. And Django adds bytes at random.
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        match = request.resolver_match
        secret = match is not None and (match.url_name or "").startswith(SECRETS)
        if secret or response.streaming or response.has_header("Content-Disposition"):
            return response
        return super().process_response(request, response)


class SignInMiddleware(LoginRequiredMiddleware):
    """Every page asks for a sign-in unless its view says otherwise. A part that htmx asks for reloads its page."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=401, headers={"HX-Refresh": "true"})
        return super().handle_no_permission(request, view_func)


class SessionsMiddleware(UserSessionsMiddleware):
    """Notes when a browser was last seen: by its own pages only (one that is left open refreshes its parts for hours)
    and once a minute per process, as it takes five statements. Another address or another browser is noted at once."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.headers.get("HX-Request") == "true" or _seen_lately(request):
            return self.get_response(request)
        return super().__call__(request)


def _seen_lately(request: HttpRequest) -> bool:
    told = (
        request.session.session_key,
        get_adapter().get_client_ip(request),
        request.headers.get("User-Agent", ""),
    )
    name = hashlib.sha256(repr(told).encode()).hexdigest()
    return not caches["process"].add(f"seen:{name}", 1, SEEN_EVERY)


class VisitMiddleware:
    """Notes when a person was last here, by pages alone: one that is left open refreshes its parts for hours."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and not htmx.wants_part(request):
            visits.note(request.user, timezone.now())
        return self.get_response(request)


class PersonMiddleware:
    """Times in the person's zone, pages never cached by others, and the demo's limits."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        signed_in = isinstance(request.user, User)
        timezone.activate(reports.zone_of(request.user) if signed_in else UTC)
        try:
            response = self.get_response(request)
        finally:
            timezone.deactivate()
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        name = (request.resolver_match.url_name or "") if request.resolver_match else ""
        closed = name.startswith(DEMO_CLOSED) and name not in DEMO_OPEN
        if closed and getattr(request.user, "is_demo", False):
            return demo_page(request)
        return None


class ExchangeErrorMiddleware:
    """An exchange error that no view caught becomes a page with a sentence and a next step, not a 500."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return exchange_page(request, error) if isinstance(error, ExchangeError) else None
