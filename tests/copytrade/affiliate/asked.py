"""Questions about reports, and what a test does with one: asked over days back, read to its end, looked at."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from typing import Any

from django.utils import timezone

from copytrade.affiliate import KINDS, fetching
from copytrade.models import AffiliateReport, AffiliateRow

COMMISSIONS, USERS, TRADING = KINDS["commissions"], KINDS["users"], KINDS["trading"]
State = AffiliateReport.State
BOTH = {"product_type": "both"}


def days(back: int, until: int = 0) -> dict[str, date]:
    today = timezone.now().astimezone(UTC).date()
    return {"since": today - timedelta(days=back), "until": today - timedelta(days=until)}


def read_all(report: AffiliateReport) -> AffiliateReport:
    while fetching.read(report.pk) == fetching.MORE:
        pass
    report.refresh_from_db()
    return report


def records(report: AffiliateReport) -> list[dict[str, Any]]:
    return list(AffiliateRow.objects.filter(report=report).values_list("record", flat=True))
