"""Weights and order counts: what is counted, for whom, what the headers tell, and what comes when it is used up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests

from tests.sandbox.paths import ACCOUNT, BATCH, LIMIT_ORDER, OPEN, ORDER, ROWS, TRADERS, Row
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

Callers = Callable[[str], Caller]


def used(response: requests.Response) -> int:
    return int(response.headers["X-USED-WEIGHT-10S"])


def start_of_a_window(exchange: Sandbox) -> int:
    """Advance to just after a full minute, so that no window ends in the middle of a test; returns the shift."""
    clock = exchange.clock()
    exchange.advance(seconds=(60_100 - clock["serverTime"] % 60_000) / 1000)
    return int(exchange.clock()["offset"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_operation_weighs_what_the_interface_says(
    exchange: Sandbox, caller_of: Callers, row: Row
) -> None:
    exchange.reset(limit=500, order_limit=20)
    shift = start_of_a_window(exchange)
    caller = caller_of(row.key)
    response = (
        caller.get(row.path, row.ask, shift_ms=shift) if row.method == "GET"
        else caller.post(row.path, row.ask, shift_ms=shift)
    )  # fmt: skip
    assert used(response) == row.weight
    assert response.headers["X-USED-WEIGHT-1M"] == str(row.weight)
    assert response.headers["X-REMAINING-WEIGHT-10S"] == str(500 - row.weight)
    counts = (response.headers.get("X-ORDER-COUNT-10S"), response.headers.get("X-ORDER-COUNT-1M"))
    assert counts == ((str(row.orders),) * 2 if row.orders else (None, None))


def test_the_two_roots_have_separate_pools(exchange: Sandbox, follower: Caller) -> None:
    shift = start_of_a_window(exchange)
    assert used(follower.get(ACCOUNT, shift_ms=shift)) == 5
    assert used(follower.get(TRADERS, shift_ms=shift)) == 10
    assert used(follower.get(ACCOUNT, shift_ms=shift)) == 10


def test_refused_calls_weigh_too(exchange: Sandbox) -> None:
    start_of_a_window(exchange)
    assert used(requests.get(exchange.url + TRADERS, timeout=5)) == 10
    assert used(requests.delete(exchange.url + TRADERS, timeout=5)) == 11


def test_over_the_limit_is_429_until_the_window_ends(exchange: Sandbox, follower: Caller) -> None:
    exchange.reset(limit=30)
    shift = start_of_a_window(exchange)
    for _ in range(3):
        answer(follower.get(OPEN, "limit=1", shift_ms=shift))
    over = follower.get(OPEN, "limit=1", shift_ms=shift)
    assert refusal(over) == (429, -1003)
    assert (used(over), over.headers["X-REMAINING-WEIGHT-10S"]) == (30, "0")
    assert "Retry-After" not in over.headers
    answer(follower.get(ACCOUNT, shift_ms=shift))  # the other pool
    exchange.advance(seconds=10)
    again = follower.get(OPEN, "limit=1", shift_ms=shift + 10_000)
    assert (used(again), again.headers["X-USED-WEIGHT-1M"]) == (10, "40")


def test_the_limit_is_per_address(exchange: Sandbox, follower: Caller) -> None:
    exchange.reset(limit=10)
    start_of_a_window(exchange)
    near, far = requests.Session(), requests.Session()
    far.get_adapter("http://").init_poolmanager(10, 10, source_address=("127.0.0.2", 0))  # type: ignore[attr-defined]
    assert near.get(exchange.url + TRADERS, timeout=5).status_code == 400
    assert near.get(exchange.url + TRADERS, timeout=5).status_code == 429
    assert far.get(exchange.url + TRADERS, timeout=5).status_code == 400


def test_a_limit_of_zero_is_none(exchange: Sandbox, follower: Caller) -> None:
    exchange.reset(limit=0, order_limit=0)
    for _ in range(60):
        response = follower.get(OPEN, "limit=1")
        answer(response)
    assert "X-REMAINING-WEIGHT-10S" not in response.headers
    for _ in range(25):
        answer(follower.post(ORDER, LIMIT_ORDER))


class TestOrders:
    def test_twenty_in_ten_seconds(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.reset(order_limit=20)
        shift = start_of_a_window(exchange)
        for n in range(20):
            response = follower.post(ORDER, LIMIT_ORDER, shift_ms=shift)
            assert response.headers["X-ORDER-COUNT-10S"] == str(n + 1)
        over = follower.post(ORDER, LIMIT_ORDER, shift_ms=shift)
        assert refusal(over) == (429, -1003)
        assert over.headers["X-ORDER-COUNT-10S"] == "20"
        assert len(exchange.truth()["spot"]["orders"]) == 20
        exchange.advance(seconds=10)
        answer(follower.post(ORDER, LIMIT_ORDER, shift_ms=shift + 10_000))

    def test_a_hundred_in_a_minute(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.reset(order_limit=20)
        shift = start_of_a_window(exchange)
        batch = {"symbol": "BTCUSDT", "orderList": [LIMIT_ORDER]}
        for window in range(5):
            for _ in range(4):
                answer(follower.post(BATCH, batch, shift_ms=shift + window * 10_000))
            exchange.advance(seconds=10)
        over = follower.post(BATCH, batch, shift_ms=shift + 50_000)
        assert over.status_code == 429
        assert over.headers["X-ORDER-COUNT-1M"] == "100"
        exchange.advance(seconds=10)
        answer(follower.post(BATCH, batch, shift_ms=shift + 60_000))

    def test_a_batch_counts_five_also_when_refused(self, exchange: Sandbox, follower: Caller) -> None:
        shift = start_of_a_window(exchange)
        one = follower.post(BATCH, {"symbol": "BTCUSDT", "orderList": [LIMIT_ORDER]}, shift_ms=shift)
        assert one.headers["X-ORDER-COUNT-10S"] == "5"
        bad = follower.post(BATCH, {"symbol": "NOPEUSDT", "orderList": [LIMIT_ORDER]}, shift_ms=shift)
        assert refusal(bad) == (404, -2007)
        assert bad.headers["X-ORDER-COUNT-10S"] == "10"
        assert refusal(follower.post(BATCH, {}, shift_ms=shift)) == (400, -1128)
        assert follower.post(ORDER, LIMIT_ORDER, shift_ms=shift).headers["X-ORDER-COUNT-1M"] == "16"

    def test_the_count_is_the_accounts_own(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.reset(accounts=1)
        shift = start_of_a_window(exchange)
        answer(follower.post(ORDER, LIMIT_ORDER, shift_ms=shift))
        other = Caller(exchange.url, "load-000001").post(ORDER, LIMIT_ORDER, shift_ms=shift)
        assert other.headers["X-ORDER-COUNT-10S"] == "1"
