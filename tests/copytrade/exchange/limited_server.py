"""A clock that a test turns, a limiter whose Redis goes by it, and an exchange that counts in its own windows."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import redis

from copytrade.exchange import limits_script
from copytrade.exchange.errors import RateLimited
from copytrade.exchange.limits import Grant, Limiter, RedisLimiter


class Turned:
    """Seconds that pass when the test says so."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class TurnedLimiter(RedisLimiter):
    """A RedisLimiter whose scripts read the time from two keys of Redis instead of its clock."""

    def __init__(self, connection: redis.Redis, clock: Turned, prefix: str, **options: Any) -> None:
        super().__init__(connection, prefix=prefix, clock=clock, **options)
        self._connection, self._turned, self.redis_clock = connection, clock, clock
        self._time_key = f"{prefix}:clock"
        read = (
            f"{{redis.call('HGET', '{self._time_key}', 's'), redis.call('HGET', '{self._time_key}', 'us')}}"
        )
        for name in self._scripts:
            source = getattr(limits_script, name.upper())
            assert "redis.call('TIME')" in source
            self._scripts[name] = connection.register_script(source.replace("redis.call('TIME')", read))

    def _run(self, *values: Any) -> Any:
        seconds = self.redis_clock()
        micros = round(seconds % 1 * 1_000_000)
        self._connection.hset(self._time_key, mapping={"s": int(seconds), "us": micros})
        return super()._run(*values)


def granted(limiter: Limiter, root: str, weight: int, *, interactive: bool = False) -> Grant | None:
    """A grant right now, or None."""
    try:
        return limiter.acquire(root, weight, interactive, timeout=0)
    except RateLimited:
        return None


class Exchange:
    """Counts weight by windows of `seconds`, fixed ones of a phase or (None) a sliding one, and refuses what is too
    much; `calls` are those it let in: (time, weight)."""

    def __init__(self, limit: int, seconds: int, phase: float | None) -> None:
        self.limit, self.seconds, self.phase = limit, seconds, phase
        self.calls: list[tuple[float, int]] = []

    def used(self, now: float) -> int:
        begin = now - self.seconds
        if self.phase is not None:
            begin = (now + self.phase) // self.seconds * self.seconds - self.phase
        found = 0
        for at, weight in reversed(self.calls):
            if at < begin or (self.phase is None and at == begin):
                break
            found += weight
        return found

    def call(self, now: float, weight: int) -> bool:
        if self.used(now) + weight > self.limit:
            return False
        self.calls.append((now, weight))
        return True

    def headers(self, now: float) -> dict[str, str]:
        used = self.used(now)
        return {
            f"X-USED-WEIGHT-{self.seconds}S": str(used),
            f"X-REMAINING-WEIGHT-{self.seconds}S": str(max(0, self.limit - used)),
        }


@dataclass
class Outcome:
    """What came of a while of asking: the weight that got through, and whose calls were refused."""

    ours: int = 0
    refused: int = 0
    foreign: int = 0
    foreign_refused: int = 0


def saturate(
    limiter: Limiter,
    clock: Turned,
    exchange: Exchange,
    *,
    callers: int,
    seconds: float,
    latency: Callable[[random.Random], float],
    seed: int,
    weights: tuple[int, ...] = (10,),
    foreign: Iterable[tuple[float, int]] = (),
    interactive: bool = False,
) -> Outcome:
    """`callers` ask without a pause; each call reaches the exchange somewhere within its latency, and its answer
    carries the exchange's headers of that moment. Another program's calls (`foreign`: seconds from the start,
    weight) come there, too."""
    rng, outcome, start, numbers = random.Random(seed), Outcome(), clock.now, itertools.count()
    coming: list[tuple[float, int, str, Any]] = []

    def then(at: float, what: str, facts: Any) -> None:
        heapq.heappush(coming, (at, next(numbers), what, facts))

    for at, weight in foreign:
        then(start + at, "foreign", weight)
    for _ in range(callers):
        then(start, "ask", None)
    while coming and coming[0][0] <= start + seconds:
        clock.now, _, what, facts = heapq.heappop(coming)
        if what == "ask":
            weight = rng.choice(weights)
            grant = granted(limiter, "contract", weight, interactive=interactive)
            if grant is None:
                then(clock.now + max(0.001, limiter.room("contract", weight, interactive)), "ask", None)
                continue
            whole, answer = latency(rng), dict[str, str]()
            then(clock.now + whole * rng.random(), "arrive", (grant, answer))
            then(clock.now + whole, "end", (grant, answer))
        elif what == "foreign":
            outcome.foreign += 1
            outcome.foreign_refused += not exchange.call(clock.now, facts)
        elif what == "arrive":
            came_through = exchange.call(clock.now, facts[0].weight)
            outcome.ours += facts[0].weight if came_through else 0
            outcome.refused += not came_through
            facts[1].update(exchange.headers(clock.now))
        else:
            limiter.settle(*facts)
            then(clock.now, "ask", None)
    return outcome
