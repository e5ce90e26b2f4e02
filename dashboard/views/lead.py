"""Lead trader: own history by a copy-trade key, with the same figures as a follower's copies get."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.models import Account, LeadOrder
from copytrade.reports import lead as own_orders
from copytrade.reports import own
from copytrade.reports.lead import LeadFilters
from dashboard import access, charts, exports, figures, filters, htmx
from dashboard.filters import ALL, MONTH, QUARTER, WEEK, YEAR

PERIODS = (WEEK, MONTH, QUARTER, YEAR, ALL)
PER_PAGE, MOST_SYMBOLS = 20, 12
EQUITY = "equity"  # the table of the line, which is sent to those who open it
COLUMNS = (
    ("tracking_no", "id"), ("symbol", "text"), ("position_side", "text"), ("status", "text"),
    ("open_order_id", "id"), ("open_leverage", "number"), ("open_price_avg", "number"), ("open_time", "time"),
    ("open_size", "number"), ("open_fill_size", "number"), ("open_fee", "number"), ("open_margin_amount", "number"),
    ("tp_trigger_price", "number"), ("sl_trigger_price", "number"), ("realized_pnl", "number"),
    ("profit_rate", "number"), ("net_profit", "number"), ("follow_count", "number"), ("created_time", "time"),
    ("update_time", "time"),
)  # fmt: skip


@require_safe
def lead(request: HttpRequest, pk: int) -> HttpResponse:
    account = access.account_read(request, pk)
    period, asked = _asked(request)
    pages = Paginator(_ordered(account, asked), PER_PAGE)
    symbols, statuses = own_orders.choices(account)
    context = {
        "account": account,
        "period": period,
        "periods": PERIODS,
        "filters": asked,
        "page": pages.get_page(request.GET.get("page")),
        "symbols": symbols,
        "statuses": statuses,
        "show": request.GET.get("show", ""),
    }
    opened = context["show"] == EQUITY
    if opened or not htmx.wants_part(request):
        context |= _around(request, account, asked)
    if opened and htmx.wants_part(request):
        return htmx.part(request, "partials/equity_table.jinja", context)
    return htmx.render(request, "lead/lead.html", context, partial="ledger")


def _around(request: HttpRequest, account: Account, asked: LeadFilters) -> dict[str, Any]:
    now, zone = timezone.now(), reports.zone_of(access.person(request))
    job = own.job_of(account, "lead")
    told = own_orders.page_of(account, asked.since, now, zone)
    return {
        "accounts": list(access.accounts(request)),
        "job": job,
        "reach": own_orders.reach_of(account, job),
        "told_page": told,
        "summary": told.summary,
        "figures": figures.figures(told.summary),
        "still": charts.still(told.curve, zone),
        "title": "Net result",
        "daily": bool(told.closed_on),
        "table": SimpleLazyObject(lambda: charts.rows_of(told.daily, told.closed_on)),
        "marked": [],
        "told": charts.told(told.summary.net_profit, told.summary.max_drawdown, told.summary.closed_copies),
        "by_symbol": _bars(told),
    }


def _bars(told: own_orders.LeadPage) -> list[tuple[Any, charts.Bar]]:
    """The symbols with the best and the worst results, each with its bar."""
    rows = list(zip(told.by_symbol, charts.bars([row.net for row in told.by_symbol]), strict=True))
    return rows if len(rows) <= MOST_SYMBOLS else rows[: MOST_SYMBOLS // 2] + rows[-MOST_SYMBOLS // 2 :]


def _asked(request: HttpRequest) -> tuple[filters.Period, LeadFilters]:
    query, zone = request.GET, reports.zone_of(access.person(request))
    period = filters.period(query, PERIODS, QUARTER)
    return period, LeadFilters(
        symbol=query.get("symbol", "").replace("\x00", "")[:200],
        status=query.get("status", "").replace("\x00", "")[:200],
        since=period.since(timezone.now(), zone),
    )


def _ordered(account: Account, asked: LeadFilters) -> QuerySet[LeadOrder]:
    newest = F("update_time").desc(nulls_last=True)
    return own_orders.orders_of(account, asked).order_by(newest, "-tracking_no")


@require_safe
def export(request: HttpRequest, pk: int, form: str) -> FileResponse:
    """Every order that the page's filters match, in its order."""
    if form not in exports.FORMATS:
        raise Http404
    account = access.account_read(request, pk)
    rows = _ordered(account, _asked(request)[1]).values_list(*[name for name, _ in COLUMNS])
    columns = [exports.Column(name, kind) for name, kind in COLUMNS]
    return exports.of_query(request, form, f"Own orders of {account.label}", columns, rows)
