"""The local count of weights, and what headers tell."""

import pytest

from copytrade.exchange.limits import LocalLimiter, RateLimited
from copytrade.exchange.windows import LocalPool, Told, told


class Time:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_headers_are_read_whatever_their_window():
    headers = {
        "x-used-weight-10s": "120", "x-remaining-weight-10s": "380", "X-USED-WEIGHT-1M": "900",
        "x-used-weight-2h": "5000", "X-Used-Weight-1D": "7", "x-order-count-10s": "3", "x-order-count-1m": "9",
        "x-used-weight-0s": "1", "x-used-weight-1y": "1", "x-used-weight-1m-extra": "1", "x-used-weight-5s": "many",
    }  # fmt: skip
    assert told(headers, "weight") == [
        Told(10_000, 120, 380), Told(60_000, 900, None), Told(7_200_000, 5000, None), Told(86_400_000, 7, None),
    ]  # fmt: skip
    assert told(headers, "order") == [Told(10_000, 3, None), Told(60_000, 9, None)]
    assert told({}, "weight") == []


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def pool(clock):
    return LocalPool({10_000: 100}, clock)


def test_weight_is_taken_until_the_limit_and_comes_back_after_the_window(pool, clock):
    assert [pool.take(30, 1.0) for _ in range(3)] == [0, 0, 0]
    wait = pool.take(30, 1.0)
    assert 10_000 <= wait <= 10_400
    clock.now += wait / 1000
    assert pool.take(30, 1.0) == 0


def test_no_window_ever_holds_more_than_the_limit(clock):
    """Whenever something fits, the true use of the last ten seconds stays within the limit."""
    pool = LocalPool({10_000: 100}, clock)
    taken = []
    for step in range(2_000):
        clock.now += (step * 7919 % 97) / 300
        weight = 1 + step * 31 % 40
        if pool.take(weight, 1.0) == 0:
            taken.append((clock.now, weight))
            assert sum(w for at, w in taken if at > clock.now - 10.0) <= 100
    assert len(taken) > 100


def test_background_calls_leave_a_share_to_interactive_ones(pool):
    assert pool.take(80, 0.8) == 0
    assert pool.take(1, 0.8) > 0
    assert pool.take(20, 1.0) == 0
    assert pool.take(1, 1.0) > 0


def test_a_heavy_call_still_gets_through_when_nothing_else_runs(pool):
    assert pool.take(100, 0.1) == 0


def test_what_can_never_fit_is_refused(pool):
    assert pool.take(101, 1.0) == -1


def test_another_programs_use_of_the_address_counts(pool):
    pool.take(10, 1.0)
    pool.learn([Told(10_000, 95, None)])
    assert pool.take(10, 1.0) > 0
    assert pool.take(5, 1.0) == 0


def test_a_lower_count_of_the_exchange_changes_nothing(pool):
    pool.take(90, 1.0)
    pool.learn([Told(10_000, 10, None)])
    assert pool.take(20, 1.0) > 0


def test_the_limit_is_the_exchanges_own(pool):
    pool.learn([Told(10_000, 10, 190)])
    assert pool.take(180, 1.0) == 0
    assert pool.take(20, 1.0) > 0


def test_a_longer_window_is_learned_and_kept_to(pool, clock):
    pool.learn([Told(60_000, 10, 90)])
    taken = 0
    for _ in range(60):
        clock.now += 1
        taken += pool.take(10, 1.0) == 0
    assert taken == 9


def test_a_longer_window_alone_still_tells_of_others(pool):
    pool.learn([Told(60_000, 60, None)])
    assert pool.take(50, 1.0) > 0
    assert pool.take(40, 1.0) == 0


def test_after_a_429_nothing_goes_out(pool, clock):
    pool.block(10)
    assert pool.take(0, 1.0) == 10_000
    clock.now += 10
    assert pool.take(10, 1.0) == 0


def test_waiting_longer_than_the_caller_has_is_said_at_once(clock):
    limiter = LocalLimiter(weights={10_000: 50}, clock=clock)
    limiter.acquire("contract", 40, interactive=True)
    with pytest.raises(RateLimited) as error:
        limiter.acquire("contract", 40, interactive=True, timeout=1.0)
    assert error.value.local
    assert 10 <= error.value.retry_after <= 10.4
    limiter.acquire("spot", 40, interactive=True, timeout=0.0)


def test_a_call_that_can_never_fit_is_refused_at_once():
    with pytest.raises(RateLimited, match="weighs more"):
        LocalLimiter(weights={10_000: 50}).acquire("spot", 51, interactive=True)


def test_a_short_wait_is_waited():
    limiter = LocalLimiter(weights={200: 10})
    limiter.settle(limiter.acquire("spot", 10, interactive=True), {})
    limiter.acquire("spot", 10, interactive=True, timeout=30.0)


def test_orders_are_counted_for_each_account():
    limiter = LocalLimiter(orders={10_000: 6})
    limiter.acquire_orders("alice", 5)
    with pytest.raises(RateLimited):
        limiter.acquire_orders("alice", 5, timeout=0)
    limiter.acquire_orders("charlie", 5, timeout=0)
    limiter.observe_orders("charlie", {"x-order-count-10s": "6"})
    with pytest.raises(RateLimited):
        limiter.acquire_orders("charlie", 1, timeout=0)
