"""Who is calling: the checks of the ACCESS headers, in the order in which the sandbox makes them.

Written apart from the client on purpose, so that a mistake there cannot hide in its mirror.
Source: open-points.md, "Signing" and "Keys and permissions".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable

from .errors import Refusal
from .keys import PASSPHRASE, Key
from .wire import Request

TOLERANCE_MS = 30_000
_TIMESTAMP = re.compile(r"[0-9]{13}")


def signature(secret: str, text: bytes) -> str:
    """Base64 of HMAC-SHA256 over the signed text."""
    return base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest()).decode()


def authenticate(request: Request, find: Callable[[str], Key | None], now_ms: int) -> Key:
    """The key that signed this request.

    Raises Refusal: -1040 -1041 -1042 (header missing), -1043 (timestamp malformed), -1046 (expired),
    -1044 (key unknown), -1049 (passphrase), -1047 (signature).
    """
    key_id, sign, timestamp = (
        request.header(name) for name in ("access-key", "access-sign", "access-timestamp")
    )
    if not key_id:
        raise Refusal(-1040)
    if not sign:
        raise Refusal(-1041)
    if not timestamp:
        raise Refusal(-1042)
    if not _TIMESTAMP.fullmatch(timestamp):
        raise Refusal(-1043)
    if abs(int(timestamp) - now_ms) > TOLERANCE_MS:
        raise Refusal(-1046)
    key = find(key_id)
    if key is None:
        raise Refusal(-1044)
    if not _equal(request.header("access-passphrase") or "", PASSPHRASE):
        raise Refusal(-1049)
    text = timestamp.encode() + request.method.upper().encode() + request.raw_target() + request.body
    if not _equal(sign, signature(key.secret, text)):
        raise Refusal(-1047)
    return key


def _equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
