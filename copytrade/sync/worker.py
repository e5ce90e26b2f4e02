"""A woken worker: it takes the most urgent reading that its addresses have room for, and the next, and the next."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from django.db.models import Count

from copytrade import meters
from copytrade.scheduling import room

from . import leases, run

WORK_SECONDS = 20.0
# A reading that has to wait this long at the limiter is begun: its place in the queue is worth more than the wait,
PATIENCE = 1.0
# but hardly any, where another address may have room meanwhile.
HURRY = 0.03
# For so long what the limiter said of an address is believed.
LATELY = 0.1
# The past of a new account is read in short turns, so that it does not keep a worker from what is due.
BACKFILL_BUDGET = 2.0

Pair = tuple[str, str]  # egress and venue


def work(
    egress: Collection[str] | None = None,
    seconds: float = WORK_SECONDS,
    wanted_elsewhere: Callable[[], bool] = lambda: False,
) -> int:
    """Make readings until none is due, the time is over or something more urgent waits; how many were made.

    `egress`: only those whose calls leave from one of these addresses. One that is full is left alone until it
    has room, so that it keeps nobody waiting at another. Errors that nobody foresaw are raised, after their job was
    pushed ahead: the next worker goes on with the others.
    """
    until, made, rooms = time.monotonic() + seconds, 0, Rooms()
    with meters.together():
        while time.monotonic() < until and not wanted_elsewhere():
            full = rooms.full()
            job = leases.claim_next(egress, full)
            if job is None:
                if not full:
                    break
                time.sleep(max(0.0, min(*full.values(), until) - time.monotonic()))
                continue
            pair = (job.egress, job.account.venue)
            if rooms.has(pair):
                run.run_claimed(job, BACKFILL_BUDGET if job.priority > 1 else run.BUDGET_SECONDS)
                made += 1
                rooms.ask(pair)
            else:
                leases.give_back(job)
    return made


class Rooms:
    """What this worker knows of the addresses it has met: when each has room again, and when it was asked."""

    def __init__(self) -> None:
        self._free_at: dict[Pair, float] = {}
        self._asked_at: dict[Pair, float] = {}

    def ask(self, pair: Pair) -> None:
        self._free_at[pair] = room.seconds_until(*pair) + (now := time.monotonic())
        self._asked_at[pair] = now

    def has(self, pair: Pair) -> bool:
        """Is there room, or nearly? What is known is believed for a moment."""
        if time.monotonic() - self._asked_at.get(pair, -math.inf) > LATELY:
            self.ask(pair)
        return not self._waits(pair)

    def full(self) -> dict[Pair, float]:
        """The addresses without room, and when each will have some. Who should have by now is asked, since another
        worker may have taken it: that is cheaper than to claim a reading and to give it back."""
        return {pair: self._free_at[pair] for pair in list(self._free_at) if not self.has_by_now(pair)}

    def has_by_now(self, pair: Pair) -> bool:
        return not self._waits(pair) and self.has(pair)

    def _waits(self, pair: Pair) -> bool:
        patience = PATIENCE if len(self._free_at) == 1 else HURRY
        return self._free_at[pair] > time.monotonic() + patience


def due_by_egress() -> dict[str, int]:
    """How many readings are due, per address."""
    rows = leases.due().order_by().values("egress").annotate(n=Count("pk"))
    return {row["egress"]: row["n"] for row in rows}
