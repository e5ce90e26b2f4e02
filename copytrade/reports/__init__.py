"""What the pages show, from the database alone: few queries each, however many rows.

`freshness` how old the data is; `coverage` how far back it goes; `activity` what reading costs and achieves;
`orders` open orders and history; `traders` summaries; `overview` the first page; `timeline` the versions of a
trader's settings.
"""

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
from .overview import Overview, Tile, overview
from .timeline import Entry, timeline
from .trader_page import Previous, Reach, TraderPage, trader_page, trader_range
from .traders import (
    Reconciliation,
    TraderReport,
    TraderRow,
    capital_of,
    reconciliation,
    trader_report,
    trader_summary,
    traders_table,
)
from .zones import day_start, zone_of

__all__ = [
    "Entry",
    "Filters",
    "Freshness",
    "Group",
    "HistoryPage",
    "HistoryTotals",
    "OpenOrder",
    "OpenOverview",
    "Overview",
    "Previous",
    "Reach",
    "Reading",
    "Reconciliation",
    "Tile",
    "Totals",
    "TraderPage",
    "TraderReport",
    "TraderRow",
    "capital_of",
    "choices",
    "day_start",
    "freshness",
    "generations",
    "history_page",
    "lost",
    "open_order",
    "open_overview",
    "overview",
    "reconciliation",
    "timeline",
    "trader_page",
    "trader_range",
    "trader_report",
    "trader_summary",
    "traders_table",
    "undated",
    "zone_of",
]
