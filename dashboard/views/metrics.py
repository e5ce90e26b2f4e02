"""/metrics for Prometheus: the desk as numbers, without people and without secrets."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from dashboard import access
from dashboard.exposition import registry


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """For who brings METRICS_TOKEN, and for the signed-in operator. For other people the page does not exist."""
    if "Authorization" in request.headers:
        if not _has_the_token(request):
            return HttpResponse(
                "This token is not the desk's.\n",
                status=401,
                content_type="text/plain",
                headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
            )
    elif not request.user.is_authenticated:
        return redirect_to_login(request.path)
    else:
        access.operator(request)
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    return HttpResponse(generate_latest(registry()), content_type=CONTENT_TYPE_LATEST)


def _has_the_token(request: HttpRequest) -> bool:
    """Compared in constant time. A desk without a token takes none."""
    scheme, _, given = request.headers["Authorization"].partition(" ")
    known = settings.METRICS_TOKEN
    return (
        bool(known)
        and scheme.lower() == "bearer"
        and secrets.compare_digest(given.strip().encode(), known.encode())
    )
