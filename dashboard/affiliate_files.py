"""The rows of an affiliate report as the columns of a file."""

from __future__ import annotations

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from copytrade.affiliate import Column as Shown
from copytrade.affiliate import Kind
from copytrade.models import AffiliateRow
from dashboard.exports import Column

# How a column of a page is written into a file; a day or a time that the row's JSON alone holds is ISO text already.
KINDS = {"amount": "number", "rate": "number", "id": "id", "time": "time"}


def columns_and_rows(kind: Kind, rows: QuerySet[AffiliateRow]) -> tuple[list[Column], QuerySet]:
    """Each column of the page under the interface's name of it, and what the interface does not name at the end."""
    columns = [Column(column.name, _kind(column)) for column in kind.columns]
    values = [_value(column) for column in kind.columns]
    if kind.sums:
        columns.append(Column("sums_not_told_in_full", "text"))
        values.append(KeyTextTransform("partly", "record"))
    columns.append(Column("also_told", "text"))
    values.append(KeyTextTransform("extras", "record"))
    return columns, rows.values_list(*values)


def _kind(column: Shown) -> str:
    if column.shown == "day":
        return "text"
    # What no number is kept of is the exchange's own text, a withdrawal's id among it: it may begin like a formula.
    return KINDS.get(column.shown, "text") if column.kept else "text"


def _value(column: Shown) -> str | KeyTextTransform:
    return column.kept if column.kept and column.shown != "day" else KeyTextTransform(column.name, "record")
