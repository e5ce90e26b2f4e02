"""The first page after signing in: is everything running, what is at risk, and who earns money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from copytrade import alert_mail, alerts, reports
from copytrade.models import Alert, SettingsVersion, User
from dashboard import access, charts, watching
from dashboard.filters import ALL, MONTH, QUARTER, WEEK, YEAR, period

# What partials/state.html tells of the data's state.
TOLD_BY_STATE = {"refused": Alert.Kind.KEY_REFUSED, "stale": Alert.Kind.DATA_STALE}
PERIODS = (WEEK, MONTH, QUARTER, YEAR, ALL)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    user = access.person(request)
    now, zone = timezone.now(), reports.zone_of(user)
    watching.watched(user)
    chosen = period(request.GET, PERIODS, QUARTER)
    since = chosen.since(now, zone)
    found = reports.overview(user, chosen.key, zone=zone, now=now)
    points = found.equity
    ranked = sorted(found.traders, key=lambda row: row.summary.net_profit, reverse=True)
    context: dict[str, Any] = {
        "overview": found,
        "freshness": found.freshness,
        "tiles": found.tiles,
        "open": found.open,
        "periods": PERIODS,
        "period": chosen,
        "still": charts.still(points),
        "chart": charts.equity_data(points, _marks(reports.changed_outside(user, since)), str(zone)),
        "told": _told(points),
        "table": charts.rows_of(found.daily),
        "traders": [(row, charts.polyline(row.spark)) for row in ranked],
        **_reach(found),
        "newest_alert": _newest_alert(user, found.freshness.state),
        "accounts": found.accounts,
        "recent": reports.recent(user),
    }
    return render(request, "overview/overview.html", context)


def _newest_alert(user: User, state: str) -> dict[str, Any] | None:
    """What happened last and waits for the person, with the page that deals with it. What the banner about the
    data says already is not said twice."""
    alert = (
        alerts.inbox(user).exclude(kind=TOLD_BY_STATE.get(state, "")).order_by("-created_at", "-pk").first()
    )
    if alert is None:
        return None
    path, words = alert_mail.cure(alert)
    return {"alert": alert, "cure": path, "cure_words": words}


def _reach(found: reports.Overview) -> dict[str, Any]:
    """The first day that a result can be told of, and whether nothing since then is missing."""
    first = found.first_day
    reach = found.freshness.complete_from
    return {"first_day": first, "complete": bool(first and reach and reach.date() <= first)}


def _told(points: list[charts.Point]) -> str:
    deepest = max((depth for _, _, depth in points), default=Decimal(0))
    return charts.told(points[-1][1] if points else Decimal(0), deepest, len(points))


def _marks(outside: list[SettingsVersion]) -> list[tuple]:
    return [
        (version.first_seen_at, f"Settings of {version.trader} {version.get_author_display()}")
        for version in outside
    ]
