"""The fixed API keys of the sandbox, which account each belongs to and what it may do.

The secrets are public on purpose: nothing real stands behind them. docs/sandbox.md shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PASSPHRASE = "sandbox"  # noqa: S105
READONLY = "Readonly"
SPOT = "Spot"
FUTURES = "Futures"

ORDINARY = "ordinary"
COPY_TRADE = "copy-trade"


@dataclass(frozen=True)
class Key:
    """An API key: its account's name in the world, its permissions and its kind."""

    id: str
    secret: str = field(repr=False)
    account: str
    permissions: frozenset[str]
    kind: str = ORDINARY
    about: str = ""


EVERYTHING = frozenset({READONLY, SPOT, FUTURES})
LOOKING = frozenset({READONLY})

FIXED: tuple[Key, ...] = (
    Key(
        "follower-key",
        "follower-secret",
        "follower",
        EVERYTHING,
        about="A follower of four traders. May read, trade spot and edit copy settings.",
    ),
    Key(
        "readonly-key",
        "readonly-secret",
        "follower",
        LOOKING,
        about="The same account as follower-key, but may only read.",
    ),
    Key(
        "lead-key",
        "lead-secret",
        "lead",
        LOOKING,
        COPY_TRADE,
        about="A copy-trade key: the lead trader Northwind Steady, who reads the trader's side.",
    ),
    Key(
        "affiliate-key",
        "affiliate-secret",
        "affiliate",
        LOOKING,
        about="An affiliate with invited users and sub-affiliates. May read.",
    ),
)
LOAD_SECRET = "load-secret"  # noqa: S105
_LOAD = re.compile(r"load-(\d{6})")


def find(key_id: str, load_accounts: int) -> Key | None:
    """The key with this id, the keys `load-000001`... of `--accounts` included; None when unknown."""
    for key in FIXED:
        if key.id == key_id:
            return key
    match = _LOAD.fullmatch(key_id)
    if match and key_id.isascii() and 1 <= int(match[1]) <= load_accounts:
        return Key(key_id, LOAD_SECRET, key_id, EVERYTHING)
    return None
