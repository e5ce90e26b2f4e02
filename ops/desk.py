"""What a local desk consists of, and how `./run` brings it up."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request

from .children import Failure, Spec
from .console import say
from .folders import Data
from .keys import key_files
from .ports import port, require_free
from .servers import START_SECONDS, Servers
from .supervisor import Stopped, Supervisor

READY_SECONDS = 120
PATIENCE = 15  # seconds that the processes of a killed desk may still hold its ports


def answers(url: str) -> bool:
    """Does an HTTP server answer there, with anything but an error of its own?"""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as answer:
            return int(answer.status) < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


class Desk:
    """The processes of one desk. Addresses and secrets travel by environment, secrets as names of files."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.web_port, self.sandbox_port = port("PORT", 8000), port("SANDBOX_PORT", 9100)
        if self.web_port == self.sandbox_port:
            raise Failure(f"PORT and SANDBOX_PORT are both {self.web_port}. Give each its own.")
        self.url = (
            f"http://localhost:{self.web_port}"  # not 127.0.0.1: browsers allow passkeys for localhost only
        )

    def environment(self, servers: dict[str, str]) -> dict[str, str]:
        """What the processes get on top of our own environment; what a person set stays."""
        ours = {
            "COPYDESK_ENV": "local",
            "COPYDESK_DEMO": "1",
            "SANDBOX_URL": f"http://127.0.0.1:{self.sandbox_port}",
            "ALLOWED_HOSTS": "localhost,127.0.0.1",
            "PYTHONUNBUFFERED": "1",
        }
        fixed = {"COPYDESK_DATA": str(self.data.folder), "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
        return ours | dict(os.environ) | fixed | key_files(self.data.folder) | servers

    def sandbox(self, env: dict[str, str]) -> Spec:
        state = str(self.data.folder / "sandbox.json")
        command = python("-m", "copytrade.sandbox", "--port", str(self.sandbox_port), "--state", state)
        return Spec(
            "sandbox",
            command,
            lambda: answers(f"http://127.0.0.1:{self.sandbox_port}/api/v3/time"),
            env,
            grace=5,
        )

    def web(self, env: dict[str, str]) -> Spec:
        options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.web_port)]
        command = python(
            "-m", "granian", *options, "--blocking-threads", "4", "--no-ws", "dashboard.wsgi:application"
        )
        return Spec("web", command, lambda: answers(f"http://127.0.0.1:{self.web_port}/healthz"), env)

    def worker(self, env: dict[str, str]) -> Spec:
        return self._celery("worker", "worker", env)

    def ticker(self, env: dict[str, str]) -> Spec:
        return self._celery("ticker", "beat", env)

    def _celery(self, name: str, command: str, env: dict[str, str]) -> Spec:
        """A process of Celery's. It makes a file when it is ready (dashboard/celery.py): it has no port to ask."""
        sign = self.data.folder / f"{name}.ready"
        sign.unlink(missing_ok=True)
        env = env | {"READY_FILE": str(sign)}
        return Spec(name, python("-m", "celery", "-A", "dashboard", command), sign.exists, env)


def python(*words: str) -> list[str]:
    return [sys.executable, *words]


def manage(*words: str) -> list[str]:
    return python("manage.py", *words)


def up() -> int:
    """Everything of a local desk, until somebody asks for the end."""
    data = Data.from_environment()
    desk = Desk(data)
    if not data.lock():
        raise Failure(already_running(data))
    for name, number in (("PORT", desk.web_port), ("SANDBOX_PORT", desk.sandbox_port)):
        require_free(name, number, patience=PATIENCE if data.was_killed else 0)
    say(f"Starting. The logs are in {data.logs}; Ctrl-C stops everything.")
    supervisor = Supervisor(data.logs)
    servers = Servers(data.folder / "postgres")
    try:
        _start(desk, supervisor, servers)
        say(f"Copydesk is ready at {desk.url}")
        supervisor.watch()
    except Stopped:
        pass
    finally:
        say("Stopping ...")
        supervisor.stop(*servers.last)
        servers.discard()
        data.forget()
    return 0


def already_running(data: Data) -> str:
    state = data.state()
    where = f" at {state['url']}" if "url" in state else ""
    return (
        f"Copydesk already runs{where} on the data in {data.folder} (process {state.get('pid', 'unknown')}). "
        "Stop that one first, or give this one its own COPYDESK_DATA, PORT and SANDBOX_PORT."
    )


def _start(desk: Desk, supervisor: Supervisor, servers: Servers) -> None:
    env = desk.environment(servers.environment)
    desk.data.announce(pid=os.getpid(), url=desk.url, sockets=str(servers.sockets))
    supervisor.start(desk.sandbox(env))
    servers.start(supervisor)
    supervisor.wait_until_ready(servers.last, START_SECONDS)
    supervisor.run_once(Spec("migrate", manage("migrate", "--no-input", "--verbosity", "1"), env=env))
    desk.data.announce(servers=servers.environment)
    supervisor.start(desk.web(env))
    supervisor.start(desk.worker(env))
    supervisor.start(desk.ticker(env))
    supervisor.wait_until_ready(["sandbox", "web", "worker", "ticker"], READY_SECONDS)
