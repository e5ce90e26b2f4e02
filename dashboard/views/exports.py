"""Files of what the pages show: the same filters, the same rows, the same order."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.utils import timezone
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.models import TrackingOrder, Trader
from copytrade.reports.history import UNDATED_LAST
from copytrade.reports.history import history as closed_copies
from copytrade.reports.orders import open_rows
from copytrade.statistics.exact import EXACT
from dashboard import access, asked
from dashboard.exports import FORMATS, Column, of_query, of_rows
from dashboard.filters import history_filters, open_filters
from dashboard.views.traders import sorted_rows, traders_asked

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
    """Every closed copy that the page's filters match, newest first: all pages of it in one file, and last all those
    without a closing time, of which the page names the first few."""
    user = access.person(request)
    rows = closed_copies(user, history_filters(request.GET, reports.zone_of(user)))
    return _orders(request, form, "History", rows.order_by(*UNDATED_LAST))


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


# Every figure of a summary that is one value, by its name there; USDT where it is money.
MONEY_FIGURES = (
    "net_profit", "gross", "cost_gap", "open_fees", "unexplained_costs", "provisional_net", "reported_total",
    "reconciliation_gap", "average_win", "average_loss", "expectancy", "max_drawdown", "current_drawdown",
    "capital", "peak_margin", "margin_turned_over", "best_day", "worst_day",
)  # fmt: skip
OTHER_FIGURES = (
    "closed_copies", "wins", "losses", "break_even", "provisional_copies", "win_rate", "payoff", "profit_factor",
    "max_drawdown_percent", "days_under_water", "recovery", "roi_on_capital", "roi_on_peak_margin",
    "roi_on_margin_turned_over", "sharpe", "sortino", "holding_hours_mean", "holding_hours_median", "time_in_market",
    "longest_win_streak", "longest_loss_streak",
)  # fmt: skip
TRADER_COLUMNS = (
    Column("account", "text"), Column("trader_id", "id"), Column("trader", "text"), Column("copied_now", "text"),
    Column("left", "time"), Column("balance_usdt", "number"), Column("open_copies", "number"),
    Column("open_margin_usdt", "number"), Column("period", "text"), Column("first_opened", "time"),
    Column("last_closed", "time"), Column("capital_base", "text"), Column("note", "text"),
    *(Column(f"{name}_usdt", "number") for name in MONEY_FIGURES),
    *(Column(name, "number") for name in OTHER_FIGURES),
)  # fmt: skip
DAILY_COLUMNS = (Column("day", "time"), Column("net_usdt", "number"), Column("together_usdt", "number"))
BREAKDOWN_COLUMNS = (
    Column("by", "text"), Column("group", "text"), Column("closed_copies", "number"), Column("net_usdt", "number"),
    Column("win_rate", "number"), Column("profit_factor", "number"), Column("why_not", "text"),
)  # fmt: skip


@require_safe
def traders(request: HttpRequest, form: str) -> FileResponse:
    """The table of traders as the page shows it, in its order, with every figure of the period."""
    if form not in FORMATS:
        raise Http404
    user = access.person(request)
    chosen, sort, ascending = traders_asked(request.GET)
    found, reaches = reports.table_and_reaches(user, chosen.key)
    rows = sorted_rows(found, sort, ascending)
    cells = [_trader_cells(row, chosen.key, reaches.get(row.trader.account_id)) for row in rows]
    return of_rows(request, form, "Traders", TRADER_COLUMNS, cells)


def _trader_cells(row: reports.TraderRow, period: str, reach: reports.Reach | None) -> list[Any]:
    trader, figures = row.trader, row.summary
    return [
        trader.account.label,
        trader.trader_id,
        str(trader),
        "yes" if trader.copied else "no",
        trader.left_at,
        trader.copy_trading_balance,
        row.open_count,
        row.open_margin,
        period,
        figures.since,
        figures.until,
        figures.capital_label,
        ", ".join(note.words for note in reports.notes(row, period, reach)),
        *(getattr(figures, name) for name in (*MONEY_FIGURES, *OTHER_FIGURES)),
    ]


@require_safe
def trader(request: HttpRequest, pk: int, what: str, form: str) -> FileResponse:
    """A trader's days, or his breakdowns, of the period in the address. `what`: "daily" or "breakdowns"."""
    if form not in FORMATS or what not in ("daily", "breakdowns"):
        raise Http404
    page = _page_of(access.trader_read(request, pk), request)
    name, columns, rows = (
        ("days", DAILY_COLUMNS, _days(page))
        if what == "daily"
        else ("breakdowns", BREAKDOWN_COLUMNS, _groups(page))
    )
    return of_rows(request, form, f"{page.trader} {name}", columns, rows)


def _page_of(found: Trader, request: HttpRequest) -> reports.TraderPage:
    """What the trader's page shows for this address: a stored period, or days of one's own choice."""
    now, zone = timezone.now(), reports.zone_of(access.person(request))
    wanted = asked.asked(request.GET, now.astimezone(zone).date())
    if wanted.first is not None and wanted.last is not None:
        return reports.trader_range(found, wanted.first, wanted.last, now, zone)
    return reports.trader_page(found, wanted.period.key, now, zone)


def _days(page: reports.TraderPage) -> list[tuple[Any, ...]]:
    running = accumulate((net for _, net in page.daily), EXACT.add)
    return [(day, net, together) for (day, net), together in zip(page.daily, running, strict=True)]


def _groups(page: reports.TraderPage) -> list[tuple[Any, ...]]:
    return [
        (by, row.key, row.n, row.net, row.win_rate, row.profit_factor, row.reason or None)
        for by, rows in page.breakdowns.items()
        for row in rows
        if row.n
    ]
