"""Delete everything: what it means, the person's word for it, and how far it got."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from copytrade import erasure
from copytrade.models import Erasure, User
from dashboard import access, htmx, stepup
from dashboard.admission import nobody_yet
from dashboard.errors import demo_page
from dashboard.filters import whole

PAGE = "security/delete.html"


@require_http_methods(["GET", "HEAD", "POST"])
def delete_everything(request: HttpRequest) -> HttpResponse:
    """Name typed, password or second factor given just now: then nothing of this person is left to be used."""
    person = access.person(request)
    if person.is_demo:
        return demo_page(request)
    if request.method != "POST":
        stepup.returned(request)
        return render(request, PAGE, _told(request, person))
    if request.POST.get("name", "").strip() != person.get_username():
        problem = "This is not your user name. Nothing was deleted."
        return render(request, PAGE, _told(request, person, problem), status=422)
    if proof := stepup.required(request, reverse("delete_everything"), "delete everything of yours"):
        return proof
    try:
        begun = erasure.begin(person, _successor(request, person))
    except erasure.NotNow as error:
        return render(request, PAGE, _told(request, person, str(error)), status=409)
    logout(request)
    messages.success(request, "You are signed out everywhere, and your keys are destroyed.")
    return redirect("gone", begun.key)


@login_not_required
@never_cache
@require_GET
def gone(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """How far a deletion got, for whoever has its address: it says nothing of the person."""
    found = get_object_or_404(Erasure, key=key)
    share = 100 * found.removed_orders // found.orders if found.orders else 0
    context = {"erasure": found, "share": min(share, 100), "new_desk": nobody_yet()}
    return htmx.render(request, "security/gone.html", context, partial="progress")


def _successor(request: HttpRequest, person: User) -> User | None:
    chosen = whole(request.POST.get("successor"))
    return erasure.others(person).filter(pk=chosen).first() if chosen else None


def _told(request: HttpRequest, person: User, problem: str = "") -> dict[str, Any]:
    """What would go. Orders are counted only up to a bound: the page must not wait for a million."""
    most = 10_000
    orders = access.orders(request).order_by()[: most + 1].count()
    writes = [
        model._base_manager.filter(**{path: person}, state__in=model.OPEN_STATES).count()
        for model, path, _ in erasure.WRITES
    ]
    return {
        "problem": problem,
        "connections": list(access.accounts(request)),
        "orders": min(orders, most),
        "more_orders": orders > most,
        "open_changes": sum(writes),
        "others": list(erasure.others(person)) if person.is_operator else [],
        "last": not erasure.others(person).exists(),
        "chosen": whole(request.POST.get("successor")),
    }
