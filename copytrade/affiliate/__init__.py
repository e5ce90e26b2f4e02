"""The affiliate operations as reports: asked by a person, read by a worker window by window, kept for the pages."""

from .asking import MOST_WAITING, AskRefused, ask, latest, recent
from .kinds import BOTH, KINDS, Column, Kind
from .standing import Standing, ask_standing, learn, show_or_hide, standing_of

__all__ = [
    "BOTH",
    "KINDS",
    "MOST_WAITING",
    "AskRefused",
    "Column",
    "Kind",
    "Standing",
    "ask",
    "ask_standing",
    "latest",
    "learn",
    "recent",
    "show_or_hide",
    "standing_of",
]
