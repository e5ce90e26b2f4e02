"""The planner: every some seconds, the interval of every job, from its rate and what the limiter lets through.

A chore (tasks.CHORES), safe at any time and by any number: it reads everything in one query, solves each address
and venue by itself (plan.py), and writes what has moved in one statement. All times are the database's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import expm1, fsum

from django.db import connection
from django.db.models import Case, ExpressionWrapper, F, FloatField, Value, When
from django.db.models.functions import Extract, Now

from copytrade import egress
from copytrade.intervals import OVERLAP_AT_LAST, Bounds, bounds, is_at_cap
from copytrade.models import COPY_KINDS, Account, SyncJob

from . import rates, room
from .plan import Job, plan

Kind = SyncJob.Kind
# What is planned of the usable weight; the rest is for what nobody planned: a retry, a key that is looked at.
PLANNED = 0.99
# While the past of some account is being read for the first time, this part of the weight is left to that.
BACKFILL_SHARE = 0.2
# Finding a copy opened or closed is what readings are for; what else they find may wait longer.
WORTH = {Kind.OPEN: 1.0, Kind.TRADERS: 0.05, Kind.SETTINGS: 0.05}
# Somebody looks, or something is about to happen: as if it changed this often.
BOOSTED_RATE = 1 / 20
# An interval that would move less than this part of itself stays: no write for nothing.
MOVES = 0.1
# A deadline further ahead than this many intervals was set before a clock was put back, or before a shorter plan.
TOO_FAR = 1.5


@dataclass(slots=True)
class Row:
    """A job as the planner sees it. `ahead`: seconds until it is due, below 0 when it is late.

    `times`: so many jobs that are all like this one (reports/more.py); their `account` is any name for all of theirs.
    """

    pk: int
    account: Hashable
    kind: str
    egress: str
    venue: str
    interval: float | None
    changes: float
    exposure: float
    weight: float
    priority: int
    failures: int
    boosted: bool
    ahead: float
    times: int = 1

    @property
    def rate(self) -> float:
        rate = rates.rate(self.changes, self.exposure)
        return max(rate, BOOSTED_RATE) if self.boosted else rate


def replan() -> int:
    """Plan all readings anew; how many jobs got another interval, deadline or address."""
    together: dict[tuple[str, str], list[Row]] = defaultdict(list)
    moved = 0
    rows = list(_rows())
    for row in rows:
        together[row.egress, row.venue].append(row)
    moved += _pin(rows)
    for (name, venue), group in together.items():
        usable = room.usable(name, venue) if name in egress.names() else 0.0
        if usable > 0:  # an address that is stopped altogether keeps its plan until it is not
            moved += _write(_moved(group, intervals(group, usable * PLANNED, venue)))
    return moved


def _rows() -> Iterable[Row]:
    ahead = ExpressionWrapper(Extract(F("due_at") - Now(), "epoch"), output_field=FloatField())
    boosted = Case(When(boost_until__gt=Now(), then=Value(True)), default=Value(False))
    jobs = SyncJob.objects.exclude(account__state=Account.State.REFUSED).order_by("pk")
    jobs = jobs.filter(kind__in=COPY_KINDS)  # the others do not weigh on this quota: scheduling/own.py
    for values in jobs.values_list(
        "pk", "account_id", "kind", "egress", "account__venue", "interval", "changes", "exposure", "weight",
        "priority", "failures", boosted, ahead,
    ).iterator():  # fmt: skip
        yield Row(*values)


def intervals(rows: Sequence[Row], budget: float, venue: str) -> list[float]:
    """The interval of each of these jobs of one address and venue, in seconds; `budget` is weight per second.

    Open lists, traders and settings are planned by their rates. The history's overlap takes its place beside
    them: its floor where there is plenty, its cap before any of the others has to wait, and under overload longer than
    that, so that open lists stay within theirs. What changes bring forward is reckoned with.
    """
    if any(row.priority > 1 and not row.failures for row in rows):
        budget *= 1 - BACKFILL_SHARE
    of_kind = {kind: bounds(venue, kind) for kind in COPY_KINDS}
    planned = [row for row in rows if row.kind != Kind.HISTORY]
    jobs = [_job(row, of_kind[row.kind]) for row in planned]
    history = [row for row in rows if row.kind == Kind.HISTORY]
    solved = [job.floor for job in jobs]
    overlap = of_kind[Kind.HISTORY].floor
    for _ in range(2):  # how often changes are noticed depends on the plan, and the plan on that
        noticed = _noticed(planned, solved)
        follow = _hinted_beyond_plan(planned, solved, noticed)
        overlap = _overlap(history, noticed, jobs, budget - follow, of_kind[Kind.HISTORY])
        left = budget - follow - _overlap_load(history, noticed, overlap)
        solved = plan(jobs, max(left, budget / 10)) if jobs else []
    found = dict(zip((row.pk for row in planned), solved, strict=True))
    return [found.get(row.pk, overlap) for row in rows]


def _job(row: Row, limits: Bounds) -> Job:
    """n jobs of rate r and weight w get the same interval as one of n r and n w, and cost as much."""
    return Job(row.times * row.rate * WORTH[row.kind], row.times * row.weight, limits.floor, limits.cap)


def _noticed(rows: Sequence[Row], solved: Sequence[float]) -> dict[int, float]:
    """How often a second each account's open list is seen changed: the rate, or every reading if that is less."""
    return {
        row.account: min(rates.rate(row.changes, row.exposure), 1 / interval)
        for row, interval in zip(rows, solved, strict=True)
        if row.kind == Kind.OPEN
    }


