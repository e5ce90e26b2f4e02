"""A real Celery worker and beat on this test's database and Redis, to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]


class Workers:
    """`celery worker` and `celery beat` as the desk starts them, each leading its own process group."""

    def __init__(self, folder: Path, sandbox_url: str) -> None:
        self.folder = folder
        name = connection.settings_dict["NAME"]
        self.environment = os.environ | {
            "DATABASE_URL": urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl(),
            "REDIS_URL": settings.REDIS_URL,
            "SANDBOX_URL": sandbox_url,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "COPYDESK_DATA": str(folder),
            "SYNC_LEASE_SECONDS": "4",
            "EXCHANGE_DEADLINE": "3",
            "WORKER_PROCESSES": "2",
        }
        self.running: list[subprocess.Popen[bytes]] = []
        self.log = folder / "workers.log"

    def start(self) -> None:
        for command in ("worker", "beat"):
            with self.log.open("ab") as log:
                self.running.append(
                    subprocess.Popen(
                        [sys.executable, "-m", "celery", "-A", "dashboard", command],
                        cwd=ROOT,
                        env=self.environment,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                )

    @property
    def worker(self) -> subprocess.Popen[bytes]:
        return self.running[0]

    def children(self) -> list[int]:
        """The processes of the pool."""
        found = Path(f"/proc/{self.worker.pid}/task/{self.worker.pid}/children").read_text()
        return [int(pid) for pid in found.split()]

    def kill(self) -> None:
        """kill -9 of everything, children included; nothing gets to tidy up."""
        for process in self.running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.running = []

    def kill_children(self) -> None:
        """kill -9 of the pool's processes; their parent lives on."""
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)

    def wait(self, condition: Callable[[], bool], seconds: float = 40) -> None:
        """Until the condition holds; fails with the end of the log when it does not in time."""
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(f"It did not happen in time:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
