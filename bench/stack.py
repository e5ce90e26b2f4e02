"""A desk's real processes to measure: workers of Celery on this bench's servers, and the sandbox exchange."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from django.conf import settings

from copytrade.sandbox.catalogue import BY_NAME
from tests.support.sandbox_process import Sandbox

ROOT = Path(__file__).resolve().parents[1]


class Worker:
    """One `celery worker` as the desk starts it, with so many processes or as many as it has by itself (None). Ended by
    its own process group."""

    def __init__(self, folder: Path, url: str, processes: int | None, **more: str) -> None:
        self.log = folder / "worker.log"
        self.ready = folder / "worker.ready"
        self.ready.unlink(missing_ok=True)
        env = os.environ | {
            "REDIS_URL": settings.REDIS_URL,
            "SANDBOX_URL": url,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "COPYDESK_ENV": "local",
            "COPYDESK_DATA": str(folder),
            "READY_FILE": str(self.ready),
            "WORKER_PROCESSES": str(processes or ""),
            "LOG_LEVEL": "WARNING",
            **more,
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "dashboard", "worker"],
                cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def wait_until_ready(self, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not self.ready.exists():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError(f"The worker did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.05)

    def computed(self) -> float:
        """Seconds that the worker's processes have computed."""
        pids = [self.process.pid, *map(int, children(self.process.pid))]
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9

    def __enter__(self) -> Self:
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


class Counted:
    """What the exchange counted between two moments: calls by operation, and those that it refused."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        sandbox.control("DELETE", "calls")

    def take(self) -> list[dict[str, Any]]:
        """The calls since the last time, in the order in which they came."""
        found = self.sandbox.calls()
        self.sandbox.control("DELETE", "calls")
        return found["calls"]


def weight_of(operation: str) -> int:
    """The weight that the sandbox counts for a call; server time weighs 1."""
    return BY_NAME[operation].weight if operation in BY_NAME else 1
