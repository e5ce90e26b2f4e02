"""The whole test suite against servers of its own: nothing that DATABASE_URL or REDIS_URL may point to is touched."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from . import chromium, desk
from .children import leashed
from .console import say
from .servers import START_SECONDS, Servers
from .supervisor import Stopped, Supervisor

INTERACTIVE = {"-s", "--pdb", "--trace", "--capture=no"}  # these want one process


def test(arguments: list[str]) -> int:
    browser = chromium.find_or_install()
    say(f"Chromium: {browser}")
    return on_fleeting_servers(pytest(arguments), {"CHROMIUM": browser})


def pytest(arguments: list[str]) -> list[str]:
    """The command that runs tests, on as many processes as the machine has."""
    # Whoever has nothing left takes from the other's end: else one process plays all the long scenarios alone.
    spread = ["-n", str(max(2, min(4, os.cpu_count() or 2))), "--dist", "worksteal"]
    if INTERACTIVE.intersection(arguments):
        spread = []
    return desk.python("-m", "pytest", *spread, *arguments)


def on_fleeting_servers(command: list[str], more: dict[str, str]) -> int:
    """Run a command with a database and a broker that live only for it; `more` goes into its environment."""
    folder = Path(tempfile.mkdtemp(prefix="copydesk-test-"))
    servers = Servers(folder / "postgres", fleeting=True)
    supervisor = Supervisor(folder)
    try:
        servers.start(supervisor)
        supervisor.wait_until_ready(servers.last, START_SECONDS)
        env = dict(os.environ) | servers.environment | more
        return supervisor.attend(subprocess.Popen(leashed(command, stop=signal.SIGINT, grace=20), env=env))
    except Stopped:
        return 130
    finally:
        supervisor.stop(*servers.last)
        servers.discard()
        shutil.rmtree(folder, ignore_errors=True)
