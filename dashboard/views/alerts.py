"""Alerts: the inbox, newest first, and marking as read."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from copytrade import alert_mail
from copytrade import alerts as inbox
from copytrade.models import Alert
from dashboard import access

PAGE = 30


@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """What the desk noticed. "Open" is what was neither read nor healed; "all" keeps the rest in view."""
    person, filters = access.person(request), _filters(request)
    found = inbox.inbox(person, show=filters["show"], kind=filters["kind"])
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": _rows(page),
        "filters": filters,
        "kinds": Alert.Kind.choices,
        "mailed_to": person.email if settings.EMAIL_HOST and not person.is_demo else "",
    }
    return render(request, "alerts/alerts.html", context)


@require_POST
def read(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark one as read. A second time changes nothing."""
    mine = Alert.objects.filter(owner=access.person(request))
    alert = get_object_or_404(mine, pk=pk)
    inbox.mark_read(mine.filter(pk=alert.pk))
    return redirect(_back(request))


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark as read what stood on the page, and nothing that came in since."""
    mine = Alert.objects.filter(owner=access.person(request))
    shown = [
        int(pk)
        for pk in request.POST.getlist("alert")[:PAGE]
        if pk.isascii() and pk.isdigit() and len(pk) < 18
    ]
    inbox.mark_read(mine.filter(pk__in=shown))
    return redirect(_back(request))


def _rows(page: Page) -> list[dict[str, Any]]:
    rows = []
    for alert in page:
        path, words = alert_mail.cure(alert)
        rows.append({"alert": alert, "cure": path, "cure_words": words})
    return rows


def _filters(request: HttpRequest) -> dict[str, str]:
    source = request.POST if request.method == "POST" else request.GET
    kind = source.get("kind", "")
    return {
        "show": "all" if source.get("show") == "all" else "open",
        "kind": kind if kind in Alert.Kind.values else "",
    }


def _back(request: HttpRequest) -> str:
    """The inbox with the filters that the button stood under."""
    return f"{reverse('alerts')}?{urlencode(_filters(request))}"
