"""The audit log: sign-ins, keys, what a person sent, exported and imported. And the operator's demand on senders."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.db.models import TextField
from django.db.models.functions import Cast
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST, require_safe

from copytrade import audit as log
from copytrade import reports
from copytrade.models import AuditEntry, User
from dashboard import access, exports, stepup
from dashboard.filters import history_filters, whole

PAGE = 50
DESK = "desk"
# "settings exported" was true while settings were all that could be exported.
LABELS = dict(AuditEntry.Action.choices) | {AuditEntry.Action.EXPORTED: "exported"}
COLUMNS = (
    ("at", "time", "at"),
    ("kind", "text", "action"),
    ("what", "text", "subject"),
    ("times", "number", "times"),
    ("last_at", "time", "last_at"),
    ("account", "text", "account__label"),
    ("trader_id", "id", "trader__trader_id"),
    ("details", "text", "details_text"),
)


@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    """A person's own log, newest first, walked by id: an entry never moves between two pages."""
    of, asked = _asked(request)
    found = list(log.entries(of, asked, before=whole(request.GET.get("before")))[: PAGE + 1])
    context = {
        "entries": [
            (entry, _pretty(entry.details), LABELS.get(entry.action, entry.action)) for entry in found[:PAGE]
        ],
        "older": found[PAGE - 1].pk if len(found) > PAGE else None,
        "groups": [(word, label) for word, label, _ in log.GROUPS],
        "actions": LABELS.items(),
        "asked": asked,
        "narrowed": asked != log.Filters(),
        "accounts": access.accounts(request),
        "of_desk": of is None,
        "forms": exports.FORMATS,
    }
    return render(request, "security/audit.html", context)


@require_safe
def export(request: HttpRequest, form: str) -> FileResponse:
    """All that the page's filters match, as a file; it has an entry of its own afterwards."""
    if form not in exports.FORMATS:
        raise Http404
    rows = log.entries(*_asked(request)).annotate(details_text=Cast("details", TextField()))
    columns = [exports.Column(name, kind) for name, kind, _ in COLUMNS]
    return exports.of_query(
        request, form, "Audit log", columns, rows.values_list(*[source for _, _, source in COLUMNS])
    )


def _asked(request: HttpRequest) -> tuple[User | None, log.Filters]:
    """Whose log, and what of it: one's own, or (`of=desk`, for the operator alone) what is the desk's."""
    person, query = access.person(request), request.GET
    of = None if query.get("of") == DESK and access.operator(request) else person
    days, kind = history_filters(query, reports.zone_of(person)), query.get("kind", "")
    known = {word for word, _, _ in log.GROUPS} | set(AuditEntry.Action.values)
    return of, log.Filters(kind if kind in known else "", days.account, days.since, days.until)


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
