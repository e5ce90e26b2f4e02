"""Activity: does the desk keep up, what did it read and write, with what result, and what does it cost."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET, require_POST

from copytrade import budget, reports, retries
from copytrade.models import Account, SettingsChange, SyncJob
from copytrade.reports import activity as figures
from copytrade.reports.more import one_more
from dashboard import access, charts, htmx
from dashboard.filters import whole
from dashboard.sheets import sheet

MINUTES = "minutes"  # the table of what was spent, which is sent to those who open it
PAGE = 25
ACCOUNTS = 25
PLANNED_EVERY = 60  # seconds: the planner itself looks no more often


@require_GET
def activity(request: HttpRequest) -> HttpResponse:
    """How current the data is and what it costs, each account's readings, and everything read and written.

    The operator's figures are those of the whole desk; the rows below them are a person's own, always.
    """
    accounts, jobs, states = figures.board_of(access.person(request))
    target = htmx.wants_part(request) and request.htmx.target  # type: ignore[attr-defined]
    if request.GET.get("show") == MINUTES and target == f"{MINUTES}-table":
        return htmx.part(request, "activity/minutes_table.jinja", _spent(request, accounts))
    filters = _filters(request, {account.pk for account in accounts})
    if target == "live":
        return htmx.part(request, "activity/live.jinja", _live(request, accounts, jobs, states))
    runs = access.runs(request)
    changes = SettingsChange.objects.filter(trader__account__owner=access.person(request))
    if filters["account"]:
        runs = runs.filter(account_id=filters["account"])
        changes = changes.filter(trader__account_id=filters["account"])
    if filters["kind"]:
        runs = runs.filter(kind=filters["kind"])
    if filters["errors"]:
        runs = runs.exclude(error_code="", error_message="", bad=0)
    context = {
        "accounts": accounts,
        "filters": filters,
        "kinds": SyncJob.Kind.choices,
        "page": sheet(runs, PAGE, request.GET.get("page")),
    }
    if not htmx.wants_part(request):
        context |= _live(request, accounts, jobs, states)
        context["changes"] = list(
            changes.exclude(state=SettingsChange.State.DRAFT).select_related(
                "trader", "trader__account", "author"
            )[:20]
        )
    return htmx.render(request, "activity/activity.jinja", context, partial="activity/runs.jinja")


def _live(
    request: HttpRequest, accounts: list[Account], jobs: list[SyncJob], states: dict[str, int]
) -> dict[str, Any]:
    """The figures and the accounts: what a look now and then is for. It follows by itself."""
    user = access.person(request)
    whole_desk = user.is_operator
    venues = _venues(accounts)
    return {
        "accounts": accounts,
        "whole_desk": whole_desk,
        "staleness": figures.staleness(None) if whole_desk else figures.staleness_of(jobs),
        "states": states,
        **_spent(request, accounts),
        "operations": figures.operations() if whole_desk else [],
        "budget": budget.shares(venues),
        "one_more": caches["process"].get_or_set(
            f"one-more:{venues}", lambda: one_more(venues), PLANNED_EVERY
        ),
        "board": figures.board(accounts, jobs, ACCOUNTS),
        "freshness": reports.freshness_of(jobs),
    }


def _spent(request: HttpRequest, accounts: list[Account]) -> dict[str, Any]:
    """Request weight of the last hour, as pictures and as their table."""
    now = timezone.now()
    spent = figures.spending(None if access.person(request).is_operator else _venues(accounts), now)
    return {
        "show": request.GET.get("show", ""),
        "spending": [(row, charts.minutes(row.by_minute)) for row in spent],
        "minutes": SimpleLazyObject(lambda: figures.by_minute(spent, now)),
    }


def _venues(accounts: list[Account]) -> list[str]:
    return sorted({account.venue for account in accounts})


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a reading due now. A refused key is its owner's to mend: that leads to the connection instead."""
    job = access.job_write(request, pk)
    try:
        retries.retry_reading(job)
    except retries.KeyRefused:
        messages.error(request, f"The key of {job.account} was refused. Test it or put another in its place.")
        return redirect("connection", pk=job.account_id)
    messages.success(request, f"{job.account}: the {job.get_kind_display()} are read again now.")
    return redirect("activity")


def _filters(request: HttpRequest, mine: set[int]) -> dict[str, Any]:
    """The address's filters; what does not exist or is not the person's is no filter."""
    kind = request.GET.get("kind", "")
    number = whole(request.GET.get("account")) or 0
    return {
        "account": number if number in mine else 0,
        "kind": kind if kind in SyncJob.Kind.values else "",
        "errors": request.GET.get("errors") == "1",
    }
