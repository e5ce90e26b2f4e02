"""The first reading of a new connection: how far it is, followed by whatever page shows its banner."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from copytrade import reports
from dashboard import access, htmx

STAGES = ("start", "past", "")


@require_safe
def first_reading(request: HttpRequest) -> HttpResponse:
    """The banner as it is now; at a later stage than `was`, the whole page is worth loading anew."""
    if not htmx.wants_part(request):
        return redirect("overview")
    freshness = reports.freshness(access.person(request))
    was = request.GET.get("was", "")
    if was in STAGES and STAGES.index(freshness.stage) > STAGES.index(was):
        return HttpResponse(headers={"HX-Refresh": "true"})
    return htmx.part(request, "partials/first_reading.jinja", {"freshness": freshness})
