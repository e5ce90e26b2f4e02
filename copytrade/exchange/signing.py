"""Credentials, and the signature of a request.

Source: interface.md "Authentication" (headers), open-points.md "Signing" (construction, vectors).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import NoReturn

from .errors import LocalRefusal


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """An API key, its secret and its passphrase. Never shown, never pickled.

    Raises LocalRefusal when a part is empty or cannot be sent in a header; the message names the part only.
    """

    key: str
    secret: str
    passphrase: str

    def __post_init__(self) -> None:
        for name in ("key", "secret", "passphrase"):
            if not getattr(self, name):
                raise LocalRefusal.of(name, "missing", f"The {name} is empty.", fault=name)
        for name in ("key", "passphrase"):
            text = getattr(self, name)
            if not (text.isascii() and text.isprintable()) or text != text.strip():
                sentence = f"The {name} holds characters that cannot be sent; type or paste it again."
                raise LocalRefusal.of(name, "format", sentence, fault=name)

    def __repr__(self) -> str:
        return "Credentials(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Credentials are not written anywhere; pass the account's id instead.")

    @property
    def fingerprint(self) -> str:
        """A short name of the key for counters; the key cannot be read from it."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:16]


def sign(secret: str, timestamp: str, method: str, target: str, body: str) -> str:
    """The ACCESS-SIGN header.

    timestamp: Unix ms as sent. method: upper case. target: path plus "?query" exactly as sent, no host.
    body: the exact JSON text sent, "" when there is none.
    """
    text = f"{timestamp}{method}{target}{body}"
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


class Headers(dict[str, str]):
    """Headers that do not show themselves: a report of a crash lists the local variables of every frame."""

    def __repr__(self) -> str:
        return f"<{len(self)} headers, hidden>"


def headers(credentials: Credentials, timestamp_ms: int, method: str, target: str, body: str) -> Headers:
    """The authentication headers of one request."""
    timestamp = str(timestamp_ms)
    return Headers(
        {
            "ACCESS-KEY": credentials.key,
            "ACCESS-SIGN": sign(credentials.secret, timestamp, method, target, body),
            "ACCESS-PASSPHRASE": credentials.passphrase,
            "ACCESS-TIMESTAMP": timestamp,
        }
    )
