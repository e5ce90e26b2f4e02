"""Pages for when something is not there, not allowed or broken; and the health check."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """What cannot be read. A form above the limits of settings.py is told so: 413."""
    too_large = isinstance(exception, (TooManyFieldsSent, RequestDataTooBig))
    limits = {
        "fields": settings.DATA_UPLOAD_MAX_NUMBER_FIELDS,
        "kb": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024,
    }
    context = {"too_large": too_large, "limits": limits}
    return render(request, "errors/400.html", context, status=413 if too_large else 400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The same page whether a row never was or is somebody else's."""
    return render(request, "errors/404.html", status=404)


def broken(request: HttpRequest) -> HttpResponse:
    """Rendered without the request: whatever broke the page may be in it."""
    return HttpResponseServerError(render_to_string("errors/500.html"))


@login_not_required
def csrf(request: HttpRequest, reason: str = "", **_: Any) -> HttpResponse:
    return render(request, "errors/csrf.html", status=403)


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 when the web process and the database answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")
