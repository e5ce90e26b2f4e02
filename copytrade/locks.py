"""The advisory locks of the database that copytrade takes: their numbers, and the one that several layers share."""

from __future__ import annotations

from django.db import connection

# The first half of a lock's number; the second is the account, or the trader.
LEDGER_LOCK = 0x1ED6
SUMMARY_LOCK = 0x50BB
RAISING_LOCK = 0xA1E7  # whoever raises alerts; this one has no second half
INT32 = 2**31


def alone_with_ledger(account_pk: int) -> None:
    """Wait until nobody else writes this account's orders, traders or sums; held to the end of the transaction.

    Two readings may meet the same new trader, or the same new order, at the same moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LEDGER_LOCK, account_pk % INT32])
