"""Strict readers of the environment. A bad value stops the start with a sentence that says what to set."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SAMPLE_SECRETS = ("change", "secret-key", "insecure", "development", "example", "tests-only", "0123456789")


def text(name: str, default: str | None = None) -> str:
    """The value of NAME, or the contents of the file that NAME_FILE points to."""
    if file := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE points to {file}, which cannot be read: {error}."
            ) from error
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. Set it, or {name}_FILE to a file that holds it.")
    return value


def token(name: str) -> str:
    """A shared secret of at least 24 plain characters without spaces, or none at all."""
    value = text(name, "")
    if value and (len(value) < 24 or not value.isascii() or len(value.split()) != 1):
        raise ImproperlyConfigured(
            f"{name} must be at least 24 plain characters without spaces. Make one with: openssl rand -hex 24"
        )
    return value


def boolean(name: str, default: bool) -> bool:
    """Strictly 0 or 1: a typing error must not switch something on."""
    value = os.environ.get(name, "1" if default else "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}.")
    return value == "1"


def integer(name: str, default: int, lowest: int = 0) -> int:
    """A whole number of at least `lowest`."""
    value = os.environ.get(name, str(default))
    if not (value.isascii() and value.isdigit()) or int(value) < lowest:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {lowest}, not {value!r}.")
    return int(value)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = os.environ.get(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    return value


def names(name: str, default: str) -> list[str]:
    """A comma-separated list without empty items."""
    return [item.strip() for item in text(name, default).split(",") if item.strip()]


def database(url: str) -> dict[str, Any]:
    """Django's database dict from postgresql://user:password@host:port/name?host=/socket/folder."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            "DATABASE_URL must start with postgresql://, the one engine Copydesk runs on."
        )
    host = parse_qs(parts.query).get("host", [parts.hostname or ""])[0]
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        # Statements whose values go beside them (copytrade/asking.py) are prepared when they are first asked.
        "OPTIONS": {"prepare_threshold": 0},
    }


def exchange_root(name: str, default: str) -> str:
    """An exchange address, scheme and host alone: https, except to this machine itself."""
    value = text(name, default).rstrip("/")
    parts = urlsplit(value)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    more = parts.path or parts.query or parts.fragment or parts.username or parts.password
    if not parts.hostname or more or parts.scheme not in ({"https", "http"} if local else {"https"}):
        raise ImproperlyConfigured(
            f"{name} must be an https:// address and a host, nothing more; http:// only to this machine."
        )
    return value


class Hidden(str):
    """A text with a password in it: settings pages and logs that print it by repr() show nothing of it."""

    def __repr__(self) -> str:
        return "'…'"


def egress(name: str) -> dict[str, dict[str, str]]:
    """{name: {"source": ip} or {"proxy": url} or {}} from `a=source:127.0.0.2,b=proxy:http://host:3128,c=direct`.

    Unset or empty: one called "default", which leaves from wherever the system sends it.
    """
    found: dict[str, dict[str, str]] = {}
    for item in names(name, "default=direct") or ["default=direct"]:
        called, _, value = item.partition("=")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", called) or called in found:
            raise ImproperlyConfigured(
                f"{name}: each address needs a name of its own, of small letters, digits and hyphens, "
                "as in a=source:192.0.2.10,b=proxy:http://proxy:3128."
            )
        kind, _, where = value.partition(":")
        found[called] = _way(name, called, kind, where)
    ways = [tuple(way.items()) for way in found.values()]
    if len(set(ways)) < len(ways):
        raise ImproperlyConfigured(
            f"{name} names the same address twice. The exchange counts it once, so the desk must, too."
        )
    return found


def _way(name: str, called: str, kind: str, where: str) -> dict[str, str]:
    """One entry. Its words are not repeated when they are wrong: a proxy's address may hold a password."""
    if (kind, where) == ("direct", ""):
        return {}
    if kind == "source":
        try:
            address = ipaddress.ip_address(where)
        except ValueError:
            address = None
        if address is None or address.is_unspecified or address.is_multicast:
            raise ImproperlyConfigured(
                f"{name}: {called}=source: must be followed by an IP address of this machine."
            )
        return {"source": str(address)}
    if kind == "proxy" and _is_proxy(where):
        return {"proxy": Hidden(where.rstrip("/"))}
    raise ImproperlyConfigured(
        f"{name}: {called} must be direct, source:<IP address> or proxy:http://<user>:<password>@<host>:<port>; "
        "in user and password, characters other than letters and digits are written as %40 and so on."
    )


def _is_proxy(url: str) -> bool:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        return False
    more = parts.path.strip("/") or parts.query or parts.fragment or (parts.password and not parts.username)
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    return parts.scheme == "http" and bool(parts.hostname) and bool(port) and not more and plain


def check_vault_keys(value: str) -> None:
    """Every item is id:base64 of exactly 32 bytes, ids do not repeat, and no key is the same byte over and over."""
    seen: set[str] = set()
    for item in value.split(","):
        name, _, coded = item.strip().partition(":")
        try:
            key = base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not name or name in seen or len(key) != 32 or len(set(key)) < 8:
            raise ImproperlyConfigured(
                "VAULT_KEYS must be id:key pairs, comma separated, each key 32 random bytes in base64 and each id "
                "used once. Make one with: openssl rand -base64 32"
            )
        seen.add(name)


def production_faults(values: dict[str, Any]) -> list[str]:
    """Why these settings must not serve the public; empty when they may. Sentences for the operator."""
    key, vault = values["SECRET_KEY"], values["VAULT_KEYS"]
    found = []
    if _is_weak(key):
        found.append("SECRET_KEY is a sample or too short: use at least 50 random characters.")
    if any(_is_weak(older) for older in values["SECRET_KEY_FALLBACKS"]):
        found.append(
            "SECRET_KEY_FALLBACKS holds a sample or a short key: what it signed would still be believed."
        )
    if any(key and part.partition(":")[2].strip() in key for part in vault.split(",")):
        found.append("VAULT_KEYS must not be part of SECRET_KEY.")
    if any(b"0123456789" in base64.b64decode(part.partition(":")[2]) for part in vault.split(",")):
        found.append("VAULT_KEYS holds a sample key: make one with openssl rand -base64 32.")
    if values["DEBUG"]:
        found.append("COPYDESK_DEBUG must be 0.")
    if values["DEMO"]:
        found.append("COPYDESK_DEMO must be 0: the demo lets anybody in.")
    if not values["ALLOWED_HOSTS"] or any(
        "*" in host or host.startswith(".") for host in values["ALLOWED_HOSTS"]
    ):
        found.append("ALLOWED_HOSTS must name each host in full, without *.")
    if any(not origin.startswith("https://") or "*" in origin for origin in values["CSRF_TRUSTED_ORIGINS"]):
        found.append("CSRF_TRUSTED_ORIGINS must be https:// addresses, each in full, without *.")
    return found


def _is_weak(key: str) -> bool:
    return len(key) < 50 or len(set(key)) < 10 or any(word in key.lower() for word in SAMPLE_SECRETS)
