"""What statements over a whole ledger need of the database: to be alone with it, and room."""

from __future__ import annotations

from django.db import connection

# The ledger's own lock (ledger.alone_with): who rebuilds an account's sums must not meet a page being merged.
LEDGER_LOCK = 0x1ED6
SUMMARY_LOCK = 0x50BB
INT32 = 2**31


def alone_with_ledger(account_pk: int) -> None:
    """Wait until nobody else writes this account's orders; held to the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LEDGER_LOCK, account_pk % INT32])


def roomy(cursor) -> None:
    """To the end of the transaction: sort in memory, and compile nothing (it takes longer than it saves)."""
    cursor.execute("SET LOCAL jit = off")
    cursor.execute("SET LOCAL work_mem = '64MB'")
