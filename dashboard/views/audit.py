"""The audit log: what a person sent, restored, imported and used. And the operator's demand on senders."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from copytrade import audit as log
from copytrade.models import AuditEntry
from dashboard import access, stepup
from dashboard.filters import whole

PAGE = 50


@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    """A person's own deeds, newest first, walked by id: an entry never moves between two pages."""
    action = request.GET.get("action", "")
    action = action if action in AuditEntry.Action.values else ""
    found = list(
        log.entries(access.person(request), action=action, before=whole(request.GET.get("before")))[
            : PAGE + 1
        ]
    )
    context = {
        "entries": [(entry, _pretty(entry.details)) for entry in found[:PAGE]],
        "older": found[PAGE - 1].pk if len(found) > PAGE else None,
        "actions": AuditEntry.Action.choices,
        "action": action,
    }
    return render(request, "security/audit.html", context)


def _pretty(details: dict[str, Any]) -> str:
    return json.dumps(details, indent=2, ensure_ascii=False) if details else ""


@require_POST
def policy(request: HttpRequest) -> HttpResponse:
    """The operator demands a second factor for sending, or does not. He proves himself as for sending."""
    operator = access.operator(request)
    if proof := stepup.required(
        request, reverse("security"), "change what everybody must prove before sending"
    ):
        return proof
    wanted = request.POST.get("second_factor_for_sending")
    if wanted not in ("on", "off"):
        messages.error(request, "Nothing was changed. Use one of the buttons.")
    elif log.set_second_factor_for_sending(operator, wanted == "on").second_factor_for_sending:
        messages.success(request, "From now on everybody needs a second factor to send settings.")
    else:
        messages.success(request, "From now on the password is enough to send settings.")
    return redirect("security")
