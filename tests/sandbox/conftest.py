"""Fixtures for the sandbox's own tests: a fresh exchange for each test, and a caller for each key."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.sandbox.signer import Caller
from tests.support.sandbox_process import Sandbox


@pytest.fixture
def exchange(sandbox_process: Sandbox) -> Sandbox:
    """The sandbox in its first state, over plain HTTP; no Django, no client of ours."""
    sandbox_process.reset()
    return sandbox_process


@pytest.fixture(scope="session")
def caller_of(sandbox_process: Sandbox) -> Callable[[str], Caller]:
    """caller_of("lead-key"): one keep-alive caller for each key."""
    made: dict[str, Caller] = {}

    def make(key: str) -> Caller:
        if key not in made:
            made[key] = Caller(sandbox_process.url, key)
        return made[key]

    return make


@pytest.fixture
def follower(exchange: Sandbox, caller_of: Callable[[str], Caller]) -> Caller:
    return caller_of("follower-key")


@pytest.fixture
def readonly(exchange: Sandbox, caller_of: Callable[[str], Caller]) -> Caller:
    return caller_of("readonly-key")


@pytest.fixture
def lead(exchange: Sandbox, caller_of: Callable[[str], Caller]) -> Caller:
    return caller_of("lead-key")


@pytest.fixture
def affiliate(exchange: Sandbox, caller_of: Callable[[str], Caller]) -> Caller:
    return caller_of("affiliate-key")
