"""Readings of the exchange, one job at a time: claim, read, hand back with the next due time.

Plain functions. Celery's tasks and `manage sync` call them; a test does too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog
from django.utils import timezone

from copytrade import health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.errors import ExchangeError
from copytrade.intervals import interval
from copytrade.models import Account, SyncJob
from copytrade.vault import VaultError

from . import history, leases, open_orders, settings, traders
from .reading import Reading, note_run

READERS: dict[str, Callable[[Reading], None]] = {
    SyncJob.Kind.TRADERS: traders.read,
    SyncJob.Kind.OPEN: open_orders.read,
    SyncJob.Kind.SETTINGS: settings.read,
    SyncJob.Kind.HISTORY: history.read,
}
ALL = tuple(READERS)
LONGEST_PAUSE = timedelta(minutes=10)
BUDGET_SECONDS = 8.0
PENDING_PAUSE = timedelta(seconds=45)

log = structlog.get_logger(__name__)


def run_due(now: datetime | None = None) -> list[int]:
    """The jobs that somebody should run now; each is handed out once per few seconds."""
    return leases.take_due(now)


def sync_account(account_id: int, kinds: Iterable[str] = ALL, *, most: int = 500) -> dict[str, str]:
    """Read an account now, due or not, every kind to its end; {kind: "" or what went wrong}.

    A kind that another worker is at is left to it. The order is that of `ALL`: traders first.
    """
    account = Account.objects.get(pk=account_id)
    ensure_jobs(account)
    said: dict[str, str] = {}
    for kind in [kind for kind in ALL if kind in set(kinds)]:
        job_id = account.jobs.values_list("pk", flat=True).get(kind=kind)
        for _ in range(most):
            outcome = run_job(job_id, force=True)
            if outcome != MORE:
                break
        said[kind] = "" if outcome == DONE else outcome
    return said


def ensure_jobs(account: Account) -> None:
    """Every account has a job of each kind."""
    SyncJob.objects.bulk_create([SyncJob(account=account, kind=kind) for kind in ALL], ignore_conflicts=True)


DONE, MORE, TAKEN = "done", "more", "Another worker is at it, or it is not due."


def run_job(job_id: int, *, force: bool = False, budget: float = BUDGET_SECONDS) -> str:
    """Run one job if it is due and free: DONE, MORE (some work is left), TAKEN, or a sentence of what failed.

    `budget`: seconds after which a long walk hands its job back, due at once.
    Only errors that nobody foresaw are raised, after the job was pushed ahead.
    """
    job = leases.claim(job_id, force=force)
    if job is None:
        return TAKEN
    account = job.account
    if not health.reading_allowed(account):
        leases.release(job, timezone.now() + LONGEST_PAUSE)
        return account.state_reason
    reading = None
    try:
        with talking_to(account) as client:
            reading = Reading(job, account, client, budget)
            READERS[job.kind](reading)
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
    return _succeeded(job, reading)


def _succeeded(job: SyncJob, reading: Reading) -> str:
    now = timezone.now()
    was_pending = job.account.state == Account.State.PENDING
    health.succeeded(job.account, now)
    due = now if reading.more else now + interval(job.account.venue, job.kind)
    if not leases.release(job, due, failures=0, last_success_at=now, last_error=reading.trouble[:500]):
        return TAKEN
    note_run(job.account, job.kind, reading, error=reading.trouble, at=now)
    if was_pending:
        leases.make_due(job.account, *ALL)
    return MORE if reading.more else DONE


def _failed(job: SyncJob, reading: Reading | None, error: ExchangeError | NoKey | VaultError) -> str:
    """The account's state follows from the error; the job comes back after a pause that grows."""
    words = getattr(error, "sentence", str(error))
    if isinstance(error, ExchangeError):
        health.failed(job.account, error, reading=True)
    _push_ahead(job, words, getattr(error, "retry_after", 0.0))
    code = getattr(error, "code", None)
    note_run(job.account, job.kind, reading, error_code=str(code or type(error).__name__), error=words)
    log.warning(
        "reading failed", account=job.account_id, kind=job.kind, error=type(error).__name__, code=code
    )
    return words


def _push_ahead(job: SyncJob, words: str, at_least: float = 0.0) -> None:
    now = timezone.now()
    usual = interval(job.account.venue, job.kind)
    pause = min(max(usual * 2 ** min(job.failures, 10), timedelta(seconds=at_least)), LONGEST_PAUSE)
    leases.release(job, now + pause, failures=job.failures + 1, last_error=words[:500])
    if job.account.state == Account.State.PENDING:
        # One kind tries the new key for all: the fewer refused calls the better.
        later = {kind: now + PENDING_PAUSE * (1 if kind == job.kind else 1.5) for kind in ALL}
        for kind, due in later.items():
            SyncJob.objects.filter(account=job.account, kind=kind, lease_token=None).update(due_at=due)
