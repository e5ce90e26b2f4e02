"""Celery's side of the jobs: thin, ids as arguments, each message a hint that may be lost, late or repeated.

What is due stands in the database (SyncJob, Chore, SettingsChange). `tick` looks there and wakes workers; a woken
worker takes the most urgent reading itself, and goes on until nothing is due. Every worker's parent publishes
ticks (dashboard/ticking.py), and beat may too: who ticks, how many, or how often makes no difference. Losing every
message loses nothing: the next tick sends them again.

Queues (dashboard/celeryconfig.py): `changes.<egress>` before `desk` before `readings.<egress>`, so that a call is made
by a worker that may use the account's address.
"""

from __future__ import annotations

import structlog
from celery import Task, current_app, shared_task
from kombu import Connection
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from . import alerts, audit, changes, egress, erasure, notices, quarantine, reconcile, retention, rollups
from .affiliate import fetching
from .models import AffiliateReport, SettingsChange, SpotTicket
from .scheduling import chores as desk_work
from .scheduling import own as own_readings
from .scheduling import planner
from .scheduling.chores import Work
from .spot import sending as spot_orders
from .sync import worker

log = structlog.get_logger(__name__)

# A hint older than this is stale: another tick has sent a newer one.
HINT_LIVES = 15
# Workers that may be telling at a time: a slow receiver holds one of them for seconds, and never all.
TELLERS = 2
# One for readings is kept until a worker that has just begun is free again: no more than its processes can take wait
# in a queue, so there is nothing to sort out when they come back, and always something to go on with.
WORK_HINT_LIVES = round(worker.WORK_SECONDS) + 10
CHORES = {
    "plan": Work(planner.replan, every=15),
    "own": Work(own_readings.keep_up, every=15),
    "summaries": Work(rollups.summarise_stale, every=5),
    "verify": Work(rollups.verify_some, every=60),
    "reconcile": Work(reconcile.check, every=60),
    "reread": Work(quarantine.retry_all, every=300),
    "watch": Work(alerts.watch, every=15),
    "notices": Work(lambda: plan_notices(), every=15),
    "key_uses": Work(audit.count_readings, every=300),
    "erase": Work(erasure.proceed, every=3),
    "reports": Work(lambda: hint_reports(), every=10),
    "tidy": Work(retention.tidy, every=6 * 3600),
}


@shared_task(expires=10)
def tick() -> int:
    """Wake workers for what is due; how many hints went out. Run twice, or by five, it changes nothing."""
    sent = 0
    for change_id in changes.take_up():
        sent += hint_change(change_id)
    for ticket_id in spot_orders.take_up():
        sent += hint_spot(ticket_id)
    if desk_work.is_due(CHORES):
        sent += _hint(chores)
    configured = set(egress.names())
    return sent + sum(
        _wake_for(f"readings.{name}", due)
        for name, due in worker.due_by_egress().items()
        if name in configured
    )


def _wake_for(queue: str, due: int) -> int:
    """Hints for so many readings: together with those that wait there, as many as a worker has processes."""
    wanted = min(due, current_app.conf.worker_concurrency or 1)
    missing = wanted - _waiting_in(queue)
    return sum(_hint(work, queue=queue, lives=WORK_HINT_LIVES) for _ in range(missing))


def _waiting_in(queue: str) -> int:
    """How many messages nobody has taken yet; 0 when the broker is away."""
    try:
        with current_app.pool.acquire(block=True, timeout=5) as connection:
            return connection.default_channel.queue_declare(queue).message_count
    except (KombuError, RedisError, OSError):
        return 0


@shared_task(soft_time_limit=100, time_limit=120)
def work(name: str = "") -> int:
    """Make readings until nothing is due or some seconds have passed; how many. `name`: only from that address."""
    allowed = [name] if name else current_app.conf.get("egress_allowed") or egress.names()
    return worker.work(allowed, wanted_elsewhere=lambda: _changes_wait(allowed))


@shared_task(soft_time_limit=100, time_limit=120)
def chores() -> list[str]:
    """Do the work of the desk that is due; the names of what was done."""
    return desk_work.run_due(CHORES)


@shared_task(soft_time_limit=100, time_limit=120)
def proceed_with_change(change_id: int) -> str:
    """Send a confirmed change, or look at the outcome of one that was sent."""
    return changes.proceed(change_id)


@shared_task(soft_time_limit=100, time_limit=120)
def proceed_with_spot(ticket_id: int) -> dict[str, int]:
    """Send the confirmed orders of a ticket, or look up what became of them."""
    return spot_orders.proceed(ticket_id)


@shared_task(soft_time_limit=100, time_limit=120)
def read_report(report_id: int) -> str:
    """Read an affiliate report on; what is left then is for the next worker, at once."""
    outcome = fetching.read(report_id)
    if outcome == fetching.MORE:
        hint_report(report_id)
    return outcome


def hint_report(report_id: int) -> bool:
    """Wake a worker for a report right after it was asked. False when the broker is away: the chore has it."""
    account = AffiliateReport.objects.filter(pk=report_id).values_list("account", flat=True).first()
    return _hint(read_report, report_id, queue=f"readings.{egress.of(account or 0)}")


def hint_reports() -> int:
    """Wake workers for the reports that wait, or whose worker died; how many."""
    return sum(hint_report(report_id) for report_id in fetching.due())


@shared_task(soft_time_limit=100, time_limit=120)
def tell_notices() -> int:
    """Tell what is to be told, until nothing is or a minute has passed; how many deliveries arrived."""
    return notices.work()


def plan_notices() -> int:
    """What is to be told by which channel; workers are woken for it. How many channels have something."""
    waiting = notices.plan()
    for _ in range(min(waiting, TELLERS)):
        _hint(tell_notices)
    return waiting


@shared_task(expires=10)
def wake(account_id: int) -> int:
    """Wake workers now instead of at the next tick."""
    return tick()


def hint_change(change_id: int, connection: Connection | None = None) -> bool:
    """Wake a worker for a change right after it was confirmed. False when the broker is away: the tick has it."""
    account = SettingsChange.objects.filter(pk=change_id).values_list("trader__account", flat=True).first()
    queue = f"changes.{egress.of(account or 0)}"
    return _hint(proceed_with_change, change_id, queue=queue, connection=connection)


def hint_spot(ticket_id: int) -> bool:
    """Wake a worker for a ticket right after it was confirmed. False when the broker is away: the tick has it."""
    account = SpotTicket.objects.filter(pk=ticket_id).values_list("account", flat=True).first()
    return _hint(proceed_with_spot, ticket_id, queue=f"changes.{egress.of(account or 0)}")


def hint_account(account_id: int) -> bool:
    """Wake workers for whatever is due, right after a connection was added or its key replaced."""
    return _hint(wake, account_id)


def _hint(
    task: Task,
    *ids: int,
    queue: str = "desk",
    lives: int = HINT_LIVES,
    connection: Connection | None = None,
) -> bool:
    try:
        task.apply_async(ids, queue=queue, expires=lives, retry=False, connection=connection)
    except (KombuError, RedisError, OSError) as error:
        log.warning("hint not sent", task=task.name, error=type(error).__name__)
        return False
    return True


def _changes_wait(names: list[str]) -> bool:
    """Does a change wait for a free process? Then readings give way, between one and the next."""
    try:
        with current_app.pool.acquire(block=True, timeout=1) as connection:
            client = connection.default_channel.client
            return any(client.llen(f"changes.{name}") for name in names)
    except (KombuError, RedisError, OSError):
        return False
