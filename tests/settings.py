"""The desk's settings, with what tests need: their own database and Redis number, and quick passwords."""

from __future__ import annotations

import os

from jinja2 import StrictUndefined

from tests.support.redis_numbers import Claim, with_number

for name in ("DATABASE_URL", "REDIS_URL"):
    if name not in os.environ:
        raise SystemExit(f"{name} is not set. Run the tests with ./run test, which brings both servers.")

redis_claim = Claim(os.environ["REDIS_URL"])
os.environ["REDIS_URL"] = with_number(os.environ["REDIS_URL"], redis_claim.number)
os.environ["COPYDESK_ENV"] = "test"
os.environ["COPYDESK_DEMO"] = "1"
os.environ["COPYDESK_DEBUG"] = "0"
os.environ.setdefault("SECRET_KEY", "tests-only-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ")
os.environ.setdefault("VAULT_KEYS", "test:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
os.environ["ALLOWED_HOSTS"] = "localhost,127.0.0.1,testserver"

from dashboard.settings import *  # noqa: E402, F403
from dashboard.settings import DATABASES, TEMPLATES  # noqa: E402

suffix = os.environ.get("TEST_DB_SUFFIX", "")
DATABASES["default"]["TEST"] = {"NAME": "test_copydesk" + (f"_{suffix}" if suffix else "")}

# A sign-up with argon2 costs 50 ms on purpose; the tests that are about passwords set it back.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    "django.contrib.auth.hashers.Argon2PasswordHasher",
]

# A name that a part of a page asks for and nobody gave is a mistake; on the desk it is empty.
TEMPLATES[1]["OPTIONS"]["undefined"] = StrictUndefined
