"""Runs one command so that nothing of it can outlive its end, nor the end of whoever holds the leash.

    python -I -S ops/leash.py STOP_SIGNAL GRACE_SECONDS HOLDER_PID command ...

The leash leads a session of its own, so that a Ctrl-C in the terminal reaches only the holder; the command leads its
own process group. On TERM, or when the holder is gone (also by kill -9: the kernel sends a signal on the parent's
death), the command gets STOP_SIGNAL, then GRACE_SECONDS, then everything that descends from it is killed. The leash is
a "subreaper": descendants that lose their parent become its children and cannot slip away. It ends with the command's
exit status, and only when the last descendant is gone.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from types import FrameType

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"
NOT_FOUND = 127


def prctl(option: int, value: int) -> None:
    """Linux's prctl; elsewhere nothing, and the polling of `holder_is_gone` has to do."""
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def families() -> dict[int, list[int]]:
    """The living processes by their parent, in one look. Empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue  # gone meanwhile
            if state != b"Z":
                children.setdefault(int(parent), []).append(int(name))
    return children


def descendants(root: int, children: dict[int, list[int]] | None = None) -> list[int]:
    """Every living process below `root`, parents first; in `children`, or as of now."""
    children = families() if children is None else children
    found: list[int] = []
    queue = list(children.get(root, ()))
    while queue:
        pid = queue.pop(0)
        found.append(pid)
        queue += children.get(pid, ())
    return found


def strays(holder: int, leashes: set[int], children: dict[int, list[int]]) -> list[int]:
    """Who came to the holder because his leash was killed, and their families.

    Told by the parent alone, in one look: a process that a healthy child starts meanwhile is none of them.
    """
    lost = [pid for pid in children.get(holder, ()) if pid not in leashes]
    return [pid for root in lost for pid in (root, *descendants(root, children))]


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone, or no longer ours to end


class Leash:
    def __init__(self, stop_signal: int, grace: float, holder: int, command: list[str]) -> None:
        self.stop_signal, self.grace, self.holder = stop_signal, grace, holder
        self.asked_to_stop = False
        os.setsid()
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, self._ask)
        signal.signal(signal.SIGHUP, self._ask)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that sleep() below wakes up at once
        self._wake, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        self.main = self._start(command)
        self.status: int | None = None

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked_to_stop = True

    @staticmethod
    def _start(command: list[str]) -> int:
        ours = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setpgid(0, 0)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # should the leash itself be killed
            if os.getppid() == ours:
                os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(NOT_FOUND)

    def holder_is_gone(self) -> bool:
        return os.getppid() != self.holder

    def reap(self) -> None:
        """Collect whoever ended; remember the command's own status."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.main:
                self.status = os.waitstatus_to_exitcode(status)

    def pause(self, seconds: float) -> None:
        """Sleep, but wake up for a signal."""
        if select.select([self._wake], [], [], seconds)[0]:
            os.read(self._wake, 512)
        self.reap()

    def run(self) -> int:
        while self.status is None and not self.asked_to_stop and not self.holder_is_gone():
            self.pause(1.0)
        if self.status is None:
            send(self.main, self.stop_signal)
            self._wait_for_main(time.monotonic() + self.grace)
        self._end_the_rest()
        return self.status if self.status is not None else -signal.SIGKILL

    def _wait_for_main(self, deadline: float) -> None:
        while self.status is None and time.monotonic() < deadline:
            self.pause(0.05)

    def _end_the_rest(self) -> None:
        """TERM and a moment for what the command left behind, then KILL until nothing is left."""
        if self.status is not None:
            for pid in descendants(os.getpid()):
                send(pid, signal.SIGTERM)
            deadline = time.monotonic() + 1
            while descendants(os.getpid()) and time.monotonic() < deadline:
                self.pause(0.05)
        while True:
            left = descendants(os.getpid())
            for pid in left:
                send(pid, signal.SIGKILL)
            if not LINUX:
                self._kill_group()
            if not left and self.status is not None:
                return
            self.pause(0.02)

    def _kill_group(self) -> None:
        try:
            os.killpg(self.main, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def main(arguments: list[str]) -> int:
    stop, grace, holder, *command = arguments
    status = Leash(int(stop), float(grace), int(holder), command).run()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
