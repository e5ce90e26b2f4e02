"""Counters of every call to an exchange, in Redis: for people who look at the desk, and for nothing else.

Losing them is allowed, so nothing may ever depend on them: without Redis they count nothing and say nothing.
Kept: running totals and latencies by (egress, venue, operation, result), and two hours by the minute.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import redis as redis_library
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

PREFIX = "copydesk:meters"
BUCKETS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # seconds, upper bounds; above them "inf"
KEPT_MINUTES = 120
TOGETHER_SECONDS = 1.0
REDIS_PAUSE = 2.0  # seconds without asking a Redis that did not answer
OK = "ok"


@dataclass
class Sum:
    """Calls, their request weight, and how long they took together (seconds)."""

    calls: int = 0
    weight: int = 0
    seconds: float = 0.0


@dataclass
class Total(Sum):
    """Everything ever counted of one (egress, venue, operation, result). `buckets`: bound -> calls within it,
    each call in one bucket alone."""

    egress: str = ""
    venue: str = ""
    operation: str = ""
    result: str = ""
    buckets: dict[float, int] = field(default_factory=dict)


@dataclass
class Minute:
    """One minute (`at`: seconds since the epoch, its begin) of one egress and venue."""

    at: int
    egress: str
    venue: str
    results: dict[str, Sum]

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.results.values())

    @property
    def weight(self) -> int:
        return sum(one.weight for one in self.results.values())


def count(
    egress: str,
    operation: str,
    result: str,
    weight: int,
    seconds: float,
    *,
    venue: str = "",
    now: float | None = None,
) -> None:
    """Count one call. Never raises; a Redis that does not answer is left alone for two seconds."""
    minute = int((time.time() if now is None else now) // 60)
    total = f"{egress}|{venue}|{operation}|{result}"
    short = f"{egress}|{venue}|{result}"
    waiting = _waiting.counts
    for name, amount in (("calls", 1), ("weight", weight), ("micros", int(seconds * 1_000_000))):
        if amount:
            waiting[f"{PREFIX}:total", f"{total}|{name}"] += amount
            waiting[f"{PREFIX}:minute:{minute}", f"{short}|{name}"] += amount
    waiting[f"{PREFIX}:total", f"{total}|{_bucket(seconds)}"] += 1
    if not _waiting.together or time.monotonic() - _waiting.sent_at > TOGETHER_SECONDS:
        _send()


@contextmanager
def together() -> Iterator[None]:
    """Counts of this thread go out together, every second and at the end: one round trip for many calls."""
    _waiting.together, _waiting.sent_at = True, time.monotonic()
    try:
        yield
    finally:
        _waiting.together = False
        _send()


def _send() -> None:
    counts, _waiting.counts = _waiting.counts, Counter()
    _waiting.sent_at = time.monotonic()
    if not counts or _waiting.sent_at < _away.until:
        return
    pipe = _redis(settings.REDIS_URL).pipeline(transaction=False)
    for (key, name), amount in counts.items():
        pipe.hincrby(key, name, amount)
    for key in sorted({key for key, _ in counts} - {f"{PREFIX}:total"}):
        pipe.expire(key, (KEPT_MINUTES + 1) * 60)
    try:
        pipe.execute()
    except (redis_library.RedisError, OSError):
        _away.until = time.monotonic() + REDIS_PAUSE


def totals(venues: Collection[str] | None = None) -> list[Total]:
    """All running totals, those of `venues` alone if given. Empty when Redis does not answer."""
    found: dict[tuple[str, ...], Total] = {}
    for name, amount in _read([f"{PREFIX}:total"])[0].items():
        *key, what = name.split("|")
        if len(key) != 4 or (venues is not None and key[1] not in venues):
            continue
        total = found.setdefault(
            tuple(key), Total(egress=key[0], venue=key[1], operation=key[2], result=key[3])
        )
        if what in _NAMES:
            _add(total, what, amount)
        else:
            total.buckets[float(what)] = amount
    return [found[key] for key in sorted(found)]


def minutes(
    venues: Collection[str] | None = None, *, last: int = 60, now: float | None = None
) -> list[Minute]:
    """The last minutes, oldest first, the one under way included; minutes without a call are left out."""
    this = int((time.time() if now is None else now) // 60)
    wanted = range(this - min(last, KEPT_MINUTES) + 1, this + 1)
    found: list[Minute] = []
    for minute, raw in zip(wanted, _read([f"{PREFIX}:minute:{n}" for n in wanted]), strict=True):
        rows: dict[tuple[str, str], Minute] = {}
        for name, amount in sorted(raw.items()):
            egress, venue, result, what = name.split("|")
            if venues is None or venue in venues:
                row = rows.setdefault((egress, venue), Minute(minute * 60, egress, venue, {}))
                _add(row.results.setdefault(result, Sum()), what, amount)
        found += rows.values()
    return found


def last_hour(venues: Collection[str] | None = None, *, now: float | None = None) -> list[Minute]:
    """The last 60 minutes, for a chart. Empty when Redis does not answer."""
    return minutes(venues, last=60, now=now)


_NAMES = ("calls", "weight", "micros")


def _add(row: Sum, what: str, amount: int) -> None:
    if what == "micros":
        row.seconds += amount / 1_000_000
    else:
        setattr(row, what, getattr(row, what) + amount)


def _bucket(seconds: float) -> float:
    return next((bound for bound in BUCKETS if seconds <= bound), float("inf"))


def _read(keys: list[str]) -> list[dict[str, int]]:
    """These hashes, in one go; all empty when Redis does not answer."""
    pipe = _redis(settings.REDIS_URL).pipeline(transaction=False)
    for key in keys:
        pipe.hgetall(key)
    try:
        raw: list[dict[bytes, bytes]] = pipe.execute()
    except (redis_library.RedisError, OSError):
        return [{} for _ in keys]
    return [{name.decode(): int(value) for name, value in one.items()} for one in raw]


class _Waiting(threading.local):
    """What this thread has counted and not sent yet."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.together = False
        self.sent_at = 0.0


_waiting = _Waiting()


class _Away:
    until = 0.0


_away = _Away()


@lru_cache(maxsize=2)
def _redis(url: str) -> redis_library.Redis:
    quick: dict[str, Any] = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5}
    return redis_library.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **quick)
