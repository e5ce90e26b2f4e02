"""Readings of the exchange, one job at a time: claim, read, hand back with the next due time.

Plain functions. Celery's tasks and `manage sync` call them; a test does too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog
from django.db.models import F
from django.db.models.functions import Now

from copytrade import egress, health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.errors import ExchangeError, RateLimited
from copytrade.intervals import interval_of, is_at_cap
from copytrade.models import COPY_KINDS, OWN_KINDS, Account, SyncJob
from copytrade.scheduling import boosts, rates
from copytrade.vault import VaultError

from . import account, bills, handing_back, history, lead, leases, open_orders, settings, traders
from .reading import Reading, call_weight, note_run

READERS: dict[str, Callable[[Reading], None]] = {
    SyncJob.Kind.TRADERS: traders.read,
    SyncJob.Kind.OPEN: open_orders.read,
    SyncJob.Kind.SETTINGS: settings.read,
    SyncJob.Kind.HISTORY: history.read,
    SyncJob.Kind.ACCOUNT: account.read,
    SyncJob.Kind.BILLS: bills.read_spot,
    SyncJob.Kind.FUNDING: bills.read_funding,
    SyncJob.Kind.LEAD: lead.read,
}
# In the order in which they are read one after the other.
ALL = (SyncJob.Kind.TRADERS, SyncJob.Kind.OPEN, SyncJob.Kind.SETTINGS, SyncJob.Kind.HISTORY)
EVERY = ALL + OWN_KINDS
LONGEST_PAUSE = timedelta(minutes=10)
# What failed is tried again after its interval, or after this if that is longer (a history's grows to hours where quota
# is short, since changes bring it forward); then after twice that.
RETRY_AFTER = timedelta(seconds=15)
LEAST_HELD = 1.0  # seconds before our own limiter is asked for room again
BUDGET_SECONDS = 8.0
PENDING_PAUSE = timedelta(seconds=45)
USUAL, BACKFILL = 1, 2
# Part of the interval by which deadlines wander, so that readings that fell together drift apart.
JITTER = 0.95, 1.05
# What is read as seldom as may be must not be read later still.
JITTER_AT_CAP = 0.99, 1.0
# How fast a job's measured weight follows what it was lately.
WEIGHT_LEARNS = 0.2

log = structlog.get_logger(__name__)


def run_due(now: datetime | None = None) -> list[int]:
    """The jobs that somebody should run now, oldest first."""
    return leases.take_due(now)


def sync_account(account_id: int, kinds: Iterable[str] = ALL, *, most: int = 500) -> dict[str, str]:
    """Read an account now, due or not, every kind to its end; {kind: "" or what went wrong}.

    A kind that another worker is at is left to it. The order is that of `ALL`: traders first.
    """
    account = Account.objects.get(pk=account_id)
    wanted = [kind for kind in EVERY if kind in set(kinds)]
    ensure_jobs(account, wanted)
    said: dict[str, str] = {}
    for kind in wanted:
        job_id = account.jobs.values_list("pk", flat=True).get(kind=kind)
        for _ in range(most):
            outcome = run_job(job_id, force=True)
            if outcome != MORE:
                break
        said[kind] = "" if outcome == DONE else outcome
    return said


def ensure_jobs(account: Account, kinds: Iterable[str] = ALL) -> None:
    """The account has a job of each of these kinds; those of its own data give way to the others."""
    name = egress.of(account.pk)
    rows = [
        SyncJob(account=account, kind=kind, egress=name, priority=BACKFILL if kind in OWN_KINDS else USUAL)
        for kind in kinds
    ]
    SyncJob.objects.bulk_create(rows, ignore_conflicts=True)


DONE, MORE, TAKEN = "done", "more", "Another worker is at it, or it is not due."


def run_job(job_id: int, *, force: bool = False, budget: float = BUDGET_SECONDS) -> str:
    """Run one job if it is due and free: DONE, MORE (some work is left), TAKEN, or a sentence of what failed.

    `budget`: seconds after which a long walk hands its job back, due at once.
    Only errors that nobody foresaw are raised, after the job was pushed ahead.
    """
    job = leases.claim(job_id, force=force)
    return TAKEN if job is None else run_claimed(job, budget)


def run_claimed(job: SyncJob, budget: float = BUDGET_SECONDS) -> str:
    """Run a job that was claimed, and hand it back; answers and errors as `run_job`."""
    account = job.account
    if not health.reading_allowed(account):
        leases.release(job, LONGEST_PAUSE)
        return account.state_reason
    reading = None
    try:
        with talking_to(account, fresh=True) as client:
            reading = Reading(job, account, client, budget)
            reading.pay()
            READERS[job.kind](reading)
        return _succeeded(job, reading)
    except leases.LeaseLost:
        log.info("lease lost", job=job.pk, kind=job.kind)
        return TAKEN
    except (ExchangeError, NoKey, VaultError) as error:
        return _failed(job, reading, error)
    except Exception as error:
        _push_ahead(
            job, f"An unexpected fault of Copydesk ({type(error).__name__}). It is tried again later."
        )
        raise


def _succeeded(job: SyncJob, reading: Reading) -> str:
    was_pending = job.account.state == Account.State.PENDING and job.kind in COPY_KINDS
    if job.kind in COPY_KINDS:
        # The others may have asked nothing at all, and none of them says that copying can be read.
        health.succeeded(job.account)
    every = interval_of(job)
    interval = None if reading.more else every * random.uniform(*jitter(job))  # noqa: S311 (spreads readings)
    if not handing_back.done(job, reading, interval, _priority(job, reading), observation(job, reading)):
        return TAKEN
    if was_pending:
        leases.make_due(job.account, *ALL, anyway=True)
    boosts.close_seen(job.account, reading.closed_traders)
    return MORE if reading.more else DONE


def jitter(job: SyncJob) -> tuple[float, float]:
    return JITTER_AT_CAP if is_at_cap(job.account.venue, job.kind, job.interval) else JITTER


def _priority(job: SyncJob, reading: Reading) -> int:
    """A walk through the past that goes on gives way to what is due, and what an account says of itself always does;
    whatever else was urgent has been done."""
    if job.kind in OWN_KINDS:
        return BACKFILL
    return BACKFILL if reading.more and job.kind == SyncJob.Kind.HISTORY and job.cursor.get("back") else USUAL


def observation(job: SyncJob, reading: Reading) -> dict[str, float]:
    """What this reading says of how often its subject changes, and of what a reading weighs: written with the
    release. The first reading says nothing of a rate: what it found may be years old."""
    if reading.more or job.cursor.get("back"):
        return {}  # the first walk through the past: nothing like the readings to come
    each = float(call_weight(job.kind))
    weight = job.weight + (each * max(reading.pages, 1) - job.weight) * WEIGHT_LEARNS
    told = {"weight": round(weight, 2)}
    if job.last_success_at is None or job.kind == SyncJob.Kind.HISTORY or job.kind in OWN_KINDS:
        return told
    seconds = (reading.began - job.last_success_at).total_seconds()
    changes, exposure = rates.observed(job.changes, job.exposure, seconds, changed=bool(reading.changed))
    return told | {"changes": changes, "exposure": exposure}


def _failed(job: SyncJob, reading: Reading | None, error: ExchangeError | NoKey | VaultError) -> str:
    """The account's state follows from the error; the job comes back after a pause that grows."""
    words = getattr(error, "sentence", str(error))
    if isinstance(error, ExchangeError):
        # A permission that only these readings lack is said beside them; the key is not refused for it.
        health.failed(job.account, error, reading=job.kind in COPY_KINDS)
    opened = not isinstance(error, (NoKey, VaultError))
    if isinstance(error, RateLimited) and error.local:
        _hold_back(job, words, error.retry_after)
    else:
        _push_ahead(job, words, _first_pause(job, error), opened=opened)
    code = getattr(error, "code", None)
    note_run(job.account, job.kind, reading, error_code=str(code or type(error).__name__), error=words)
    log.warning(
        "reading failed", account=job.account_id, kind=job.kind, error=type(error).__name__, code=code
    )
    return words


