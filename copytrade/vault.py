"""Envelope encryption: every user's secrets under a data key, every data key under a key-encryption key.

Pure: bytes and text in, bytes out. Rows, settings and people are `keys.py`'s business.

A sealed text is `version (1 byte) | nonce (12 random bytes) | AES-256-GCM cipher text and tag`. The
associated data holds the version, the purpose and the context (table, field, user, row), so a cipher
text that was moved to another place does not open there.
"""

from __future__ import annotations

import base64
import binascii
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VERSION = 1
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
Key = tuple[str, bytes]


class VaultError(Exception):
    """Something could not be encrypted or decrypted. The message is a sentence and holds no secret."""


class UnknownKey(VaultError):
    """The key-encryption key that wrapped a data key is not configured."""


class Tampered(VaultError):
    """A cipher text does not open: changed, moved to another row, or written under another key."""


def parse_keys(text: str) -> list[Key]:
    """The keys of "id:base64,id:base64,...". Raises VaultError, which never repeats the key's text."""
    keys: list[Key] = []
    for position, part in enumerate(filter(None, (piece.strip() for piece in text.split(","))), start=1):
        name, colon, encoded = part.partition(":")
        if not colon or not name.strip():
            raise VaultError(
                f"Vault key number {position} is not written as id:base64. Give every key a short id."
            )
        try:
            secret = base64.b64decode(encoded.strip(), validate=True)
        except (binascii.Error, ValueError):
            raise VaultError(
                f"Vault key '{name}' is not base64. Make a new one with 32 random bytes."
            ) from None
        keys.append((name.strip(), secret))
    return keys


class Vault:
    """Seals and opens texts. The first key-encryption key wraps new data keys; all of them unwrap."""

    def __init__(self, keys: list[Key]):
        if not keys:
            raise VaultError("No vault key is configured. Set VAULT_KEYS to id:base64 of 32 random bytes.")
        for name, secret in keys:
            if len(secret) != KEY_BYTES:
                raise VaultError(f"Vault key '{name}' holds {len(secret)} bytes. It must hold {KEY_BYTES}.")
        if len({name for name, _ in keys}) != len(keys):
            raise VaultError(
                "Two vault keys share an id. Give each its own, or old data could not be told apart."
            )
        self._keys = dict(keys)
        self.first_id = keys[0][0]

    def __repr__(self) -> str:
        return f"<Vault with {len(self._keys)} key(s), first {self.first_id!r}>"

    def new_data_key(self) -> tuple[bytes, str]:
        """A fresh random data key, wrapped: (wrapped bytes, id of the key-encryption key)."""
        return self._wrap(os.urandom(KEY_BYTES)), self.first_id

    def encrypt(self, wrapped: bytes, kek_id: str, plaintext: str, context: tuple[str, ...]) -> bytes:
        """The sealed text, bound to its context: (table, field, user, row)."""
        return _seal(self._unwrap(wrapped, kek_id), plaintext.encode(), ("text", *context))

    def decrypt(self, wrapped: bytes, kek_id: str, sealed: bytes, context: tuple[str, ...]) -> str:
        """The text again. Raises UnknownKey or Tampered."""
        return _open(self._unwrap(wrapped, kek_id), sealed, ("text", *context)).decode()

    def rewrap(self, wrapped: bytes, kek_id: str) -> tuple[bytes, str]:
        """The same data key under the first key-encryption key; what it sealed still opens."""
        return self._wrap(self._unwrap(wrapped, kek_id)), self.first_id

    def _wrap(self, data_key: bytes) -> bytes:
        return _seal(self._keys[self.first_id], data_key, ("data key", self.first_id))

    def _unwrap(self, wrapped: bytes, kek_id: str) -> bytes:
        if kek_id not in self._keys:
            raise UnknownKey(
                f"The vault key '{kek_id}' is not configured, so what it protects cannot be read. "
                "Put it back into VAULT_KEYS (behind the first), then run: manage rewrap_keys."
            )
        try:
            return _open(self._keys[kek_id], wrapped, ("data key", kek_id))
        except Tampered:
            raise Tampered(
                f"A data key does not open with the vault key '{kek_id}'. Either that id now names another "
                "key, or the stored data key was changed. Restore the key that this id had before."
            ) from None


def _associated(parts: tuple[str, ...]) -> bytes:
    """The parts with their lengths in front, so that no two different contexts read the same."""
    encoded = [bytes([VERSION])]
    for part in parts:
        raw = part.encode()
        encoded.append(len(raw).to_bytes(4, "big") + raw)
    return b"".join(encoded)


def _seal(key: bytes, plain: bytes, context: tuple[str, ...]) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return bytes([VERSION]) + nonce + AESGCM(key).encrypt(nonce, plain, _associated(context))


def _open(key: bytes, sealed: bytes, context: tuple[str, ...]) -> bytes:
    sealed = bytes(sealed)
    if len(sealed) < 1 + NONCE_BYTES + TAG_BYTES:
        raise Tampered("A stored secret is too short to be one. It was changed: enter it again.")
    if sealed[0] != VERSION:
        raise VaultError(
            f"A stored secret has format {sealed[0]}; this version reads {VERSION}. Upgrade Copydesk."
        )
    nonce, body = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, body, _associated(context))
    except InvalidTag:
        raise Tampered(
            "A stored secret does not open. It was changed, or moved from another row. Enter it again."
        ) from None
