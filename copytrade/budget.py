"""The request budget in the open: how much of the exchange's limit is in use right now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import redis
from django.conf import settings

from .exchange.usage import Used, weight_used


@dataclass(frozen=True)
class Share:
    """The fullest window of a venue: weight used of the limit in so many seconds."""

    venue: str
    label: str
    used: int
    limit: int
    seconds: int

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.limit) if self.limit else 100


def shares(venues: Iterable[str]) -> list[Share]:
    """One share per venue, the fullest of its two address roots. Empty when Redis does not answer."""
    try:
        found = [_fullest(venue) for venue in sorted(set(venues) & set(settings.VENUES))]
    except redis.RedisError:
        return []
    return [share for share in found if share]


def _fullest(venue: str) -> Share | None:
    roots = settings.VENUES[venue]
    windows: list[Used] = []
    for root in ("spot", "contract"):
        windows += weight_used(_redis(settings.REDIS_URL), f"{root}@{urlsplit(roots[root]).netloc}")
    if not windows:
        return None
    top = max(windows, key=lambda window: window.share)
    return Share(venue, roots["label"], top.used, top.limit, top.window_ms // 1000)


@lru_cache(maxsize=2)
def _redis(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=0.5, socket_connect_timeout=0.5)
