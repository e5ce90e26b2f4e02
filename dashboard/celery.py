"""The Celery application: `celery -A dashboard worker` and `celery -A dashboard beat` need nothing more.

Messages are hints (copytrade/tasks.py): results are ignored, a message is acknowledged when its task has
ended, and one of a killed worker comes back by itself. Even that is a convenience: the tick sends a new
hint for every job whose lease has run out.
"""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("copydesk")
app.config_from_object("dashboard.celeryconfig")
app.autodiscover_tasks(["copytrade"])


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery leaves logging to Django's settings."""
