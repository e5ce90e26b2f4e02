"""How well the desk keeps up: the age of the data against its promise, and weight spent against its floor.

`user` None: the whole desk, for the operator and for /metrics. The number of queries never hangs on the number
of accounts: PostgreSQL does the counting.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from math import ceil
from typing import Any

from django.conf import settings
from django.db.models import (
    Aggregate,
    Case,
    Count,
    Expression,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import Cast, Coalesce, Extract, Greatest, Least
from django.utils import timezone

from copytrade import meters
from copytrade.intervals import interval
from copytrade.models import COPY_KINDS, OWN_KINDS, Account, DataIssue, SyncJob, User
from copytrade.together import Prepared

from .freshness import GRACE_INTERVALS, LEAST, MOST_GRACE

# What one call for copy trading weighs (interface.md): the least that a page of records can cost.
FLOOR_WEIGHT = 10
ORDER = COPY_KINDS + OWN_KINDS
MINUTES = 60


@dataclass(frozen=True)
class Staleness:
    """One kind of reading over many accounts. Ages and promises in seconds; None where there is none.

    p50 / p95: half, and 19 of 20, of the accounts were read no longer ago than that. `promise` is the planned
    interval of the accounts in the middle, `longest` that of the one read least often. `late`: older than its
    own promise and its grace, as in freshness.py. Accounts whose key was refused are not read, and not counted.
    """

    kind: str
    label: str
    jobs: int = 0
    never: int = 0
    late: int = 0
    failing: int = 0
    p50: float | None = None
    p95: float | None = None
    worst: float | None = None
    promise: float | None = None
    longest: float | None = None


@dataclass
class Spending:
    """Calls of the last hour from one egress to one venue.

    `floor` is what the answered calls cost at least: 10 each, less where they weigh less (the clock); `ratio`
    weight spent / floor, None without a call; `errors` calls by result, "ok" left out; `by_minute` the weight of
    each minute, oldest first.
    """

    venue: str
    label: str
    egress: str
    calls: int = 0
    answered: int = 0
    weight: int = 0
    answered_weight: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    by_minute: list[int] = field(default_factory=list)

    def add(self, minute: meters.Minute, place: int) -> None:
        self.calls += minute.calls
        self.weight += minute.weight
        self.by_minute[place] = minute.weight
        for result, one in minute.results.items():
            if result == meters.OK:
                self.answered += one.calls
                self.answered_weight += one.weight
            else:
                self.errors[result] = self.errors.get(result, 0) + one.calls

    @property
    def floor(self) -> int:
        return min(FLOOR_WEIGHT * self.answered, self.answered_weight)

    @property
    def ratio(self) -> float | None:
        return self.weight / self.floor if self.floor else None

    @property
    def most(self) -> int:
        """The weight of the minute that took most."""
        return max(self.by_minute, default=0)

    @property
    def failed(self) -> int:
        return self.calls - self.answered


class Percentile(Aggregate):
    """PostgreSQL's percentile_disc: a value that is there, not one between two."""

    name = "percentile"
    template = "percentile_disc(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: str, share: float) -> None:
        super().__init__(expression, share=float(share), output_field=FloatField())


def jobs_of(user: User | None) -> QuerySet[SyncJob]:
    """The readings that are to be made: those of refused accounts wait for their owner."""
    rows = SyncJob.objects.exclude(account__state=Account.State.REFUSED)
    return rows if user is None else rows.filter(account__owner=user)


def staleness(user: User | None, now: datetime | None = None) -> list[Staleness]:
    """One row per kind of reading, the most urgent kind first; one query."""
    now = now or timezone.now()
    age = Extract(Value(now) - F("last_success_at"), "epoch")
    rows = (
        jobs_of(user)
        .annotate(age=Cast(age, FloatField()), promised=promise())
        .values("kind")
        .annotate(
            jobs=Count("pk"),
            never=Count("pk", filter=Q(last_success_at=None)),
            late=Count("pk", filter=Q(age__gt=_limit(F("promised")))),
            failing=Count("pk", filter=Q(failures__gt=0)),
            p50=Percentile("age", 0.5),
            p95=Percentile("age", 0.95),
            worst=Max("age"),
            promise=Percentile("promised", 0.5),
            longest=Max("promised"),
        )
        .order_by()
    )
    found = {row.pop("kind"): row for row in rows}
    return [Staleness(kind, kind.label, **found.get(kind, {})) for kind in ORDER]


