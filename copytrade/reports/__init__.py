"""What the pages show, from the database alone: few queries each, however many rows.

`freshness` how old the data is; `coverage` how far back it goes; `activity` what reading costs and achieves;
`orders` open orders and history; `traders` the table; `trader_page` one trader; `compare` several; `overview` the
first page, `visits` what is new on it; `timeline` the versions of a trader's settings.
"""

from .compare import Compared, Comparison, Pair, Shared, compare
from .freshness import Freshness, Reading, freshness, freshness_of
from .history import HistoryPage, history_page
from .history_totals import HistoryTotals
from .orders import (
    Filters,
    Group,
    OpenOrder,
    OpenOverview,
    Totals,
    generations,
    lost,
    open_order,
    open_overview,
)
from .overlap import Overlap, Part, overlaps
from .overview import Line, Overview, Tile, overview, overview_line
from .readiness import ready
from .reliability import Note, Table, notes, table, table_and_reaches
from .timeline import Entry, timeline
from .trader_around import Around, TruedUp, trader_around
from .trader_page import Previous, Reach, TraderPage, reach_of, trader_page, trader_range
from .traders import (
    Reconciliation,
    TraderRow,
    capital_of,
    reconciliation,
    trader_summary,
    traders_table,
)
from .visits import Since, since_last_visit
from .zones import day_start, zone_of

__all__ = [
    "Around",
    "Compared",
    "Comparison",
    "Entry",
    "Filters",
    "Freshness",
    "Group",
    "HistoryPage",
    "HistoryTotals",
    "Line",
    "Note",
    "OpenOrder",
    "OpenOverview",
    "Overlap",
    "Overview",
    "Pair",
    "Part",
    "Previous",
    "Reach",
    "Reading",
    "Reconciliation",
    "Shared",
    "Since",
    "Table",
    "Tile",
    "Totals",
    "TraderPage",
    "TraderRow",
    "TruedUp",
    "capital_of",
    "compare",
    "day_start",
    "freshness",
    "freshness_of",
    "generations",
    "history_page",
    "lost",
    "notes",
    "open_order",
    "open_overview",
    "overlaps",
    "overview",
    "overview_line",
    "reach_of",
    "ready",
    "reconciliation",
    "since_last_visit",
    "table",
    "table_and_reaches",
    "timeline",
    "trader_around",
    "trader_page",
    "trader_range",
    "trader_summary",
    "traders_table",
    "zone_of",
]
