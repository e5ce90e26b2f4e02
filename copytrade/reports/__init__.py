"""What the pages show, from the database alone: few queries each, however many rows.

`freshness` how old the data is; `coverage` how far back it goes; `activity` what reading costs and achieves;
`orders` open orders and history; `traders` the table; `trader_page` one trader; `compare` several; `overview` the
first page, `visits` what is new on it; `timeline` the versions of a trader's settings.
"""

from .compare import Compared, Comparison, compare
from .freshness import Freshness, Reading, freshness
from .history import HistoryPage, HistoryTotals, history_page, undated
from .orders import (
    Filters,
    Group,
    OpenOrder,
    OpenOverview,
    Totals,
    choices,
    generations,
    lost,
    open_order,
    open_overview,
)
from .overlap import Overlap, Part, overlaps
from .overview import Overview, Tile, changed_outside, overview, recent
from .timeline import Entry, timeline
from .trader_page import Previous, Reach, TraderPage, trader_page, trader_range
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
    "Compared",
    "Comparison",
    "Entry",
    "Filters",
    "Freshness",
    "Group",
    "HistoryPage",
    "HistoryTotals",
    "OpenOrder",
    "OpenOverview",
    "Overlap",
    "Overview",
    "Part",
    "Previous",
    "Reach",
    "Reading",
    "Reconciliation",
    "Since",
    "Tile",
    "Totals",
    "TraderPage",
    "TraderRow",
    "capital_of",
    "changed_outside",
    "choices",
    "compare",
    "day_start",
    "freshness",
    "generations",
    "history_page",
    "lost",
    "open_order",
    "open_overview",
    "overlaps",
    "overview",
    "recent",
    "reconciliation",
    "since_last_visit",
    "timeline",
    "trader_page",
    "trader_range",
    "trader_summary",
    "traders_table",
    "undated",
    "zone_of",
]
