"""manage.py beside the servers of a running desk, or between its own start and stop of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from . import desk
from .children import Failure
from .folders import Data
from .servers import START_SECONDS, Servers
from .supervisor import Supervisor


def manage(arguments: list[str]) -> int:
    data = Data.from_environment()
    here = desk.Desk(data)
    if data.lock():
        return with_own_servers(here, desk.manage(*arguments))
    return beside_running(here, desk.manage(*arguments))


def beside_running(here: desk.Desk, command: list[str]) -> int:
    """A desk has the data: use its servers, once it has told how."""
    deadline = time.monotonic() + START_SECONDS
    while not (servers := here.data.state().get("servers")):
        if time.monotonic() > deadline:
            raise Failure(f"Another Copydesk process uses {here.data.folder}. Try again when it has ended.")
        time.sleep(0.2)
    os.execve(command[0], command, here.environment(servers))


def with_own_servers(here: desk.Desk, command: list[str]) -> int:
    servers = Servers(here.data.folder / "postgres")
    supervisor = Supervisor(here.data.logs)
    try:
        here.data.announce(pid=os.getpid(), sockets=str(servers.sockets))
        servers.start(supervisor)
        supervisor.wait_until_ready(servers.last, START_SECONDS)
        return in_foreground(supervisor, command, here.environment(servers.environment))
    finally:
        supervisor.stop(*servers.last)
        servers.discard()
        here.data.forget()


def in_foreground(supervisor: Supervisor, command: list[str], env: dict[str, str]) -> int:
    """Run a command that talks to the terminal itself. A Ctrl-C there is its own business: a shell goes on after it."""
    process = subprocess.Popen(command, env=env)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return supervisor.attend(process)
