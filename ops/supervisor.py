"""Keeps a set of processes running, and leaves none behind.

One thread, one loop: it copies the children's output to their log files, collects those that ended, and starts them
again with growing delays. Each child hangs on a leash (ops/leash.py), which ends with everything below it, whatever
happens here.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from pathlib import Path
from types import FrameType

from .children import Child, Failure, Log, Spec
from .console import say
from .leash import LINUX, PR_SET_CHILD_SUBREAPER, families, prctl, send, strays

CONSOLE_WIDTH = 240  # of one line on the console; the log has all of it
GIVE_UP_AFTER = 3  # failures of one child before the desk was ever ready


class Stopped(Exception):
    """A person or the system asked for the end while something was waited for."""


class Supervisor:
    """Use from the main thread only: the kernel's parent-death signal follows the thread that started a child."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.children: dict[str, Child] = {}
        self.attended: subprocess.Popen[bytes] | None = None
        self.stop_requests = 0
        self._selector = selectors.DefaultSelector()
        wake, self._wake_end = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._wake_end, False)
        self._selector.register(wake, selectors.EVENT_READ, None)
        signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # a killed leash's children come to us, see sweep()

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.stop_requests += 1

    # --- starting ----------------------------------------------------------------------------------------

    def start(self, spec: Spec) -> Child:
        """Start a process that is meant to go on; it is started again whenever it ends."""
        child = self.children[spec.name] = Child(spec, Log(self.logs / f"{spec.name}.log"))
        self._launch(child)
        return child

    def _launch(self, child: Child) -> None:
        child.start()
        if child.pipe:
            os.set_blocking(child.pipe.fileno(), False)
            self._selector.register(child.pipe, selectors.EVENT_READ, child)

    def run_once(self, spec: Spec) -> None:
        """Run a command to its end. Failure with the end of its output when it fails."""
        child = self.start(spec)
        child.wanted = False
        process = child.process
        while child.process:
            self.tick(1)
            self._heed()
        del self.children[spec.name]
        if process is None or process.returncode:
            raise Failure(self.story(child, f"{spec.name} failed"))
        child.log.close()

    def wait_until_ready(self, names: list[str], seconds: float) -> None:
        """Until each named child's `ready` has said yes once."""
        deadline = time.monotonic() + seconds
        waiting = [self.children[name] for name in names]
        while waiting := [child for child in waiting if not (child.process and child.spec.ready())]:
            self.tick(0.05)
            self._heed()
            for child in waiting:
                if child.failures >= GIVE_UP_AFTER:
                    raise Failure(
                        self.story(child, f"{child.spec.name} ended {child.failures} times in a row")
                    )
            if time.monotonic() > deadline:
                raise Failure(
                    self.story(waiting[0], f"{waiting[0].spec.name} was not ready after {seconds:.0f} s")
                )

    def _heed(self) -> None:
        if self.stop_requests:
            raise Stopped

    @staticmethod
    def story(child: Child, headline: str) -> str:
        lines = b"\n".join(child.log.tail).decode(errors="replace")
        return f"{headline}. The end of {child.log.path}:\n{lines or '(it wrote nothing)'}"

    # --- the loop ----------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Until somebody asks for the end."""
        while not self.stop_requests:
            self.tick(1)

    def attend(self, process: subprocess.Popen[bytes]) -> int:
        """Go on until a process that is not one of the children has ended; hand requests to stop on to it."""
        self.attended, handed_on = process, 0
        while process.returncode is None:
            self.tick(1)
            if self.stop_requests > handed_on:
                handed_on = self.stop_requests
                process.send_signal(signal.SIGTERM if handed_on == 1 else signal.SIGKILL)
        self.attended = None
        return process.returncode if process.returncode >= 0 else 128 - process.returncode

    def tick(self, seconds: float) -> None:
        """Wait for output, an end or a signal, at most `seconds`; then start again what is due."""
        due = [child.restart_at - time.monotonic() for child in self.children.values() if child.restart_at]
        for key, _ in self._selector.select(max(0.0, min([seconds, *due]))):
            data = _read(key.fd)
            if key.data and data:
                self._keep(key.data, data)
            elif data == b"":
                self._selector.unregister(key.fileobj)
        self._collect()
        for child in self.children.values():
            if child.restart_at and child.restart_at <= time.monotonic():
                self.sweep()
                self._launch(child)

    def _keep(self, child: Child, data: bytes) -> None:
        for line in child.log.write(data):
            say(f"{child.spec.name}: {line.decode(errors='replace')[:CONSOLE_WIDTH]}")

    def _collect(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.attended and self.attended.pid == pid:
                self.attended.returncode = os.waitstatus_to_exitcode(status)
            for child in self.children.values():
                if child.process and child.process.pid == pid:
                    self._ended(child, os.waitstatus_to_exitcode(status))

    def _ended(self, child: Child, status: int) -> None:
        if pipe := child.pipe:
            while data := _read(pipe.fileno()):
                self._keep(child, data)
            if pipe.fileno() in self._selector.get_map():
                self._selector.unregister(pipe)
            pipe.close()
        child.ended(status)
        if status < 0:
            self.sweep()
        if child.restart_at:
            wait = child.restart_at - time.monotonic()
            say(
                f"{child.spec.name} ended ({_reason(status)}); starting it again in {wait:.1f} s. See {child.log.path}"
            )

    def sweep(self) -> None:
        """End whoever lost its leash: nobody may go on beside the process that replaces it."""
        if not LINUX:
            return
        roots = {child.process.pid for child in self.children.values() if child.process}
        if self.attended:
            roots.add(self.attended.pid)
        while lost := strays(os.getpid(), roots, families()):
            for pid in lost:
                send(pid, signal.SIGKILL)
            time.sleep(0.01)

    # --- the end -----------------------------------------------------------------------------------------

    def stop(self, *last: str) -> None:
        """End all children, the named ones after the others. A further request makes it quick."""
        rest = [name for name in self.children if name not in last]
        for group in (rest, *([name] for name in last)):
            for child in self._children(group):
                child.ask_to_stop()
            asked = self.stop_requests
            while any(child.process for child in self._children(group)):
                self.tick(0.5)
                if self.stop_requests > asked:
                    for child in self._children(group):
                        child.kill()
        self.sweep()

    def _children(self, names: list[str]) -> list[Child]:
        return [self.children[name] for name in names if name in self.children]


def _read(descriptor: int) -> bytes | None:
    """What is there: nothing yet is None, nothing ever again is b""."""
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return None


def _reason(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
