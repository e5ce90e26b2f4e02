"""Counters of calls: what went through, counted where every call passes, and nothing lost but numbers without Redis."""

from __future__ import annotations

import pytest
import redis
from django.conf import settings as django_settings

from copytrade import clients, meters
from copytrade.exchange.errors import ExchangeError
from copytrade.models import Account
from tests.support.sandbox_process import Sandbox

NOON = 1_800_000_000.0 // 3600 * 3600


def summed(row: meters.Sum) -> tuple[int, int, float]:
    return row.calls, row.weight, round(row.seconds, 3)


def test_calls_add_up_by_egress_venue_operation_and_result(redis_client: redis.Redis) -> None:
    for seconds in (0.04, 0.3):
        meters.count("a", "my_traders", "ok", 10, seconds, venue="sandbox")
    meters.count("a", "my_traders", "refused -1052", 10, 30.0, venue="sandbox")
    meters.count("b", "account", "ok", 5, 0.1, venue="weex")
    found = {(t.egress, t.venue, t.operation, t.result): t for t in meters.totals()}
    assert {key: summed(total) for key, total in found.items()} == {
        ("a", "sandbox", "my_traders", "ok"): (2, 20, 0.34),
        ("a", "sandbox", "my_traders", "refused -1052"): (1, 10, 30.0),
        ("b", "weex", "account", "ok"): (1, 5, 0.1),
    }
    assert found["a", "sandbox", "my_traders", "ok"].buckets == {0.05: 1, 0.5: 1}
    assert found["a", "sandbox", "my_traders", "refused -1052"].buckets == {float("inf"): 1}
    assert [total.venue for total in meters.totals(["weex"])] == ["weex"]


def test_the_last_hour_is_kept_by_the_minute(redis_client: redis.Redis) -> None:
    for minute, egress, result in ((0, "a", "ok"), (1, "a", "ok"), (1, "a", "rate_limited"), (1, "b", "ok")):
        meters.count(egress, "my_traders", result, 10, 0.1, venue="sandbox", now=NOON + minute * 60 + 5)
    rows = meters.last_hour(now=NOON + 119)
    assert [(row.at - NOON, row.egress, row.calls, row.weight) for row in rows] == [
        (0, "a", 1, 10),
        (60, "a", 2, 20),
        (60, "b", 1, 10),
    ]
    assert summed(rows[1].results["rate_limited"]) == (1, 10, 0.1)
    assert meters.last_hour(["weex"], now=NOON + 119) == []
    assert [row.at - NOON for row in meters.last_hour(now=NOON + 60 * 60)] == [60, 60]
    assert len(meters.minutes(last=120, now=NOON + 60 * 60)) == 3


def test_minutes_are_gone_after_two_hours(redis_client: redis.Redis) -> None:
    meters.count("a", "my_traders", "ok", 10, 0.1, venue="sandbox")
    (key,) = redis_client.keys(f"{meters.PREFIX}:minute:*")
    assert 7_200 <= redis_client.ttl(key) <= 7_260


def test_without_redis_nothing_is_counted_and_nothing_raised(
    monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    monkeypatch.setattr(meters._away, "until", 0.0)
    settings.REDIS_URL = "unix:///nowhere/redis.sock"  # type: ignore[attr-defined]
    meters.count("a", "my_traders", "ok", 10, 0.1)
    assert meters._away.until > 0, "and for a while it is not even asked"
    assert meters.totals() == meters.last_hour() == []


# --- where every call passes ---


@pytest.mark.django_db
def test_every_call_of_a_client_is_counted_as_it_went(account: Account, sandbox: Sandbox) -> None:
    client = clients.client_for(account)
    client.my_traders()
    sandbox.fault("my_traders", "code", code=-1052, http=403)
    sandbox.fault("account", "code", code=-1000, http=500)
    with pytest.raises(ExchangeError):
        client.my_traders()
    client.account()
    found = {(total.operation, total.result): summed(total)[:2] for total in meters.totals(["sandbox"])}
    assert found == {
        ("my_traders", "ok"): (1, 10),
        ("my_traders", "refused -1052"): (1, 10),
        ("account", "unreachable"): (1, 5),
        ("account", "ok"): (1, 5),
    }
    assert {total.egress for total in meters.totals()} == {"default"}


@pytest.mark.django_db
def test_our_own_no_weighs_nothing_and_a_429_what_it_weighed(account: Account, sandbox: Sandbox) -> None:
    client = clients.client_for(account, interactive=True)
    client._caller.deadline = 2.0
    sandbox.fault("my_traders", "rate_limit", retry_after=30)
    for _ in range(2):
        with pytest.raises(ExchangeError):
            client.my_traders()
    found = {total.result: summed(total)[:2] for total in meters.totals()}
    assert found == {"rate_limited": (1, 10), "limit_here": (1, 0)}


@pytest.mark.django_db
def test_an_egress_counts_its_own_calls_and_has_its_own_limit(
    account: Account, sandbox: Sandbox, settings: object
) -> None:
    settings.EGRESS = {"second": {"source": "127.0.0.2"}}  # type: ignore[attr-defined]
    clients.client_for(account).my_traders()
    assert sandbox.calls()["calls"][-1]["from"] == "127.0.0.2"
    assert {total.egress for total in meters.totals()} == {"second"}
    url = django_settings.REDIS_URL
    assert clients.limiter_at(url, "second") is not clients.limiter_at(url, "default")
    assert clients.limiter_at(url, "second").usable(clients.pool("sandbox")) > 0
