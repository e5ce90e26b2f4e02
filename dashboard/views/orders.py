"""Open copies, and one order in full."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from copytrade import fills, reports, rules, versions
from copytrade.models import SyncJob, TrackingOrder
from copytrade.rollups.read import symbols_of
from dashboard import access, htmx, watching
from dashboard.filters import open_filters

# The exchange's fields as the order page lists them: label, field, how it is shown.
ORDER_FIELDS = (
    (
        "Opening",
        (
            ("Opened", "open_time", "when"),
            ("Average price", "open_price_avg", "number"),
            ("Size ordered", "open_size", "number"),
            ("Size filled", "open_fill_size", "number"),
            ("Leverage", "open_leverage", "times"),
            ("Margin", "open_margin_amount", "money"),
            ("Opening fee", "open_fee", "money"),
        ),
    ),
    (
        "Exits",
        (("Take profit at", "tp_trigger_price", "number"), ("Stop loss at", "sl_trigger_price", "number")),
    ),
    (
        "Closing",
        (
            ("Closed", "close_time", "when"),
            ("Average price", "close_avg_price", "number"),
            ("Size closed", "close_size", "number"),
            ("Realized, before costs", "realized_pnl", "signed"),
            ("Net, after costs", "net_profit", "signed"),
            ("Profit rate", "profit_rate", "percent"),
        ),
    ),
    (
        "Identity",
        (
            ("Tracking order", "tracking_no", "id"),
            ("Opening order", "open_order_id", "id"),
            ("Closing order", "close_order_id", "id"),
            ("Side", "position_side", "text"),
            ("Status", "status", "text"),
            ("Created", "created_time", "when"),
            ("Last update", "update_time", "when"),
            ("First seen here", "first_seen_at", "when"),
        ),
    ),
)


@require_safe
def open_orders(request: HttpRequest) -> HttpResponse:
    """What is open now and how much is at risk. The part refreshes itself; the filters are in the address."""
    user = access.person(request)
    filters = open_filters(request.GET)
    watching.watched(user)
    jobs = access.readings(request)
    overview = reports.open_overview(user, filters)
    context = {
        "filters": filters,
        "overview": overview,
        "freshness": reports.freshness_of(jobs, ["open"]),
        "partial": _partial(jobs),
        "filtered": bool(filters.trader or filters.symbol),
    }
    if not htmx.wants_part(request):
        context["choices"] = {"traders": overview.traders, "symbols": symbols_of(user)}
    return htmx.render(request, "orders/open.jinja", context, partial="orders/open_now.jinja")


def _partial(jobs: list[SyncJob]) -> list[SyncJob]:
    """The open lists whose passes have not agreed, the longest in doubt first."""
    doubtful = [job for job in jobs if job.kind == SyncJob.Kind.OPEN and job.partial_since]
    return sorted(doubtful, key=lambda job: (job.partial_since, job.pk))


@require_safe
def order(request: HttpRequest, pk: int) -> HttpResponse:
    """Every field of one order, its revisions, and what the interface does not name."""
    found = access.order_read(request, pk)
    if not found.closed:
        watching.watch_account(found.account)
    request.place = "history" if found.closed else "open_orders"  # type: ignore[attr-defined]
    context = {
        "order": found,
        "derived": reports.open_order(found),
        "groups": [(title, _lines(found, fields)) for title, fields in ORDER_FIELDS],
        # Not `order.extras.items` in the template: a field of that name would stand in its place.
        "extras": list(found.extras.items()),
        "revisions": list(found.revisions.all()),
        "generations": reports.generations(found),
        "freshness": reports.freshness(found.account, ["history" if found.closed else "open"]),
        **_settings_then(found),
    }
    return render(request, "orders/order.jinja", context, using="jinja2")


def _settings_then(found: TrackingOrder) -> dict[str, object]:
    """The settings in force when this copy opened, in words, and where its fill differs from them."""
    then = versions.in_force(found.trader, found.open_time) if found.open_time else None
    settings = versions.understood(then.answer) if then else None
    return {
        "then": then,
        "certain": bool(then and found.open_time and versions.certain(then, found.open_time)),
        "then_words": rules.described(settings) if settings else [],
        "deviations": fills.deviations(found, settings) if settings else [],
    }


def _lines(found: TrackingOrder, fields: tuple) -> list[tuple[str, object, str]]:
    return [(label, getattr(found, name), kind) for label, name, kind in fields]
