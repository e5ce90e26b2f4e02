"""Celery's settings, read when the application is first used (reading Django's at import would be a circle)."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir

from django.conf import settings
from kombu import Queue


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
worker_concurrency = int(os.environ.get("WORKER_PROCESSES", "4"))
worker_max_tasks_per_child = 2000
worker_send_task_events = False
worker_enable_remote_control = False
task_serializer = "json"
accept_content = ["json"]
task_default_queue = "readings"
task_queues = [Queue("changes"), Queue("readings")]  # in this order: a person waits for the first
task_routes = {
    f"copytrade.tasks.{name}": {"queue": queue}
    for queue, names in {
        "changes": ("tick", "wake", "proceed_with_change"),
        "readings": ("read", "tidy", "watch", "mail_alerts"),
    }.items()
    for name in names
}
task_time_limit = 120
task_soft_time_limit = 100
timezone = "UTC"
beat_schedule_filename = schedule_file()
beat_max_loop_interval = 2
beat_schedule = {
    "tick": {"task": "copytrade.tasks.tick", "schedule": 2.0, "options": {"expires": 10}},
    "watch": {"task": "copytrade.tasks.watch", "schedule": 15.0, "options": {"expires": 15}},
    "mail": {"task": "copytrade.tasks.mail_alerts", "schedule": 60.0, "options": {"expires": 60}},
    "tidy": {"task": "copytrade.tasks.tidy", "schedule": 6 * 3600.0, "options": {"expires": 600}},
}
