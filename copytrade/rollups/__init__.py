"""Sums of the ledger beside it: daily ones in the same transaction, and a summary per trader and period.

`refresh_cells` belongs to the ledger's transaction; `summarise_stale` and `verify_some` are chores;
`rebuild_all_of` goes with a change of zone; pages read through `read`. Everything here can be made again from
the orders, and `verify` holds it against them.
"""

from .cells import refresh_cells
from .days import zone_of
from .kept import capital_of
from .periods import PERIODS
from .summaries import summarise, summarise_stale
from .upkeep import Differences, rebuild, rebuild_all_of, verify, verify_some

__all__ = [
    "PERIODS",
    "Differences",
    "capital_of",
    "rebuild",
    "rebuild_all_of",
    "refresh_cells",
    "summarise",
    "summarise_stale",
    "verify",
    "verify_some",
    "zone_of",
]
