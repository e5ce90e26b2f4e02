"""How much of the request weight is in use: reads what limits_script.py counts, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

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
        int(name.split(b":")[1]): int(value)
        for name, value in redis.hgetall(key).items()
        if name.startswith(b"cap:")
    }
    seconds, micros = redis.time()
    now = seconds * 1000 + micros // 1000
    return [
        Used(window, _sum(redis.hgetall(f"{key}:{window}"), window, now), cap)
        for window, cap in sorted(caps.items())
    ]


def _sum(buckets: dict[bytes, bytes], window: int, now: int) -> int:
    size = max(1, window // BUCKETS)
    return sum(int(weight) for bucket, weight in buckets.items() if (int(bucket) + 1) * size > now - window)
