"""Fixtures for every test: people, Redis, the sandbox exchange. Those of one area stand in its own folder."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
import redis
from django.conf import settings as django_settings
from django.core.cache import caches
from django.db import connection
from django.test import Client, TransactionTestCase

from copytrade.clients import limiter_at
from copytrade.models import User
from tests.support.emptied import emptied
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in

# Helpers that assert: one that fails shows the values, as an assertion in a test does.
pytest.register_assert_rewrite(
    "tests.faults.settings_scenarios",
    "tests.support.affiliate_pages",
    "tests.support.listed_exchange",
    "tests.support.rollup_truth",
    "tests.support.spot_orders",
    "tests.support.spot_pages",
    "tests.support.trader_page",
)


def pytest_configure(config: pytest.Config) -> None:
    """Rubbish is looked for less often than by default, where nearly all that is made stays.

    And the process that only hands out tests needs no Redis number; its workers claim their own.
    """
    gc.set_threshold(50_000, 20, 20)
    TransactionTestCase._fixture_teardown = emptied  # type: ignore[method-assign]
    if getattr(config.option, "numprocesses", None):
        import tests.settings

        tests.settings.redis_claim.release()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Django, every test and what they import stay to the end: no collection of rubbish need look through them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """What a web process keeps for a minute is of another test."""
    caches["process"].clear()


@pytest.fixture
def alice(db: None) -> User:
    """She owns what a test is about."""
    return User.objects.create_user("alice", "alice@example.com", "alice-password-of-20")


@pytest.fixture
def charlie(db: None) -> User:
    """A stranger: signed in, and entitled to nothing of alice's."""
    return User.objects.create_user("charlie", "charlie@example.com", "charlie-password-of-20")


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    """client_of(alice) is a browser in which alice has just signed in by her password."""
    return signed_in


@pytest.fixture
def redis_client() -> Iterator[redis.Redis]:
    """This process's own Redis database, empty before and after."""
    connection = redis.Redis.from_url(django_settings.REDIS_URL)
    connection.flushdb()
    # A limiter that finds its counts gone waits out a window: a fresh one has none to miss.
    limiter_at.cache_clear()
    yield connection
    limiter_at.cache_clear()
    connection.flushdb()
    connection.close()


@pytest.fixture(scope="session")
def sandbox_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One sandbox exchange for this process, its world standing still (--speed 0). Tests use `sandbox`."""
    log = tmp_path_factory.mktemp("sandbox") / "sandbox.log"
    with Sandbox(
        log, "--speed", "0", "--seed", "1", "--limit", "1000000", "--order-limit", "1000000"
    ) as running:
        yield running


@pytest.fixture
def sandbox(sandbox_process: Sandbox, settings: object) -> Sandbox:
    """A sandbox exchange in its first state, and settings.VENUES["sandbox"] pointing to it."""
    sandbox_process.reset()
    venue = django_settings.VENUES["sandbox"] | {"spot": sandbox_process.url, "contract": sandbox_process.url}
    settings.VENUES = django_settings.VENUES | {"sandbox": venue}  # type: ignore[attr-defined]
    return sandbox_process


@pytest.fixture
def process_env(transactional_db: None, redis_client: redis.Redis, sandbox: Sandbox) -> dict[str, str]:
    """The environment of a real process (a worker that a test kills) on this test's database, Redis and sandbox."""
    database = connection.settings_dict
    user, password, name, host = (quote(database[key]) for key in ("USER", "PASSWORD", "NAME", "HOST"))
    port = f":{database['PORT']}" if database["PORT"] else ""
    return os.environ | {
        "DATABASE_URL": f"postgresql://{user}:{password}@{port}/{name}?host={host}",
        "REDIS_URL": django_settings.REDIS_URL,
        "SANDBOX_URL": sandbox.url,
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    }
