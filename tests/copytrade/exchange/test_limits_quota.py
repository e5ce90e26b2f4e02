"""The limiter against exchanges that count in windows of their own: no 429 of our making, and little left unused."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator

import pytest
import redis
from django.conf import settings
from hypothesis import given
from hypothesis import settings as depth
from hypothesis import strategies as st

from copytrade.exchange.limits import LocalLimiter, RedisLimiter

from .limited_server import Exchange, Outcome, Turned, TurnedLimiter, saturate

LATENCIES: dict[str, Callable[[random.Random], float]] = {
    "quick": lambda rng: rng.uniform(0.005, 0.02),
    "slow": lambda rng: 0.2,
    "dawdling": lambda rng: rng.choice([0.02, 0.02, 0.02, 3.0]),
    "anything": lambda rng: rng.expovariate(2.0),
}


@pytest.fixture
def turned() -> Iterator[Callable[..., TurnedLimiter]]:
    """turned(clock, ...) is a limiter in the real Redis, on a clock that the test turns."""
    connection = redis.Redis.from_url(settings.REDIS_URL)
    prefix = f"test-quota:{uuid.uuid4().hex}"

    def make(clock: Turned, **options: object) -> TurnedLimiter:
        made = TurnedLimiter(connection, clock, prefix, **options)
        made.observe("contract", {"x-used-weight-10s": "0"})
        return made

    yield make
    for key in connection.scan_iter(f"{prefix}*", count=1000):
        connection.delete(key)
    connection.close()


@given(
    st.sampled_from(sorted(LATENCIES)),
    st.integers(1, 40),
    st.sampled_from([(10,), (10, 10, 5, 1), (10, 100)]),
    st.one_of(st.none(), st.floats(0, 10)),
    st.booleans(),
    st.integers(0, 10**6),
)
@depth(max_examples=40, deadline=None)
def test_an_exchange_never_refuses_whatever_its_windows(
    latency: str, callers: int, weights: tuple[int, ...], phase: float | None, interactive: bool, seed: int
) -> None:
    """Fixed windows that begin anywhere or a sliding one, all latencies, all classes."""
    clock, exchange = Turned(), Exchange(500 if interactive else 450, 10, phase)
    outcome = saturate(
        LocalLimiter(clock=clock), clock, exchange, callers=callers, seconds=45, latency=LATENCIES[latency],
        weights=weights, interactive=interactive, seed=seed,
    )  # fmt: skip
    assert outcome.ours > 0
    assert outcome.refused == 0


@pytest.mark.parametrize(("latency", "phase"), [("quick", 3.7), ("dawdling", None), ("anything", 0.0)])
def test_the_count_in_redis_keeps_to_the_same(
    turned: Callable[..., TurnedLimiter], latency: str, phase: float | None
) -> None:
    clock = Turned()
    outcome = saturate(
        turned(clock),
        clock,
        Exchange(500, 10, phase),
        callers=12,
        seconds=45,
        latency=LATENCIES[latency],
        seed=7,
    )
    assert outcome.ours > 100
    assert outcome.refused == 0


@pytest.mark.parametrize(("latency", "least"), [("quick", 0.985), ("slow", 0.97)])
@pytest.mark.parametrize("phase", [None, 0.0])
def test_nearly_all_of_the_background_s_share_is_used(
    latency: str, least: float, phase: float | None
) -> None:
    clock, exchange = Turned(), Exchange(500, 10, phase)
    limiter = LocalLimiter(clock=clock)
    outcomes = [
        saturate(limiter, clock, exchange, callers=12, seconds=seconds, latency=LATENCIES[latency], seed=1)
        for seconds in (20, 100)
    ]
    assert outcomes[1].ours >= least * 450 * 10
    assert [outcome.refused for outcome in outcomes] == [0, 0]


def test_the_count_in_redis_uses_as_much(turned: Callable[..., TurnedLimiter]) -> None:
    clock, exchange = Turned(), Exchange(500, 10, 0.0)
    limiter = turned(clock)
    for seconds, least in ((10, 0), (20, 0.985 * 450 * 2)):
        outcome = saturate(
            limiter, clock, exchange, callers=5, seconds=seconds, latency=LATENCIES["quick"], seed=1
        )
        assert outcome.ours >= least


def beside_another_program(
    limiter: LocalLimiter | TurnedLimiter, clock: Turned, exchange: Exchange, seconds: int
) -> Outcome:
    """It takes 20 every second, 200 of the 500, while we use all that we may."""
    return saturate(
        limiter, clock, exchange, callers=5, seconds=seconds, latency=LATENCIES["quick"], seed=3,
        foreign=[(n + 0.5, 20) for n in range(seconds)],
    )  # fmt: skip


@pytest.mark.parametrize("phase", [None, 0.0, 2.0, 3.0, 5.0])
def test_another_program_on_the_address_is_given_way_to_and_the_planner_hears_of_it(
    phase: float | None,
) -> None:
    clock, exchange = Turned(), Exchange(500, 10, phase)
    limiter = LocalLimiter(clock=clock)
    unknown, known = (beside_another_program(limiter, clock, exchange, 90) for _ in range(2))
    assert unknown.refused == known.refused == 0
    assert known.foreign_refused <= 1
    assert known.ours >= 0.55 * (450 - 200) * 9
    assert 23 < limiter.usable("contract") < 35


def test_the_count_in_redis_gives_way_as_well(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    assert beside_another_program(limiter, clock, Exchange(500, 10, 0.0), 40).refused == 0
    assert 23 < limiter.usable("contract") < 44


def test_what_can_be_planned_with_is_the_limit_without_what_is_kept_for_people(
    turned: Callable[..., TurnedLimiter],
) -> None:
    clock = Turned()
    limiter = turned(clock)
    assert limiter.usable("contract") == LocalLimiter(clock=clock).usable("contract") == 45
    limiter.observe("contract", {"x-used-weight-10s": "0", "x-remaining-weight-10s": "1000"})
    assert limiter.usable("contract") == 90
    clock.now += 31
    assert limiter.usable("contract") == 96, "nobody else has called"


@pytest.mark.parametrize("local", [True, False])
def test_the_reserve_is_lent_while_no_person_calls_and_back_with_the_first_call(
    turned: Callable[..., TurnedLimiter], local: bool
) -> None:
    clock = Turned()
    limiter = LocalLimiter(clock=clock) if local else turned(clock)
    assert limiter.usable("contract") == 45, "nothing is known of others yet"
    clock.now += 31
    limiter.settle(limiter.acquire("contract", 450, interactive=False), {})
    clock.now += 9
    assert limiter.room("contract", 30) == 0 < limiter.room("contract", 40)
    limiter.settle(limiter.acquire("contract", 30, interactive=False), {})
    for _ in range(2):
        assert limiter.room("contract", 10, interactive=True) == 0, "a person finds room all the same"
        limiter.settle(limiter.acquire("contract", 10, interactive=True), {})
    clock.now += 2
    assert limiter.room("contract", 400) == 0 < limiter.room("contract", 440), "20 of 450 are used"
    clock.now += 40
    assert limiter.room("contract", 480) == 0, "nobody has called for a while"


def test_what_people_ask_for_is_not_planned_with(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    for _ in range(120):
        limiter.settle(limiter.acquire("contract", 10, interactive=True), {})
        clock.now += 1
    assert 35 < limiter.usable("contract") < 38, "10 of the 45 each second, as the last minute weighs them"
    clock.now += 600
    assert limiter.usable("contract") > 44.9


# --- after a 429 ---


@pytest.mark.parametrize("local", [True, False])
def test_after_a_429_nothing_goes_and_then_background_work_comes_back_by_doubling(
    turned: Callable[..., TurnedLimiter], local: bool
) -> None:
    clock = Turned()
    limiter = LocalLimiter(clock=clock) if local else turned(clock)
    other = LocalLimiter(clock=clock) if local else turned(clock, egress="second")
    limiter.penalise("contract", 10)
    assert limiter.room("contract") == limiter.room("contract", interactive=True) == 10
    assert other.room("contract") == 0, "another address goes on"
    clock.now += 10
    seen = []
    for _ in range(7):
        fits, until = 0, clock.now + 10
        while clock.now < until:
            if limiter.room("contract", 10) == 0:
                limiter.settle(limiter.acquire("contract", 10, interactive=False), {})
                fits += 1
            assert limiter.room("contract", 10, interactive=True) == 0, "the reserve is there meanwhile"
            clock.now += 0.05
        seen.append(fits)
    assert seen[:6] == pytest.approx([11, 11, 11, 22, 22, 22], abs=3)
    assert seen[6] >= 40


def test_a_second_429_stops_anew(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    limiter.penalise("contract", 10)
    clock.now += 50
    assert limiter.usable("contract") == 22.5
    limiter.penalise("contract", 30)
    assert limiter.room("contract") == 30
    assert limiter.usable("contract") == 11.25


# --- clocks and lost state ---


@pytest.mark.parametrize("jump", [-600.0, -5.0, 5.0, 600.0])
def test_when_redis_clock_is_set_one_window_is_waited_out_and_no_more(
    turned: Callable[..., TurnedLimiter], jump: float
) -> None:
    clock, ahead = Turned(), Turned()
    limiter, second = turned(clock), turned(clock)
    for each in (limiter, second):
        each.settle(each.acquire("contract", 200, interactive=True), {})
    ahead.now += jump
    limiter.redis_clock = second.redis_clock = ahead
    clock.now += 0.1
    ahead.now += 0.1
    assert limiter.room("contract", 1) == 10
    for _ in range(11):
        clock.now += 1
        ahead.now += 1
        second.room("contract", 1)
    assert limiter.room("contract", 450) == 0
    assert second.room("contract", 450) == 0


def test_a_redis_that_came_back_with_an_older_state_is_not_believed(
    turned: Callable[..., TurnedLimiter],
) -> None:
    clock = Turned()
    limiter = turned(clock)
    connection = redis.Redis.from_url(settings.REDIS_URL)
    limiter.settle(limiter.acquire("contract", 10, interactive=True), {})
    keys = list(connection.scan_iter(f"{limiter._prefix}:weight:contract*", count=1000))
    saved = {key: connection.dump(key) for key in keys}
    clock.now += 1
    limiter.settle(limiter.acquire("contract", 400, interactive=True), {})
    for key, dump in saved.items():
        connection.restore(key, 60_000, dump, replace=True)
    clock.now += 1
    assert limiter.room("contract", 1) == 10


def test_a_machine_that_is_busy_for_a_while_is_not_taken_for_a_clock_that_was_set(
    turned: Callable[..., TurnedLimiter],
) -> None:
    clock = Turned()
    limiter = turned(clock)
    for pause in (0.5, 3.0, 60.0, 3_600.0):
        limiter.settle(limiter.acquire("contract", 10, interactive=False, timeout=0), {})
        clock.now += pause
    assert limiter.room("contract", 450) == 0


# --- in order ---


def ask(limiter: RedisLimiter, ticket: str, weight: int, *, interactive: bool = False) -> int:
    """One turn of a caller who has 30 s: 0, or the ms to wait."""
    return limiter._take("weight", "contract", weight, interactive, ticket, 30_000)[0]


def fill(limiter: RedisLimiter, clock: Turned) -> None:
    """Use up the background's share, at its pace."""
    for _ in range(45):
        limiter.settle(limiter.acquire("contract", 10, interactive=False, timeout=0), {})
        clock.now += 0.205


