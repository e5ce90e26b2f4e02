"""Settings: strict, and production refuses to start with what must not serve the public."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dashboard import environment as env
from dashboard.logs import HIDDEN, logging_config, redact

KEY = base64.b64encode(bytes(range(7, 231, 7))).decode()
GOOD = {
    "COPYDESK_ENV": "production",
    "COPYDESK_DEBUG": "0",
    "COPYDESK_DEMO": "0",
    "SECRET_KEY": "Jq8!vT2mZ#w9LrXc4B6nHs1Ky7Pd3Gf5Qa0Ue-Wo8Ri2Nt6Mz4Vb",
    "VAULT_KEYS": f"first:{KEY}",
    "ALLOWED_HOSTS": "desk.example.org",
    "DATABASE_URL": "postgresql://desk:p%40ss@db:5432/desk",
    "REDIS_URL": "redis://redis:6379/0",
}
SHOW = (
    "import json, django.conf as c; s = c.settings;"
    "print(json.dumps({n: getattr(s, n) for n in ('SESSION_COOKIE_SECURE', 'CSRF_COOKIE_SECURE', 'SECURE_SSL_REDIRECT',"
    " 'SECURE_HSTS_SECONDS', 'SESSION_COOKIE_NAME', 'DEBUG', 'DEMO', 'EMAIL_BACKEND',"
    " 'MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN')} | {'venues': list(s.VENUES)}))"
)


def start(code: str = SHOW, /, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Load the settings in a process of their own, with nothing but these variables, and show what `code` prints."""
    values = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "dashboard.settings", **values},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_production_starts_with_secure_settings() -> None:
    run = start()
    assert run.returncode == 0, run.stderr
    shown = json.loads(run.stdout)
    assert shown["SESSION_COOKIE_SECURE"] and shown["CSRF_COOKIE_SECURE"] and shown["SECURE_SSL_REDIRECT"]
    assert shown["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert shown["SESSION_COOKIE_NAME"].startswith("__Host-")
    assert not shown["MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN"]
    assert shown["venues"] == ["weex"]


def test_production_is_what_one_gets_without_saying() -> None:
    run = start(COPYDESK_ENV=None, COPYDESK_DEMO="1")
    assert run.returncode != 0
    assert "COPYDESK_DEMO must be 0" in run.stderr


def test_all_faults_are_told_at_once() -> None:
    run = start(COPYDESK_DEBUG="1", COPYDESK_DEMO="1", ALLOWED_HOSTS="*", SECRET_KEY="change-me")
    assert run.returncode != 0
    for words in ("SECRET_KEY", "COPYDESK_DEBUG", "COPYDESK_DEMO", "ALLOWED_HOSTS"):
        assert words in run.stderr.rsplit("ImproperlyConfigured", 1)[-1]


def test_a_refusal_never_repeats_the_secret() -> None:
    run = start(SECRET_KEY="change-me-my-own-words", VAULT_KEYS="first:c2hvcnQ=")
    assert "my-own-words" not in run.stderr
    assert "c2hvcnQ=" not in run.stderr


VALUES = {
    "SECRET_KEY": GOOD["SECRET_KEY"],
    "SECRET_KEY_FALLBACKS": [],
    "VAULT_KEYS": GOOD["VAULT_KEYS"],
    "DEBUG": False,
    "DEMO": False,
    "ALLOWED_HOSTS": ["desk.example.org"],
    "CSRF_TRUSTED_ORIGINS": [],
}


def test_good_values_have_no_fault() -> None:
    assert env.production_faults(VALUES) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"SECRET_KEY": "a" * 80}, "SECRET_KEY"),
        ({"SECRET_KEY": "django-insecure-" + GOOD["SECRET_KEY"]}, "SECRET_KEY"),
        ({"SECRET_KEY": GOOD["SECRET_KEY"] + KEY}, "VAULT_KEYS"),
        ({"VAULT_KEYS": "dev:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}, "VAULT_KEYS"),
        ({"DEBUG": True}, "COPYDESK_DEBUG"),
        ({"DEMO": True}, "COPYDESK_DEMO"),
        ({"ALLOWED_HOSTS": []}, "ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": ["*"]}, "ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": ["*.example.org"]}, "ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": [".example.org"]}, "ALLOWED_HOSTS"),
        ({"CSRF_TRUSTED_ORIGINS": ["http://desk.example.org"]}, "CSRF_TRUSTED_ORIGINS"),
        ({"CSRF_TRUSTED_ORIGINS": ["https://*.example.org"]}, "CSRF_TRUSTED_ORIGINS"),
        ({"SECRET_KEY_FALLBACKS": ["django-insecure-" + GOOD["SECRET_KEY"]]}, "SECRET_KEY_FALLBACKS"),
        ({"SECRET_KEY_FALLBACKS": [GOOD["SECRET_KEY"], "short"]}, "SECRET_KEY_FALLBACKS"),
    ],
)
def test_each_fault_is_named(change: dict[str, object], named: str) -> None:
    found = env.production_faults(VALUES | change)
    assert len(found) == 1
    assert named in found[0]


@pytest.mark.parametrize(
    "keys",
    [
        "",
        "first",
        "first:",
        ":" + KEY,
        "first:c2hvcnQ=",
        "first:not base64",
        f"first:{KEY},first:{KEY}",
        f"first:{KEY},",
        "first:" + base64.b64encode(b"\0" * 32).decode(),
    ],
)
def test_weak_or_broken_vault_keys_are_refused(keys: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="openssl rand"):
        env.check_vault_keys(keys)


