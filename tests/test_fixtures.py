"""The shared fixtures do what their names promise: each test process is alone with its servers."""

from __future__ import annotations

import subprocess
import sys

import pytest
import redis
from django.conf import settings
from django.db import connection

from copytrade.models import User
from tests.support.redis_numbers import Claim, with_number
from tests.support.sandbox_process import Sandbox


@pytest.mark.django_db
def test_the_database_is_a_test_database_on_postgresql() -> None:
    assert connection.vendor == "postgresql"
    assert connection.settings_dict["NAME"].startswith("test_copydesk")


def test_alice_and_charlie_are_two_people(alice: User, charlie: User) -> None:
    assert alice.pk != charlie.pk
    assert not alice.is_demo and not alice.is_operator


def test_redis_is_ours_and_empty(redis_client: redis.Redis) -> None:
    assert redis_client.dbsize() == 0
    assert redis_client.connection_pool.connection_kwargs.get("db", 0) != 0


def test_two_processes_never_get_the_same_redis_number() -> None:
    url = "redis://nowhere.example:6379/0"
    first, second = Claim(url), Claim(url)
    assert first.number != second.number
    taken = first.number
    first.release()
    assert Claim(url).number == taken


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix:///tmp/x/redis.sock", "unix:///tmp/x/redis.sock?db=3"),
        ("unix:///tmp/x/redis.sock?db=1", "unix:///tmp/x/redis.sock?db=3"),
        ("redis://localhost:6379/0", "redis://localhost:6379/3"),
        ("redis://:word@localhost:6379", "redis://:word@localhost:6379/3"),
    ],
)
def test_a_redis_address_keeps_its_server_and_changes_its_number(url: str, expected: str) -> None:
    assert with_number(url, 3) == expected


def test_settings_use_the_claimed_number() -> None:
    assert "db=0" not in settings.REDIS_URL


def test_a_process_gets_this_test_s_servers(
    process_env: dict[str, str], alice: User, sandbox: Sandbox
) -> None:
    script = (
        "from copytrade.models import User; from django.conf import settings; "
        "print(User.objects.get().username, settings.SANDBOX_URL, settings.REDIS_URL)"
    )
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", script]
    done = subprocess.run(command, env=process_env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["alice", sandbox.url, settings.REDIS_URL], done.stderr
