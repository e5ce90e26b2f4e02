"""The look of the pages, remembered in cookies: theme, colours of gain and loss, and whether single keys work."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from dashboard.context import GAINS, KEYS, THEMES

YEAR = 31_536_000
LOOKS = {"theme": THEMES, "gain": GAINS, "keys": KEYS}


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """The list of keys as a page, and the switch for those that stand alone."""
    return render(request, "help/keys.html")


@login_not_required
@require_POST
def look(request: HttpRequest) -> HttpResponse:
    """Remember `theme`, `gain` or `keys`, and go back to the page the form was on."""
    chosen = {n: request.POST[n] for n in LOOKS if n in request.POST}
    if not chosen or any(value not in LOOKS[name] for name, value in chosen.items()):
        return HttpResponseBadRequest("Choose one of the looks on offer.")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(back if safe else "/")
    for name, value in chosen.items():
        response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.PRODUCTION)
    return response
