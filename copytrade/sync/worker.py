"""A woken worker: it takes the most urgent reading that its addresses have room for, and the next, and the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from django.db.models import Count

from copytrade.scheduling import room

from . import leases, run

WORK_SECONDS = 20.0
# A reading that has to wait this long at the limiter is begun: its place in the queue is worth more than the wait.
PATIENCE = 1.0
# The past of a new account is read in short turns, so that it does not keep a worker from what is due.
BACKFILL_BUDGET = 2.0


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
    until, made = time.monotonic() + seconds, 0
    full: dict[tuple[str, str], float] = {}
    while time.monotonic() < until and not wanted_elsewhere():
        full = {pair: at for pair, at in full.items() if at > time.monotonic()}
        job = leases.claim_next(egress, full)
        if job is None:
            if not full:
                break
            time.sleep(max(0.0, min(*full.values(), until) - time.monotonic()))
            continue
        pair = (job.egress, job.account.venue)
        wait = room.seconds_until(*pair)
        if wait > PATIENCE:
            leases.give_back(job)
        else:
            run.run_claimed(job, BACKFILL_BUDGET if job.priority > 1 else run.BUDGET_SECONDS)
            made += 1
            wait = room.seconds_until(*pair)
        if wait > 0:
            full[pair] = time.monotonic() + wait
    return made


def due_by_egress() -> dict[str, int]:
    """How many readings are due, per address."""
    rows = leases.due().order_by().values("egress").annotate(n=Count("pk"))
    return {row["egress"]: row["n"] for row in rows}
