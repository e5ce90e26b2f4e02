"""Somebody looks at a page: its accounts are read more often for a while.

The boost itself is a matter of three queries and lasts a minute. This process remembers for a third of that whom
it was given to, so that most views of a page pay nothing for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from copytrade.models import Account, User
from copytrade.scheduling import boosts

MOST_REMEMBERED = 10_000


class Memory:
    """What was done in the last `seconds`. Forgetting too early costs three queries and nothing else."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._until: dict[tuple[str, int], float] = {}

    def is_new(self, kind: str, key: int) -> bool:
        """Whether this was not asked within the time; asking counts as doing."""
        now = self._clock()
        if self._until.get((kind, key), now) > now:
            return False
        if len(self._until) >= MOST_REMEMBERED:
            self._until.clear()
        self._until[kind, key] = now + self._seconds
        return True

    def forget(self) -> None:
        self._until.clear()


remembered = Memory(boosts.REFRESH.total_seconds())


def watched(user: User) -> None:
    """Somebody looks at a page of all their accounts."""
    if remembered.is_new("user", user.pk):
        boosts.watched(user)


def watch_account(account: Account) -> None:
    """Somebody looks at a page of this account."""
    if remembered.is_new("account", account.pk):
        boosts.watch_account(account)
