"""Celery's settings, read when the application is first used (reading Django's at import would be a circle)."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from .ticking import TICK_EVERY, TICK_LIVES

LEAST_PROCESSES = 4


def broker_address(redis_url: str) -> str:
    """kombu's word for a unix socket is redis+socket://, with the database in `virtual_host`."""
    if not redis_url.startswith("unix://"):
        return redis_url
    path, _, query = redis_url.removeprefix("unix://").partition("?")
    number = dict(pair.partition("=")[::2] for pair in query.split("&") if pair).get("db", "0")
    return f"redis+socket://{path}?virtual_host={number}"


def schedule_file() -> str:
    """Where beat keeps when it last ran: with the desk's data, else in the temporary folder. Never in the tree."""
    if folder := os.environ.get("COPYDESK_DATA"):
        return str(Path(folder) / "beat-schedule")
    return str(Path(gettempdir()) / f"copydesk-beat-{os.getuid()}")


def own_egress() -> list[str]:
    """The addresses that this worker may call from: WORKER_EGRESS, names with commas; all of them without it."""
    wanted = [name.strip() for name in os.environ.get("WORKER_EGRESS", "").split(",") if name.strip()]
    if unknown := sorted(set(wanted) - set(settings.EGRESS)):
        raise ImproperlyConfigured(f"WORKER_EGRESS names addresses that COPYDESK_EGRESS does not: {unknown}")
    return wanted or sorted(settings.EGRESS)


def own_processes() -> int:
    """How many processes this worker has: WORKER_PROCESSES; without it one for each address, and four at least.

    A reading of several calls waits for its address between them, and must not keep the other addresses waiting."""
    return int(os.environ.get("WORKER_PROCESSES") or max(LEAST_PROCESSES, len(own_egress())))


broker_url = broker_address(settings.REDIS_URL)
broker_connection_retry_on_startup = True
broker_connection_max_retries = None  # a broker that is away for hours is waited for
broker_transport_options = {
    # Longer than the longest task, or a message would be given out while its task still runs.
    "visibility_timeout": 150,
    # kombu looks for messages of dead workers every interval * throttle seconds; by default every 100.
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    "unacked_mutex_expire": 10,
    "queue_order_strategy": "priority",
    "global_keyprefix": "celery:",
    # A hint that cannot be sent at once is not worth a person's wait: the tick sends it later.
    "max_retries": 1,
    "interval_start": 0.05,
    "interval_max": 0.1,
}
result_backend = None
task_ignore_result = True
task_acks_late = True
task_reject_on_worker_lost = True
worker_prefetch_multiplier = 1
worker_concurrency = own_processes()
worker_max_tasks_per_child = 2000
worker_send_task_events = False
worker_enable_remote_control = False
task_serializer = "json"
accept_content = ["json"]
egress_allowed = own_egress()
# In this order: a person waits for the first; the second is short and finds what the third has to do. Calls go to a
# worker that may use the account's address, so each has queues of its own.
task_queues = [
    *(Queue(f"changes.{name}") for name in egress_allowed),
    Queue("desk"),
    *(Queue(f"readings.{name}") for name in egress_allowed),
]
task_default_queue = "desk"
task_time_limit = 120
task_soft_time_limit = 100
timezone = "UTC"
beat_schedule_filename = schedule_file()
beat_max_loop_interval = 2
# One more source of ticks, not the only one (ticking.py). What comes round less often is a row (Chore).
beat_schedule = {
    "tick": {"task": "copytrade.tasks.tick", "schedule": TICK_EVERY, "options": {"expires": TICK_LIVES}}
}
