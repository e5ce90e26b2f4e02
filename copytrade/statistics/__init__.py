"""The figures of a profit summary, one definition each, used by every page, export and alert.

Pure: the standard library only. Money is exact; ratios are decimals of 50 digits until they are shown;
a figure that is undefined is None and has a reason.

Source: the project's statistics page; DEFINITIONS has it in one sentence a figure.
"""

from .breakdowns import BREAKDOWNS, breakdown
from .definitions import DEFINITIONS
from .exposure import margin_in_use
from .parts import BriefParts, Parts
from .series import daily, equity
from .summary import (
    MINIMUM_COPIES,
    MINIMUM_DAYS,
    Returns,
    brief_from_parts,
    from_parts,
    returns_of,
    summarise,
)
from .types import Brief, Copy, Row, Spread, Summary

__all__ = [
    "BREAKDOWNS",
    "DEFINITIONS",
    "MINIMUM_COPIES",
    "MINIMUM_DAYS",
    "Brief",
    "BriefParts",
    "Copy",
    "Parts",
    "Returns",
    "Row",
    "Spread",
    "Summary",
    "breakdown",
    "brief_from_parts",
    "daily",
    "equity",
    "from_parts",
    "margin_in_use",
    "returns_of",
    "summarise",
]
