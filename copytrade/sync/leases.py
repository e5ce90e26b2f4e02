"""Who works at a job: one holder at a time, by a lease in the database, and commits only while it is held.

A claim is one UPDATE of a row found with SKIP LOCKED. It writes the lease alone and no indexed column, so it costs
next to nothing; the due time stays where it was and is the deadline that the next one is counted from. The lease's
token fences every commit: a worker that slept through its lease finds the token changed and writes nothing. A job
that kills its worker comes back after its lease, and each time after a longer one.

All times here are the database's: the clocks of the workers do not have to agree.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, DurationField, F, Func, Q, When
from django.db.models.functions import Coalesce, Greatest, Least, Now

from copytrade.models import Account, SyncJob

from . import claimed

# Readings of one account at the same time. Fewer than a worker has processes, so that an account whose
# exchange hangs leaves some to the others.
AT_ONCE = 3
# What a step of `priority` is worth: a first backfill gives way to whatever is due less than this after it.
PRIORITY_STEP = timedelta(minutes=5)
# A hint brings a reading forward, but no closer to the last one than this part of its interval: where the
# planner had to stretch the intervals, hints must not undo it.
HINT_SPACING = 1 / 30


class LeaseLost(Exception):
    """Another worker has taken this job over, or its account was removed: stop, and write nothing."""


def lease_time() -> timedelta:
    """Longer than the longest pause between two commits: the deadline of one call, its waiting included."""
    return timedelta(seconds=max(settings.SYNC_LEASE_SECONDS, settings.EXCHANGE_DEADLINE + 1))


# The lease of a job whose holder died is longer each time: what kills workers does not get to kill them all day.
# With the lease comes all that a reading needs of the account: one statement instead of six.
_TAKE = """
    UPDATE copytrade_syncjob AS job
       SET lease_token = %(token)s,
           failures = job.failures + CASE WHEN job.lease_until IS NULL THEN 0 ELSE 1 END,
           lease_until = {now} + %(lease)s
                       * CASE WHEN job.lease_until IS NULL THEN 1 ELSE least(2 ^ least(job.failures, 4), 10) END
"""
_TOLD = """
RETURNING {columns}, (
    SELECT count(*) FROM copytrade_syncjob AS one
     WHERE one.account_id = job.account_id AND (one.due_at <= {now} OR one.lease_until >= {now}))
"""
# Of what is due, the first few of each priority as the index has them; of these the most urgent one that is free.
_FIRST = """
    (SELECT job.id, job.due_at + (job.priority - 1) * %(step)s AS urgent
       FROM copytrade_syncjob AS job
      WHERE job.due_at <= {now} AND job.priority {priority} AND (job.lease_until IS NULL OR job.lease_until < {now})
        AND (%(egress)s::text[] IS NULL OR job.egress = ANY(%(egress)s))
        AND EXISTS (
            SELECT FROM copytrade_account AS account
             WHERE account.id = job.account_id AND account.state <> %(refused)s AND (job.egress, account.venue)
               NOT IN (SELECT * FROM unnest(%(full_egress)s::text[], %(full_venue)s::text[])))
        AND job.account_id NOT IN (SELECT account_id FROM busy) AND job.account_id <> ALL(%(shunned)s::bigint[])
      ORDER BY job.due_at, job.id
      LIMIT 50)
