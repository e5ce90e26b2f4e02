"""A question that is asked again and again: the database plans it once for each connection, and keeps the plan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper

_PLACE = re.compile(r"%(?:%|s|\((\w+)\)s)")


def kept_cursor() -> CursorWrapper:
    """Django's cursor, but values go beside the statement and not within it, so that its text stays the same and the
    server prepares it (OPTIONS in dashboard/environment.py). For statements whose text is one of few.

    Where queries are written down, it is the usual one: this one does not know its text with the values in it."""
    if connection.queries_logged:
        return connection.cursor()
    connection.ensure_connection()
    return connection.make_cursor(_Kept(connection.connection))


class _Kept(psycopg.RawCursor[Any]):
    """Takes a statement as Django writes it, and hands it on as PostgreSQL reads it; psycopg would look for the places
    of the values in a long one anew each time."""

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        if params is None:
            return super().execute(query, **more)
        text, names = numbered(query)
        values: Sequence[Any] = [params[name] for name in names] if isinstance(params, Mapping) else params
        return super().execute(text, values, **more)


@lru_cache(512)
def numbered(statement: str) -> tuple[bytes, tuple[str, ...]]:
    """(the statement with `$1`, `$2` for `%s`, or for names, of which each has one number; the names in that order)."""
    places: list[str] = []

    def place(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1] or ""
        if not name or name not in places:
            places.append(name)
            return f"${len(places)}"
        return f"${places.index(name) + 1}"

    text = _PLACE.sub(place, statement)
    return text.encode(), tuple(places)
