"""How old the data is: per kind of reading, the oldest success over the accounts concerned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from copytrade.intervals import interval_of
from copytrade.models import COPY_KINDS, Account, SyncJob, User
from copytrade.together import Prepared, Query, refer

# What is promised is the interval that was planned (intervals.py). A reading counts as stale after three more of
# them, but after ten minutes more at the most, and never before a minute.
GRACE_INTERVALS, MOST_GRACE = 3, timedelta(minutes=10)
LEAST = timedelta(seconds=60)


@dataclass(frozen=True)
class Reading:
    """One kind of reading: the oldest last success (None: never), whether that is too old, and why."""

    kind: str
    label: str
    at: datetime | None
    stale: bool
    error: str
    account: Account


@dataclass(frozen=True)
class Freshness:
    """The readings of one or several accounts. `oldest` is None while something was never read.

    `state`: "none" (no connection), "waiting" (first reading under way), "refused" (a key needs its owner),
    "stale", or "fresh". `sentence` says it.
    """

    state: str
    sentence: str
    oldest: datetime | None
    readings: dict[str, Reading]
    refused: list[Account]
    complete_from: datetime | None
    backfill: dict

    @property
    def stage(self) -> str:
        """Of the first reading: "start" until traders and open copies are known, then "past"; "" once it is over."""
        if self.state in ("none", "refused"):
            return ""
        never = {kind for kind, reading in self.readings.items() if reading.at is None}
        if never & {SyncJob.Kind.TRADERS, SyncJob.Kind.OPEN}:
            return "start"
        return "past" if never or self.backfill else ""


def freshness(
    subject: User | Account, kinds: Iterable[str] | None = None, now: datetime | None = None
) -> Freshness:
    """The freshness of a user's (or one account's) data. One query. `kinds`: what counts; else copying."""
    asked = _of_account if isinstance(subject, Account) else _of_user
    jobs, accounts = asked(pk=subject.pk)
    refer(jobs, "account", {account.pk: account for account in accounts})
    return freshness_of(jobs, kinds, now)


@Prepared
def _of_account(pk: Any) -> Sequence[Query]:
    return SyncJob.objects.filter(account=pk).order_by("account_id", "pk"), Account.objects.filter(pk=pk)


@Prepared
def _of_user(pk: Any) -> Sequence[Query]:
    return jobs_of(pk), Account.objects.filter(owner=pk)


def jobs_of(user: Any) -> QuerySet[SyncJob]:
    """What freshness_of tells from, for a page that asks for more at once and has the accounts."""
    return SyncJob.objects.filter(account__owner=user).order_by("account_id", "pk")


def freshness_of(
    jobs: Iterable[SyncJob], kinds: Iterable[str] | None = None, now: datetime | None = None
) -> Freshness:
    """The same from jobs that were read already, each with its account."""
    jobs, now, wanted = list(jobs), now or timezone.now(), set(kinds or COPY_KINDS)
    rows = [job for job in jobs if job.kind in wanted]
    history = [job for job in jobs if job.kind == SyncJob.Kind.HISTORY]
    readings: dict[str, Reading] = {}
    for job in rows:
        reading = _reading(job, now)
        other = readings.get(job.kind)
        if other is None or _older(reading, other):
            readings[job.kind] = reading
    refused = list(
        {job.account_id: job.account for job in rows if job.account.state == Account.State.REFUSED}.values()
    )
    state, sentence = _state(readings, refused)
    times = [reading.at for reading in readings.values()]
    reach = [job.complete_from for job in history]
    return Freshness(
        state=state,
        sentence=sentence,
        oldest=None if not times or None in times else min(time for time in times if time),
        readings=readings,
        refused=refused,
        complete_from=None if not reach or None in reach else max(time for time in reach if time),
        backfill=_backfill(history),
    )


def _reading(job: SyncJob, now: datetime) -> Reading:
    promise = interval_of(job)
    limit = max(LEAST, promise + min(GRACE_INTERVALS * promise, MOST_GRACE))
    stale = job.last_success_at is not None and now - job.last_success_at > limit
    return Reading(job.kind, job.get_kind_display(), job.last_success_at, stale, job.last_error, job.account)


def _older(one: Reading, other: Reading) -> bool:
    if one.at is None or other.at is None:
        return one.at is None and other.at is not None
    return one.at < other.at


def _state(readings: dict[str, Reading], refused: list[Account]) -> tuple[str, str]:
    if not readings:
        return "none", "No exchange account is connected yet."
    if refused:
        return "refused", f"{refused[0].label}: {refused[0].state_reason}"
    never = [reading for reading in readings.values() if reading.at is None]
    if never:
        why = next((reading.error for reading in never if reading.error), "")
        return "waiting", f"Not read yet: {why}" if why else "The first reading is under way."
    stale = [reading for reading in readings.values() if reading.stale]
    if stale:
        oldest = next(reading for reading in stale if not any(_older(other, reading) for other in stale))
        return "stale", f"Not read for a while: {oldest.label}. {oldest.error}".strip()
    return "fresh", "All readings are up to date."


def _backfill(jobs: list[SyncJob]) -> dict:
    """Progress of the first walk through the past: {"reached": datetime, "orders": n}; {} when done."""
    walks = [job.cursor["back"] for job in jobs if job.cursor.get("back")]
    if not walks:
        return {}
    reached = max(datetime.fromisoformat(walk["end"]) for walk in walks)
    return {"reached": reached, "orders": sum(walk.get("seen", 0) for walk in walks)}
