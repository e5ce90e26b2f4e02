"""The addresses that calls leave from: settings.EGRESS, and which of them an account is pinned to.

Users put their connection's address on the allow-list of their key, so an account keeps its address for as long
as that is configured: rendezvous hashing moves only the accounts that it must (to a new address, or off a removed
one), and any process works it out alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from django.conf import settings

from .exchange.connections import Way

DEFAULT = "default"


@dataclass(frozen=True)
class Shown:
    """An egress for a page: its name, and its address where that is known here. Never a proxy's password."""

    name: str
    address: str = ""
    proxy: str = ""


def names() -> list[str]:
    """The configured egress addresses by name, in a fixed order."""
    return sorted(settings.EGRESS)


def of(account_id: int) -> str:
    """The name of the egress that this account's calls leave from."""
    return pick(account_id, settings.EGRESS)


def pick(account_id: int, among: Iterable[str]) -> str:
    """Rendezvous hashing: the name whose hash together with the account is the highest."""
    return max(sorted(among), key=lambda name: sha256(f"{name}|{account_id}".encode()).digest())


def way(name: str) -> Way:
    """How the connections of this egress are made. An unknown name is a KeyError."""
    found = settings.EGRESS[name]
    return Way(name, source=found.get("source"), proxy=found.get("proxy"))


def shown(name: str) -> Shown:
    """What may be told of an egress; a name that is not configured any more is told alone."""
    found = settings.EGRESS.get(name, {})
    proxy = urlsplit(found["proxy"]).hostname or "" if "proxy" in found else ""
    return Shown(name, address=found.get("source", ""), proxy=proxy)
