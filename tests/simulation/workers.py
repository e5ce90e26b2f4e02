"""A worker of the desk, step by step: claim, call, commit under the lease, hand back. What sync/*.py does, with a
database that is a dictionary; the decisions are those of copytrade.steps and copytrade.scheduling themselves.

Between two yields nothing else happens, so every call and every commit stands between two of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from copytrade.exchange.errors import ExchangeError, RateLimited
from copytrade.scheduling import plan, rates

from . import changes, readings
from .desk import IDLE, SHARE, Desk, Process, Steps
from .truth import HOUR, MINUTE, SECOND, Account

OPEN, HISTORY, TRADERS, PLAN = "open", "history", "traders", "plan"
NOBODY = -1  # the account of a chore of the whole desk
LEASE = MINUTE
AT_ONCE = 3
PRIORITY_STEP = 5 * MINUTE
RETRY_AFTER, LONGEST_PAUSE = 15 * SECOND, 10 * MINUTE
PATIENCE = 20 * SECOND  # a call waits for the limiter for so long
WEIGHT = 10


class LeaseLost(Exception):
    """Somebody else is at this job now: stop, and write nothing."""


@dataclass(frozen=True)
class Job:
    """One kind of reading of one account; times in ms by the desk's clock. Replaced, never changed."""

    account: int
    kind: str
    due: int
    interval: float
    token: int = 0
    until: int | None = None
    cursor: str = "{}"
    failures: int = 0
    succeeded: int | None = None
    changes: float = 0.0
    exposure: float = 0.0
    priority: int = 1

    @property
    def key(self) -> tuple[int, str]:
        return self.account, self.kind

    def but(self, **facts: Any) -> Job:
        """The same with other facts: dataclasses.replace at a third of its time."""
        made = object.__new__(Job)
        made.__dict__.update(self.__dict__, **facts)
        return made


