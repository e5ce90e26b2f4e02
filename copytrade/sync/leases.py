"""Who works at a job: one holder at a time, by a lease in the database, and commits only while it is held.

A claim is one conditional UPDATE. Its token fences every commit: a worker that slept through its lease
finds the token changed and writes nothing. The due time is pushed ahead with the claim, so a job that kills
its worker comes back after the lease, not at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from copytrade.models import Account, SyncJob

# Readings of one account at the same time. Fewer than a worker has processes, so that an account whose
# exchange hangs leaves some to the others.
AT_ONCE = 3


class LeaseLost(Exception):
    """Another worker has taken this job over, or its account was removed: stop, and write nothing."""


def lease_time() -> timedelta:
    """Longer than the longest pause between two commits: the deadline of one call, its waiting included."""
    return timedelta(seconds=max(settings.SYNC_LEASE_SECONDS, settings.EXCHANGE_DEADLINE + 1))


def claim(job_id: int, *, force: bool = False, now: datetime | None = None) -> SyncJob | None:
    """Take a due job (any job with `force`), or None when it is not due, is held, has to wait for other
    readings of its account, or is gone."""
    now, token, lease = now or timezone.now(), uuid.uuid4(), lease_time()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    rows = SyncJob.objects.filter(free, pk=job_id)
    if not force:
        rows = rows.filter(due_at__lte=now)
    with transaction.atomic():
        if not force and _account_is_busy(job_id, now):
            return None
        taken = rows.update(lease_token=token, lease_until=now + lease, due_at=now + lease)
    if not taken:
        return None
    return SyncJob.objects.select_related("account__owner").get(pk=job_id)


def _account_is_busy(job_id: int, now: datetime) -> bool:
    """Are AT_ONCE jobs of this job's account held already? Counted under a lock, so that no two slip in."""
    account = Account.objects.select_for_update(no_key=True).filter(jobs=job_id).first()
    if account is None:
        return False
    return SyncJob.objects.filter(account=account, lease_until__gte=now).count() >= AT_ONCE


@contextmanager
def fenced(job: SyncJob) -> Iterator[None]:
    """A transaction that commits only while `job` still holds its lease, and renews it.

    What the block changes of `job.cursor` is stored with it: rows and cursor together, or neither.
    """
    with transaction.atomic():
        held = SyncJob.objects.select_for_update().filter(pk=job.pk, lease_token=job.lease_token)
        if not held.exists():
            raise LeaseLost
        yield
        job.lease_until = timezone.now() + lease_time()
        SyncJob.objects.filter(pk=job.pk).update(
            cursor=job.cursor, complete_from=job.complete_from, lease_until=job.lease_until
        )


def release(job: SyncJob, due_at: datetime, **fields: object) -> bool:
    """Give the job back, due again at `due_at`; False when it was not ours any more."""
    rows = SyncJob.objects.filter(pk=job.pk, lease_token=job.lease_token)
    return rows.update(lease_token=None, lease_until=None, due_at=due_at, **fields) == 1


def take_due(now: datetime | None = None, limit: int = 500) -> list[int]:
    """Jobs that are due and that nobody is at, oldest first."""
    now = now or timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    rows = SyncJob.objects.filter(free, due_at__lte=now).exclude(account__state=Account.State.REFUSED)
    return list(rows.order_by("due_at").values_list("pk", flat=True)[:limit])


def make_due(account: Account, *kinds: str) -> None:
    """Bring readings of an account forward to now; those under way follow right after."""
    SyncJob.objects.filter(account=account, kind__in=kinds, due_at__gt=timezone.now()).update(
        due_at=timezone.now()
    )