def test_several_vault_keys_are_accepted() -> None:
    env.check_vault_keys(f"second:{KEY}, first:{base64.b64encode(bytes(range(32))).decode()}")


@pytest.mark.parametrize("value", ["true", "yes", "on", "", "2", " 1", "True"])
def test_a_switch_is_0_or_1_and_nothing_else(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_SWITCH", value)
    with pytest.raises(ImproperlyConfigured, match="SOME_SWITCH must be 0 or 1"):
        env.boolean("SOME_SWITCH", False)


@pytest.mark.parametrize("value", ["", "-1", "1.5", "x", "٣", "4"])
def test_a_number_is_whole_and_large_enough(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_NUMBER", value)
    with pytest.raises(ImproperlyConfigured, match="SOME_NUMBER must be a whole number of at least 5"):
        env.integer("SOME_NUMBER", 10, lowest=5)


@pytest.mark.parametrize(("value", "cap"), [(None, 575.0), ("30", 30.0), ("120", 120.0)])
def test_the_longest_wait_of_an_open_list_is_what_is_set(value: str | None, cap: float) -> None:
    shown = "import django; django.setup(); from copytrade.intervals import BOUNDS; print(BOUNDS['open'].cap)"
    run = start(shown, SYNC_OPEN_CAP_SECONDS=value)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) == cap


@pytest.mark.parametrize("value", ["0", "29", "9.5"])
def test_too_short_a_wait_of_open_lists_stops_the_start(value: str) -> None:
    run = start(SYNC_OPEN_CAP_SECONDS=value)
    assert run.returncode != 0
    assert "SYNC_OPEN_CAP_SECONDS must be a whole number of at least 30" in run.stderr


def test_a_value_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("SOME_SECRET_FILE", str(tmp_path / "secret"))
    assert env.text("SOME_SECRET") == "from a file"
    monkeypatch.setenv("SOME_SECRET_FILE", str(tmp_path / "absent"))
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        env.text("SOME_SECRET")


def test_a_missing_value_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_SECRET", raising=False)
    with pytest.raises(ImproperlyConfigured, match="SOME_SECRET_FILE"):
        env.text("SOME_SECRET")


def test_the_database_address_is_taken_apart() -> None:
    found = env.database("postgresql://desk:p%40ss@db:5433/name")
    assert [found[n] for n in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "desk",
        "p@ss",
        "db",
        "5433",
        "name",
    ]
    assert env.database("postgresql://desk@/name?host=/run/pg")["HOST"] == "/run/pg"
    with pytest.raises(ImproperlyConfigured, match="postgresql://"):
        env.database("sqlite:///x")


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "ftp://x",
        "api.example.com",
        "",
        "http://localhost.evil.com",
        "https://api.example.com@evil.com",
        "https://api.example.com/v1",
        "https://api.example.com?to=elsewhere",
    ],
)
def test_an_exchange_is_reached_by_https_only(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("SOME_ROOT", url)
    with pytest.raises(ImproperlyConfigured, match="https"):
        env.exchange_root("SOME_ROOT", "")


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "http://127.0.0.1:9100", "http://localhost:9100/"]
)
def test_https_and_this_machine_are_fine(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("SOME_ROOT", url)
    assert env.exchange_root("SOME_ROOT", "") == url.rstrip("/")


# --- the log ---


def test_the_log_hides_secrets_by_name_and_in_texts() -> None:
    event = {
        "event": "GET failed, ACCESS-SIGN: abc123, secret=hunter2&x=1, passphrase: 'open sesame'",
        "secret": "hunter2",
        "api_key": "k-1",
        "headers": {"ACCESS-PASSPHRASE": "p", "Accept": "text/html"},
        "url": "redis://user:hunter2@redis:6379",
        "account": 7,
        "request": object(),
    }
    shown = redact(None, "", dict(event))
    assert "hunter2" not in str(shown)
    assert "abc123" not in str(shown)
    assert shown["api_key"] == HIDDEN
    assert shown["headers"] == {"ACCESS-PASSPHRASE": HIDDEN, "Accept": "text/html"}
    assert shown["account"] == 7
    assert "request" not in shown


@pytest.mark.parametrize("as_json", [True, False])
def test_both_kinds_of_log_pass_through_the_same_filter(as_json: bool) -> None:
    formatter = logging_config(json_lines=as_json, level="INFO")["formatters"]["desk"]
    assert redact in formatter["foreign_pre_chain"]


def test_an_exceptions_text_is_filtered_too() -> None:
    with structlog.testing.capture_logs(processors=[structlog.processors.format_exc_info, redact]) as seen:
        try:
            raise ValueError("refused: secret=hunter2")
        except ValueError:
            structlog.get_logger("test").exception("failed")
    assert "hunter2" not in str(seen)
    assert "ValueError" in str(seen)


def test_a_failed_task_is_told_once_and_not_again_in_one_endless_line() -> None:
    event = {"logger": "celery.app.trace", "event": "Task failed", "data": {"traceback": "long"}}
    assert redact(None, "", event) == {"logger": "celery.app.trace", "event": "Task failed"}
    assert redact(None, "", {"logger": "ours", "data": "kept"}) == {"logger": "ours", "data": "kept"}
