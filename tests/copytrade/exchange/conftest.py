"""Fixtures of the client's tests."""

import pytest

from .battery import Desk


@pytest.fixture
def desk(sandbox):
    """A sandbox in its first state, and clients for it."""
    return Desk(sandbox)
