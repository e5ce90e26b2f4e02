"""How often each kind of reading is made at a venue: the bounds that the planner keeps, and what holds before it.

Every copy call weighs 10 of about 500 per 10 s (open-points.md, "Limits"). One account with four traders, all at
its floors, costs 10/5 + 10/60 + 40/300 + 10/300 per second: some 24 of 500 per 10 s. The more accounts share an
address, the further the planner (scheduling/planner.py) moves their readings from floor to cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from copytrade.models import SyncJob


@dataclass(frozen=True, slots=True)
class Bounds:
    """The shortest and the longest time between two readings of a kind, in seconds."""

    floor: float
    cap: float


# The caps leave some time for waiting and reading: open lists no older than 600 s (unless another cap is set), traders
# and settings than 2 h. Not more of it than that: 2,000 accounts at these caps just fit into one address (`./run bench
# load`).
BOUNDS = {
    "open": Bounds(5.0, float(settings.SYNC_OPEN_CAP_SECONDS)),
    "traders": Bounds(60.0, 7000.0),
    "settings": Bounds(300.0, 7000.0),
    # Beside the readings that a change brings forward; under overload it may wait for as long as OVERLAP_AT_LAST.
    "history": Bounds(300.0, 900.0),
    # What an account says of itself is not planned but stretched where many share an address (scheduling/own.py).
    "account": Bounds(600.0, 6 * 3600.0),
    "bills": Bounds(900.0, 6 * 3600.0),
    "funding": Bounds(1800.0, 12 * 3600.0),
    "lead": Bounds(900.0, 6 * 3600.0),
}
OVERLAP_AT_LAST = 6 * 3600.0
AT_CAP = 0.99  # of the cap
# The sandbox is ours alone, and in the demo something happens every few seconds.
SANDBOX_FLOORS = {
    "open": 5.0, "history": 10.0, "traders": 15.0, "settings": 60.0,
    "account": 30.0, "bills": 45.0, "funding": 60.0, "lead": 60.0,
}  # fmt: skip
# Until the planner has looked at a new job.
UNPLANNED = {
    "open": 30.0, "history": 120.0, "traders": 120.0, "settings": 600.0,
    "account": 600.0, "bills": 900.0, "funding": 1800.0, "lead": 900.0,
}  # fmt: skip


def bounds(venue: str, kind: str) -> Bounds:
    """The bounds of a kind; settings.VENUES[venue]["intervals"] overrides the floor."""
    usual = BOUNDS[kind]
    floor = SANDBOX_FLOORS[kind] if venue == "sandbox" else usual.floor
    floor = float(settings.VENUES.get(venue, {}).get("intervals", {}).get(kind, floor))
    return Bounds(floor, max(floor, usual.cap))


def is_at_cap(venue: str, kind: str, seconds: float | None) -> bool:
    """Is this interval the longest that the kind may have, or one that overload stretched beyond it?"""
    return seconds is not None and seconds >= AT_CAP * bounds(venue, kind).cap


def interval(venue: str, kind: str) -> timedelta:
    """The time between two readings of a kind that was not planned yet."""
    own = settings.VENUES.get(venue, {}).get("intervals", {})
    usual = SANDBOX_FLOORS if venue == "sandbox" else UNPLANNED
    return timedelta(seconds=own.get(kind, usual[kind]))


def interval_of(job: SyncJob) -> timedelta:
    """What is promised of this job (its account loaded): the interval that was planned for it."""
    if job.interval is None:
        return interval(job.account.venue, job.kind)
    return timedelta(seconds=job.interval)