def staleness_of(jobs: Collection[SyncJob], now: datetime | None = None) -> list[Staleness]:
    """staleness() of a person's jobs that were read already (board_of). No query."""
    now, read = now or timezone.now(), [job for job in jobs if job.account.state != Account.State.REFUSED]
    return [_staleness_of(kind, [job for job in read if job.kind == kind], now) for kind in ORDER]


def _staleness_of(kind: SyncJob.Kind, jobs: list[SyncJob], now: datetime) -> Staleness:
    done = [((now - job.last_success_at).total_seconds(), job) for job in jobs if job.last_success_at]
    ages, promises = sorted(age for age, _ in done), sorted(job.promised for job in jobs)
    return Staleness(
        kind,
        kind.label,
        jobs=len(jobs),
        never=len(jobs) - len(done),
        late=sum(age > job.limit for age, job in done),
        failing=sum(job.failures > 0 for job in jobs),
        p50=_percentile(ages, 0.5),
        p95=_percentile(ages, 0.95),
        worst=_percentile(ages, 1),
        promise=_percentile(promises, 0.5),
        longest=_percentile(promises, 1),
    )


def _percentile(values: list[float], share: float) -> float | None:
    """As Percentile: the first of these sorted values that so many of them do not exceed."""
    return values[max(ceil(share * len(values)), 1) - 1] if values else None


Usual = tuple[tuple[str, str, float], ...]


def _usual() -> Usual:
    """(venue, kind, seconds between two readings) until the planner has come by."""
    return tuple(
        (venue, kind, interval(venue, kind).total_seconds())
        for venue in settings.VENUES
        for kind in SyncJob.Kind.values
    )


def promise(usual: Usual | None = None) -> Expression:
    """The seconds between two readings of a job as planned, or as they are until the planner has come by."""
    cases = [
        When(account__venue=venue, kind=kind, then=Value(seconds))
        for venue, kind, seconds in usual or _usual()
    ]
    return Coalesce(F("interval"), Case(*cases, default=Value(600.0), output_field=FloatField()))


def _limit(promised: Expression) -> Expression:
    """The age from which on a reading counts as late: the rule of freshness.py."""
    grace = Least(GRACE_INTERVALS * promised, Value(MOST_GRACE.total_seconds()))
    return Greatest(promised + grace, Value(LEAST.total_seconds()), output_field=FloatField())