@dataclass
class Reading:
    """One reading: the job as it was claimed, and what came of it."""

    desk: Desk
    worker: Worker
    job: Job
    account: Account
    began: int
    cursor: dict[str, Any] = field(default_factory=dict)
    changed: int = 0
    more: bool = False
    closed_traders: set[int] = field(default_factory=set)

    def time_is_up(self) -> bool:
        return self.desk.now() - self.began > 8 * SECOND

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A transaction that commits only while the job is held; the cursor is stored with it."""
        store = self.desk.store
        with store.transaction():
            held: Job = store["jobs"][self.job.key]
            if held.token != self.job.token and "no fence" not in self.desk.bugs:
                raise LeaseLost
            yield
            kept = held.but(cursor=json.dumps(self.cursor), until=self.desk.now() + LEASE)
            store.put("jobs", kept.key, kept)
        self.desk.watch.fence(self.job, held)

    def call(self, fetch: Callable[[], Any]) -> Any:
        """Ask the exchange; a generator whose value is the answer."""
        return self.worker.call(fetch)


@dataclass
class Worker:
    """What one process runs."""

    desk: Desk
    process: Process

    def work(self) -> Steps:
        """Whatever is due, for ever; IDLE when nothing is."""
        while True:
            change = changes.take_due(self.desk)
            if change is not None:
                yield from changes.proceed(self, change)
                continue
            job = self.claim()
            if job is None:
                yield IDLE
                continue
            yield 0
            yield from self.run(job)

    # ---- leases ----------------------------------------------------------------------------------------------

    def claim(self) -> Job | None:
        """The job with the earliest deadline that nobody holds."""
        desk, now = self.desk, self.desk.now()
        eternal = "a lease never runs out" in desk.bugs
        held: dict[int, int] = {}
        due: list[Job] = []
        for job in desk.store["jobs"].values():
            if job.until is not None and (eternal or job.until >= now):
                held[job.account] = held.get(job.account, 0) + 1
            elif job.due <= now:
                due.append(job)
        free = [job for job in due if held.get(job.account, 0) < AT_ONCE]
        if not free:
            return None
        job = min(free, key=lambda job: (job.due + (job.priority - 1) * PRIORITY_STEP, job.key))
        if "the newest deadline first" in desk.bugs:
            job = max(free, key=lambda job: (job.due, job.key))
        stale = job.until is not None
        lease = LEASE * (min(2 ** min(job.failures, 4), 10) if stale else 1)
        taken = job.but(token=next(desk.tokens), until=now + lease, failures=job.failures + stale)
        desk.store.put("jobs", job.key, taken)
        desk.watch.claimed(taken, stale, lease)
        desk.note("worker", self.process.name, "takes", *job.key)
        return taken

    def release(self, job: Job, due: float, *, heed_hints: bool = True, **facts: Any) -> bool:
        """Give the job back, due at `due`; False when it is somebody else's by now."""
        held: Job = self.desk.store["jobs"][job.key]
        if held.token != job.token and "no fence" not in self.desk.bugs:
            return False
        if heed_hints and held.due != job.due:
            due = min(due, held.due)
        self.desk.store.put("jobs", job.key, held.but(token=0, until=None, due=int(due), **facts))
        self.desk.alarm(int(due))
        return True

    def hint(self, account: int, *kinds: str) -> None:
        """Bring readings forward; those under way follow right after."""
        now = self.desk.now()
        for kind in kinds:
            job: Job = self.desk.store["jobs"][account, kind]
            held = job.until is not None and job.until >= now
            if held or job.due > now:
                self.desk.store.put("jobs", job.key, job.but(due=now if held else min(now, job.due)))
        self.desk.alarm(now)

    # ---- running a job ---------------------------------------------------------------------------------------

    def run(self, job: Job) -> Steps:
        """One claimed job to its end, whatever comes."""
        if job.kind == PLAN:
            self.replan(job)
            return
        desk = self.desk
        reading = Reading(
            desk, self, job, desk.world.accounts[job.account], desk.now(), json.loads(job.cursor)
        )
        try:
            yield from readings.READERS[job.kind](reading)
        except LeaseLost:
            desk.note("worker", self.process.name, "has lost its lease of", *job.key)
        except (ExchangeError, ArithmeticError) as error:
            self._failed(job, error)
        else:
            self._succeeded(job, reading)

    def _succeeded(self, job: Job, reading: Reading) -> None:
        desk, now = self.desk, self.desk.now()
        every = job.interval * desk.rng.uniform(0.95, 1.05)
        due = now if reading.more else max(job.due + every, now + every / 2)
        facts: dict[str, Any] = {"failures": 0, "succeeded": now}
        if "back-off is never reset" in desk.bugs:
            facts["failures"] = job.failures
        facts["priority"] = 2 if reading.more and reading.cursor.get("back") else 1
        if job.kind != HISTORY and job.succeeded is not None:
            seconds = (reading.began - job.succeeded) / SECOND
            facts["changes"], facts["exposure"] = rates.observed(
                job.changes, job.exposure, seconds, changed=bool(reading.changed)
            )
        if self.release(job, due, **facts):
            desk.watch.attempted(job, ok=True)

    def _failed(self, job: Job, error: Exception) -> None:
        """Pushed ahead, further each time."""
        if "poisoned work is not pushed ahead" in self.desk.bugs and not isinstance(error, ExchangeError):
            self.release(job, self.desk.now() + 20 * SECOND, heed_hints=False)
            return
        if isinstance(error, RateLimited) and error.local:
            self._held_back(job, error)
            return
        asked = error.retry_after * SECOND if isinstance(error, RateLimited) else 0.0
        first = max(asked, SECOND) if isinstance(error, RateLimited) else min(job.interval, RETRY_AFTER)
        pause = min(first * 2 ** min(job.failures, 10), LONGEST_PAUSE)
        self.desk.note("worker", self.process.name, "fails at", *job.key, type(error).__name__)
        if self.release(job, self.desk.now() + pause, heed_hints=False, failures=job.failures + 1):
            self.desk.watch.attempted(job, ok=False, pause=pause, asked=asked)

    def _held_back(self, job: Job, error: RateLimited) -> None:
        """Our own limiter had no room: soon again, and no failure."""
        pause = round(max(error.retry_after, 1.0) * self.desk.rng.uniform(1.0, 1.5) * SECOND)
        self.desk.note("worker", self.process.name, "is held back at", *job.key)
        if self.release(job, self.desk.now() + pause, heed_hints=False):
            self.desk.watch.held(job, pause, error.retry_after * SECOND)

    # ---- calls -----------------------------------------------------------------------------------------------

    def call(self, fetch: Callable[[], Any]) -> Any:
        """One call: leave of the limiter, the way there, the answer, the way back."""
        desk, rng = self.desk, self.desk.rng
        ticket, waited = str(next(desk.tickets)), 0
        while True:
            wait, at = desk.pool.begin(ticket, WEIGHT, SHARE, slow=True)
            if wait == 0:
                break
            if waited + wait > PATIENCE:
                raise RateLimited("The limit is used up.", retry_after=wait / SECOND, local=True)
            waited += wait
            yield wait
        try:
            yield rng.randrange(300)
            answer, told = fetch(), desk.world.told()
            yield rng.randrange(1000)
            if rng.random() < desk.stall_rate and desk.world.now < desk.world.end:
                yield rng.randrange(5 * MINUTE)  # the machine stood still
        except RateLimited as error:
            if "429 is not heeded" not in desk.bugs:
                desk.pool.block(error.retry_after)
            desk.pool.learn([], ticket, at)
            raise
        except (ExchangeError, ArithmeticError):
            desk.pool.learn([], ticket, at)
            raise
        desk.pool.learn(told, ticket, at)
        desk.answered()
        return answer

    # ---- the planner -----------------------------------------------------------------------------------------

    def replan(self, job: Job) -> None:
        """The chore that solves the intervals from the rates seen."""
        desk = self.desk
        jobs: list[Job] = [one for one in desk.store["jobs"].values() if one.account != NOBODY]
        asked = [
            plan.Job(rates.rate(one.changes, one.exposure), WEIGHT, *desk.bounds(one.kind)) for one in jobs
        ]
        with desk.store.transaction():
            for one, seconds in zip(jobs, plan.plan(asked, desk.budget()), strict=True):
                held: Job = desk.store["jobs"][one.key]
                if abs(held.interval - seconds * SECOND) > 0.1 * held.interval:
                    desk.store.put("jobs", one.key, held.but(interval=seconds * SECOND))
        pause = job.interval if desk.world.now < desk.world.end else HOUR
        if self.release(job, desk.now() + pause, interval=pause):
            desk.watch.attempted(job, ok=True)
