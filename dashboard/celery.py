"""The Celery application: `celery -A dashboard worker` and `celery -A dashboard beat` need nothing more.

Messages are hints (copytrade/tasks.py): results are ignored, a message is acknowledged when its task has
ended, and one of a killed worker comes back by itself. Even that is a convenience: ticks, published by every
worker's parent (ticking.py), wake somebody for every job whose lease has run out. Beat is not needed.
"""

from __future__ import annotations

import gc
import logging
import os
from pathlib import Path

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_process_init, worker_ready

from .ticking import Ticker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("copydesk")
app.config_from_object("dashboard.celeryconfig")
app.autodiscover_tasks(["copytrade"])
app.steps["worker"].add(Ticker)


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery leaves logging to Django's settings; a line for every hint would drown the rest."""
    for name in ("celery.app.trace", "celery.worker.strategy", "celery.beat"):
        logging.getLogger(name).setLevel(logging.WARNING)


@worker_process_init.connect
def give_way_to_pages(**_: object) -> None:
    """On a busy machine a person who waits for a page goes first: readings run with less claim to the processor."""
    os.nice(int(os.environ.get("WORKER_NICE", "10")))


@worker_process_init.connect
def keep_what_is_loaded(**_: object) -> None:
    """As wsgi.py does: what was loaded stays, and looking through it again and again took a twentieth of a backfill."""
    gc.collect()
    gc.freeze()


@beat_init.connect
@worker_ready.connect
def show_ready(**_: object) -> None:
    """Whoever started this process (ops/desk.py) may wait for this file: there is no port to ask."""
    if file := os.environ.get("READY_FILE"):
        Path(file).touch()