def spending(venues: Collection[str] | None = None, now: datetime | None = None) -> list[Spending]:
    """Weight spent in the last hour per egress and venue; empty when the counters are away. No query."""
    moment = (now or timezone.now()).timestamp()
    first = int(moment // 60) - MINUTES + 1
    rows: dict[tuple[str, str], Spending] = {}
    for minute in meters.last_hour(venues, now=moment):
        key = (minute.venue, minute.egress)
        row = rows.setdefault(
            key, Spending(minute.venue, _label(minute.venue), minute.egress, by_minute=[0] * MINUTES)
        )
        row.add(minute, minute.at // 60 - first)
    return [rows[key] for key in sorted(rows)]


def by_minute(spent: Sequence[Spending], now: datetime) -> list[tuple[datetime, list[int]]]:
    """Each minute of the hour up to `now`, newest first, with the weight that each of these spent in it."""
    last = now.replace(second=0, microsecond=0)
    return [
        (last - timedelta(minutes=ago), [row.by_minute[-1 - ago] for row in spent]) for ago in range(MINUTES)
    ]


def _label(venue: str) -> str:
    return settings.VENUES.get(venue, {}).get("label", venue)


def _states() -> QuerySet[Account]:
    """An account of each state that there is on the desk, with how many there are in it: `n`."""
    each = Account.objects.annotate(n=Window(Count("pk"), partition_by="state"))
    return each.only("state").order_by("state").distinct("state")


@dataclass(frozen=True)
class Cell:
    """One kind of reading of one account. `state`: "ok", "late" (older than promised), "never", "failed"
    (its last try went wrong) or "stopped" (the key was refused). `promise` in seconds."""

    job: SyncJob
    label: str
    state: str
    promise: float

    @property
    def may_retry(self) -> bool:
        return self.state == "failed"


@dataclass(frozen=True)
class BoardRow:
    account: Account
    issues: int
    cells: list[Cell]
    own: list[Cell]  # what the account says of itself


def board_of(user: User) -> tuple[list[Account], list[SyncJob], dict[str, int]]:
    """A person's accounts by label, each with `open_issues`, and all their readings, each with its account and what
    board() needs; for an operator, how many accounts of the desk there are in each state, those without any left
    out. One query."""
    accounts, readings, states = _board(user.is_operator, _usual())(user=user.pk)
    known = {account.pk: account for account in accounts}
    for job in readings:
        job.account = known[job.account_id]
    return accounts, readings, {row.state: row.n for row in states}


@lru_cache(8)
def _board(operator: bool, usual: Usual) -> Prepared:
    """`usual`: what promise() is written from, so that another setting writes another."""

    def build(user: Any) -> Sequence[QuerySet[Any]]:
        open_ones = (
            DataIssue.objects.filter(account=OuterRef("pk"), state=DataIssue.State.OPEN)
            .order_by()
            .values("account")
            .annotate(n=Count("pk"))
            .values("n")
        )
        mine = Account.objects.filter(owner=user).annotate(open_issues=Coalesce(Subquery(open_ones), 0))
        jobs = SyncJob.objects.filter(account__owner=user).annotate(promised=promise(usual))
        return (
            mine.order_by("label", "pk"),
            jobs.annotate(limit=_limit(F("promised"))).order_by("account_id", "pk"),
            _states() if operator else Account.objects.none(),
        )

    return Prepared(build)


def board(
    accounts: Collection[Account], jobs: Collection[SyncJob], limit: int, now: datetime | None = None
) -> list[BoardRow]:
    """A person's accounts with their readings (board_of), those in trouble first. No query."""
    now = now or timezone.now()
    found: dict[int, dict[str, SyncJob]] = {account.pk: {} for account in accounts}
    for job in jobs:
        found.get(job.account_id, {})[job.kind] = job

    def place(account: Account) -> tuple[bool, int]:
        failures = max((job.failures for job in found[account.pk].values()), default=0)
        return account.state != Account.State.REFUSED, -failures

    return [
        BoardRow(
            account,
            account.open_issues,
            *(
                [_cell(found[account.pk][kind], account, now) for kind in kinds if kind in found[account.pk]]
                for kinds in (COPY_KINDS, OWN_KINDS)
            ),
        )
        for account in sorted(accounts, key=place)[:limit]
    ]


def _cell(job: SyncJob, account: Account, now: datetime) -> Cell:
    if account.state == Account.State.REFUSED:
        state = "stopped"
    elif job.failures:
        state = "failed"
    elif job.last_success_at is None:
        state = "never"
    else:
        late = (now - job.last_success_at).total_seconds() > job.limit
        state = "late" if late else "ok"
    return Cell(job, job.get_kind_display(), state, job.promised)


@dataclass(frozen=True)
class Operation:
    """Calls of one operation since the counters began, all venues and addresses together.

    `errors` calls by result, "ok" left out; `seconds` the mean time of a call."""

    name: str
    calls: int
    answered: int
    errors: dict[str, int]
    seconds: float


def operations() -> list[Operation]:
    """Every operation that was called, the most called first. No query; empty when the counters are away."""
    found: dict[str, list[meters.Total]] = {}
    for total in meters.totals():
        found.setdefault(total.operation, []).append(total)
    return sorted((_operation(name, rows) for name, rows in found.items()), key=lambda one: -one.calls)


def _operation(name: str, rows: list[meters.Total]) -> Operation:
    calls, errors = sum(row.calls for row in rows), {}
    for row in rows:
        if row.result != meters.OK:
            errors[row.result] = errors.get(row.result, 0) + row.calls
    seconds = sum(row.seconds for row in rows) / calls if calls else 0.0
    return Operation(name, calls, calls - sum(errors.values()), errors, seconds)
