"""Account: what an account says of itself, its balances with search, and how one of them went."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from copytrade.models import Account, AccountFacts, BalanceDay
from copytrade.reports import own
from copytrade.statistics.exact import EXACT
from dashboard import access, exports, filters, htmx, permissions, plots

PER_PAGE = 100
MOST_SYMBOLS = 300
BALANCE_COLUMNS = (
    ("asset", "text"), ("free", "number"), ("locked", "number"), ("total", "number"),
)  # fmt: skip


@require_safe
def first(request: HttpRequest, to: str = "exchange_account", query: str = "") -> HttpResponse:
    """The page of the first account, or what to do where there is none."""
    mine = access.accounts(request)
    leads = mine.filter(lead_orders__isnull=False).order_by("pk") if to == "lead" else mine.none()
    account = leads.first() or mine.first()
    if account is None:
        return render(request, "account/none.html", {"place": to})
    response = redirect(to, account.pk)
    response.headers["Location"] += query
    return response


@require_safe
def account(request: HttpRequest, pk: int) -> HttpResponse:
    found = access.account_read(request, pk)
    search, hide = filters.word(request.GET.get("q", "")), request.GET.get("zero") == "hide"
    rows = own.balances(found, search, hide)
    pages = Paginator(rows, PER_PAGE)
    context = {
        "account": found,
        "search": search,
        "hide": hide,
        "page": pages.get_page(request.GET.get("page")),
    }
    if not htmx.wants_part(request):
        context |= _facts(request, found)
    return htmx.render(request, "account/account.html", context, partial="balances")


def _facts(request: HttpRequest, found: Account) -> dict[str, Any]:
    facts = AccountFacts.objects.filter(account=found).first()
    commissions = list((facts.symbol_commissions or {}).items()) if facts else []
    told = (
        None
        if facts is None or facts.permissions is None
        else [str(one)[:200] for one in facts.permissions[:50]]
    )
    return {
        "accounts": list(access.accounts(request)),
        "facts": facts,
        "job": own.job_of(found, "account"),
        "flags": own.flags(facts),
        "permissions": None if told is None else permissions.describe(told),
        "commissions": [(symbol, _as_it_came(value)) for symbol, value in commissions[:MOST_SYMBOLS]],
        "more_commissions": max(0, len(commissions) - MOST_SYMBOLS),
        "extras": [(name, _as_it_came(value)) for name, value in list(facts.extras.items())[:50]]
        if facts
        else [],
        "points_differ": _differ(facts),
        "past": _past(found, filters.word(request.GET.get("asset", ""))),
        "assets_known": BalanceDay.objects.filter(account=found)
        .order_by()
        .values("asset")
        .distinct()
        .count(),
    }


def _as_it_came(value: Any) -> str:
    """JSON of unknown structure as text, cut where it would fill the page."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 500 else text[:499] + "…"


def _differ(facts: AccountFacts | None) -> bool:
    """Do the two ways in which the exchange tells its fee rates say different things?"""
    if facts is None:
        return False
    pairs = ((facts.maker_commission, facts.maker_rate), (facts.taker_commission, facts.taker_rate))
    return any(
        points is not None and rate is not None and EXACT.multiply(rate, Decimal(10_000)) != points
        for points, rate in pairs
    )


def _past(found: Account, asset: str) -> dict[str, Any] | None:
    """The line of one asset's balance, and its table; None where nobody asked for one."""
    if not asset:
        return None
    zero = Decimal(0)
    days = [
        (day, free, locked, EXACT.add(free or zero, locked or zero))
        for day, free, locked in own.past_of(found, asset)
    ]
    points = [(datetime.combine(day, time(), UTC), together) for day, *_, together in days]
    if points:
        points.append((timezone.now(), points[-1][1]))
    return {
        "asset": asset,
        "days": days[::-1],
        "plot": plots.line(points, steps=True) if len(points) > 2 else None,
    }


@require_safe
def export(request: HttpRequest, pk: int, form: str) -> FileResponse:
    """The balances as the page shows them: the same search, the same order, all pages of it."""
    if form not in exports.FORMATS:
        raise Http404
    found = access.account_read(request, pk)
    rows = own.balances(found, filters.word(request.GET.get("q", "")), request.GET.get("zero") == "hide")
    columns = [exports.Column(name, kind) for name, kind in BALANCE_COLUMNS]
    told = rows.values_list(*[name for name, _ in BALANCE_COLUMNS])
    return exports.of_query(request, form, f"Balances of {found.label}", columns, told)
