"""Data keys as rows: one per user, and one of the desk's own for second-factor secrets."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from functools import lru_cache

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from .models import DataKey
from .vault import Tampered, Vault, parse_keys


def vault() -> Vault:
    """The vault over the configured keys (settings.VAULT_KEYS)."""
    return _vault(settings.VAULT_KEYS)


@lru_cache(maxsize=4)
def _vault(text: str) -> Vault:
    return Vault(parse_keys(text))


def data_key(user_id: int | None) -> DataKey:
    """The data key of a user (None: the desk's own), made at first use. Safe against two makers at once."""
    found = DataKey.objects.filter(user_id=user_id).first()
    if found:
        return found
    wrapped, kek_id = vault().new_data_key()
    try:
        with transaction.atomic():
            return DataKey.objects.create(user_id=user_id, wrapped=wrapped, kek_id=kek_id)
    except IntegrityError:
        return DataKey.objects.get(user_id=user_id)


def encrypt(user_id: int | None, plaintext: str, context: tuple[str, ...]) -> bytes:
    """Seal a text under the user's data key, bound to (table, field, row) and the user."""
    key = data_key(user_id)
    return vault().encrypt(bytes(key.wrapped), key.kek_id, plaintext, (*context, _owner(user_id)))


def decrypt(user_id: int | None, sealed: bytes, context: tuple[str, ...]) -> str:
    """Open what `encrypt` sealed for the same user and context. Raises vault.VaultError."""
    return decrypt_each(user_id, [(sealed, context)])[0]


def decrypt_each(
    user_id: int | None, parts: Iterable[tuple[bytes, tuple[str, ...]]], key: DataKey | None = None
) -> list[str]:
    """Several texts of one user, as `decrypt`: one query for all of them, none where their `key` is at hand."""
    key = key or DataKey.objects.filter(user_id=user_id).first()
    if key is None:
        raise Tampered(
            "The data key of this user is gone, so stored secrets cannot be read. Enter them again."
        )
    return [
        vault().decrypt(bytes(key.wrapped), key.kek_id, bytes(sealed), (*context, _owner(user_id)))
        for sealed, context in parts
    ]


def desk_encrypt(text: str, *context: str) -> str:
    """Seal a text of the desk's own (second-factor secrets); base64 text out, for a text column."""
    return base64.b64encode(encrypt(None, text, ("desk", *context))).decode()


def desk_decrypt(text: str, *context: str) -> str:
    """Open what `desk_encrypt` sealed under the same context. Raises vault.VaultError."""
    try:
        sealed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Tampered("A stored secret is not in the form the vault writes. Set it up again.") from None
    return decrypt(None, sealed, ("desk", *context))


def rewrap_all(batch: int = 200) -> int:
    """Wrap every data key with the first key-encryption key; how many were changed.

    Each batch is its own transaction: stopped half-way, the next call goes on where this one stood.
    Run again it changes nothing. Of two runs at once the second waits, so that neither says "done" while a
    key is still wrapped with the old one.
    """
    safe, changed = vault(), 0
    old = DataKey.objects.exclude(kek_id=safe.first_id)
    while old.exists():
        with transaction.atomic():
            rows = list(old.select_for_update().order_by("id")[:batch])
            for row in rows:
                row.wrapped, row.kek_id = safe.rewrap(bytes(row.wrapped), row.kek_id)
                row.rewrapped_at = timezone.now()
                row.save(update_fields=["wrapped", "kek_id", "rewrapped_at"])
        changed += len(rows)
    return changed


def _owner(user_id: int | None) -> str:
    return "desk" if user_id is None else f"user:{user_id}"
