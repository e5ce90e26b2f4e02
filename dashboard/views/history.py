"""Closed copies: the ledger, with filters in the address and totals of what is shown."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from copytrade import reports
from dashboard import access, htmx
from dashboard.filters import RESULTS, SIDES, history_filters


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    user = access.person(request)
    filters = history_filters(request.GET, reports.zone_of(user))
    after, before = request.GET.get("after", ""), request.GET.get("before", "")
    part = htmx.wants_part(request)
    try:
        page = reports.history_page(user, filters, after=after, before=before, whole=not part)
    except ValueError:
        page = reports.history_page(user, filters, whole=not part)
    context = {
        "filters": filters,
        "page": page,
        "undated": page.undated,
        "lost": page.totals.lost,
        "filtered": filters != reports.Filters(),
        "sides": SIDES,
        "results": RESULTS,
    }
    if not part:
        context["freshness"] = reports.freshness_of(page.jobs, ["history"])
        context["choices"] = {"traders": page.traders, "symbols": page.symbols}
        # Every connection has its readings from the beginning, so these name them all.
        context["accounts"] = list({job.account_id: job.account for job in page.jobs}.values())
    return htmx.render(request, "history/history.jinja", context, partial="history/ledger.jinja")
