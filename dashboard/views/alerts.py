"""Alerts: the inbox, newest first, those that were folded into one, and marking as read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from copytrade import alerts as inbox
from copytrade.models import Alert
from dashboard import access
from dashboard.filters import one_of, whole

PAGE = 30
SHOWN = (("open", "Open"), ("read", "Read"), ("healed", "Healed"), ("all", "All"))
BAD = frozenset({Alert.Kind.KEY_REFUSED, Alert.Kind.LOSS, Alert.Kind.DRAWDOWN})
PLAIN = frozenset({Alert.Kind.OPENED, Alert.Kind.CLOSED, Alert.Kind.QUIET})


@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """What the desk noticed. "Open" is what was neither read nor healed; "all" keeps the rest in view."""
    person, filters = access.person(request), _filters(request)
    found = inbox.inbox(
        person,
        show=filters["show"],
        kind=filters["kind"],
        account=whole(filters["account"]),
        trader=whole(filters["trader"]),
    )
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    accounts, traders = access.to_choose_from(request)
    context = {
        "page": page,
        "rows": _rows(page, several=len(accounts) > 1),
        "filters": filters,
        "narrowed": any(filters[name] for name in ("kind", "account", "trader")),
        "shown": SHOWN,
        "kinds": Alert.Kind.choices,
        "accounts": accounts,
        "traders": traders,
    }
    return render(request, "alerts/alerts.jinja", context, using="jinja2")


@require_GET
def alert(request: HttpRequest, pk: int) -> HttpResponse:
    """One alert, with those that were folded into it."""
    found = access.alert_read(request, pk)
    parts = access.alerts(request).filter(folded_into=found).order_by("-created_at", "-pk")
    page = Paginator(parts, PAGE).get_page(request.GET.get("page"))
    several = access.accounts(request).count() > 1
    context = {
        "alert": found,
        "own": _rows([found], several=several)[0],
        "page": page,
        "rows": _rows(page, several=several),
    }
    return render(request, "alerts/alert.jinja", context, using="jinja2")


@require_POST
def read(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark one as read, with all that is folded into it. A second time changes nothing."""
    found = access.alert_read(request, pk)
    inbox.mark_read(Alert.objects.filter(pk=found.pk))
    return redirect(_back(request))


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark as read what stood on the page, and nothing that came in since."""
    shown = [number for pk in request.POST.getlist("alert")[:PAGE] if (number := whole(pk)) is not None]
    inbox.mark_read(Alert.objects.filter(owner=access.person(request), pk__in=shown))
    return redirect(_back(request))


def _rows(page: Iterable[Alert], *, several: bool) -> list[dict[str, Any]]:
    """`several`: the person has several connections, so that each alert says which one it is of."""
    rows = []
    for found in page:
        path, words = inbox.cure(found)
        where = found.account.label if several and found.account else ""
        rows.append({"alert": found, "cure": path, "cure_words": words, "where": where, "pill": _pill(found)})
    return rows


def _pill(found: Alert) -> str:
    if found.resolved_at:
        return "pill-good"
    if found.kind in BAD:
        return "pill-bad"
    return "" if found.silent or found.kind in PLAIN else "pill-warn"


def _filters(request: HttpRequest) -> dict[str, str]:
    """What the address, or the form that stood under it, asks for; what makes no sense is left out."""
    source = request.POST if request.method == "POST" else request.GET
    numbers = {name: whole(source.get(name)) for name in ("account", "trader")}
    return {
        "show": one_of(source.get("show"), SHOWN) or "open",
        "kind": one_of(source.get("kind"), tuple(Alert.Kind.choices)),
    } | {name: "" if number is None else str(number) for name, number in numbers.items()}


def _back(request: HttpRequest) -> str:
    """The inbox with the filters that the button stood under."""
    asked = {name: value for name, value in _filters(request).items() if value or name in ("show", "kind")}
    return f"{reverse('alerts')}?{urlencode(asked)}"
