"""What the limiter says of an address and a venue, asked before a reading is taken and when readings are planned.

All readings are copy calls: they weigh on the contract root. The spot root is for what a person asks.
"""

from __future__ import annotations

from django.conf import settings

from copytrade.clients import limiter_at, pool


def seconds_until(egress: str, venue: str) -> float:
    """Seconds until the next reading would fit; 0 is now. A venue that is not configured is not waited for."""
    if venue not in settings.VENUES:
        return 0.0
    return limiter_at(settings.REDIS_URL, egress).room(pool(venue))


def usable(egress: str, venue: str) -> float:
    """Weight per second that readings can count on."""
    if venue not in settings.VENUES:
        return 0.0
    return limiter_at(settings.REDIS_URL, egress).usable(pool(venue))