def _readings(rate: float, interval: float) -> float:
    """Readings per second of a job that is due after `interval`, or when something with `rate` hints at it, but not
    within the spacing after the last one (leases.HINT_SPACING)."""
    spacing = interval / 30
    rest = interval - spacing
    return 1 / (spacing + (rest if rate * rest < 1e-6 else -expm1(-rate * rest) / rate))


def _hinted_beyond_plan(rows: Sequence[Row], solved: Sequence[float], noticed: dict[int, float]) -> float:
    """The weight per second of readings of traders that closes bring forward: not where the open list itself is at its
    cap (sync/open_orders.py)."""
    held = {
        row.account
        for row, interval in zip(rows, solved, strict=True)
        if row.kind == Kind.OPEN and is_at_cap(row.venue, row.kind, interval)
    }
    return fsum(
        row.times * row.weight * (_readings(noticed.get(row.account, 0.0), interval) - 1 / interval)
        for row, interval in zip(rows, solved, strict=True)
        if row.kind == Kind.TRADERS and row.account not in held
    )


def _overlap_load(history: Sequence[Row], noticed: dict[int, float], interval: float) -> float:
    return fsum(
        row.times * row.weight * _readings(noticed.get(row.account, 0.0), interval) for row in history
    )


def _overlap(
    history: Sequence[Row], noticed: dict[int, float], jobs: Sequence[Job], budget: float, limits: Bounds
) -> float:
    """The interval of the history's overlap: one for all, so that overload is shared evenly."""

    def load(interval: float) -> float:
        return _overlap_load(history, noticed, interval)

    if load(limits.floor) + fsum(job.weight / job.floor for job in jobs) <= budget:
        return limits.floor
    left = budget - fsum(job.weight / job.cap for job in jobs)
    if load(limits.cap) <= left:
        return limits.cap
    return _least(lambda interval: load(interval) <= left, limits.cap, max(limits.cap, OVERLAP_AT_LAST))


def _least(fits: Callable[[float], bool], low: float, high: float) -> float:
    """The least interval between two that fits, to a hundredth; `high` when none does."""
    while high / low > 1.01:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _moved(rows: Sequence[Row], solved: Sequence[float]) -> list[tuple[int, float]]:
    """(job, interval) of those whose interval or deadline has to be written."""
    return [
        (row.pk, interval)
        for row, interval in zip(rows, solved, strict=True)
        if row.interval is None
        or abs(interval - row.interval) > MOVES * row.interval
        or (row.failures == 0 and row.ahead > TOO_FAR * interval)
    ]


# A deadline comes forward where the interval got shorter: to one interval after the last reading, and where that is
# past already, to some time within the next one, so that a thousand jobs do not fall due at once. What failed keeps
# its pause; what somebody holds or writes at this moment is for the next time.
_WRITE = """
WITH new AS (SELECT * FROM unnest(%(jobs)s::bigint[], %(intervals)s::float8[]) AS new(id, seconds)),
mine AS (
    SELECT id FROM copytrade_syncjob WHERE id = ANY(%(jobs)s::bigint[])
     ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE copytrade_syncjob AS job
   SET interval = new.seconds,
       due_at = CASE
           WHEN job.failures > 0 OR job.lease_until >= statement_timestamp() THEN job.due_at
           ELSE least(job.due_at, greatest(
               least(job.last_success_at, statement_timestamp()) + make_interval(secs => new.seconds),
               statement_timestamp() + random() * make_interval(secs => new.seconds)))
       END
  FROM new JOIN mine USING (id)
 WHERE job.id = new.id
"""
_PIN = """
UPDATE copytrade_syncjob AS job SET egress = new.egress
  FROM unnest(%(jobs)s::bigint[], %(names)s::text[]) AS new(id, egress)
 WHERE job.id = new.id AND job.id IN (
    SELECT id FROM copytrade_syncjob WHERE id = ANY(%(jobs)s::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
"""


def _write(moved: Sequence[tuple[int, float]]) -> int:
    if not moved:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, {"jobs": [pk for pk, _ in moved], "intervals": [each for _, each in moved]})
        return cursor.rowcount


def _pin(rows: Sequence[Row]) -> int:
    """Correct the addresses of jobs after the configuration has changed; they are planned there the next time."""
    names = {account: egress.of(account) for account in {row.account for row in rows}}
    wrong = [row.pk for row in rows if row.egress != names[row.account]]
    if not wrong:
        return 0
    at = {row.pk: names[row.account] for row in rows}
    with connection.cursor() as cursor:
        cursor.execute(_PIN, {"jobs": wrong, "names": [at[pk] for pk in wrong]})
        return cursor.rowcount
