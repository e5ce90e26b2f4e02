"""What Django does after a test that commits, for less: tables with rows are emptied, instead of all being made anew.

`flush` truncates all tables, which makes some 300 files, and then finds again which kinds of rows and permissions
there are. A test leaves rows in a few tables. Once in a process the flush is what it always was, and tells what it
leaves; from then on the database is brought to that state. Whatever is unusual is left to the real flush: tables
that changed which it had filled, much in a table, a user who may not set aside foreign keys.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection, transaction
from django.test import TransactionTestCase

# Rows that are taken back leave their place empty, and only truncating gives it up.
MUCH = 8 * 2**20
Kept = dict[str, str]  # a digest of all rows, by table

_flush: Callable[[TransactionTestCase], None] = TransactionTestCase._fixture_teardown
_kept: Kept | None = None


def emptied(case: TransactionTestCase) -> None:
    """In place of TransactionTestCase._fixture_teardown."""
    global _kept
    usual = not case.available_apps and not case.serialized_rollback and not connection.in_atomic_block
    if usual and _kept is not None and _emptied(_kept):
        return
    _flush(case)
    if usual:
        _kept = _digests([table for table, (some, _) in _found(_tables()).items() if some])


def _emptied(kept: Kept) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT usesuper FROM pg_user WHERE usename = current_user")
        if not cursor.fetchone()[0]:
            return False
        tables = _tables()
        # As truncating does: wait for whoever is still at it, and see what he left.
        cursor.execute(f"LOCK TABLE {', '.join(map(_quoted, tables))} IN ACCESS EXCLUSIVE MODE")
        found = _found(tables)
        if sum(size for _, size in found.values()) > MUCH or _digests(list(kept)) != kept:
            return False
        if filled := [table for table, (some, _) in found.items() if some and table not in kept]:
            cursor.execute("SET LOCAL session_replication_role = replica")  # no foreign keys, no triggers
            cursor.execute("; ".join(f"DELETE FROM {_quoted(table)}" for table in filled))
    return True


def _tables() -> list[str]:
    return sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))


def _found(tables: list[str]) -> dict[str, tuple[bool, int]]:
    """By table: are there rows, and how many bytes it takes up."""
    each = (
        f"SELECT %s, EXISTS (SELECT FROM {_quoted(table)}), pg_relation_size(%s::regclass)"
        for table in tables
    )
    names = [word for table in tables for word in (table, _quoted(table))]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(each), names)
        return {table: (some, size) for table, some, size in cursor.fetchall()}


def _digests(tables: list[str]) -> Kept:
    digests = {}
    with connection.cursor() as cursor:
        for table in tables:
            rows = f"SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {_quoted(table)} t"
            cursor.execute(rows)
            digests[table] = cursor.fetchone()[0]
    return digests


def _quoted(table: str) -> str:
    return connection.ops.quote_name(table)
