"""Records as rows: stored page by page, and set right once all windows are read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Count, Max, Sum

from copytrade.exchange.records import Record
from copytrade.models import AffiliateReport, AffiliateRow

from .kinds import Kind

NUMBERS = ("n1", "n2", "n3", "n4", "n5")
AT_ONCE = 1000
PARTLY = "partly"  # in a record of sums: the fields that some window did not tell

# Windows share their boundaries, and an exchange may give a record in more than one of them. Records that are alike in
# every field are as many as the window with the most of them has: none is lost, and none counts twice.
_ONCE = """
DELETE FROM copytrade_affiliaterow WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY record, nth ORDER BY step) AS time FROM (
            SELECT id, step, record, row_number() OVER (PARTITION BY step, record ORDER BY position) AS nth
              FROM copytrade_affiliaterow WHERE report_id = %s) AS numbered) AS ranked
     WHERE time > 1)
"""


def record_of(kind: Kind, record: Record) -> dict[str, Any]:
    """Every field as JSON: decimals as their exact text, times as ISO 8601 in UTC, absent ones as null. What the
    interface does not name is under "extras"."""
    found = {column.name: _plain(getattr(record, column.name)) for column in kind.columns}
    return found | ({"extras": record.extras} if record.extras else {})


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")
    return value.isoformat() if isinstance(value, date) else value


def store(report: AffiliateReport, kind: Kind, page: int, records: Sequence[Record]) -> int:
    """Add a page's records; by how many rows the report grew. One known by its identity takes the place of what was
    read of it before. The caller holds the fence."""
    made = [_row(report, kind, page, number, record) for number, record in enumerate(records)]
    keys = [row.key for row in made if row.key]
    gone = AffiliateRow.objects.filter(report=report, key__in=keys).delete()[0] if keys else 0
    AffiliateRow.objects.bulk_create(made)
    return len(made) - gone


def _row(report: AffiliateReport, kind: Kind, page: int, number: int, record: Record) -> AffiliateRow:
    row = AffiliateRow(
        report=report, step=report.done, page=page, position=report.rows + number,
        key=_key(report, kind, record), record=record_of(kind, record),
    )  # fmt: skip
    for column in kind.columns:
        if column.kept:
            setattr(row, column.kept, _typed(getattr(record, column.name)))
    return row


def _typed(value: Any) -> Any:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    return value


def _key(report: AffiliateReport, kind: Kind, record: Record) -> str:
    """At most 64 characters, however long an exchange makes its ids. "" where a part of the identity is not told.
    Sums are told apart by their windows as well, until they are added up."""
    parts = [getattr(record, name) for name in kind.identity]
    if not parts or None in parts:
        return ""
    whole = "|".join([*map(str, parts), *([str(report.done)] if kind.sums else [])])
    return whole if len(whole) < 64 else hashlib.sha256(whole.encode()).hexdigest()


def settle(report: AffiliateReport, kind: Kind) -> None:
    """What only the whole can tell: equal records of two windows, and sums over several. The caller holds the fence."""
    if len(report.steps) < 2:
        return
    if kind.sums:
        _add_up(report, kind)
    elif not kind.identity:
        with connection.cursor() as cursor:
            cursor.execute(_ONCE, [report.pk])


def _add_up(report: AffiliateReport, kind: Kind) -> None:
    """One row per user. What a window did not tell makes a sum "at least"; what none told stays not told."""
    rows = AffiliateRow.objects.filter(report=report)
    last = rows.aggregate(last=Max("id"))["last"] or 0
    totals = {f"sum_{name}": Sum(name) for name in NUMBERS} | {
        f"told_{name}": Count(name) for name in NUMBERS
    }
    found = rows.order_by("uid").values("uid").annotate(of=Count("id"), **totals)
    made = []
    for position, one in enumerate(found.iterator(AT_ONCE)):
        record: dict[str, Any] = {"uid": one["uid"]}
        for column in kind.summed:
            record[column.name] = _plain(one[f"sum_{column.kept}"])
        partly = [column.name for column in kind.summed if 0 < one[f"told_{column.kept}"] < one["of"]]
        record |= {PARTLY: partly} if partly else {}
        numbers = {name: one[f"sum_{name}"] for name in NUMBERS}
        made.append(
            AffiliateRow(
                report=report, step=0, page=0, position=position, uid=one["uid"], record=record, **numbers
            )
        )
    rows.filter(id__lte=last).delete()
    AffiliateRow.objects.bulk_create(made, batch_size=AT_ONCE)
