"""PURE. The signature of our webhooks: HMAC-SHA256 over the time of sending, a full stop and the body."""

from __future__ import annotations

import hashlib
import hmac
import secrets

TIMESTAMP, SIGNATURE, DELIVERY = "X-Copydesk-Timestamp", "X-Copydesk-Signature", "X-Copydesk-Delivery"
PREFIX = "sha256="


def new_secret() -> str:
    """256 random bits, in letters that can be copied anywhere."""
    return f"cdwh_{secrets.token_urlsafe(32)}"


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The value of X-Copydesk-Signature. `timestamp`: whole seconds since 1970, as in X-Copydesk-Timestamp."""
    message = str(timestamp).encode() + b"." + body
    return PREFIX + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def headers(secret: str, timestamp: int, body: bytes, delivery: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "Copydesk",
        TIMESTAMP: str(timestamp),
        DELIVERY: delivery,
        SIGNATURE: sign(secret, timestamp, body),
    }
