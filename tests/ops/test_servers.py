"""The embedded PostgreSQL and Redis: made, started, stopped and mended, also where user namespaces are refused."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis

from ops import identity as identities
from ops import redis as embedded_redis
from ops.children import Failure
from ops.identity import Identity, identity
from ops.postgres import Postgres

from .conftest import ROOT, running, wait_until

# Holds servers of its own in a process of its own, since a supervisor takes over its process's signals.
HOLDER = """
import sys
from pathlib import Path
from ops.console import say
from ops.servers import Servers
from ops.supervisor import Supervisor
folder = Path(sys.argv[1])
supervisor = Supervisor(folder)
servers = Servers(folder / "postgres", fleeting=True)
try:
    servers.start(supervisor)
    supervisor.wait_until_ready(servers.last, 30)
    say(servers.environment["DATABASE_URL"] + " " + servers.environment["REDIS_URL"])
    supervisor.watch()
finally:
    supervisor.stop(*servers.last)
    servers.discard()
"""


class Holder:
    def __init__(self, folder: Path, path: str | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | ({} if path is None else {"PATH": path}),
        )
        assert self.process.stdout
        self.said = []
        while not (line := self.process.stdout.readline()).startswith("postgresql://"):
            assert line, "it ended before it was ready"
            self.said.append(line)
        self.database_url, self.redis_url = line.split()
        self.sockets = Path(self.redis_url.removeprefix("unix://")).parent

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(30)
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder whose name would trip up careless quoting."""
    folder = tmp_path / ("a folder with spaces, and a name that is too long for a socket " + "x" * 60)
    folder.mkdir()
    return folder


def test_data_outlives_a_stop_and_a_kill(folder: Path) -> None:
    holder = Holder(folder)
    with psycopg.connect(holder.database_url, autocommit=True) as connection:
        connection.execute("create table note (text text, amount numeric)")
        connection.execute("insert into note values ('kept', 0.123456789012345678901234567890)")
        assert connection.info.server_version // 10000 == 18
        assert connection.execute("select datcollate from pg_database where datname = 'copydesk'").fetchone()
    assert holder.sockets.stat().st_mode & 0o077 == 0
    holder.stop()
    assert not holder.sockets.exists()

    holder = Holder(folder)
    holder.stop(signal.SIGKILL)
    pid = int((folder / "postgres" / "postmaster.pid").read_text().split()[0]) if _pid_file(folder) else 0
    wait_until(lambda: not running([pid]), 10, "PostgreSQL to follow its supervisor")
    shutil.rmtree(holder.sockets)  # a desk's next start does this, see ops/folders.py

    holder = Holder(folder)
    with psycopg.connect(holder.database_url) as connection:
        rows = connection.execute("select text, amount::text from note").fetchall()
    holder.stop()
    assert rows == [("kept", "0.123456789012345678901234567890")]


def _pid_file(folder: Path) -> bool:
    return (folder / "postgres" / "postmaster.pid").exists()


def test_redis_answers_on_its_socket_and_listens_nowhere_else(folder: Path) -> None:
    holder = Holder(folder)
    with redis.Redis.from_url(holder.redis_url) as connection:
        assert connection.set("key", "value")
        assert (
            connection.config_get("port") == {"port": "0"} or connection.config_get("port")[b"port"] == b"0"
        )
    holder.stop()


def test_a_pid_file_that_names_another_living_process_does_not_stop_the_start(folder: Path) -> None:
    Holder(folder).stop()
    (folder / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{folder / 'postgres'}\n")
    Holder(folder).stop()


def test_a_set_up_that_was_interrupted_is_made_again(folder: Path) -> None:
    half = folder / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    Holder(folder).stop()
    assert (folder / "postgres" / "global").is_dir()
    assert not half.exists()


def test_a_database_of_another_version_is_refused_with_a_way_out(folder: Path) -> None:
    (folder / "postgres").mkdir()
    (folder / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(Failure, match=r"PostgreSQL 15.*this is PostgreSQL 18.*pg_dump"):
        Postgres(folder / "postgres", folder, fleeting=True, who=Identity()).prepare()


def test_postgresql_runs_where_namespaces_are_refused(folder: Path) -> None:
    """Without `unshare`, root's PostgreSQL runs as somebody else, and says so; other users' is not concerned."""
    holder = Holder(folder, path="/nowhere")
    with psycopg.connect(holder.database_url) as connection:
        (data,) = connection.execute("show data_directory").fetchone() or ("",)
    owner = Path(data).stat().st_uid
    holder.stop()
    assert owner != 0
    assert any("User namespaces are refused" in line for line in holder.said) is (os.geteuid() == 0)
    assert not Path(data).exists() or os.geteuid() != 0  # what was copied for a test is gone after it


def test_without_any_redis_the_failure_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(Failure, match=r"Install one of them, or set REDIS_URL"):
        embedded_redis.binary()


def test_only_root_becomes_somebody_else() -> None:
    who = identity()
    assert bool(who.prefix) is (os.geteuid() == 0)


def test_root_without_namespaces_uses_an_unprivileged_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `unshare` is refused (here: not to be found), another user of the system runs PostgreSQL."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    who = identity()
    assert who.owner is not None
    assert who.owner[0] in {pwd.getpwnam(name).pw_uid for name in ("nobody", "postgres") if _exists(name)}
    assert identities.BECOME in who.prefix


def _exists(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False
