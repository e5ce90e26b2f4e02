"""Weights and order counts, counted before the exchange counts them: wait rather than earn a 429.

A pool is an address root of a venue, per egress address (weights), or an account (orders). The windows start from
500 weight per 10 s, 20 orders per 10 s and 100 per minute, and follow the exchange's own headers. A share of the
weight is kept for interactive calls. Source: interface.md "Limits", open-points.md "Limits".
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import redis as redis_library
from redis.backoff import NoBackoff
from redis.retry import Retry

from . import limits_script
from .errors import RateLimited
from .windows import LocalPool, Told, told

WEIGHT_LIMITS = {10_000: 500}
ORDER_LIMITS = {10_000: 20, 60_000: 100}
RESERVE = 0.1  # of the weight, for calls that a person waits for
FALLBACK_SHARE = 0.1  # of the limit, for each process, while Redis is away
REDIS_PAUSE = 2.0  # seconds without asking a Redis that did not answer
TIMEOUT = 20.0
READING = 10  # the weight of every copy call


@dataclass(frozen=True)
class Grant:
    """Leave to send one call. Whoever got it says when the call has ended: `settle`."""

    kind: str
    name: str
    weight: int
    ticket: str = ""
    at: int = 0  # ms on the counting clock


class Limiter(Protocol):
    """What the client asks of a limiter. `root` names a weight pool, `account` an order pool."""

    def acquire(self, root: str, weight: int, interactive: bool, timeout: float = TIMEOUT) -> Grant:
        """Wait until `weight` fits; raises RateLimited when that takes longer than `timeout` seconds."""

    def acquire_orders(self, account: str, count: int, timeout: float = TIMEOUT) -> Grant:
        """The same for the order count of an account."""

    def settle(self, grant: Grant, headers: Mapping[str, str]) -> None:
        """The call has ended: count it from now on, and learn from the headers of its answer (none: empty)."""

    def observe(self, root: str, headers: Mapping[str, str]) -> None:
        """Learn from headers alone."""

    def observe_orders(self, account: str, headers: Mapping[str, str]) -> None:
        """Learn from order counts alone."""

    def penalise(self, root: str, seconds: float) -> None:
        """The exchange said 429: nothing goes out of this pool for so long, then background work by steps."""

    def penalise_orders(self, account: str, seconds: float) -> None:
        """The same for the orders of an account."""

    def room(self, root: str, weight: int = READING, interactive: bool = False) -> float:
        """Seconds until `weight` would fit behind all who wait already; 0 is now, infinity never."""

    def usable(self, root: str) -> float:
        """Weight per second that background work can count on: the limit without the reserve, without what other
        programs on the address and interactive calls take on average, and less in the minute after a 429."""


class _Pools:
    """The pools by name, and waiting for them; where they count is decided below."""

    def __init__(self, weights: Mapping[int, int], orders: Mapping[int, int], reserve: float) -> None:
        self._limits = {"weight": dict(weights), "order": dict(orders)}
        self._background = 1.0 - reserve

    def acquire(self, root: str, weight: int, interactive: bool, timeout: float = TIMEOUT) -> Grant:
        return self._wait("weight", root, weight, interactive, timeout)

    def acquire_orders(self, account: str, count: int, timeout: float = TIMEOUT) -> Grant:
        return self._wait("order", account, count, True, timeout)

    def settle(self, grant: Grant, headers: Mapping[str, str]) -> None:
        windows = told(headers, grant.kind)
        if grant.ticket or windows:
            self._learn(grant.kind, grant.name, windows, grant)

    def observe(self, root: str, headers: Mapping[str, str]) -> None:
        self.settle(Grant("weight", root, 0), headers)

    def observe_orders(self, account: str, headers: Mapping[str, str]) -> None:
        self.settle(Grant("order", account, 0), headers)

    def penalise(self, root: str, seconds: float) -> None:
        self._block("weight", root, seconds)

    def penalise_orders(self, account: str, seconds: float) -> None:
        self._block("order", account, seconds)

    def room(self, root: str, weight: int = READING, interactive: bool = False) -> float:
        wait, _ = self._take("weight", root, weight, interactive, "", 0)
        return math.inf if wait < 0 else wait / 1000

    def _wait(self, kind: str, name: str, weight: int, interactive: bool, timeout: float) -> Grant:
        until, ticket = time.monotonic() + timeout, uuid.uuid4().hex
        while True:
            left = max(0, int((until - time.monotonic()) * 1000))
            wait, grant = self._take(kind, name, weight, interactive, ticket, left)
            if grant is not None:
                return grant
            if wait < 0:
                raise RateLimited(
                    "This request weighs more than the exchange allows at once. It was not sent.",
                    retry_after=60.0, local=True,
                )  # fmt: skip
            seconds = wait / 1000
            if wait > left:
                raise RateLimited(
                    f"The exchange's request limit is used up; the next request may go in {seconds:.0f} "
                    "seconds. Nothing was sent.",
                    retry_after=seconds, local=True,
                )  # fmt: skip
            time.sleep(seconds)

    def _share(self, interactive: bool) -> float:
        return 1.0 if interactive else self._background

    def _take(
        self, kind: str, name: str, weight: int, interactive: bool, ticket: str, left: int
    ) -> tuple[int, Grant | None]:
        """(0, the grant); or the ms to wait, -1 for never, and None. Without a ticket it only asks."""
        raise NotImplementedError

    def _learn(self, kind: str, name: str, windows: list[Told], grant: Grant) -> None:
        raise NotImplementedError

    def _block(self, kind: str, name: str, seconds: float) -> None:
        raise NotImplementedError


class LocalLimiter(_Pools):
    """Counts in this process alone: for a program with one client, and for tests. Who waits is not in order."""

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
        found = self._pools.get((kind, name))
        return found or self._pools.setdefault((kind, name), LocalPool(self._limits[kind], self._clock))

    def usable(self, root: str) -> float:
        return self.pool("weight", root).usable(self._background)

    def _take(
        self, kind: str, name: str, weight: int, interactive: bool, ticket: str, left: int
    ) -> tuple[int, Grant | None]:
        pool = self.pool(kind, name)
        if not ticket:
            return pool.wait_ms(weight, self._share(interactive), slow=not interactive), None
        wait, at = pool.begin(ticket, weight, self._share(interactive), slow=not interactive)
        return wait, None if wait else Grant(kind, name, weight, ticket if weight else "", at)

    def _learn(self, kind: str, name: str, windows: list[Told], grant: Grant) -> None:
        self.pool(kind, name).learn(windows, grant.ticket, grant.at)

    def _block(self, kind: str, name: str, seconds: float) -> None:
        self.pool(kind, name).block(seconds)


@dataclass
class _Seen:
    """What this process last saw of a pool in Redis: its state, and its clock at the last grant, against ours."""

    identity: str = ""
    granted_ms: int = 0
    at: float = 0.0

    def elapsed(self, now: float) -> int:
        return int((now - self.at) * 1000) if self.granted_ms else 0


class RedisLimiter(_Pools):
    """Counts in Redis, for all processes of one egress address together. Who waits is served in order.

    Redis away: each process goes on with a tenth of the limit, counted locally, its own recent use included.
    Redis back without its state or with an older one, or its clock set: one window is waited out. Redis started
    empty: half of the first window counts as used until the exchange's headers say better.
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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(weights, orders, reserve)
        self._prefix = f"{prefix}:{egress}"
        self._fallback = fallback
        self._clock = clock
        self._local = LocalLimiter(weights=weights, orders=orders, reserve=reserve, clock=clock)
        self._scripts = {
            name: redis.register_script(source)
            for name, source in (
                ("take", limits_script.TAKE),
                ("learn", limits_script.LEARN),
                ("block", limits_script.BLOCK),
                ("usable", limits_script.USABLE),
            )
        }
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._untold: dict[tuple[str, str], list[tuple[float, int]]] = {}
        self._away_until = 0.0

    @classmethod
    def from_url(cls, url: str, egress: str = "default", **options: Any) -> Self:
        """A limiter with a connection of its own that gives up after a second and never retries."""
        quick: dict[str, Any] = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
        return cls(redis_library.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **quick), egress, **options)

    @property
    def away(self) -> bool:
        """Redis did not answer just now: who only wants to count something should not ask it either."""
        return self._clock() < self._away_until

    def usable(self, root: str) -> float:
        answer = self._run("usable", "weight", root, self._background)
        return self._local.usable(root) * self._fallback if answer is None else float(answer[3])

    def _take(
        self, kind: str, name: str, weight: int, interactive: bool, ticket: str, left: int
    ) -> tuple[int, Grant | None]:
        share = self._share(interactive)
        untold = self._unreported(kind, name)
        began = self._clock()
        answer = self._run("take", kind, name, weight, share, int(interactive), untold, ticket, left)
        if answer is None:
            return self._take_locally(kind, name, weight, share, ticket)
        self._untold.pop((kind, name), None)
        wait, now = int(answer[1]), int(answer[2])
        if wait or not ticket:
            return wait, None
        self._seen[kind, name] = _Seen(self._seen[kind, name].identity, now, began)
        self._local.pool(kind, name).note(weight)
        return 0, Grant(kind, name, weight, ticket if weight else "", now)

    def _take_locally(
        self, kind: str, name: str, weight: int, share: float, ticket: str
    ) -> tuple[int, Grant | None]:
        pool = self._local.pool(kind, name)
        if not ticket:
            return pool.wait_ms(weight, share * self._fallback), None
        wait = pool.take(weight, share * self._fallback)
        if wait:
            return wait, None
        self._untold.setdefault((kind, name), []).append((self._clock(), weight))
        return 0, Grant(kind, name, weight)

    def _learn(self, kind: str, name: str, windows: list[Told], grant: Grant) -> None:
        self._local.pool(kind, name).learn(windows)
        flat = [n for w in windows for n in (w.window_ms, w.used, -1 if w.remaining is None else w.remaining)]
        self._run("learn", kind, name, grant.ticket, grant.at, grant.weight, *flat)

    def _block(self, kind: str, name: str, seconds: float) -> None:
        self._local.pool(kind, name).block(seconds)
        self._run("block", kind, name, int(seconds * 1000))

    def _unreported(self, kind: str, name: str) -> int:
        """What this process used while Redis was away and that still counts."""
        oldest = self._clock() - max(self._limits[kind]) / 1000
        return sum(weight for at, weight in self._untold.get((kind, name), ()) if at > oldest)

    def _run(self, script: str, kind: str, name: str, *values: float | str) -> list[Any] | None:
        """The script's answer, or None when Redis is away."""
        if self.away:
            return None
        limits = self._limits[kind]
        starts = ",".join(f"{window}:{cap}" for window, cap in limits.items())
        seen = self._seen.get((kind, name)) or _Seen()
        state: list[Any] = [
            seen.identity,
            uuid.uuid4().hex,
            min(limits),
            starts,
            seen.granted_ms,
            seen.elapsed(self._clock()),
        ]
        try:
            answer: list[Any] = self._scripts[script](
                keys=[f"{self._prefix}:{kind}:{name}"], args=[*state, *values]
            )
        except (redis_library.RedisError, OSError):
            self._away_until = self._clock() + REDIS_PAUSE
            return None
        identity = answer[0].decode() if isinstance(answer[0], bytes) else answer[0]
        if identity != seen.identity:
            self._seen[kind, name] = _Seen(identity)
        return answer
