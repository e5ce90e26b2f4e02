"""Two to four traders side by side."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from copytrade import reports
from copytrade.models import Trader
from dashboard import access, htmx, side_by_side
from dashboard.filters import QUARTER, period, whole
from dashboard.views.traders import TABLE_PERIODS

LEAST, MOST = 2, 4


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """The traders are in the address; a number of them that cannot be compared is said, with the choice again."""
    offered = access.to_choose_from(request)[1]
    chosen = _chosen(request, offered)
    asked = period(request.GET, TABLE_PERIODS, QUARTER)
    context: dict[str, Any] = {
        "offered": offered,
        "chosen": chosen,
        "accounts": {trader.account_id for trader in offered},
        "periods": TABLE_PERIODS,
        "period": asked,
        "show": request.GET.get("show", ""),
        "comparison": None,
        "wrong_number": _wrong_number(len(chosen), len(offered)),
    }
    if not context["wrong_number"]:
        with access.still_there():
            context |= _compared(request, chosen, asked.key)
        if context["show"] == "net" and htmx.wants_part(request):
            return htmx.part(request, "traders/compare_table.jinja", context)
    return render(request, "traders/compare.jinja", context, using="jinja2")


def _chosen(request: HttpRequest, offered: list[Trader]) -> list[Trader]:
    """The traders of the address, in its order, each once. Somebody else's does not exist."""
    own = {trader.pk: trader for trader in offered}
    keys = [key for key in map(whole, request.GET.getlist("trader")) if key is not None]
    if any(key not in own for key in keys):
        raise Http404
    return [own[key] for key in dict.fromkeys(keys)]


def _wrong_number(n: int, offered: int) -> str:
    if LEAST <= n <= MOST:
        return ""
    if offered < LEAST:
        return "A comparison needs two traders, and there are not two yet."
    if n == 0:
        return "Choose two to four traders to see them side by side."
    if n == 1:
        return "One trader is chosen. A comparison needs at least one more, and takes up to four."
    return f"{n} traders are chosen, and four fit side by side. Take some away."


def _compared(request: HttpRequest, chosen: list[Trader], key: str) -> dict[str, Any]:
    zone = reports.zone_of(access.person(request))
    found = reports.compare(chosen, key, timezone.now(), zone)
    return {
        "comparison": found,
        "lines": side_by_side.lines(found.traders),
        "net_plot": side_by_side.net_plot(found, zone),
        "relative_plot": side_by_side.relative_plot(found, zone),
        "drawdown_plot": side_by_side.drawdown_plot(found, zone),
        "table": SimpleLazyObject(lambda: side_by_side.rows_of(found.traders)),
        "told": side_by_side.told(found.traders),
        "bases": {one.summary.capital_label for one in found.traders},
        "without_base": [one.trader for one in found.traders if not one.summary.capital],
        "stale": any(one.stale for one in found.traders),
        "few": [
            one.trader for one in found.traders if one.summary.closed_copies < side_by_side.MINIMUM_COPIES
        ],
    }
