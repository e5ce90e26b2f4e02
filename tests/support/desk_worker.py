"""What worker and tick do, as a thread of the test process: it takes up changes and readings until it is told to stop.

A thread rather than processes, so that it has ended before the test's rows are removed.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Self

from django.db import connection
from django.utils import timezone

from copytrade import changes, rollups
from copytrade.spot import sending
from copytrade.sync import run

AHEAD = timedelta(
    minutes=1
)  # in a desk a message wakes the worker for a change at once; here nobody sends one


class DeskWorker:
    """Use as a context manager. An exception in the thread is raised at the end."""

    def __init__(self, pause: float = 0.2) -> None:
        self.pause = pause
        self.error: BaseException | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="desk worker", daemon=True)

    def _run(self) -> None:
        try:
            while not self._end.wait(self.pause):
                self.round()
        except BaseException as error:
            self.error = error
        finally:
            connection.close()

    def round(self) -> None:
        for change_id in changes.take_up(timezone.now() + AHEAD):
            changes.proceed(change_id)
        for ticket_id in sending.take_up(timezone.now() + AHEAD):
            sending.proceed(ticket_id)
        for job_id in run.run_due():
            while run.run_job(job_id) == run.MORE and not self._end.is_set():
                continue
        rollups.summarise_stale()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(30)
        if self.error:
            raise self.error
