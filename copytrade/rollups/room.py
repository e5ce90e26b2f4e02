"""What statements over a whole ledger need of the database: room."""

from __future__ import annotations


def roomy(cursor) -> None:
    """To the end of the transaction: sort in memory, and compile nothing (it takes longer than it saves)."""
    cursor.execute("SET LOCAL jit = off")
    cursor.execute("SET LOCAL work_mem = '64MB'")
