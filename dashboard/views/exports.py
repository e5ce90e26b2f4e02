"""Files of what the pages show: the same filters, the same rows, the same order."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.models import TrackingOrder
from copytrade.reports.history import NEWEST_FIRST
from copytrade.reports.history import history as closed_copies
from copytrade.reports.orders import open_rows
from dashboard import access
from dashboard.exports import FORMATS, Column, of_query
from dashboard.filters import history_filters, open_filters

# The column, its kind, and where it stands in the ledger.
ORDER_COLUMNS = (
    ("account", "text", "account__label"),
    ("trader_id", "id", "trader__trader_id"),
    ("trader", "text", "trader__name"),
    ("tracking_no", "id", "tracking_no"),
    ("symbol", "text", "symbol"),
    ("side", "text", "position_side"),
    ("status", "text", "status"),
    ("leverage", "number", "open_leverage"),
    ("open_time", "time", "open_time"),
    ("close_time", "time", "close_time"),
    ("open_price", "number", "open_price_avg"),
    ("close_price", "number", "close_avg_price"),
    ("open_size", "number", "open_size"),
    ("filled_size", "number", "open_fill_size"),
    ("close_size", "number", "close_size"),
    ("margin_usdt", "number", "open_margin_amount"),
    ("open_fee_usdt", "number", "open_fee"),
    ("take_profit_price", "number", "tp_trigger_price"),
    ("stop_loss_price", "number", "sl_trigger_price"),
    ("realized_usdt", "number", "realized_pnl"),
    ("net_usdt", "number", "net_profit"),
    ("profit_rate", "number", "profit_rate"),
    ("open_order_id", "id", "open_order_id"),
    ("close_order_id", "id", "close_order_id"),
    ("updated", "time", "update_time"),
)


@require_safe
def history(request: HttpRequest, form: str) -> FileResponse:
    """Every closed copy that the page's filters match, newest first: all pages of it in one file."""
    user = access.person(request)
    rows = closed_copies(user, history_filters(request.GET, reports.zone_of(user)))
    return _orders(request, form, "History", rows.order_by(*NEWEST_FIRST))


@require_safe
def open_orders(request: HttpRequest, form: str) -> FileResponse:
    """The open copies that the page shows, in its order."""
    rows = open_rows(access.person(request), open_filters(request.GET))
    return _orders(request, form, "Open orders", rows)


def _orders(request: HttpRequest, form: str, name: str, rows: QuerySet[TrackingOrder]) -> FileResponse:
    if form not in FORMATS:
        raise Http404
    columns = [Column(label, kind) for label, kind, _ in ORDER_COLUMNS]
    return of_query(request, form, name, columns, rows.values_list(*[field for _, _, field in ORDER_COLUMNS]))
