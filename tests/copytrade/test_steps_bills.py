"""The walk through bills: whatever order an exchange gives them in, and wherever it is interrupted, none is missed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.steps import bills as walk

NOW = 1_790_000_000_000
LIMIT = 5
ORDERS = ("newest", "oldest", "any")


@dataclass
class Exchange:
    """Bills as times in ms by their number, in some order; no pages, at most LIMIT in an answer."""

    bills: dict[int, int]
    order: str = "newest"
    reach: int = 0  # it refuses what begins before this
    strays: bool = False  # it sends the same whatever is asked for
    asked: int = 0
    dice: Random = field(default_factory=lambda: Random(1))

    def answer(self, low: int, high: int) -> list[tuple[int, int]] | None:
        self.asked += 1
        if low < self.reach:
            return None
        found = [(at, n) for n, at in self.bills.items() if self.strays or low <= at <= high]
        if self.order == "any":
            self.dice.shuffle(found)
        else:
            found.sort(reverse=self.order == "newest")
        return found[:LIMIT]


def read(exchange: Exchange, cursor: dict, now: int = NOW, most: int = 5000) -> tuple[dict, set[int]]:
    """Read until nothing is left to ask, with the cursor written and read again between any two answers."""
    walk.begin(cursor, now)
    got: set[int] = set()
    for _ in range(most):
        asked = walk.ask(cursor)
        if asked is None:
            return cursor, got
        answer = exchange.answer(asked.low, asked.high)
        if answer is None:
            assert walk.too_far(cursor, asked)
        else:
            got |= {n for _, n in answer}
            walk.took(cursor, asked, [at for at, _ in answer], len(answer), LIMIT)
        cursor = json.loads(json.dumps(cursor))
    raise AssertionError("the walk does not end")


ages = st.lists(
    st.one_of(
        st.integers(0, 400 * walk.DAY),
        st.integers(0, 20),
        st.sampled_from([walk.DAY, walk.DAY + 1, walk.HOUR]),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(ages=ages, order=st.sampled_from(ORDERS))
def test_every_bill_is_read_or_the_moment_that_holds_too_many_is_named(ages: list[int], order: str) -> None:
    exchange = Exchange({n: NOW - age for n, age in enumerate(ages)}, order)
    cursor, got = read(exchange, {})
    named = {at for low, high, _ in cursor["gaps"] for at in range(low, high + 1)}
    # Four empty windows in a row are taken for the beginning: what lies beyond them is beyond the reach, and said so.
    missed = {n for n, at in exchange.bills.items() if n not in got}
    assert all(exchange.bills[n] in named or exchange.bills[n] < cursor["reach"] for n in missed)
    assert walk.state(cursor) == "whole"


@settings(max_examples=60, deadline=None)
@given(ages=ages, later=ages, order=st.sampled_from(ORDERS))
def test_what_comes_later_is_read_with_the_next_reading_however_long_it_was(
    ages: list[int], later: list[int], order: str
) -> None:
    exchange = Exchange({n: NOW - age for n, age in enumerate(ages)}, order)
    cursor, _ = read(exchange, {})
    then = NOW + 500 * walk.DAY
    new = {1000 + n: max(then - age, NOW + 1) for n, age in enumerate(later)}
    exchange.bills |= new
    cursor, got = read(exchange, cursor, then)
    named = {at for low, high, _ in cursor["gaps"] for at in range(low, high + 1)}
    assert {n for n, at in new.items() if at not in named} <= got


def test_a_desk_that_has_read_all_asks_once_each_time() -> None:
    exchange = Exchange({n: NOW - n * walk.DAY for n in range(40)})
    cursor, _ = read(exchange, {})
    exchange.asked = 0
    read(exchange, cursor, NOW + 60_000)
    assert exchange.asked == 1


def test_a_bill_that_comes_late_is_found_within_the_overlap_and_by_the_daily_sweep() -> None:
    exchange = Exchange({})
    cursor, _ = read(exchange, {})
    exchange.bills[1] = NOW - walk.HOUR // 2
    exchange.bills[2] = NOW - walk.DAY
    cursor, got = read(exchange, cursor, NOW + 60_000)
    assert got == {1}
    _, got = read(exchange, cursor, NOW + walk.SWEEP_EVERY + 1)
    assert 2 in got


def test_an_exchange_that_reaches_back_some_days_is_read_to_there_and_no_further() -> None:
    exchange = Exchange({n: NOW - n * walk.HOUR for n in range(24 * 10)}, reach=NOW - 3 * walk.DAY)
    cursor, got = read(exchange, {})
    assert walk.state(cursor) == "reach"
    assert {n for n, at in exchange.bills.items() if at >= cursor["reach"]} <= got
    assert cursor["reach"] - exchange.reach <= walk.HOUR
    assert cursor["gaps"] == []


def test_after_a_long_silence_what_lies_beyond_the_reach_is_a_gap() -> None:
    exchange = Exchange({})
    cursor, _ = read(exchange, {})
    then = NOW + 200 * walk.DAY
    exchange.reach = then - 30 * walk.DAY
    cursor, _ = read(exchange, cursor, then)
    ((low, high, reason),) = cursor["gaps"]
    assert reason == walk.UNREACHED
    assert low == NOW and abs(high - exchange.reach) <= 30 * walk.DAY
    assert cursor["mark"] == then


def test_an_exchange_that_refuses_even_the_last_hour_is_no_matter_of_reach() -> None:
    cursor: dict = {}
    walk.begin(cursor, NOW)
    while (asked := walk.ask(cursor)) is not None and walk.too_far(cursor, asked):
        continue
    assert asked is not None
    assert asked.high - asked.low <= walk.HOUR


def test_an_exchange_that_heeds_no_times_does_not_make_the_walk_endless() -> None:
    exchange = Exchange({n: NOW - n * walk.DAY for n in range(30)}, strays=True)
    cursor, got = read(exchange, {}, most=3000)
    assert any(reason == walk.OTHERS for _, _, reason in cursor["gaps"])
    assert len(got) == LIMIT


@dataclass
class Paged:
    """Funding bills in pages, newest first; with each answer one more may slip in at any time of the past."""

    bills: list[int]
    slips: list[int]
    size: int = 4

    def answer(self, low: int, high: int, page: int) -> tuple[list[int], int, bool]:
        if self.slips:
            self.bills.append(self.slips.pop())
        found = sorted((at for at in self.bills if low <= at <= high), reverse=True)
        start = (page - 1) * self.size
        return found[start : start + self.size], len(found), start + self.size < len(found)


@settings(max_examples=100, deadline=None)
@given(ages=st.lists(st.integers(0, 80 * walk.DAY), max_size=40, unique=True), seed=st.integers(0, 10**6))
def test_pages_that_move_while_they_are_read_are_read_again(ages: list[int], seed: int) -> None:
    dice = Random(seed)
    slips = [NOW - 90 * walk.DAY + dice.randrange(80 * walk.DAY) for _ in range(5)]
    exchange = Paged([NOW - age for age in ages], slips)
    cursor: dict = {}
    walk.begin(cursor, NOW)
    got: set[int] = set()
    for _ in range(3000):
        asked = walk.ask(cursor)
        if asked is None:
            break
        records, total, more = exchange.answer(asked.low, asked.high, asked.page)
        got |= set(records)
        have = len({at for at in got if asked.low <= at <= asked.high})
        walk.took_page(cursor, asked, len(records), 0, total, more, have)
        cursor = json.loads(json.dumps(cursor))
    assert walk.ask(cursor) is None
    slipped_after = {at for at in exchange.bills if at not in got}
    # What slipped into a stretch after its last page was over is for the next reading; all else was read.
    assert slipped_after <= set(slips) | set(exchange.bills[len(ages) :])
    assert {NOW - age for age in ages} <= got


@pytest.mark.parametrize("total", [None, 3])
def test_an_exchange_that_counts_more_than_it_sends_is_said_to(total: int | None) -> None:
    cursor: dict = {}
    walk.begin(cursor, NOW)
    for _ in range(2000):
        asked = walk.ask(cursor)
        if asked is None:
            break
        size = 1 if asked.high > NOW - 300 * walk.DAY else 0
        walk.took_page(cursor, asked, size, 0, total and size * total, False, size)
    assert walk.ask(cursor) is None
    gaps = [(high - low > 300 * walk.DAY, reason) for low, high, reason in cursor["gaps"]]
    assert gaps == ([] if total is None else [(True, walk.SHORT)])
