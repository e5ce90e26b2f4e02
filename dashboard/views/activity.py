"""Activity: what was read from the exchange and written to it, with what result."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from copytrade import budget, reports
from copytrade.models import SettingsChange, SyncJob
from dashboard import access, htmx
from dashboard.filters import whole

PAGE = 50


@require_GET
def activity(request: HttpRequest) -> HttpResponse:
    """Readings (folded while nothing changes), settings changes, and records that could not be understood."""
    accounts = list(access.accounts(request))
    filters = _filters(request, {account.pk for account in accounts})
    runs = access.runs(request)
    bad = access.bad_records(request)
    changes = SettingsChange.objects.filter(trader__account__owner=access.person(request))
    if filters["account"]:
        runs, bad = runs.filter(account_id=filters["account"]), bad.filter(account_id=filters["account"])
        changes = changes.filter(trader__account_id=filters["account"])
    if filters["kind"]:
        runs = runs.filter(kind=filters["kind"])
    if filters["errors"]:
        runs = runs.exclude(error_code="", error_message="", bad=0)
    page = Paginator(runs, PAGE).get_page(request.GET.get("page"))
    context = {
        "accounts": accounts,
        "filters": filters,
        "kinds": SyncJob.Kind.choices,
        "page": page,
        "bad": list(bad.order_by("-last_seen_at")[:20]),
        "changes": list(
            changes.exclude(state=SettingsChange.State.DRAFT).select_related(
                "trader", "trader__account", "author"
            )[:20]
        ),
        "budget": budget.shares(account.venue for account in accounts),
        "fresh": reports.freshness(access.person(request)),
    }
    return htmx.render(request, "activity/activity.html", context, partial="runs")


def _filters(request: HttpRequest, mine: set[int]) -> dict[str, Any]:
    """The address's filters; what does not exist or is not the person's is no filter."""
    kind = request.GET.get("kind", "")
    number = whole(request.GET.get("account")) or 0
    return {
        "account": number if number in mine else 0,
        "kind": kind if kind in SyncJob.Kind.values else "",
        "errors": request.GET.get("errors") == "1",
    }
