"""Dummy desks: a real supervisor over small scripts that write down who they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ops.leash import descendants

ROOT = Path(__file__).resolve().parents[2]
# Each child appends its pid and its family's to FOLDER/pids; `note(...)` does that.
PRELUDE = """
import os, pathlib, signal, subprocess, sys, time
folder = pathlib.Path(__file__).parent
def note(name, text):
    with open(folder / name, "a") as file:
        file.write(f"{text}\\n")
note("pids", os.getpid())
"""
SCRIPTS = {
    "sleeper": "time.sleep(600)",
    # A family like that of a web server: children, a grandchild in a session of its own, all deaf to TERM.
    "family": """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork() == 0:
        note("pids", os.getpid())
        if os.fork() == 0:
            os.setsid()
            note("pids", os.getpid())
        time.sleep(600)
time.sleep(600)
""",
    "crasher": 'note("starts", time.monotonic()); sys.exit(3)',
    # Dies and leaves an orphan behind, which would go on beside the next one.
    "leaver": """
alive = [int(pid) for pid in (folder / "orphans").read_text().split()] if (folder / "orphans").exists() else []
def living(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
note("beside", sum(living(pid) for pid in alive))
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note("orphans", os.getpid())
    time.sleep(600)
time.sleep(0.1)
os._exit(1)
""",
    "talker": """
print("plain line")
print("2026 [error    ] it broke")
print("2026-11-21T07:13:53Z [warning  ] No account yet: open /setup/ and enter abc [copydesk]", flush=True)
time.sleep(600)
""",
}


class DummyDesk:
    def __init__(self, folder: Path, *children: str) -> None:
        self.folder = folder
        for name, source in SCRIPTS.items():
            (folder / f"{name}.py").write_text(PRELUDE + source)
        command = [sys.executable, "-m", "tests.ops.dummy_desk", str(folder), *children]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().split() if file.exists() else []

    def wait_for_lines(self, name: str, count: int, seconds: float = 15) -> list[str]:
        wait_until(lambda: len(self.lines(name)) >= count, seconds, f"{count} lines in {name}")
        return self.lines(name)

    def everyone(self) -> list[int]:
        """The supervisor, its leashes, and whatever they run."""
        return [self.process.pid, *descendants(self.process.pid)]

    def end(self) -> None:
        for pid in reversed(self.everyone() if self.process.poll() is None else []):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {seconds} s in vain for {what}.")
        time.sleep(0.02)


def running(pids: list[int]) -> list[int]:
    """Which of them still run (a zombie does not)."""
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(pid)
    return found


@pytest.fixture
def dummy_desk(tmp_path: Path) -> Iterator[Callable[..., DummyDesk]]:
    """dummy_desk("web=family") runs a supervisor over that script until the test ends."""
    started: list[DummyDesk] = []

    def start(*children: str) -> DummyDesk:
        desk = DummyDesk(tmp_path, *children)
        started.append(desk)
        return desk

    yield start
    for desk in started:
        desk.end()
