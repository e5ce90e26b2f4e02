"""Sums of the ledger beside it: daily ones in the same transaction, and a summary per trader and period.

`refresh_cells` belongs to the ledger's transaction; the rest is for chores, changes of zone, and the pages
(`read`). Everything here can be made again from the orders, and `verify` holds it against them.
"""

from .cells import refresh_cells
from .periods import PERIODS

__all__ = ["PERIODS", "refresh_cells"]
