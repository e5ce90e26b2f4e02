"""Of connections: a key refused, data gone stale, and too little of the request limit for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from copytrade.intervals import bounds, interval_of
from copytrade.models import Account, Alert, SyncJob

from . import words
from .raising import Found

Kind = Alert.Kind
# A page calls data stale after a minute or two; a person is called only when it does not mend by itself.
STALE_AFTER_INTERVALS = 4
STALE_AT_LEAST = timedelta(minutes=15)
# An interval this much longer than the cap was stretched by want of weight (scheduling/plan.py), not by rounding.
STRETCHED = 1.01
_MARK = "%Y%m%dT%H%M%S.%f"


def look(jobs: list[SyncJob], now: datetime) -> Iterator[Found]:
    """`jobs`: of all accounts, each with its account."""
    yield from _refused(now)
    yield from _stale(jobs, now)
    yield from _short(jobs, now)


def _refused(now: datetime) -> Iterator[Found]:
    """One for each time that a key was given up; over once its owner has acted."""
    for account in Account.objects.filter(state=Account.State.REFUSED):
        yield Found(
            Kind.KEY_REFUSED,
            f"{Kind.KEY_REFUSED}:{account.pk}:{account.state_since:{_MARK}}",
            account.owner_id,
            f"{account.label}: {account.state_reason}",
            account=account.pk,
            at=account.state_since,
        )


def _stale(jobs: Iterable[SyncJob], now: datetime) -> Iterator[Found]:
    """One for each account and time of silence, whatever the number of readings that fail.

    None is raised while the key is refused or waits to become active: that is another alert, or none.
    """
    stale: dict[int, list[tuple[datetime, SyncJob]]] = defaultdict(list)
    for job in jobs:
        since = job.last_success_at or max(job.account.created_at, job.account.key_set_at)
        if now - since > max(STALE_AT_LEAST, STALE_AFTER_INTERVALS * interval_of(job)):
            stale[job.account_id].append((since, job))
    for found in stale.values():
        since, job = min(found, key=lambda pair: (pair[0], pair[1].pk))
        account, what = job.account, job.get_kind_display()
        silence = f"not read since {since:%Y-%m-%d %H:%M} UTC."
        if not job.last_success_at:
            silence = f"not read at all since the key was entered, {since:%Y-%m-%d %H:%M} UTC."
        yield Found(
            Kind.DATA_STALE,
            f"{Kind.DATA_STALE}:{account.pk}:{job.kind}:{since:{_MARK}}",
            account.owner_id,
            f"{account.label}: {what} {silence} {job.last_error}",
            account=account.pk,
            at=since,
            holds_only=account.state in (Account.State.REFUSED, Account.State.PENDING),
        )


def _short(jobs: Iterable[SyncJob], now: datetime) -> Iterator[Found]:
    """One for each account whose readings are planned further apart than their cap; the worst of them is named."""
    worst: dict[int, tuple[float, SyncJob]] = {}
    for job in jobs:
        if job.interval is None:
            continue
        stretch = job.interval / bounds(job.account.venue, job.kind).cap
        if stretch > STRETCHED and stretch > worst.get(job.account_id, (0.0, job))[0]:
            worst[job.account_id] = stretch, job
    for _, job in worst.values():
        account, cap = job.account, bounds(job.account.venue, job.kind).cap
        yield Found(
            Kind.QUOTA,
            f"{Kind.QUOTA}:{account.pk}:{now:%Y%m%d}",
            account.owner_id,
            f"{account.label}: {job.get_kind_display()} can be read every {words.length(interval_of(job))} only, "
            f"where {words.length(timedelta(seconds=cap))} is the most the desk means to wait. Too many accounts share "
            "the exchange's request limit; another outgoing address gives more of it.",
            account=account.pk,
            at=now,
            holds_only=account.state == Account.State.REFUSED,
        )
