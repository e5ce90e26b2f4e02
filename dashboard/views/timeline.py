"""Every version of a trader's copy settings with its author, and the way back to any of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from copytrade import changes, reports, versions
from copytrade.models import SettingsChange, SettingsVersion, Trader
from dashboard import access

LENGTH = 30


@require_safe
def timeline(request: HttpRequest, pk: int) -> HttpResponse:
    """What was changed, when and by whom, newest first. `before` is the version that a page ended with."""
    trader = access.trader_read(request, pk)
    number = request.GET.get("before", "")
    before = _version(trader, int(number)) if number.isdecimal() and len(number) < 19 else None
    entries = reports.timeline(trader, limit=LENGTH + 1, before=before)
    context = {
        "trader": trader,
        "read_at": versions.read_at(trader),
        "entries": entries[:LENGTH],
        "older": entries[LENGTH - 1].version.pk if len(entries) > LENGTH else None,
        "continued": before is not None,
        "under_way": trader.changes.filter(state__in=SettingsChange.OPEN_STATES).first(),
    }
    return render(request, "copy_settings/timeline.html", context)


@require_POST
def restore(request: HttpRequest, pk: int, version: int) -> HttpResponse:
    """An earlier version as a draft, to be reviewed and sent like any other change."""
    trader = access.trader_write(request, pk)
    try:
        draft = changes.restore(_version(trader, version), access.person(request))
    except changes.ChangeRefused as refused:
        messages.error(request, str(refused))
        return redirect("copy_settings_timeline", pk=trader.pk)
    return redirect("copy_settings_change", pk=trader.pk, key=draft.key)


def _version(trader: Trader, pk: int) -> SettingsVersion:
    return get_object_or_404(trader.versions.select_related("trader__account"), pk=pk)
