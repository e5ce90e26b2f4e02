"""Bills of the spot and of the funding wallet: filters, sums, the balance over time, and whether they add up."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import F
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.models import Account, AccountFacts, Bill
from copytrade.reports import bills as figures
from copytrade.reports import own
from copytrade.reports.bills import BillFilters
from dashboard import access, charts, exports, filters, htmx, plots

CURVE = "curve"  # the table of the line, which is sent to those who open it
KINDS = {Bill.Wallet.SPOT.value: "bills", Bill.Wallet.FUNDING.value: "funding"}
COLUMNS = (
    ("wallet", "text", "wallet"),
    ("bill_id", "text", "bill_id"),
    ("time", "time", "at"),
    ("coin", "text", "coin"),
    ("coin_id", "id", "coin_id"),
    ("type", "text", "biz_type"),
    ("change", "number", "delta"),
    ("balance_after", "number", "after"),
    ("fees", "number", "fees"),
    ("fill_size", "number", "fill_size"),
    ("fill_value", "number", "fill_value"),
)


@require_safe
def bills(request: HttpRequest, pk: int) -> HttpResponse:
    account = access.account_read(request, pk)
    wallet, asked = _asked(request)
    request.place = "my_funding_bills" if wallet == Bill.Wallet.FUNDING else "my_bills"
    show = request.GET.get("show", "")
    if show == CURVE and htmx.wants_part(request):
        curve = _curve(request, account, wallet, asked.coin)
        return htmx.part(request, "account/curve_table.jinja", {"curve": curve, "show": show})
    rows = figures.bills_of(account, wallet, asked)
    after, before = request.GET.get("after", ""), request.GET.get("before", "")
    try:
        page = figures.page_of(rows, after, before)
    except (ValueError, OverflowError):
        page = figures.page_of(rows)
    context = {
        "account": account,
        "wallet": wallet,
        "show": show,
        "filters": asked,
        "filtered": asked != BillFilters(),
        "page": page,
        "rows": [(bill, figures.type_words(bill.biz_type)) for bill in page.bills],
        "sums": figures.sums(rows)[:20],
        "undated": figures.undated(rows),
    }
    if not htmx.wants_part(request):
        context |= _around(request, account, wallet, asked)
    return htmx.render(request, "account/bills.html", context, partial="ledger")


def _around(request: HttpRequest, account: Account, wallet: str, asked: BillFilters) -> dict[str, Any]:
    job = own.job_of(account, KINDS[wallet])
    facts = AccountFacts.objects.filter(account=account).first()
    coins, types = figures.choices(account, wallet)
    return {
        "accounts": list(access.accounts(request)),
        "wallets": Bill.Wallet.choices,
        "job": job,
        "reach": figures.reach_of(job),
        "coins": coins,
        "types": types,
        "check": figures.check(account, wallet, job, facts),
        "curve": _curve(request, account, wallet, asked.coin),
    }


def _curve(request: HttpRequest, account: Account, wallet: str, coin: str) -> dict[str, Any]:
    """The line of the asset asked for, in the filters or by its own links; else of the busiest."""
    offered = figures.busiest(account, wallet)
    coin = request.GET.get("draw", "").replace("\x00", "")[:200] or coin or (offered[0] if offered else "")
    points = figures.curve(account, wallet, coin) if coin else []
    shown = charts.thinned([(when, after, after) for when, after in points], charts.STEP_POINTS)
    zone = reports.zone_of(access.person(request))
    return {
        "coin": coin,
        "offered": offered,
        "n": len(points),
        "cut": len(points) == figures.MOST_POINTS,
        "last": points[-1] if points else None,
        "plot": plots.line([(when, after) for when, after, _ in shown], zone, steps=True),
        "points": points,
    }


def _asked(request: HttpRequest) -> tuple[str, BillFilters]:
    """The wallet and the filters of the address. Days are those of the person's zone; `until` is the last one shown."""
    query, zone = request.GET, reports.zone_of(access.person(request))
    since, until = filters.day_of(query.get("since")), filters.day_of(query.get("until"))
    wallet = query.get("wallet", "")
    return wallet if wallet in KINDS else Bill.Wallet.SPOT.value, BillFilters(
        coin=query.get("coin", "").replace("\x00", "")[:200],
        biz_type=query.get("type", "").replace("\x00", "")[:200],
        since=datetime.combine(since, time(), zone) if since else None,
        until=datetime.combine(until + timedelta(days=1), time(), zone)
        if until and until.year < 9999
        else None,
    )


@require_safe
def export(request: HttpRequest, pk: int, form: str) -> FileResponse:
    """Every bill that the page's filters match, newest first: all pages of it in one file, the undated ones last."""
    if form not in exports.FORMATS:
        raise Http404
    account = access.account_read(request, pk)
    wallet, asked = _asked(request)
    rows = figures.bills_of(account, wallet, asked).order_by(F("at").desc(nulls_last=True), "-place", "-pk")
    columns = [exports.Column(name, kind) for name, kind, _ in COLUMNS]
    name = f"{'Spot' if wallet == Bill.Wallet.SPOT else 'Funding'} bills of {account.label}"
    return exports.of_query(request, form, name, columns, rows.values_list(*[field for *_, field in COLUMNS]))
