"""The secrets of a local desk: made once, kept in its data folder, handed over as files, never in the environment."""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

from .folders import write_private


def secret_key() -> str:
    return secrets.token_urlsafe(64)


def vault_keys() -> str:
    """One key-encryption key, `id:base64 of 32 bytes`."""
    return f"local-{secrets.token_hex(3)}:{base64.b64encode(secrets.token_bytes(32)).decode()}"


def key_files(folder: Path) -> dict[str, str]:
    """Environment variables that point to the secrets in `folder`; what the environment sets already is left alone."""
    found = {}
    for name, make in (("SECRET_KEY", secret_key), ("VAULT_KEYS", vault_keys)):
        if name in os.environ or f"{name}_FILE" in os.environ:
            continue
        path = folder / name.lower().replace("_", "-")
        if not path.exists():
            write_private(path, make() + "\n")
        found[f"{name}_FILE"] = str(path)
    return found