def _hold_back(job: SyncJob, words: str, seconds: float) -> None:
    """Our own limiter had no room, which is no failure of this account's: it comes back as soon as there may be,
    without a pause that grows, else whoever was unlucky once would fall behind all others."""
    pause = timedelta(seconds=max(seconds, LEAST_HELD) * random.uniform(1.0, 1.5))  # noqa: S311 (spreads readings)
    leases.release(
        job, min(pause, LONGEST_PAUSE), heed_hints=False, last_error=words[:500], key_uses=F("key_uses") + 1
    )


def _first_pause(job: SyncJob, error: Exception) -> timedelta:
    """What the pause after a first failure is. A refusal for too many calls says it itself, and stops the address: the
    interval, which grows where quota is short, would have this reading wait for minutes after the address goes on."""
    if isinstance(error, RateLimited):
        return timedelta(seconds=max(error.retry_after, LEAST_HELD))
    return min(interval_of(job), RETRY_AFTER)


def _push_ahead(job: SyncJob, words: str, first: timedelta | None = None, *, opened: bool = True) -> None:
    """`first`: the pause, twice as long for each failure before. `opened`: the key was, so the audit log counts it."""
    first = first or min(interval_of(job), RETRY_AFTER)
    pause = min(first * 2 ** min(job.failures, 10), LONGEST_PAUSE)
    leases.release(
        job,
        pause,
        heed_hints=False,
        failures=job.failures + 1,
        last_error=words[:500],
        key_uses=F("key_uses") + int(opened),
    )
    if job.account.state == Account.State.PENDING:
        # One kind tries the new key for all: the fewer refused calls the better.
        others = SyncJob.objects.filter(account=job.account, lease_token=None)
        others.filter(kind=job.kind).update(due_at=Now() + PENDING_PAUSE)
        others.exclude(kind=job.kind).update(due_at=Now() + PENDING_PAUSE * 1.5)
