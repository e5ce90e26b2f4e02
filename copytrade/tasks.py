"""Celery's side of the jobs: thin, ids as arguments, each a hint that may be lost, late or repeated.

What is due stands in the database (SyncJob, SettingsChange); `tick` looks there and sends hints. Losing
every message loses nothing: the next tick sends them again.
"""

from __future__ import annotations

import structlog
from celery import Task, shared_task
from kombu import Connection
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from . import alert_mail, alerts, changes, retention
from .sync import run

log = structlog.get_logger(__name__)

# A hint older than this is stale: another tick has sent a newer one.
HINT_LIVES = 15


@shared_task(expires=10)
def tick() -> int:
    """Hand out what is due; how many hints went out. Run twice, or by five, it changes nothing."""
    readings, waiting = run.run_due(), changes.take_up()
    for change_id in waiting:
        proceed_with_change.apply_async((change_id,), expires=HINT_LIVES)
    for job_id in readings:
        read.apply_async((job_id,), expires=HINT_LIVES)
    return len(readings) + len(waiting)


@shared_task(soft_time_limit=100, time_limit=120)
def read(job_id: int) -> str:
    """Make one reading, if it is still due and nobody else is at it."""
    outcome = run.run_job(job_id)
    if outcome == run.MORE:
        read.apply_async((job_id,), expires=HINT_LIVES)
    return outcome


@shared_task(soft_time_limit=100, time_limit=120)
def proceed_with_change(change_id: int) -> str:
    """Send a confirmed change, or look at the outcome of one that was sent."""
    return changes.proceed(change_id)


@shared_task(soft_time_limit=100, time_limit=120)
def tidy() -> int:
    """Delete what has outlived its span; how many rows."""
    return retention.tidy()


@shared_task(expires=20, soft_time_limit=100, time_limit=120)
def watch() -> int:
    """Raise and resolve alerts by what is stored; how many are new."""
    return alerts.watch()


@shared_task(expires=60, soft_time_limit=100, time_limit=120)
def mail_alerts() -> int:
    """Mail the alerts that nobody has been told yet; how many."""
    return alert_mail.deliver()


def hint_change(change_id: int, connection: Connection | None = None) -> bool:
    """Wake a worker for a change right after it was confirmed. False when the broker is away: the tick has it."""
    return _hint(proceed_with_change, change_id, connection)


def hint_account(account_id: int) -> bool:
    """Wake workers for whatever is due, right after a connection was added or its key replaced."""
    return _hint(wake, account_id)


@shared_task(expires=10)
def wake(account_id: int) -> int:
    """Hand out what is due now instead of at the next tick."""
    return tick()


def _hint(task: Task, row_id: int, connection: Connection | None = None) -> bool:
    try:
        task.apply_async((row_id,), expires=HINT_LIVES, retry=False, connection=connection)
    except (KombuError, RedisError, OSError) as error:
        log.warning("hint not sent", task=task.name, error=type(error).__name__)
        return False
    return True
