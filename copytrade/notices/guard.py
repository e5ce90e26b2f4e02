"""Holds code of others to the hosts that it is there for, beneath every library: at the resolver and the socket.

Apprise's plugins make their requests themselves, and none takes a connection of ours. Python tells an audit hook of
each resolution and each connection before it happens, and an exception in the hook prevents it. So redirects, a
host hidden in an option, a proxy in the private network, or a plugin that changed with an upgrade end here.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .addresses import is_public


class NotAllowed(Exception):
    """A host or an address that was not agreed on. Not an OSError, so that no library takes it for a bad network."""


@dataclass
class Held:
    hosts: frozenset[str]
    anywhere: bool = False
    refused: list[str] = field(default_factory=list)


# A context variable and not a thread's own: Apprise makes its calls in a thread to which it hands the context.
_held: ContextVar[Held | None] = ContextVar("held", default=None)


@contextmanager
def held_to(hosts: Collection[str], *, anywhere: bool = False) -> Iterator[Held]:
    """Within the block, names other than `hosts` are not resolved and addresses that are not public not connected
    to (`anywhere`: any address, for tests with a server of their own). `refused` lists what was tried."""
    _install()
    held = Held(frozenset(hosts), anywhere)
    token = _held.set(held)
    try:
        yield held
    finally:
        _held.reset(token)


@lru_cache(maxsize=1)
def _install() -> None:
    """Once for the process, at first use: a hook cannot be taken away again."""
    sys.addaudithook(_look)


def _look(event: str, values: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    held = _held.get()
    if held is None:
        return
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        _only(held, _text(values[0]) in held.hosts, _text(values[0]))
    elif event in ("socket.connect", "socket.sendto"):
        address = values[1][0] if isinstance(values[1], tuple) else ""
        _only(held, bool(address) and (held.anywhere or is_public(str(address))), str(address))


def _text(host: Any) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


def _only(held: Held, allowed: bool, what: str) -> None:
    if not allowed:
        held.refused.append(what)
        raise NotAllowed(f"not agreed on: {what}")
