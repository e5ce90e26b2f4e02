"""How often each kind of reading is made at a venue.

Every copy call weighs 10 of about 500 per 10 s (open-points.md, "Limits"). One sandbox account with four
traders costs 10/5 + 10/10 + 10/15 + 40/60 per second: some 45 of 500 per 10 s.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

SECONDS = {"open": 30.0, "history": 120.0, "traders": 120.0, "settings": 600.0}
# The sandbox is ours alone, and in the demo something happens every few seconds.
SANDBOX_SECONDS = {"open": 5.0, "history": 10.0, "traders": 15.0, "settings": 60.0}


def interval(venue: str, kind: str) -> timedelta:
    """The time between two readings of a kind; settings.VENUES[venue]["intervals"] overrides the default."""
    usual = SANDBOX_SECONDS if venue == "sandbox" else SECONDS
    own = settings.VENUES.get(venue, {}).get("intervals", {})
    return timedelta(seconds=own.get(kind, usual[kind]))
