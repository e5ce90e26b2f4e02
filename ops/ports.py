"""Ports: read from the environment, and seen to be free before anything is started."""

from __future__ import annotations

import os
import socket
import time

from .children import Failure


def port(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise Failure(f"{name} must be a number from 1 to 65535, not {text!r}.")
    return int(text)


def require_free(name: str, number: int, patience: float = 0) -> None:
    """Failure when somebody listens there after `patience` seconds, or we may not."""
    deadline = time.monotonic() + patience
    while not (free := _free(name, number)) and time.monotonic() < deadline:
        time.sleep(0.2)
    if not free:
        raise Failure(
            f"Port {number} is in use by another program. Stop it, or choose another: {name}={number + 1} ./run"
        )


def _free(name: str, number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except PermissionError:
            raise Failure(f"Port {number} needs root. Choose one above 1023: {name}=8001 ./run") from None
        except OSError:
            return False
    return True
