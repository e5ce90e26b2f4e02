"""A desk's whole stack for the tests of a module, every part of which may be killed, paused or restarted empty.

PostgreSQL and Redis of its own (embedded, unix sockets), two worker parents with two processes each, beats, and a
sandbox exchange. Each process hangs on a leash (ops/leash.py): nothing outlives the test process, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import redis
from django.core.management import call_command
from django.db import Error, connection

from copytrade.models import Account
from dashboard import environment
from ops.children import leashed
from ops.folders import private_folder
from ops.leash import descendants
from ops.postgres import Postgres
from ops.redis import Redis
from tests.support.sandbox_process import Sandbox

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds for anything to happen, however busy the machine
# Above what the battery spends, so that readings need not wait; sync_battery.py has a tighter one for some faults.
WEIGHT_LIMIT = 3000


class Part:
    """One process of the stack: its command on a leash, its log."""

    def __init__(
        self,
        name: str,
        command: list[str],
        log: Path,
        env: dict[str, str] | None = None,
        stop: int = signal.SIGTERM,
    ) -> None:
        self.name, self.command, self.log, self.env, self.stop = name, command, log, env, stop
        self.leash: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert not self.runs(), f"{self.name} runs already"
        with self.log.open("ab") as output:
            self.leash = subprocess.Popen(
                leashed(self.command, stop=self.stop, grace=5),
                cwd=ROOT, env=self.env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def runs(self) -> bool:
        return self.leash is not None and self.leash.poll() is None

    def family(self) -> list[int]:
        """The command's own process first, then whatever descends from it; no leash."""
        return descendants(self.leash.pid) if self.leash else []

    def children(self) -> list[int]:
        return self.family()[1:]

    def signal(self, number: int) -> None:
        """The same signal to the whole family, youngest first."""
        for pid in reversed(self.family()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """kill -9 of the command's own process, and the end of whoever hangs on it."""
        if family := self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(family[0], signal.SIGKILL)
        self.gone()

    def end(self) -> None:
        """The way the desk ends it."""
        if self.runs():
            assert self.leash
            self.signal(signal.SIGCONT)
            self.leash.terminate()
        self.gone()

    def gone(self) -> None:
        if self.leash:
            self.leash.wait(PATIENCE)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else "(no log)"


class Stack:
    """See the module. Use as a context manager; the test's own rows come through `at_home`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sockets = private_folder()
        self.server = Postgres(folder / "postgres", self.sockets, fleeting=True)
        self.postgres = Part(
            "postgres", self.server.spec().command, folder / "postgres.log", stop=signal.SIGINT
        )
        self.broker = Redis(self.sockets)
        self.redis = Part("redis", self.broker.spec().command, folder / "redis.log")
        self.more: list[Part] = []
        self.sandbox: Sandbox | None = None
        self.world: tuple[int, float, int] | None = None  # seed, speed and limit of what the desk reads now
        self.accounts: dict[str, Account] = {}

    # --- starting and ending

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        self.server.prepare()
        self.start_postgres()
        self.start_redis()
        options = ["--speed", "2", "--limit", str(WEIGHT_LIMIT), "--accounts", "6"]
        self.sandbox = Sandbox(self.folder / "sandbox.log", *options)
        with self.at_home():
            call_command("migrate", verbosity=0)
        self.workers = [self.worker("first"), self.worker("second")]
        self.beats = [self.beat(number) for number in range(5)]

    def __exit__(self, *_: object) -> None:
        for part in [*self.more, self.redis, self.postgres]:
            part.end()
        if self.sandbox:
            self.sandbox.close()
        self.server.discard()
        shutil.rmtree(self.sockets, ignore_errors=True)

    @property
    def env(self) -> dict[str, str]:
        """What the desk's processes get: our environment, other servers, and quick lapses."""
        assert self.sandbox
        return os.environ | {
            "DATABASE_URL": self.server.url,
            "REDIS_URL": self.broker.url,
            "SANDBOX_URL": self.sandbox.url,
            "DJANGO_SETTINGS_MODULE": "tests.faults.stack_settings",
            "COPYDESK_DATA": str(self.folder),
            "SYNC_LEASE_SECONDS": "2",
            "EXCHANGE_DEADLINE": "2",
            "WORKER_PROCESSES": "2",
            "LOG_LEVEL": "WARNING",
        }

    def worker(self, name: str, **env: str) -> Part:
        return self._celery(name, ["worker", "-n", f"{name}@faults"], env)

    def beat(self, number: int) -> Part:
        return self._celery(f"beat-{number}", ["beat", "-s", str(self.folder / f"beat-{number}")], {})

    def _celery(self, name: str, words: list[str], env: dict[str, str]) -> Part:
        command = [sys.executable, "-m", "celery", "-A", "tests.faults.stack_app", *words]
        part = Part(name, command, self.folder / f"{name}.log", self.env | env)
        self.more.append(part)
        return part

    def start_postgres(self) -> None:
        self.postgres.start()
        wait(self.server.ready, "PostgreSQL is ready", self.postgres)

    def start_redis(self) -> None:
        self.redis.start()
        wait(self.broker.ready, "Redis is ready", self.redis)

    def restore(self) -> None:
        """Everything runs as at the beginning: both servers, two workers, one beat, no fault at the exchange."""
        for part in (self.postgres, self.redis, *self.more):
            part.signal(signal.SIGCONT)
        if not self.postgres.runs():
            self.server.prepare()
            self.start_postgres()
        if not self.redis.runs():
            self.start_redis()
        self.redis_client().config_set("maxmemory", 0)
        wanted = [*self.workers, self.beats[0]]
        for part in self.more:
            if part in wanted and not part.runs():
                part.start()
            elif part not in wanted:
                part.end()
        self.more = [*self.workers, *self.beats]
        assert self.sandbox
        self.sandbox.clear_faults()

    # --- reaching it

    def redis_client(self) -> redis.Redis:
        return redis.Redis.from_url(self.broker.url, socket_timeout=PATIENCE)

    @contextlib.contextmanager
    def at_home(self) -> Iterator[None]:
        """Django's rows of this process are those of the stack, for a while."""
        usual = dict(connection.settings_dict)
        connection.close()
        connection.settings_dict.update(environment.database(self.server.url))
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict.clear()
            connection.settings_dict.update(usual)

    def story(self) -> str:
        """The ends of the logs of the desk's processes."""
        return "\n".join(f"--- {part.name}\n{part.tail()}" for part in self.more if part.log.exists())


def wait(condition: Callable[[], object], what: str, *parts: Part, seconds: float = PATIENCE) -> None:
    """Until the condition holds. A database that is away is no answer yet."""
    until = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except Error:
            connection.close()
        if time.monotonic() > until:
            story = "\n".join(f"--- {part.name}\n{part.tail()}" for part in parts)
            raise AssertionError(f"Not within {seconds:.0f} s: {what}.\n{story}")
        time.sleep(0.05)
