"""The limiter in Redis: one count for all processes, and never "no limit" when Redis is gone."""

import multiprocessing
import os
import socket
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from copytrade.exchange.errors import RateLimited
from copytrade.exchange.limits import LocalLimiter, RedisLimiter

URL = os.environ["REDIS_URL"]


@pytest.fixture
def prefix():
    """Keys of this test alone, removed afterwards."""
    name = f"test-limits:{uuid.uuid4().hex}"
    yield name
    connection = redis.Redis.from_url(URL)
    for key in connection.scan_iter(f"{name}:*", count=1000):
        connection.delete(key)


@pytest.fixture
def make(prefix):
    """make(...) is a limiter as another process would have it; it begins with its window free."""

    def limiter(*, fresh=False, **options):
        made = RedisLimiter.from_url(URL, prefix=prefix, **options)
        if not fresh:
            base = min(options.get("weights", {10_000: 500}))
            made.observe("contract", {f"x-used-weight-{base // 1000 or 1}s": "0"})
        return made

    return limiter


def taken(limiter, weight=10, interactive=True, root="contract"):
    """How many calls fit right now."""
    for count in range(10_000):
        try:
            limiter.acquire(root, weight, interactive, timeout=0)
        except RateLimited:
            return count
    return None


def test_500_in_ten_seconds_and_a_tenth_of_it_for_people(make):
    limiter = make()
    limiter.acquire("contract", 440, True)
    assert taken(limiter, interactive=False) == 1
    assert taken(limiter, interactive=True) == 5
    with pytest.raises(RateLimited) as error:
        limiter.acquire("contract", 10, True, timeout=5)
    assert 9 < error.value.retry_after <= 10.4


def test_the_count_is_shared_by_all_clients_of_an_address(make):
    one, two = make(), make()
    assert taken(one, interactive=True) == 50
    assert taken(two) == 0
    assert taken(make(egress="elsewhere")) == 50
    assert taken(two, root="spot") > 0


def hammer(prefix, seconds, results):
    limiter = RedisLimiter.from_url(URL, prefix=prefix, weights={1_000: 100})
    until = time.monotonic() + seconds
    granted = []
    while (left := until - time.monotonic()) > 0:
        try:
            limiter.settle(limiter.acquire("contract", 7, True, timeout=left), {})
            granted.append(time.time())
        except RateLimited:
            break
    results.put(granted)


def test_two_processes_in_parallel_never_exceed_the_limit(prefix):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=hammer, args=(prefix, 2.2, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    grants = sorted(at for _ in workers for at in results.get(timeout=30))
    for worker in workers:
        worker.join(10)
    fullest = max(sum(1 for at in grants if start <= at < start + 0.98) for start in grants)
    assert fullest * 7 <= 100
    assert len(grants) >= 14, "they must get something done, too"


def test_threads_of_one_process_never_exceed_the_limit(make):
    limiter = make()
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: taken(limiter, weight=3), range(8))) == 166


def test_waiting_is_as_long_as_needed(make):
    limiter = make(weights={1_000: 20})
    limiter.settle(limiter.acquire("contract", 20, True), {})
    began = time.monotonic()
    limiter.acquire("contract", 20, True, timeout=5)
    assert time.monotonic() - began > 0.9


def test_headers_tell_of_other_programs_on_the_address(make):
    limiter, other = make(), make()
    limiter.observe("contract", {"x-used-weight-10s": "470", "x-remaining-weight-10s": "30"})
    assert taken(other) == 3
    limiter.observe("contract", {"x-used-weight-10s": "100", "x-remaining-weight-10s": "400"})
    assert taken(other) == 0, "the exchange's lower count may be of another moment"


def test_the_limit_follows_the_headers(make):
    limiter = make()
    limiter.observe("contract", {"x-used-weight-10s": "0", "x-remaining-weight-10s": "60"})
    assert taken(limiter) == 6
    with pytest.raises(RateLimited, match="weighs more"):
        limiter.acquire("contract", 100, True)


def test_a_minute_header_alone_is_enough_to_learn_from(make):
    limiter = make()
    limiter.observe("contract", {"X-USED-WEIGHT-1M": "480"})
    assert taken(limiter) == 2


def test_a_429_stops_every_process(make):
    limiter, other = make(), make()
    limiter.penalise("contract", 10)
    for each in (limiter, other):
        with pytest.raises(RateLimited) as error:
            each.acquire("contract", 0, True, timeout=1)
        assert 9 < error.value.retry_after <= 10.4
    assert taken(other, root="spot") > 0


