"""The locks that keep sums and orders together."""

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
