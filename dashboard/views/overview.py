"""The first page after signing in: is everything running, what is at risk, who earns money, and what is new."""

from __future__ import annotations

from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from copytrade import alerts, reports
from copytrade.models import Alert, SettingsVersion
from dashboard import access, charts, htmx, watching
from dashboard.filters import ALL, MONTH, QUARTER, WEEK, YEAR, Period, period

# What partials/state.jinja tells of the data's state.
TOLD_BY_STATE = {"refused": Alert.Kind.KEY_REFUSED, "stale": Alert.Kind.DATA_STALE}
PERIODS = (WEEK, MONTH, QUARTER, YEAR, ALL)
MOST_NEWS = 4
LINE = "Net result, all traders"


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    user = access.person(request)
    now, zone = timezone.now(), reports.zone_of(user)
    watching.watched(user)
    chosen = period(request.GET, PERIODS, QUARTER)
    show = request.GET.get("show", "")
    if show in ("chart", "equity") and htmx.wants_part(request):
        return _of_the_line(
            request, show, reports.overview_line(user, chosen.key, zone, now), chosen, now, zone
        )
    found = reports.overview(user, chosen.key, zone=zone, now=now)
    marks = _marks(found.settings, chosen.since(now, zone))
    ranked = sorted(found.traders, key=lambda row: row.brief.net_profit, reverse=True)
    context: dict[str, Any] = {
        "overview": found,
        "freshness": found.freshness,
        "tiles": found.tiles,
        "open": found.open,
        "periods": PERIODS,
        "period": chosen,
        "still": charts.still(found.equity, zone, marks),
        "points": len(found.equity),
        "readout": charts.readout(found.equity, zone),
        "told": _told(found),
        "title": LINE,
        "daily": bool(found.closed_on),
        "table": SimpleLazyObject(lambda: charts.rows_of(found.daily, found.closed_on)),
        "marked": SimpleLazyObject(lambda: charts.within(marks, found.equity)),
        "show": show,
        "traders": [(row, charts.polyline(row.spark)) for row in ranked],
        **_earning(ranked),
        **_reach(found),
        **_alerts(found),
        **_news(found),
        "accounts": found.accounts,
        "recent": found.recent[: _fitting(found)],
    }
    return render(request, "overview/overview.jinja", context, using="jinja2")


def _of_the_line(
    request: HttpRequest, show: str, line: reports.Line, chosen: Period, now: datetime, zone: tzinfo
) -> HttpResponse:
    """What is sent to those who point at the line, or open its table."""
    marks = _marks(line.settings, chosen.since(now, zone))
    if show == "chart":
        return htmx.data(charts.equity_data(line.equity, marks, str(zone)))
    context = {
        "title": LINE,
        "table": charts.rows_of(line.daily, line.closed_on),
        "marked": charts.within(marks, line.equity),
        "show": show,
    }
    return htmx.part(request, "partials/equity_table.jinja", context)


def _alerts(found: reports.Overview) -> dict[str, Any]:
    """What happened last and waits for the person, with the page that deals with it. What the banner about the
    data says already is not said twice."""
    told = TOLD_BY_STATE.get(found.freshness.state, "")
    alert = next((one for one in found.alerts if one.kind != told), None)
    if alert is None:
        return {"newest_alert": None}
    path, words = alerts.cure(alert)
    return {"newest_alert": {"alert": alert, "cure": path, "cure_words": words}}


def _earning(ranked: list[reports.TraderRow]) -> dict[str, Any]:
    """Who earned most and who lost most, among those who closed anything."""
    active = [row for row in ranked if row.brief.closed_copies]
    best = active[0] if active and active[0].brief.net_profit > 0 else None
    worst = active[-1] if active and active[-1].brief.net_profit < 0 else None
    return {"best": best, "worst": worst}


def _news(found: reports.Overview) -> dict[str, Any]:
    """Whom and what the numbers of the last visit are about."""
    at = found.since.at
    traders = [row.trader for row in found.traders]
    joined = [one for one in traders if one.copied and one.first_seen_at > at]
    return {
        "since": found.since,
        "changed": [version for version in found.settings if version.first_seen_at > at][:MOST_NEWS],
        "joined": joined[:MOST_NEWS],
        "joined_more": max(0, len(joined) - MOST_NEWS),
        "left": [one for one in traders if not one.copied and one.left_at and one.left_at > at][:MOST_NEWS],
        "raised": sum(alert.created_at > at for alert in found.alerts),
    }


def _reach(found: reports.Overview) -> dict[str, Any]:
    """The first day that a result can be told of, and whether nothing since then is missing."""
    first = found.first_day
    reach = found.freshness.complete_from
    return {"first_day": first, "complete": bool(first and reach and reach.date() <= first)}


def _fitting(found: reports.Overview) -> int:
    """How many closed copies stand beside the exposure without leaving a column empty."""
    overlaps = min(len(found.overlaps), 4)
    lines = len(found.open.by_symbol) + (2 + 1.9 * overlaps if overlaps else 0)
    return min(max(round(lines * 0.7), 4), len(found.recent))


def _told(found: reports.Overview) -> str:
    net = found.equity[-1][1] if found.equity else Decimal(0)
    return charts.told(net, found.deepest, sum(row.brief.closed_copies for row in found.traders))


def _marks(versions: list[SettingsVersion], since: datetime | None) -> list[tuple[datetime, str, str]]:
    return [
        (version.first_seen_at, "settings", f"Settings of {version.trader} {version.get_author_display()}")
        for version in versions
        if since is None or version.first_seen_at >= since
    ]
