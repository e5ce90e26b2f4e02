"""Who earns money, after costs: all traders in one table, and each on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.statistics.exact import total
from dashboard import access, charts, htmx
from dashboard.filters import ALL, MONTH, QUARTER, WEEK, YEAR, Period, period, whole

PERIODS = (MONTH, QUARTER, ALL)
TABLE_PERIODS = (WEEK, MONTH, QUARTER, YEAR, ALL)
# The heading, its explanation (a name of DEFINITIONS), and what is compared. What is not known comes last both ways.
SORTS: dict[str, tuple[str, str, Callable[[reports.TraderRow], Any]]] = {
    "name": ("Trader", "", lambda row: str(row.trader).casefold()),
    "net": ("Net, USDT", "net_profit", lambda row: row.brief.net_profit),
    "roi": ("ROI", "roi_on_capital", lambda row: row.brief.roi_on_capital),
    "win": ("Win rate", "win_rate", lambda row: row.brief.win_rate),
    "factor": ("Profit factor", "profit_factor", lambda row: row.brief.profit_factor),
    "drawdown": ("Drawdown", "max_drawdown_percent", lambda row: row.brief.max_drawdown_percent),
    "n": ("Copies", "closed_copies", lambda row: row.brief.closed_copies),
    "money": ("Money there", "", lambda row: row.trader.copy_trading_balance),
}


@require_safe
def traders(request: HttpRequest) -> HttpResponse:
    """Copied and former traders in one table; nothing ever drops out. Sorting and period are in the address."""
    user = access.person(request)
    chosen, sort, ascending = traders_asked(request.GET)
    found = reports.table(user, chosen.key)
    rows, reaches = sorted_rows(found.rows, sort, ascending), found.reaches
    since = chosen.since(timezone.now(), reports.zone_of(user))
    reach = max((one.complete_from for one in reaches.values() if one.complete_from), default=None)
    context = {
        "rows": [
            (
                row,
                charts.polyline(row.spark),
                reports.notes(row, chosen.key, reaches.get(row.trader.account_id)),
                found.ready[row.trader.pk],
            )
            for row in rows
        ],
        "columns": _columns(sort, ascending),
        "way": "up" if ascending else "down",
        "periods": TABLE_PERIODS,
        "period": chosen,
        "copied": sum(row.trader.copied for row in rows),
        "total": total(row.brief.net_profit for row in rows),
        "accounts": {row.trader.account_id for row in rows},
        "bases": sorted({row.brief.capital_label for row in rows if row.brief.capital_label}),
        "picked": {whole(text) for text in request.GET.getlist("trader")},
        "cut_at": reach if reach and since and since < reach else None,
    }
    if not htmx.wants_part(request):
        context["freshness"] = found.freshness
    return htmx.render(request, "traders/traders.jinja", context, partial="traders/listed.jinja")


def traders_asked(query: QueryDict) -> tuple[Period, str, bool]:
    """The period, the column to sort by, and whether upwards: `?sort=win`, or with a direction, `?sort=win-up`."""
    sort, _, way = query.get("sort", "net").partition("-")
    sort = sort if sort in SORTS else "net"
    return period(query, TABLE_PERIODS, ALL), sort, (way or ("up" if sort == "name" else "down")) == "up"


def sorted_rows(rows: list[reports.TraderRow], sort: str, ascending: bool) -> list[reports.TraderRow]:
    """Every trader in the table's order, also for its file."""
    value = SORTS[sort][2]
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=not ascending)
    return known + [row for row in rows if value(row) is None]


def _columns(sort: str, ascending: bool) -> list[dict[str, str]]:
    """The headings: pressing the one in force turns its direction round."""
    columns = []
    for key, (label, what, _) in SORTS.items():
        here = key == sort
        turned = "down" if (here and ascending) or (not here and key != "name") else "up"
        order = "" if not here else "ascending" if ascending else "descending"
        columns.append({"key": key, "label": label, "what": what, "dir": turned, "order": order})
    return columns
