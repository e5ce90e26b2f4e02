"""Totals and pictures of a report, from its rows. Sums are exact; what was not told is counted, never taken for 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDay

from copytrade.models import AffiliateReport, AffiliateRow

from .kinds import Kind

MOST_GROUPS = 50

_LARGEST = """
SELECT coin, uid, commission, users FROM (
    SELECT coin, uid, sum(n1) AS commission, count(*) OVER (PARTITION BY coin) AS users,
           row_number() OVER (PARTITION BY coin ORDER BY sum(n1) DESC, uid) AS place
      FROM copytrade_affiliaterow WHERE report_id = %s AND n1 IS NOT NULL GROUP BY coin, uid) AS ranked
 WHERE place <= %s ORDER BY coin, place
"""


@dataclass(frozen=True)
class Total:
    """The sums of one group. `names`: its coin, product or user; None is one that was not told. `sums`: in the order of
    the kind's summed columns, each with the number of rows that did not tell it."""

    names: tuple[Any, ...]
    n: int
    sums: tuple[tuple[Decimal | None, int], ...]


def sorted_by(kind: Kind, sort: str) -> str:
    return sort if kind.column(sort.removeprefix("-")) else kind.sort


def rows_of(report: AffiliateReport, kind: Kind, sort: str = "") -> QuerySet[AffiliateRow]:
    """The rows in the order that a page shows: `sort` is a column's name, with "-" for the largest first; anything
    else is the kind's usual order. What is not told stands last either way."""
    rows = AffiliateRow.objects.filter(report=report)
    sort = sorted_by(kind, sort)
    column = kind.column(sort.removeprefix("-"))
    assert column is not None
    by = F(column.kept) if column.kept else KeyTextTransform(column.name, "record")
    order = by.desc(nulls_last=True) if sort.startswith("-") else by.asc(nulls_last=True)
    return rows.order_by(order, "position", "id")


def totals(report: AffiliateReport, kind: Kind) -> list[Total]:
    """Per group, the largest in rows first; at most 50. A kind without sums has its number of rows alone."""
    sums = {f"sum_{column.kept}": Sum(column.kept) for column in kind.summed}
    told = {f"told_{column.kept}": Count(column.kept) for column in kind.summed}
    rows = AffiliateRow.objects.filter(report=report).order_by()
    if not kind.groups:
        found = [rows.aggregate(n=Count("id"), **sums, **told)]
    else:
        grouped = rows.values(*kind.groups).annotate(n=Count("id"), **sums, **told)
        found = list(grouped.order_by("-n", *kind.groups)[:MOST_GROUPS])
    return [_total(one, kind) for one in found]


def _total(one: dict[str, Any], kind: Kind) -> Total:
    return Total(
        tuple(one[name] for name in kind.groups),
        one["n"],
        tuple((one[f"sum_{c.kept}"], one["n"] - one[f"told_{c.kept}"]) for c in kind.summed),
    )


def users_told(report: AffiliateReport) -> dict[str, int]:
    """Of invited users: how many passed the check, deposited and traded, as far as the exchange tells."""
    rows = AffiliateRow.objects.filter(report=report)
    checks = {
        "kyc": Q(record__kyc_result=True),
        "untold": Q(record__kyc_result=None),
        "deposited": ~Q(record__first_deposit=None),
        "traded": ~Q(record__first_trade=None),
    }
    return rows.aggregate(n=Count("id"), **{name: Count("id", filter=one) for name, one in checks.items()})


def by_day(report: AffiliateReport) -> dict[str | None, list[tuple[date, Decimal]]]:
    """{coin: [(UTC day, commission)]}, each coin on its own: there is no rate at which they could be added. The coin
    with the most rows comes first."""
    rows = AffiliateRow.objects.filter(report=report, at__isnull=False, n1__isnull=False).order_by()
    days = (
        rows.annotate(day=TruncDay("at", tzinfo=UTC))
        .values("coin", "day")
        .annotate(sum=Sum("n1"), n=Count("id"))
    )
    rows_with: Counter[str | None] = Counter()
    found: dict[str | None, list[tuple[date, Decimal]]] = {}
    for one in days.order_by("coin", "day"):
        found.setdefault(one["coin"], []).append((one["day"].date(), one["sum"]))
        rows_with[one["coin"]] += one["n"]
    return dict(sorted(found.items(), key=lambda one: (-rows_with[one[0]], one[0] or "")))


def by_user(
    report: AffiliateReport, most: int
) -> dict[str | None, tuple[int, list[tuple[int | None, Decimal]]]]:
    """{coin: (how many users have a commission in it, the largest of them as (user, commission))}."""
    found: dict[str | None, tuple[int, list[tuple[int | None, Decimal]]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_LARGEST, [report.pk, most])
        for coin, uid, commission, users in cursor:
            found.setdefault(coin, (users, []))[1].append((uid, commission))
    return found


def span_of(report: AffiliateReport) -> tuple[datetime, datetime] | None:
    """From the first window's beginning to the last one's end; None where the exchange chose."""
    starts = [step["start"] for step in report.steps if step.get("start") is not None]
    ends = [step["end"] for step in report.steps if step.get("end") is not None]
    if not starts or not ends:
        return None
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + timedelta(milliseconds=min(starts)), epoch + timedelta(milliseconds=max(ends))
