"""The rows of several queries in one trip to the database: a page that shows a little of many tables asks once."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import connection, models
from django.db.models import QuerySet


def together(*wanted: QuerySet[Any]) -> list[list[Any]]:
    """The rows of each query, in its order, as the query itself would give them.

    Plain rows of one model each: filter, order, slice, only() and annotate(), no select_related() or values().
    Numbers stay exact: the database writes them as text, and no float is made of them.
    """
    parts, params = [], []
    for rows in wanted:
        sql, values = rows.query.sql_with_params()
        parts.append(f"(SELECT json_agg(part) FROM ({sql}) part)::text")  # noqa: S608 (Django compiled it)
        params += values
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", params)
        texts = cursor.fetchone()
    return [_rows(query, text) for query, text in zip(wanted, texts, strict=True)]


def _rows(rows: QuerySet[Any], text: str | None) -> list[Any]:
    found = json.loads(text, parse_float=Decimal) if text else []
    if not found:
        return []
    meta, names = rows.model._meta, set(found[0])
    fields = [field for field in meta.concrete_fields if field.column in names]
    added = {name: one.output_field for name, one in rows.query.annotations.items() if name in names}
    readers = {field: _reader(field) for field in [*fields, *added.values()]}
    made = []
    for row in found:
        values = [readers[field](row[field.column]) for field in fields]
        instance = rows.model.from_db(connection.alias, [field.attname for field in fields], values)
        for name, field in added.items():
            setattr(instance, name, readers[field](row[name]))
        made.append(instance)
    return made


def _reader(field: models.Field) -> Callable[[Any], Any]:
    """From what JSON holds to what a row has."""
    if isinstance(field, models.JSONField):
        return lambda value: json.loads(json.dumps(value, default=float))
    if isinstance(field, models.ForeignKey):
        return _reader(field.target_field)
    return lambda value: value if value is None else field.to_python(value)
