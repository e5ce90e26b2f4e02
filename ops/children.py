"""One supervised process: how to start it, its log file, and when it may be started again."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

LEASH = str(Path(__file__).with_name("leash.py"))
FIRST_DELAY, LONGEST_DELAY, SETTLED = 0.5, 30.0, 60.0  # seconds
SAME_AGAIN = 60.0  # seconds
LOG_LIMIT = 5_000_000  # bytes; one older file is kept beside it
# Lines that a person at the console should see without opening a log.
IMPORTANT = re.compile(rb"\b(?:CRITICAL|FATAL|PANIC)\b|open /setup/|\[error|\[critical", re.IGNORECASE)
# What a log line carries around its message: time and level before it, the logger's name after it.
AROUND = re.compile(rb"^\S+Z \[\w+ *\] +|\s+\[copydesk\]\s*$")


class Failure(Exception):
    """Something the person at the console must know and can act on; shown as it is, without a traceback."""


def leashed(command: list[str], *, stop: int = signal.SIGTERM, grace: float = 10) -> list[str]:
    """The command line that runs `command` on a leash of this process (ops/leash.py)."""
    return [sys.executable, "-I", "-S", LEASH, str(int(stop)), str(grace), str(os.getpid()), *command]


@dataclass(frozen=True)
class Spec:
    """What to run. `ready` is asked until it says yes; `env` is the whole environment (None: ours)."""

    name: str
    command: list[str]
    ready: Callable[[], bool] = lambda: True
    env: dict[str, str] | None = None
    stop: int = signal.SIGTERM
    grace: float = 10


class Log:
    """An append-only file for one child's output, turned over when it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tail: deque[bytes] = deque(maxlen=20)
        self._rest = b""
        self._shown: tuple[bytes, float] = (b"", 0.0)
        self._file = self._open()

    def _open(self) -> BinaryIO:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "wb", buffering=0)

    def write(self, data: bytes) -> list[bytes]:
        """Keep `data`; answers its complete lines that matter at the console."""
        if self._file.tell() > LOG_LIMIT:
            self._file.close()
            self.path.replace(self.path.with_suffix(".old.log"))
            self._file = self._open()
        with contextlib.suppress(OSError):  # a full disk must not end the desk
            self._file.write(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-10_000:]
        self.tail.extend(line for line in lines if line.strip())
        important = [AROUND.sub(b"", line) for line in lines if IMPORTANT.search(line)]
        return [line for line in important if self._is_news(line)]

    def _is_news(self, line: bytes) -> bool:
        """The same complaint again and again is told once a minute."""
        told, at = self._shown
        if line == told and time.monotonic() - at < SAME_AGAIN:
            return False
        self._shown = line, time.monotonic()
        return True

    def close(self) -> None:
        self._file.close()


@dataclass
class Child:
    """A spec, its leash while it runs, and its record of failures."""

    spec: Spec
    log: Log
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    restart_at: float | None = field(default=None)
    wanted: bool = True

    def start(self) -> None:
        self.started, self.restart_at = time.monotonic(), None
        self.process = subprocess.Popen(
            leashed(self.spec.command, stop=self.spec.stop, grace=self.spec.grace),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.spec.env,
        )

    @property
    def pipe(self) -> BinaryIO | None:
        return self.process.stdout if self.process else None  # type: ignore[return-value]

    def ended(self, status: int) -> None:
        """Its leash is gone, and so is everything that hung on it."""
        assert self.process is not None
        self.process.returncode = status
        self.process = None
        now = time.monotonic()
        if now - self.started > SETTLED:
            self.failures = 0
        if self.wanted:
            self.restart_at = now + min(FIRST_DELAY * 2**self.failures, LONGEST_DELAY)
            self.failures += 1

    def ask_to_stop(self) -> None:
        self.wanted, self.restart_at = False, None
        if self.process:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """At once: the kernel takes the leash, `Supervisor.sweep` what hung on it."""
        if self.process:
            self.process.send_signal(signal.SIGKILL)
