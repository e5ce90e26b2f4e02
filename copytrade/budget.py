"""The request budget in the open: how much of the exchange's limit is in use right now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings

from . import egress
from .exchange.calls import pool_of
from .exchange.client import ExchangeClient
from .exchange.operations import CONTRACT, SPOT
from .exchange.usage import Used, weight_used


@dataclass(frozen=True)
class Share:
    """The fullest window of a venue at an egress address: weight used of the limit in so many seconds."""

    venue: str
    egress: str
    label: str
    used: int
    limit: int
    seconds: int

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.limit) if self.limit else 100


def shares(venues: Iterable[str]) -> list[Share]:
    """One share per venue and egress address that was used, the fuller of the venue's two address roots.

    Empty when Redis does not answer."""
    known = sorted(set(venues) & set(settings.VENUES))
    try:
        found = [_fullest(venue, name) for venue in known for name in egress.names()]
    except redis.RedisError:
        return []
    return [share for share in found if share]


def order_counts(account_id: int, client: ExchangeClient) -> list[Used]:
    """Orders counted in each window of the account's limit, as the exchange's headers told them last.

    Empty when Redis does not answer."""
    try:
        return weight_used(
            _redis(settings.REDIS_URL), client.order_pool, egress=egress.of(account_id), kind="order"
        )
    except redis.RedisError:
        return []


def _fullest(venue: str, name: str) -> Share | None:
    windows: list[Used] = []
    for root in (SPOT, CONTRACT):
        origin = settings.VENUES[venue][root]
        windows += weight_used(_redis(settings.REDIS_URL), pool_of(root, origin), egress=name)
    if not windows:
        return None
    top = max(windows, key=lambda window: window.share)
    label = settings.VENUES[venue]["label"]
    if len(settings.EGRESS) > 1:
        label += f" by way of {name}"
    return Share(venue, name, label, top.used, top.limit, top.window_ms // 1000)


@lru_cache(maxsize=2)
def _redis(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=0.5, socket_connect_timeout=0.5)
