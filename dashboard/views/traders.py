"""Who earns money, after costs: all traders in one table, and each on a page."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from copytrade import reports, rules, versions
from copytrade.models import SettingsChange, SettingsVersion, Trader
from copytrade.statistics import DEFINITIONS
from dashboard import access, charts, htmx, watching
from dashboard.filters import ALL, MONTH, QUARTER, period

PERIODS = (MONTH, QUARTER, ALL)
LOWEST = Decimal("-Infinity")
SORTS: dict[str, tuple[str, Callable[[reports.TraderRow], Any]]] = {
    "name": ("Trader", lambda row: str(row.trader).casefold()),
    "net": ("Net, USDT", lambda row: row.summary.net_profit),
    "roi": ("ROI", lambda row: _or_lowest(row.summary.roi_on_capital)),
    "win": ("Win rate", lambda row: _or_lowest(row.summary.win_rate)),
    "drawdown": ("Drawdown", lambda row: _or_lowest(row.summary.max_drawdown_percent)),
    "n": ("Copies", lambda row: row.summary.closed_copies),
    "money": ("Money there", lambda row: _or_lowest(row.trader.copy_trading_balance)),
}


def _or_lowest(value: Decimal | None) -> Decimal:
    return LOWEST if value is None else value


@require_safe
def traders(request: HttpRequest) -> HttpResponse:
    """Copied and former traders in one table; nothing ever drops out. Sorting and period are in the address."""
    user = access.person(request)
    chosen = period(request.GET, PERIODS, ALL)
    sort = request.GET.get("sort", "net")
    sort = sort if sort in SORTS else "net"
    ascending = request.GET.get("dir", "up" if sort == "name" else "down") == "up"
    rows = reports.traders_table(user, chosen.key)
    rows.sort(key=SORTS[sort][1], reverse=not ascending)
    context = {
        "rows": [(row, charts.polyline(row.spark)) for row in rows],
        "columns": _columns(sort, ascending),
        "periods": PERIODS,
        "period": chosen,
        "freshness": reports.freshness(user, ["traders", "history"]),
        "copied": sum(row.trader.copied for row in rows),
        "total": sum((row.summary.net_profit for row in rows), Decimal(0)),
        "accounts": {row.trader.account_id for row in rows},
        "bases": sorted({row.summary.capital_label for row in rows if row.summary.capital_label}),
    }
    return htmx.render(request, "traders/traders.html", context, partial="table")


def _columns(sort: str, ascending: bool) -> list[dict[str, str]]:
    """The headings: pressing the one in force turns its direction round."""
    columns = []
    for key, (label, _) in SORTS.items():
        here = key == sort
        turned = "down" if (here and ascending) or (not here and key != "name") else "up"
        order = "" if not here else "ascending" if ascending else "descending"
        columns.append({"key": key, "label": label, "dir": turned, "order": order})
    return columns


@require_safe
def trader(request: HttpRequest, pk: int) -> HttpResponse:
    """What this trader earned, at what risk, at what cost, and whether it adds up."""
    found = access.trader_read(request, pk)
    watching.watch_account(found.account)
    user = access.person(request)
    now, zone = timezone.now(), reports.zone_of(user)
    chosen = period(request.GET, PERIODS, QUARTER)
    report = reports.trader_page(found, chosen.key, now, zone)
    stored = list(found.versions.all()[:50])
    context = {
        "trader": found,
        "report": report,
        "summary": report.summary,
        "definitions": DEFINITIONS,
        "periods": PERIODS,
        "period": chosen,
        "freshness": reports.freshness(found.account, ["open", "history"]),
        "gaps": found.account.gaps.count(),
        **_pictures(report, stored, str(zone)),
        **_in_force(stored),
        **_orders(user, found),
        "change": found.changes.exclude(state=SettingsChange.State.DRAFT).first(),
    }
    return render(request, "traders/trader.html", context)


def _pictures(report: reports.TraderPage, stored: list[SettingsVersion], zone: str) -> dict[str, Any]:
    by_symbol = report.breakdowns["symbol"]
    marks = [
        (version.first_seen_at, f"Settings {version.get_author_display()}")
        for version in stored
        if version.author != SettingsVersion.Author.FIRST
    ]
    bars = charts.bars([row.net for row in by_symbol])
    return {
        "still": charts.still(report.curve),
        "chart": charts.equity_data(report.curve, marks, zone),
        "table": charts.rows_of(report.daily),
        "calendar": charts.calendar(report.daily),
        "by_symbol": list(zip(by_symbol, bars, strict=True)),
        "breakdowns": [
            (title, [row for row in report.breakdowns[name] if row.n])
            for title, name in (("Side", "side"), ("Leverage", "leverage"), ("Holding time", "holding"))
        ],
        "told": charts.told(
            report.summary.net_profit, report.summary.max_drawdown, report.summary.closed_copies
        ),
    }


def _in_force(stored: list[SettingsVersion]) -> dict[str, Any]:
    """The settings last known to be in force, in words."""
    version = stored[0] if stored else None
    settings = versions.understood(version.answer) if version else None
    return {
        "version": version,
        "settings": settings,
        "in_words": rules.described(settings) if settings else [],
    }


def _orders(user: Any, found: Trader) -> dict[str, Any]:
    filters = reports.Filters(trader=found.pk)
    closed = found.orders.filter(closed=True, close_time__isnull=False)
    return {
        "open": reports.open_overview(user, filters),
        "latest": list(closed.order_by("-close_time", "-tracking_no")[:8]),
    }
