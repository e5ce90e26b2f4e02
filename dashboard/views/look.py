"""The look of the pages, remembered in cookies: theme, and the colours of gain and loss."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from dashboard.context import GAINS, THEMES

YEAR = 31_536_000


@login_not_required
@require_POST
def look(request: HttpRequest) -> HttpResponse:
    """Remember `theme` or `gain`, and go back to the page the form was on."""
    chosen = {n: request.POST[n] for n in ("theme", "gain") if n in request.POST}
    if not chosen or chosen.get("theme", "system") not in THEMES or chosen.get("gain", "green") not in GAINS:
        return HttpResponseBadRequest("Choose one of the looks on offer.")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(back if safe else "/")
    for name, value in chosen.items():
        response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.PRODUCTION)
    return response
