"""Copydesk's settings: one file, everything from the environment. Bad configuration stops the start."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str | None = None) -> str:
    """The text of NAME, or of the file that NAME_FILE points to."""
    if file := os.environ.get(f"{name}_FILE"):
        return Path(file).read_text().strip()
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. Set it, or {name}_FILE to a file that holds it.")
    return value


def env_bool(name: str, default: bool) -> bool:
    """Strictly 0 or 1: a typing error must not switch something on."""
    value = os.environ.get(name, "1" if default else "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}.")
    return value == "1"


def database(url: str) -> dict:
    """Django's database dict from postgresql://user:password@host:port/name?host=/socket/folder."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL must start with postgresql://, the one engine Copydesk runs on.")
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
    }


DEBUG = env_bool("COPYDESK_DEBUG", False)
DEMO = env_bool("COPYDESK_DEMO", False)
SECRET_KEY = env("SECRET_KEY")
ALLOWED_HOSTS = env("ALLOWED_HOSTS", "localhost").split(",")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "copytrade",
    "dashboard",
]
AUTH_USER_MODEL = "copytrade.User"
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
DATABASES = {"default": database(env("DATABASE_URL"))}
REDIS_URL = env("REDIS_URL")
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"

# The exchanges a connection may point to. Users choose a key of this table; they can never enter an address.
VENUES = {
    "sandbox": {
        "label": "Sandbox exchange",
        "spot": env("SANDBOX_URL", "http://127.0.0.1:9100"),
        "contract": env("SANDBOX_URL", "http://127.0.0.1:9100"),
        "writes_by_default": True,
    },
    "weex": {
        "label": "WEEX",
        "spot": env("WEEX_SPOT_URL", "https://api-spot.weex.com"),
        "contract": env("WEEX_CONTRACT_URL", "https://api-contract.weex.com"),
        "writes_by_default": False,
    },
}

# Key-encryption keys, "id:base64 of 32 bytes", comma separated: the first encrypts, all decrypt. Never SECRET_KEY.
VAULT_KEYS = env("VAULT_KEYS")
