"""Data issues: what is wrong with the data, in sentences; try again, or dismiss with a note."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from copytrade import issues as inbox
from copytrade import retries
from copytrade.models import BadRecord, DataIssue
from dashboard import access
from dashboard.filters import whole

PAGE = 30
NOTE_MOST = 500
STATES = (("open", "Open"), ("resolved", "Healed"), ("dismissed", "Dismissed"), ("all", "All"))


@require_GET
def issues(request: HttpRequest) -> HttpResponse:
    """The inbox of a person's accounts; open ones unless the address asks for others."""
    return _page(request)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try again what the issue is about. Asked for twice, it is done once."""
    issue = access.issue_write(request, pk)
    try:
        messages.success(request, retries.retry_issue(issue))
    except retries.KeyRefused:
        messages.error(request, "The key of this account was refused. Test it or put another in its place.")
        return redirect("connection", pk=issue.account_id)
    return redirect(_back(request))


@require_POST
def dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Close an issue with a note that says why. Without a note nothing happens, and what was typed stays."""
    issue = access.issue_write(request, pk)
    note = " ".join(request.POST.get("note", "").replace("\x00", "").split())
    if not 3 <= len(note) <= NOTE_MOST:
        return _page(request, refused=issue.pk, typed=note)
    if inbox.dismiss(issue, note):
        messages.success(request, "Dismissed. It stays in the list with your note.")
    else:
        messages.info(request, "This issue was closed already. Nothing was changed.")
    return redirect(_back(request))


def _page(request: HttpRequest, refused: int = 0, typed: str = "") -> HttpResponse:
    filters, found = _filters(request), access.issues(request)
    if filters["state"] != "all":
        found = found.filter(state=filters["state"])
    if filters["kind"]:
        found = found.filter(kind=filters["kind"])
    if filters["account"]:
        found = found.filter(account_id=filters["account"])
    source = request.POST if refused else request.GET
    page = Paginator(found, PAGE).get_page(source.get("page"))
    context = {
        "page": page,
        "rows": _rows(page),
        "filters": filters,
        "filtered": filters != {"state": "open", "kind": "", "account": 0},
        "states": STATES,
        "kinds": DataIssue.Kind.choices,
        "accounts": list(access.accounts(request)),
        "refused": refused,
        "typed": typed,
        "note_most": NOTE_MOST,
    }
    return render(request, "issues/issues.jinja", context, status=400 if refused else 200, using="jinja2")


def _rows(page: Page) -> list[dict[str, Any]]:
    """Each issue with the record that it is about, where there is one. One query for all of them."""
    shown = list(page)
    wanted = {(issue.account_id, retries.record_of(issue)) for issue in shown}
    records = BadRecord.objects.filter(
        account__in={account for account, _ in wanted}, fingerprint__in={name for _, name in wanted if name}
    )
    known = {(record.account_id, record.fingerprint): record for record in records}
    return [
        {
            "issue": issue,
            "record": known.get((issue.account_id, retries.record_of(issue))),
            "again": retries.AGAIN[issue.kind],
        }
        for issue in shown
    ]


def _filters(request: HttpRequest) -> dict[str, Any]:
    """What does not exist is no filter; a button keeps those that it stood under."""
    source = request.POST if request.method == "POST" else request.GET
    state, kind = source.get("state", ""), source.get("kind", "")
    account = whole(source.get("account")) or 0
    return {
        "state": state if state in dict(STATES) else "open",
        "kind": kind if kind in DataIssue.Kind.values else "",
        "account": account if account and access.accounts(request).filter(pk=account).exists() else 0,
    }


def _back(request: HttpRequest) -> str:
    kept = {name: value for name, value in _filters(request).items() if value and value != "open"}
    return f"{reverse('issues')}?{urlencode(kept)}" if kept else reverse("issues")
