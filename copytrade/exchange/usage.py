"""How much of the request weight is in use: reads what limits_script.py counts, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis as redis_library

BUCKETS = 50  # as in limits_script.py


@dataclass(frozen=True)
class Used:
    """Weight used in the last `window_ms` of a pool, and the limit as the exchange last told it."""

    window_ms: int
    used: int
    limit: int

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 1.0


def weight_used(
    redis: redis_library.Redis, pool: str, *, egress: str = "default", prefix: str = "copydesk:limits"
) -> list[Used]:
    """One entry per window of the weight pool; empty when nothing was asked yet. Raises redis.RedisError."""
    key = f"{prefix}:{egress}:weight:{pool}"
    caps = {
        int(name.split(":")[1]): value
        for name, value in _pairs(redis.hgetall(key)).items()
        if name.startswith("cap:")
    }
    seconds, micros = redis.time()
    now = seconds * 1000 + micros // 1000
    return [
        Used(window, _sum(_pairs(redis.hgetall(f"{key}:{window}")), window, now), int(cap))
        for window, cap in sorted(caps.items())
    ]


def _pairs(raw: Any) -> dict[str, str]:
    """A hash as texts, whether the connection decodes them or not."""
    return {_text(name): _text(value) for name, value in raw.items()}


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw


def _sum(buckets: dict[str, str], window: int, now: int) -> int:
    size = max(1, window // BUCKETS)
    return sum(int(weight) for bucket, weight in buckets.items() if (int(bucket) + 1) * size > now - window)
