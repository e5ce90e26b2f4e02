"""A question that is asked again and again: the database plans it once for each connection, and keeps the plan."""

from __future__ import annotations

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper


def kept_cursor() -> CursorWrapper:
    """Django's cursor, but values go beside the statement and not within it, so that its text stays the same and the
    server prepares it (OPTIONS in dashboard/environment.py). For statements whose text is one of few.

    Where queries are written down, it is the usual one: this one does not know its text with the values in it."""
    if connection.queries_logged:
        return connection.cursor()
    connection.ensure_connection()
    return connection.make_cursor(ServerBindingCursor(connection.connection))