def test_orders_are_counted_per_account_in_both_windows(make):
    limiter = make()
    limiter.observe_orders("a", {"x-order-count-10s": "0", "x-order-count-1m": "0"})
    for _ in range(4):
        limiter.acquire_orders("a", 5, timeout=0)
    with pytest.raises(RateLimited):
        limiter.acquire_orders("a", 1, timeout=0)
    limiter.penalise_orders("b", 5)
    with pytest.raises(RateLimited):
        limiter.acquire_orders("b", 1, timeout=0)


def test_the_first_start_counts_half_as_used_until_the_exchange_says_better(make):
    limiter = make(fresh=True)
    assert taken(limiter) == 25
    limiter.observe("contract", {"x-used-weight-10s": "250", "x-remaining-weight-10s": "250"})
    assert taken(limiter) == 25


def test_a_limiter_whose_redis_lost_its_state_waits_out_one_window(make, prefix):
    limiter, other = make(), make()
    assert taken(limiter) == 50
    other.acquire("spot", 1, True)
    connection = redis.Redis.from_url(URL)
    for key in connection.scan_iter(f"{prefix}:*", count=1000):
        connection.delete(key)
    with pytest.raises(RateLimited) as error:
        limiter.acquire("contract", 1, True, timeout=1)
    assert 9 < error.value.retry_after <= 10.4


def test_it_waits_also_when_another_process_was_the_first_to_come_back(make, prefix):
    limiter = make()
    limiter.acquire("contract", 400, True)
    connection = redis.Redis.from_url(URL)
    for key in connection.scan_iter(f"{prefix}:*", count=1000):
        connection.delete(key)
    newcomer = make(fresh=True)
    assert taken(newcomer) == 25
    with pytest.raises(RateLimited) as error:
        limiter.acquire("contract", 1, True, timeout=1)
    assert 9 < error.value.retry_after <= 10.4


# --- without Redis ------------------------------------------------------------------------------------------


@pytest.fixture
def own_redis(tmp_path):
    """start() and stop() of a Redis of this test alone, on a socket."""
    executable = redis.Redis.from_url(URL).info("server")["executable"]
    path = f"/tmp/x-{uuid.uuid4().hex[:8]}.sock"
    running = []

    class Server:
        url = f"unix://{path}"

        def start(self):
            command = [executable, "--port", "0", "--unixsocket", path, "--save", "", "--dir", str(tmp_path)]
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            for _ in range(200):
                try:
                    redis.Redis.from_url(self.url).ping()
                    return
                except redis.RedisError:
                    time.sleep(0.02)
            raise AssertionError("Redis did not start")

        def stop(self):
            process = running.pop()
            process.kill()
            process.wait()

    server = Server()
    server.start()
    yield server
    if running:
        server.stop()


def test_redis_lost_leaves_a_tenth_and_counts_what_went_before(own_redis):
    limiter = RedisLimiter.from_url(own_redis.url)
    limiter.observe("contract", {"x-used-weight-10s": "0"})
    limiter.acquire("spot", 10, True)
    limiter.acquire("contract", 30, True)
    own_redis.stop()
    assert taken(limiter) == 2, "50 of 500, 30 of them used before"
    assert taken(limiter, root="spot", weight=1) == 40


def test_redis_back_and_empty_waits_out_a_window_and_is_told_what_went_meanwhile(own_redis):
    limiter = RedisLimiter.from_url(own_redis.url, weights={2_000: 100}, fallback=0.5)
    limiter.observe("contract", {"x-used-weight-2s": "0"})
    limiter.acquire("contract", 10, True)
    own_redis.stop()
    assert taken(limiter) == 4
    own_redis.start()
    time.sleep(2.1)  # a lost Redis is asked again after two seconds
    with pytest.raises(RateLimited):
        limiter.acquire("contract", 1, True, timeout=0)
    limiter.acquire("contract", 1, True, timeout=3)


def test_a_redis_that_hangs_does_not_hang_us():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        limiter = RedisLimiter.from_url(f"redis://127.0.0.1:{deaf.getsockname()[1]}/0")
        began = time.monotonic()
        limiter.acquire("contract", 10, True)
        limiter.acquire("contract", 10, True)
        limiter.observe("contract", {"x-used-weight-10s": "20"})
        limiter.penalise("contract", 5)
        assert time.monotonic() - began < 30
        with pytest.raises(RateLimited) as error:
            limiter.acquire("contract", 10, True, timeout=1)
    assert 4 < error.value.retry_after <= 5


def test_both_limiters_answer_alike():
    """The protocol is the same, so a client need not know which one it has."""
    names = [n for n in dir(LocalLimiter) if not n.startswith("_") and n != "pool"]
    assert set(names) <= set(dir(RedisLimiter))
