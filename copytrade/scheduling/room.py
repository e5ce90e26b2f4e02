"""What the limiter says of an address and a venue, asked before a reading is taken and when readings are planned.

What the planner plans are copy calls: they weigh on the contract root. The spot root is for what a person asks, and
for the sparse readings of scheduling/own.py.
"""

from __future__ import annotations

from django.conf import settings

from copytrade.clients import limiter_at, pool
from copytrade.exchange.operations import CONTRACT


def seconds_until(egress: str, venue: str) -> float:
    """Seconds until the next reading would fit; 0 is now. A venue that is not configured is not waited for."""
    if venue not in settings.VENUES:
        return 0.0
    return limiter_at(settings.REDIS_URL, egress).room(pool(venue))


def usable(egress: str, venue: str, root: str = CONTRACT) -> float:
    """Weight per second that readings can count on, at one of the venue's two roots."""
    if venue not in settings.VENUES:
        return 0.0
    return limiter_at(settings.REDIS_URL, egress).usable(pool(venue, root))