"""
_CLAIM_NEXT = """
WITH busy AS (
    SELECT account_id FROM copytrade_syncjob
     WHERE due_at <= {now} AND lease_until >= {now}
     GROUP BY account_id HAVING count(*) >= %(at_once)s
), first AS MATERIALIZED ({first}), next AS (
    SELECT job.id
      FROM first JOIN copytrade_syncjob AS job USING (id)
     WHERE job.due_at <= {now} AND (job.lease_until IS NULL OR job.lease_until < {now})
     ORDER BY first.urgent, first.id
     LIMIT 1
       FOR NO KEY UPDATE OF job SKIP LOCKED
)
{take}
  FROM next, {tables}
 WHERE job.id = next.id AND account.id = job.account_id
{told}
"""
_CLAIM_ONE = """
{take}
  FROM {tables}
 WHERE job.id = %(job)s AND account.id = job.account_id AND (job.lease_until IS NULL OR job.lease_until < {now})
   AND (%(force)s OR job.due_at <= {now})
{told}
"""


def claim_next(
    egress: Collection[str] | None = None,
    full: Collection[tuple[str, str]] = (),
    now: datetime | None = None,
) -> SyncJob | None:
    """Take the job with the earliest deadline, or None when nothing is due that may be read now.

    `egress`: only of accounts whose calls leave from one of these. `full`: pairs of egress and venue that have
    no room. Jobs of refused accounts, and of accounts at which AT_ONCE are at work already, are left alone.
    """
    values = {
        "egress": None if egress is None else list(egress),
        "full_egress": [pair[0] for pair in full],
        "full_venue": [pair[1] for pair in full],
        "refused": Account.State.REFUSED,
        "at_once": AT_ONCE,
        "step": PRIORITY_STEP,
    }
    shunned: list[int] = []
    for _ in range(5):
        found = _taken(_CLAIM_NEXT, now, shunned=shunned, **values)
        if found is None:
            return None
        job, waiting = found
        if waiting <= AT_ONCE or not _too_many(job, now):
            return job
        # Two claims at the same moment do not see each other, and what is held may be due later than now because
        # of a hint: whoever is one too many gives way, and looks elsewhere.
        give_back(job)
        shunned.append(job.account_id)
    return None


def claim(job_id: int, *, force: bool = False, now: datetime | None = None) -> SyncJob | None:
    """Take a due job (any job with `force`), or None when it is not due, is held, has to wait for other
    readings of its account, or is gone."""
    with transaction.atomic():
        if not force and _account_is_busy(job_id, now):
            return None
        found = _taken(_CLAIM_ONE, now, job=job_id, force=force)
        return found[0] if found else None


def _taken(statement: str, now: datetime | None, **values: object) -> tuple[SyncJob, int] | None:
    """Claim by this statement; the job as it stands, with its account and key, and how many of the account's jobs
    are due or held."""
    clock = "statement_timestamp()" if now is None else "%(now)s::timestamptz"
    values |= {"token": uuid.uuid4(), "lease": lease_time(), "now": now}
    with connection.cursor() as cursor:
        cursor.execute(_spoken(statement, clock), values)
        row = cursor.fetchone()
    if row is None:
        return None
    job = claimed.job_of(row[:-1])
    job.kept = kept_of(job)
    return job, row[-1]


@lru_cache
def _spoken(statement: str, clock: str) -> str:
    first = " UNION ALL ".join(_FIRST.replace("{priority}", one) for one in ("< 1", "= 1", "> 1"))
    parts = {
        "take": _TAKE, "told": _TOLD, "first": first, "tables": claimed.TABLES, "columns": claimed.COLUMNS,
        "now": clock,
    }  # fmt: skip
    for name, part in parts.items():
        statement = statement.replace("{" + name + "}", part)
    return statement


def kept_of(job: SyncJob) -> tuple[str, datetime | None]:
    """What `fenced` stores beside the lease, to see whether it changed."""
    return json.dumps(job.cursor, sort_keys=True), job.complete_from


def _too_many(job: SyncJob, now: datetime | None) -> bool:
    return held(now).filter(account=job.account_id).count() > AT_ONCE


def give_back(job: SyncJob) -> None:
    """Undo a claim: the job is due as before."""
    SyncJob.objects.filter(pk=job.pk, lease_token=job.lease_token).update(lease_token=None, lease_until=None)


def held(now: datetime | None = None):
    """The jobs that somebody is at."""
    return SyncJob.objects.filter(lease_until__gte=now or Now())


def _free(now: datetime | None) -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=now or Now())


def _account_is_busy(job_id: int, now: datetime | None) -> bool:
    """Are AT_ONCE jobs of this job's account held already? Counted under a lock, so that no two slip in."""
    account = Account.objects.select_for_update(no_key=True).filter(jobs=job_id).first()
    if account is None:
        return False
    return held(now).filter(account=account).count() >= AT_ONCE


class Seconds(Func):
    """A number of seconds as an interval of the database."""

    template = "make_interval(secs => %(expressions)s)"
    output_field = DurationField()


@contextmanager
def fenced(job: SyncJob) -> Iterator[None]:
    """A transaction that commits only while `job` still holds its lease, and renews it.

    What was changed of `job.cursor` is stored with the block: rows and cursor together, or neither. Where nothing
    was, and the lease is fresh, the job is locked but not written: most readings find nothing new.
    """
    with transaction.atomic():
        mine = SyncJob.objects.select_for_update(no_key=True).filter(pk=job.pk, lease_token=job.lease_token)
        left = mine.values_list(F("lease_until") - Now(), flat=True).first()
        if left is None:
            raise LeaseLost
        yield
        kept = kept_of(job)
        if kept != job.kept or left < lease_time() / 2:
            mine.update(cursor=job.cursor, complete_from=job.complete_from, lease_until=Now() + lease_time())
    job.kept = kept


def release(job: SyncJob, due_at: object, *, heed_hints: bool = True, **fields: object) -> bool:
    """Give the job back, due again at `due_at` (a time, a timedelta from now, or an expression); False when it
    was not ours any more. A hint that came while it was held counts (unless told otherwise): what it is about may
    have happened after the page that would have shown it."""
    due = Now() + due_at if isinstance(due_at, timedelta) else due_at
    if heed_hints:
        due = Case(When(due_at=job.due_at, then=due), default=Least(F("due_at"), due))
    rows = SyncJob.objects.filter(pk=job.pk, lease_token=job.lease_token)
    return rows.update(lease_token=None, lease_until=None, due_at=due, **fields) == 1


def due(now: datetime | None = None):
    """The jobs that are due and that nobody is at, earliest deadline first."""
    rows = SyncJob.objects.filter(_free(now), due_at__lte=now or Now())
    return rows.exclude(account__state=Account.State.REFUSED).order_by("due_at", "pk")


def take_due(now: datetime | None = None, limit: int = 500) -> list[int]:
    """The ids of the jobs that are due and that nobody is at, oldest first."""
    return list(due(now).values_list("pk", flat=True)[:limit])


def make_due(account: Account, *kinds: str, anyway: bool = False) -> None:
    """Bring readings of an account forward to now; those under way follow right after.

    One that was made a moment ago waits for a small part of its interval (HINT_SPACING). One that failed keeps its
    pause, except with `anyway`: when the cause is known to be gone, or a person asks."""
    soon = Greatest(Now(), F("last_success_at") + Seconds(Coalesce(F("interval"), 0.0) * HINT_SPACING))
    moved = Case(When(lease_until__gte=Now(), then=soon), default=Least(F("due_at"), soon))
    later = Q(due_at__gt=Now()) | Q(lease_until__gte=Now())
    rows = SyncJob.objects.filter(later, account=account, kind__in=kinds)
    if not anyway:
        rows = rows.filter(failures=0)
    with transaction.atomic():
        # In one order, so that two hints never wait for each other.
        ids = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
        SyncJob.objects.filter(pk__in=ids).update(due_at=moved)
