"""The real thing: `python -m ops up` brings a whole desk up, keeps it up, and takes it down."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.leash import descendants

from .conftest import ROOT, running, wait_until

OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "VAULT_KEYS", "SANDBOX_URL", "DJANGO_SETTINGS_MODULE")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(data: Path, **more: object) -> dict[str, str]:
    """A person's environment: nothing of what ./run test set for us."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in OURS and not name.startswith("COPYDESK")
    }
    ports = {"PORT": str(free_port()), "SANDBOX_PORT": str(free_port())}
    return kept | ports | {"COPYDESK_DATA": str(data)} | {name: str(value) for name, value in more.items()}


def ops(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ops", *words]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )


class RunningDesk:
    def __init__(self, data: Path) -> None:
        self.data = data
        self.env = environment(data)
        self.output = data.with_name("console.txt")
        with self.output.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ops", "up"],
                cwd=ROOT,
                env=self.env,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        try:
            wait_until(lambda: self.says("is ready") or self.process.poll() is not None, 120, "a desk")
            assert self.says(f"Copydesk is ready at http://localhost:{self.env['PORT']}\n"), (
                self.output.read_text()
            )
        except BaseException:
            self.stop(signal.SIGKILL)
            raise

    def says(self, words: str) -> bool:
        return words in self.output.read_text()

    def get(self, path: str, port: str = "PORT") -> int:
        with urllib.request.urlopen(f"http://localhost:{self.env[port]}{path}", timeout=10) as answer:
            return int(answer.status)

    def pids_of(self, word: str) -> list[int]:
        """The processes whose command line has this word, oldest first."""
        found = []
        for pid in descendants(self.process.pid):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if word in words and not any(item.endswith("leash.py") for item in words):
                found.append(pid)
        return sorted(found)

    def stop(self, number: int) -> None:
        everyone = [self.process.pid, *descendants(self.process.pid)]
        self.process.send_signal(number)
        self.process.wait(60)
        wait_until(lambda: not running(everyone), 30, "all processes to end")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[RunningDesk]:
    running_desk = RunningDesk(tmp_path / "a data folder")
    yield running_desk
    if running_desk.process.poll() is None:
        running_desk.stop(signal.SIGTERM)


@pytest.mark.slow
def test_a_desk_comes_up_mends_itself_and_goes_without_a_trace(desk: RunningDesk) -> None:
    assert desk.get("/healthz") == 200
    assert desk.get("/api/v3/time", "SANDBOX_PORT") == 200
    assert desk.says("/setup/")  # the token for the first account can be read at the console

    second = ops("up", env=desk.env)
    assert second.returncode == 1
    assert f"already runs at http://localhost:{desk.env['PORT']}" in second.stderr

    beside = ops("manage", "migrate", "--check", env=desk.env)
    assert beside.returncode == 0, beside.stdout + beside.stderr

    (worker, *_), web = desk.pids_of("worker"), desk.pids_of("granian")
    os.kill(worker, signal.SIGKILL)
    for pid in web:
        os.kill(pid, signal.SIGKILL)
    wait_until(
        lambda: desk.says("worker ended (") and desk.says("web ended ("), 15, "the supervisor to notice"
    )
    wait_until(lambda: len(desk.pids_of("worker")) > 1 and _answers(desk), 60, "both to be back")
    assert not running([worker, *web])

    desk.stop(signal.SIGTERM)
    assert desk.process.returncode == 0
    assert not (desk.data / "running.json").exists()


def _answers(desk: RunningDesk) -> bool:
    try:
        return desk.get("/healthz") == 200
    except OSError:
        return False


@pytest.mark.slow
def test_killing_the_supervisor_ends_the_desk_and_the_next_start_works(desk: RunningDesk) -> None:
    secret = (desk.data / "secret-key").read_text()
    desk.process.send_signal(signal.SIGKILL)
    at_once = RunningDesk(desk.data)  # its predecessor's processes are just going
    assert at_once.get("/healthz") == 200
    at_once.stop(signal.SIGKILL)
    with pytest.raises(OSError, match="refused"):
        desk.get("/healthz")

    again = RunningDesk(desk.data)
    again.stop(signal.SIGINT)
    assert (desk.data / "secret-key").read_text() == secret


@pytest.mark.slow
def test_manage_brings_its_own_servers_when_no_desk_runs(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    assert ops("manage", "migrate", env=env).returncode == 0
    done = ops("manage", "migrate", "--check", env=env)
    assert done.returncode == 0, done.stderr
    assert ops("manage", "no-such-command", env=env).returncode == 1
    for name in ("secret-key", "vault-keys"):
        assert stat.S_IMODE((tmp_path / "data" / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("PORT", "eighty", "PORT must be a number from 1 to 65535, not 'eighty'."),
        ("PORT", "70000", "PORT must be a number from 1 to 65535"),
        ("SANDBOX_PORT", "8000", "PORT and SANDBOX_PORT are both 8000."),
        ("COPYDESK_DATA", "/dev/null/data", "Make it writable, or set COPYDESK_DATA to another folder."),
    ],
)
def test_a_start_that_cannot_work_says_why(tmp_path: Path, setting: str, value: str, sentence: str) -> None:
    done = ops("up", env=environment(tmp_path / "data", **{"PORT": "8000", setting: value}))
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["PORT", "SANDBOX_PORT"])
def test_a_port_in_use_is_named_before_anything_is_started(tmp_path: Path, name: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = ops("up", env=environment(tmp_path / "data", **{name: port}))
    assert done.returncode == 1
    assert f"Port {port} is in use by another program." in done.stderr
    assert f"{name}={port + 1} ./run" in done.stderr
    assert not (tmp_path / "data" / "postgres").exists()


def test_run_explains_itself_and_refuses_what_it_does_not_know() -> None:
    helped = subprocess.run(["./run", "help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert helped.returncode == 0
    for word in ("./run test", "./run check", "./run manage", "./run sandbox", "COPYDESK_DATA"):
        assert word in helped.stdout
    unknown = subprocess.run(["./run", "tset"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert "There is no ./run tset." in unknown.stderr
