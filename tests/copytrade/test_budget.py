"""The request budget that pages show is the one that the limiter counts."""

from __future__ import annotations

import pytest
import redis
from django.conf import settings as django_settings

from copytrade import budget
from copytrade.exchange.limits import RedisLimiter
from copytrade.exchange.usage import weight_used

POOL = "contract@127.0.0.1:9100"


@pytest.fixture
def limiter(redis_client: redis.Redis, settings: object) -> RedisLimiter:
    venue = django_settings.VENUES["sandbox"] | {
        "spot": "http://127.0.0.1:9100",
        "contract": "http://127.0.0.1:9100",
    }
    settings.VENUES = {"sandbox": venue}  # type: ignore[attr-defined]
    return RedisLimiter(redis_client)


def test_nothing_asked_means_nothing_to_show(limiter: RedisLimiter) -> None:
    assert budget.shares(["sandbox"]) == []


def test_what_the_limiter_took_is_what_is_shown(limiter: RedisLimiter, redis_client: redis.Redis) -> None:
    grant = limiter.acquire(POOL, 30, interactive=True)
    limiter.settle(grant, {"X-USED-WEIGHT-10S": "120", "X-REMAINING-WEIGHT-10S": "380"})
    limiter.acquire(POOL, 10, interactive=True)
    (window,) = weight_used(redis_client, POOL)
    assert (window.window_ms, window.used, window.limit) == (10_000, 130, 500)
    (share,) = budget.shares(["sandbox"])
    assert (share.percent, share.used, share.limit, share.seconds) == (26, 130, 500, 10)


def test_the_fullest_root_and_window_counts(limiter: RedisLimiter) -> None:
    limiter.observe(POOL, {"X-USED-WEIGHT-10S": "50", "X-REMAINING-WEIGHT-10S": "450"})
    limiter.observe("spot@127.0.0.1:9100", {"X-USED-WEIGHT-10S": "400", "X-REMAINING-WEIGHT-10S": "100"})
    assert budget.shares(["sandbox", "unknown"])[0].percent == 80


def test_without_redis_the_page_has_nothing_to_show_and_no_error(settings: object) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"  # type: ignore[attr-defined]
    assert budget.shares(["sandbox"]) == []


def test_each_egress_address_has_a_budget_of_its_own(
    limiter: RedisLimiter, redis_client: redis.Redis, settings: object
) -> None:
    settings.EGRESS = {"default": {}, "second": {"source": "127.0.0.2"}}  # type: ignore[attr-defined]
    limiter.observe(POOL, {"X-USED-WEIGHT-10S": "50", "X-REMAINING-WEIGHT-10S": "450"})
    RedisLimiter(redis_client, "second").observe(
        POOL, {"X-USED-WEIGHT-10S": "400", "X-REMAINING-WEIGHT-10S": "100"}
    )
    assert [(share.egress, share.percent) for share in budget.shares(["sandbox"])] == [
        ("default", 10),
        ("second", 80),
    ]
    assert budget.shares(["sandbox"])[1].label.endswith(" by way of second")
