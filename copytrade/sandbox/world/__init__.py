"""A living world from a seed: prices, lead traders, and followers' copies. `World` is the way in."""

from .accounts import AFFILIATE, FOLLOWER, LEAD
from .traders import TRADERS, Trader
from .world import World

__all__ = ["AFFILIATE", "FOLLOWER", "LEAD", "TRADERS", "Trader", "World"]
