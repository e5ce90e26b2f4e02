"""A process that sends a change when it is told to, to be killed: `python -m tests.faults.sender`.

It says "ready" once everything is loaded, so that a kill falls into the sending and not into the start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]


class Sender:
    """The process, as a test holds it. Use as a context manager: its end is a kill -9 too."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.sender"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout and self.process.stdout.readline() == b"ready\n"

    def send(self, change_id: int) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"%d\n" % change_id)
        self.process.stdin.flush()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


def main() -> None:
    import django

    django.setup()
    from django.db import connection

    from copytrade import changes

    connection.ensure_connection()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        changes.proceed(int(line))


if __name__ == "__main__":
    main()
