"""The ledger: observations of tracking orders become rows. What becomes of them is decided in steps/merge.py;
here is how orders are told apart from what the database holds, and how it is read and written.

An order is closed by a history record alone (house.md, "Habits"): absence from the open list never closes
it, and no open record, however new, opens it again.

`told` what a record says · `rows` the database's side · `merging` the two together · `absence` what is no longer
listed · `aside` what could not be read.
"""

from .absence import absent_rows, mark_missing, note_absent
from .aside import keep_bad, tell_bad
from .merging import Merged, merge, says_nothing_new
from .told import (
    COLUMNS,
    HISTORY,
    OPEN,
    OPERATIONS,
    Observed,
    Unstorable,
    differences,
    jsonable,
    observation,
    observed,
    raw_of,
)

__all__ = [
    "COLUMNS",
    "HISTORY",
    "OPEN",
    "OPERATIONS",
    "Merged",
    "Observed",
    "Unstorable",
    "absent_rows",
    "differences",
    "jsonable",
    "keep_bad",
    "mark_missing",
    "merge",
    "note_absent",
    "observation",
    "observed",
    "raw_of",
    "says_nothing_new",
    "tell_bad",
]
