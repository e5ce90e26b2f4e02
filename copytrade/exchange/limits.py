"""Weights and order counts, counted before the exchange counts them: wait rather than earn a 429.

A pool is an address root of a venue, per egress address (weights), or an account (orders). The windows start from
500 weight per 10 s, 20 orders per 10 s and 100 per minute, and follow the exchange's own headers. A share of the
weight is kept for interactive calls. Source: interface.md "Limits", open-points.md "Limits".
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

import redis as redis_library
from redis.backoff import NoBackoff
from redis.retry import Retry

from . import limits_script
from .errors import RateLimited
from .windows import LocalPool, Told, told

WEIGHT_LIMITS = {10_000: 500}
ORDER_LIMITS = {10_000: 20, 60_000: 100}
RESERVE = 0.2  # of the weight, for calls that a person waits for
FALLBACK_SHARE = 0.1  # of the limit, for each process, while Redis is away
REDIS_PAUSE = 2.0  # seconds without asking a Redis that did not answer
TIMEOUT = 20.0


class Limiter(Protocol):
    """What the client asks of a limiter. `root` names a weight pool, `account` an order pool."""

    def acquire(self, root: str, weight: int, interactive: bool, timeout: float = TIMEOUT) -> None:
        """Wait until `weight` fits; raises RateLimited when that takes longer than `timeout` seconds."""

    def acquire_orders(self, account: str, count: int, timeout: float = TIMEOUT) -> None:
        """The same for the order count of an account."""

    def observe(self, root: str, headers: Mapping[str, str]) -> None:
        """Learn from the headers of an answer."""

    def observe_orders(self, account: str, headers: Mapping[str, str]) -> None:
        """Learn from the order counts of an answer."""

    def penalise(self, root: str, seconds: float) -> None:
        """The exchange said 429: nothing goes out of this pool for so long."""

    def penalise_orders(self, account: str, seconds: float) -> None:
        """The same for the orders of an account."""


class _Pools:
    """The pools by name, and waiting for them; where they count is decided below."""

    def __init__(self, weights: Mapping[int, int], orders: Mapping[int, int], reserve: float) -> None:
        self._limits = {"weight": dict(weights), "order": dict(orders)}
        self._background = 1.0 - reserve

    def acquire(self, root: str, weight: int, interactive: bool, timeout: float = TIMEOUT) -> None:
        share = 1.0 if interactive else self._background
        _wait(lambda: self._take("weight", root, weight, share), timeout)

    def acquire_orders(self, account: str, count: int, timeout: float = TIMEOUT) -> None:
        _wait(lambda: self._take("order", account, count, 1.0), timeout)

    def observe(self, root: str, headers: Mapping[str, str]) -> None:
        self._learn("weight", root, told(headers, "weight"))

    def observe_orders(self, account: str, headers: Mapping[str, str]) -> None:
        self._learn("order", account, told(headers, "order"))

    def penalise(self, root: str, seconds: float) -> None:
        self._block("weight", root, seconds)

    def penalise_orders(self, account: str, seconds: float) -> None:
        self._block("order", account, seconds)

    def _take(self, kind: str, name: str, weight: int, share: float) -> int:
        raise NotImplementedError

    def _learn(self, kind: str, name: str, windows: list[Told]) -> None:
        raise NotImplementedError

    def _block(self, kind: str, name: str, seconds: float) -> None:
        raise NotImplementedError


def _wait(take: Callable[[], int], timeout: float) -> None:
    until = time.monotonic() + timeout
    while (wait := take()) != 0:
        if wait < 0:
            raise RateLimited(
                "This request weighs more than the exchange allows at once. It was not sent.",
                retry_after=60.0, local=True,
            )  # fmt: skip
        seconds = wait / 1000
        if time.monotonic() + seconds > until:
            raise RateLimited(
                f"The exchange's request limit is used up; the next request may go in {seconds:.0f} seconds. "
                "Nothing was sent.",
                retry_after=seconds, local=True,
            )  # fmt: skip
        time.sleep(seconds + random.uniform(0, 0.02))  # noqa: S311 (spreads those who wait)


class LocalLimiter(_Pools):
    """Counts in this process alone: for a program with one client, and for tests."""

    def __init__(
        self,
        *,
        weights: Mapping[int, int] = WEIGHT_LIMITS,
        orders: Mapping[int, int] = ORDER_LIMITS,
        reserve: float = RESERVE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(weights, orders, reserve)
        self._clock = clock
        self._pools: dict[tuple[str, str], LocalPool] = {}

    def pool(self, kind: str, name: str) -> LocalPool:
        made = LocalPool(self._limits[kind], self._clock)
        return self._pools.setdefault((kind, name), made)

    def _take(self, kind: str, name: str, weight: int, share: float) -> int:
        return self.pool(kind, name).take(weight, share)

    def _learn(self, kind: str, name: str, windows: list[Told]) -> None:
        self.pool(kind, name).learn(windows)

    def _block(self, kind: str, name: str, seconds: float) -> None:
        self.pool(kind, name).block(seconds)


class RedisLimiter(_Pools):
    """Counts in Redis, for all processes of one egress address together.

    Redis away: each process goes on with a tenth of the limit, counted locally, its own recent use included.
    Redis back without its state: one window is waited out. Redis started empty: half of the first window counts
    as used until the exchange's headers say better.
    """

    def __init__(
        self,
        redis: redis_library.Redis,
        egress: str = "default",
        *,
        weights: Mapping[int, int] = WEIGHT_LIMITS,
        orders: Mapping[int, int] = ORDER_LIMITS,
        reserve: float = RESERVE,
        fallback: float = FALLBACK_SHARE,
        prefix: str = "copydesk:limits",
    ) -> None:
        super().__init__(weights, orders, reserve)
        self._prefix = f"{prefix}:{egress}"
        self._fallback = fallback
        self._local = LocalLimiter(weights=weights, orders=orders, reserve=reserve)
        self._scripts = {
            name: redis.register_script(source)
            for name, source in (
                ("take", limits_script.TAKE),
                ("learn", limits_script.LEARN),
                ("block", limits_script.BLOCK),
            )
        }
        self._known: dict[tuple[str, str], str] = {}
        self._untold: dict[tuple[str, str], list[tuple[float, int]]] = {}
        self._away_until = 0.0

    @classmethod
    def from_url(cls, url: str, egress: str = "default", **options: Any) -> Self:
        """A limiter with a connection of its own that gives up after a second and never retries."""
        quick: dict[str, Any] = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
        return cls(redis_library.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **quick), egress, **options)

    def _take(self, kind: str, name: str, weight: int, share: float) -> int:
        untold = self._unreported(kind, name)
        wait = self._run("take", kind, name, weight, share, untold)
        local = self._local.pool(kind, name)
        if wait is None:
            wait = local.take(weight, share * self._fallback)
            if wait == 0:
                self._untold.setdefault((kind, name), []).append((time.monotonic(), weight))
            return wait
        self._untold.pop((kind, name), None)
        if wait == 0:
            local.note(weight)
        return wait

    def _learn(self, kind: str, name: str, windows: list[Told]) -> None:
        if windows:
            self._local.pool(kind, name).learn(windows)
            flat = [
                n for w in windows for n in (w.window_ms, w.used, -1 if w.remaining is None else w.remaining)
            ]
            self._run("learn", kind, name, *flat)

    def _block(self, kind: str, name: str, seconds: float) -> None:
        self._local.pool(kind, name).block(seconds)
        self._run("block", kind, name, int(seconds * 1000))

    def _unreported(self, kind: str, name: str) -> int:
        """What this process used while Redis was away and that still counts."""
        oldest = time.monotonic() - max(self._limits[kind]) / 1000
        return sum(weight for at, weight in self._untold.get((kind, name), ()) if at > oldest)

    def _run(self, script: str, kind: str, name: str, *values: float) -> int | None:
        """The script's answer, or None when Redis is away."""
        if time.monotonic() < self._away_until:
            return None
        limits = self._limits[kind]
        starts = ",".join(f"{window}:{cap}" for window, cap in limits.items())
        known = self._known.get((kind, name), "")
        arguments: list[Any] = [known, uuid.uuid4().hex, min(limits), starts, *values]
        try:
            identity, wait = self._scripts[script](keys=[f"{self._prefix}:{kind}:{name}"], args=arguments)
        except (redis_library.RedisError, OSError):
            self._away_until = time.monotonic() + REDIS_PAUSE
            return None
        self._known[kind, name] = identity.decode() if isinstance(identity, bytes) else identity
        return int(wait)
