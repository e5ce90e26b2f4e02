"""2,000 accounts on one address in a simulated clock: production's planner, and a model of what readings cost.

The model: one address gives so many readings' weight per second as the limiter would while nobody interactive calls
(its share of 500 in 10 s, a part of the reserve lent, each call counted from its grant to a window after its answer).
Jobs are read earliest deadline first, one after the other; a reading weighs 10, of settings 10 for each of two or
three traders. Closes are Poisson with lognormal rates; one that an open list finds brings the account's history
forward, and its traders where the list is not at its cap; one that a total tells first brings the history alone, as
in the desk. No failures, no boosts.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from copytrade.exchange.limits import RESERVE
from copytrade.exchange.windows import LENT
from copytrade.intervals import is_at_cap
from copytrade.scheduling import planner, rates
from copytrade.sync.leases import HINT_SPACING
from copytrade.sync.run import JITTER, JITTER_AT_CAP

from .ratios import Ratio

ACCOUNTS, MINUTES, BEYOND = 2_000, 30, 240
LIMIT, WINDOW, KEPT, ANSWER = 500.0, 10.0, RESERVE * (1 - LENT), 0.05
USABLE = LIMIT * (1 - KEPT) / (WINDOW + ANSWER)
REPLAN = 60.0
MEDIAN_RATE, SIGMA = 6 / 86_400, 1.0
WATCHED_BEFORE = 86_400.0  # seconds over which the rates were learned
KINDS = ("open", "history", "traders", "settings")
LIMITS = {"open": 600.0, "traders": 7200.0, "settings": 7200.0}


@dataclass
class Job:
    """A job of the model: the planner's row, its last reading and its deadline (seconds of the simulated clock)."""

    row: planner.Row
    read_at: float
    due: float


@dataclass
class Seen:
    """The oldest that a reading of a kind ever was, and what was spent."""

    oldest: Counter = field(default_factory=Counter)
    readings: Counter = field(default_factory=Counter)
    weight: float = 0.0


class Desk:
    """All jobs, the closes to come, and the clock."""

    def __init__(self, seed: int = 1, accounts: int = ACCOUNTS) -> None:
        self.rng = Random(seed)
        self.now = 0.0
        self.rates = [MEDIAN_RATE * self.rng.lognormvariate(0, SIGMA) for _ in range(accounts)]
        self.closes = [self.rng.expovariate(rate) for rate in self.rates]
        self.jobs = [
            self._job(4 * account + place, account, kind)
            for account in range(accounts)
            for place, kind in enumerate(KINDS)
        ]
        self._begin()
        self.queue = [(job.due, number) for number, job in enumerate(self.jobs)]
        heapq.heapify(self.queue)

    def _job(self, number: int, account: int, kind: str) -> Job:
        weight = 10.0 * self.rng.choice((2, 3)) if kind == "settings" else 10.0
        changes = self.rates[account] * WATCHED_BEFORE if kind in ("open", "traders") else 0.0
        row = planner.Row(
            pk=number, account=account, kind=kind, egress="default", venue="weex", interval=None, changes=changes,
            exposure=WATCHED_BEFORE, weight=weight, priority=1, failures=0, boosted=False, ahead=0.0,
        )  # fmt: skip
        return Job(row, 0.0, 0.0)

    def _begin(self) -> None:
        """As if it had been read all the time so far: by the plan, due times spread evenly."""
        for job, interval in zip(self.jobs, self._solved(), strict=True):
            job.row.interval = interval
            job.read_at = -self.rng.uniform(0, interval)
            job.due = job.read_at + interval

    def _solved(self) -> list[float]:
        return planner.intervals([job.row for job in self.jobs], USABLE * planner.PLANNED, "weex")

    def run(self, until: float, seen: Seen) -> None:
        planned = self.now
        while self.now < until:
            if self.now >= planned:
                self._plan()
                planned += REPLAN
            due, number = self.queue[0]
            job = self.jobs[number]
            if due != job.due:  # brought forward since: its other entry counts
                heapq.heappop(self.queue)
            elif due > self.now:
                self.now = min(due, planned)
            else:
                heapq.heappop(self.queue)
                self._read(job, seen)
                self._push(number)
                self.now += job.row.weight / USABLE
        for job in self.jobs:
            self._note(job, seen)

    def _plan(self) -> None:
        for number, (job, interval) in enumerate(zip(self.jobs, self._solved(), strict=True)):
            if abs(interval - job.row.interval) > planner.MOVES * job.row.interval:
                job.row.interval = interval
                soonest = max(job.read_at + interval, self.now + self.rng.random() * interval)
                if soonest < job.due:
                    job.due = soonest
                    self._push(number)

    def _note(self, job: Job, seen: Seen) -> None:
        kind = job.row.kind
        seen.oldest[kind] = max(seen.oldest[kind], self.now - job.read_at)

    def _read(self, job: Job, seen: Seen) -> None:
        self._note(job, seen)
        row = job.row
        seen.readings[row.kind] += 1
        seen.weight += row.weight
        changed = row.kind == "open" and self._closed(row.account)
        if row.kind != "history":
            row.changes, row.exposure = rates.observed(
                row.changes, row.exposure, self.now - job.read_at, changed=changed
            )
        at_cap = is_at_cap(row.venue, row.kind, row.interval)
        interval = row.interval * self.rng.uniform(*(JITTER_AT_CAP if at_cap else JITTER))
        job.due = min(max(job.due + interval, self.now + 0.9 * interval), self.now + interval)
        job.read_at = self.now
        if changed:
            for number in (row.pk + 1, row.pk + 2):
                self._hint(number)
        elif row.kind == "traders" and self.closes[row.account] <= self.now:
            self._hint(row.pk - 1)  # another total, by a close that the open list has not told yet

    def _closed(self, account: int) -> bool:
        found = self.closes[account] <= self.now
        while self.closes[account] <= self.now:
            self.closes[account] += self.rng.expovariate(self.rates[account])
        return found

    def _hint(self, number: int) -> None:
        """As leases.make_due: forward, not right after the last one; traders not where the open list is at its cap."""
        job = self.jobs[number]
        first = self.jobs[4 * job.row.account].row
        at_cap = is_at_cap(first.venue, first.kind, first.interval)
        if job.row.kind == "traders" and at_cap:
            return
        soon = max(self.now, job.read_at + job.row.interval * HINT_SPACING)
        if soon < job.due:
            job.due = soon
            self._push(number)

    def _push(self, number: int) -> None:
        heapq.heappush(self.queue, (self.jobs[number].due, number))


def simulated() -> list[Ratio]:
    desk, first = Desk(), Seen()
    desk.run(MINUTES * 60.0, first)
    later = Seen()
    desk.run(BEYOND * 60.0, later)
    spent = f"{first.weight / (MINUTES * 60):.1f} of {USABLE:.1f} weight per second"
    told = f"{sum(first.readings.values()):,} readings, {spent}"
    rows = []
    for kind, limit in LIMITS.items():
        rows.append(
            Ratio(
                f"oldest {kind} in {MINUTES} simulated minutes, seconds",
                first.oldest[kind],
                limit,
                "most",
                told,
            )
        )
    for kind, limit in LIMITS.items():
        rows.append(
            Ratio(
                f"oldest {kind} in the {(BEYOND - MINUTES) / 60:g} simulated hours after that, seconds",
                later.oldest[kind], limit, "most", f"{later.readings[kind]:,} readings",
            )
        )  # fmt: skip
    return rows