def test_who_came_first_goes_first(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    for _ in range(9):
        limiter.settle(limiter.acquire("contract", 50, interactive=False), {})
        clock.now += 1
    waits = [ask(limiter, ticket, 50) for ticket in "abc"]
    assert waits[0] < waits[1] < waits[2], "each is told of a turn of its own"
    assert limiter.room("contract", 50) * 1000 > waits[2]
    clock.now += waits[0] / 1000
    assert ask(limiter, "late", 50) > 0, "what becomes free is not for who comes by"
    assert ask(limiter, "b", 50) > 0
    assert ask(limiter, "a", 50) == 0
    clock.now += (waits[1] - waits[0]) / 1000
    assert ask(limiter, "b", 50) == 0


def test_a_heavy_call_is_not_starved_by_light_ones(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    fill(limiter, clock)
    wait = ask(limiter, "heavy", 400)
    clock.now += wait / 2000
    assert ask(limiter, "heavy", 400) > 0
    assert ask(limiter, "light", 10) > 0
    clock.now += wait / 2000
    assert ask(limiter, "light", 10) > 0 or wait > 10_000
    assert ask(limiter, "heavy", 400) == 0


def test_a_person_does_not_wait_behind_background_work(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    fill(limiter, clock)
    assert ask(limiter, "background", 10) > 0
    assert ask(limiter, "person", 10, interactive=True) == 0


def test_a_waiter_that_died_loses_its_place(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    fill(limiter, clock)
    wait = ask(limiter, "dead", 450)
    clock.now += wait / 1000 + 0.5
    assert ask(limiter, "next", 10) > 0
    clock.now += 0.6
    assert ask(limiter, "next", 10) == 0


def test_a_call_whose_process_died_is_forgotten_in_the_end(turned: Callable[..., TurnedLimiter]) -> None:
    clock = Turned()
    limiter = turned(clock)
    assert limiter.acquire("contract", 450, interactive=False).ticket
    clock.now += 29
    assert limiter.room("contract", 10) > 0, "its request may have been slow to arrive"
    clock.now += 2
    assert limiter.room("contract", 450) == 0


def test_room_asks_and_takes_nothing(turned: Callable[..., TurnedLimiter]) -> None:
    limiter = turned(Turned())
    for _ in range(100):
        assert limiter.room("contract", 450) == 0
    assert limiter.room("contract", 501) == float("inf")
    assert limiter.room("contract", 500) == 0, "what never fits into the share goes when nothing else runs"
