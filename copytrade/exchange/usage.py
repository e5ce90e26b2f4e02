"""How much of the request weight is in use: reads what limits_script.py counts, and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis as redis_library

from .windows import FLIGHT_MS, bucket_ms

WHOSE = (":", ":foreign:")  # as in limits_script.py: ours, and other programs'


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
    redis: redis_library.Redis,
    pool: str,
    *,
    egress: str = "default",
    prefix: str = "copydesk:limits",
    kind: str = "weight",
) -> list[Used]:
    """One entry per window of the pool; empty when nothing was asked yet. Raises redis.RedisError.

    `kind`: "weight", or "order" for the order count of an account (client.order_pool)."""
    key = f"{prefix}:{egress}:{kind}:{pool}"
    caps = _limits(_pairs(redis.hgetall(key)))
    seconds, micros = redis.time()
    now = seconds * 1000 + micros // 1000
    flying = _flying(_pairs(redis.hgetall(f"{key}:flight")), now)
    return [
        Used(
            window,
            flying
            + sum(_ended(_pairs(redis.hgetall(f"{key}{whose}{window}")), window, now) for whose in WHOSE),
            cap,
        )
        for window, cap in sorted(caps.items())
    ]


def _limits(pool: dict[str, str]) -> dict[int, int]:
    """The limits by window; one that was told goes before one that was worked out."""
    found: dict[int, int] = {}
    for kind in ("guess:", "cap:"):
        found |= {
            int(name.removeprefix(kind)): int(cap) for name, cap in pool.items() if name.startswith(kind)
        }
    return found


def _pairs(raw: Any) -> dict[str, str]:
    """A hash as texts, whether the connection decodes them or not."""
    return {_text(name): _text(value) for name, value in raw.items()}


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw


def _flying(calls: dict[str, str], now: int) -> int:
    parts = [call.split(":") for call in calls.values()]
    return sum(int(weight) for at, weight in parts if int(at) + FLIGHT_MS > now)


def _ended(buckets: dict[str, str], window: int, now: int) -> int:
    size = bucket_ms(window)
    return sum(int(weight) for bucket, weight in buckets.items() if (int(bucket) + 1) * size > now - window)
