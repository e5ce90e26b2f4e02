"""The walk through the history as a state machine, played against exchanges of every temper."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from copytrade.steps import walk
from copytrade.steps.walk import BACK, WALK, Missing, Outcome, Read, Window

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class TooFar(Exception):
    """The exchange answers -1170."""


class Exchange:
    """Orders with a close time; `reach` days back from now, windows of at most 90 days."""

    def __init__(self, *days_ago: float, reach: float = 10_000, ignores_ranges: bool = False) -> None:
        self.orders = {number: NOW - day * DAY for number, day in enumerate(days_ago)}
        self.reach, self.ignores_ranges = reach, ignores_ranges
        self.ledger: set[int] = set()
        self.now = NOW
        self.asked: list[Window] = []

    def page(self, asked: Window) -> list[int]:
        self.asked.append(asked)
        assert asked.end - asked.start <= timedelta(days=90)
        if asked.start < self.now - self.reach * DAY:
            raise TooFar
        return [n for n, at in self.orders.items() if self.ignores_ranges or asked.start <= at <= asked.end]


def play(cursor: dict, exchange: Exchange, missing: list[Missing] | None = None) -> list[Outcome]:
    """One reading to its end; the cursor passes through JSON after every step."""
    walk.begin(cursor, exchange.now)
    walk.plan(cursor, exchange.now, missing or [])
    outcomes = []
    for _ in range(200):
        cursor |= json.loads(json.dumps(cursor))
        asked = walk.window(cursor)
        if asked is None:
            return outcomes
        try:
            numbers = exchange.page(asked)
        except TooFar:
            outcomes.append(walk.too_far(cursor, asked))
            if outcomes[-1].refused:
                return outcomes
            continue
        added = set(numbers) - exchange.ledger
        exchange.ledger |= added
        strays = sum(walk.stray(asked, [exchange.orders[number]]) for number in numbers)
        outcomes.append(
            walk.took(
                cursor, asked, seen=len(numbers), added=len(added), strays=strays,
                mark=walk.mark_of(numbers), last=True,
            )
        )  # fmt: skip
    raise AssertionError("the walk does not end")


def last(outcomes: list[Outcome], what: Callable[[Outcome], object]) -> object:
    return next((what(outcome) for outcome in reversed(outcomes) if what(outcome)), None)


def complete_from(outcomes: list[Outcome]) -> datetime:
    found = last(outcomes, lambda outcome: outcome.complete_from)
    assert isinstance(found, datetime)
    return found


def test_the_first_walk_reads_all_of_the_past_and_ends_after_four_empty_windows() -> None:
    cursor: dict = {}
    exchange = Exchange(1, 89, 95, 300, 500)
    outcomes = play(cursor, exchange)
    assert exchange.ledger == set(exchange.orders)
    assert BACK not in cursor and WALK not in cursor and cursor["until"] == NOW.isoformat()
    assert complete_from(outcomes) < NOW - 500 * DAY
    assert not any(outcome.gap for outcome in outcomes)


@pytest.mark.parametrize("reach", [30, 90, 100, 200])
def test_the_first_walk_ends_where_the_exchange_goes_back_no_further(reach: int) -> None:
    exchange = Exchange(1, reach - 2, reach + 5, reach=reach)
    outcomes = play({}, exchange)
    assert exchange.ledger == {0, 1}
    assert NOW - reach * DAY <= complete_from(outcomes) <= NOW - (reach - 1.5) * DAY


def test_a_refusal_of_the_last_day_itself_is_an_error_and_no_end_of_the_past() -> None:
    cursor: dict = {}
    outcomes = play(cursor, Exchange(1, reach=0))
    assert outcomes[-1].refused and cursor[BACK]["days"] == walk.WINDOW_DAYS
    exchange = Exchange(1)
    play(cursor, exchange)
    assert exchange.ledger == {0}


def test_an_exchange_that_reaches_back_half_a_day_stops_nothing() -> None:
    cursor: dict = {}
    exchange = Exchange(0.1, 0.4, 3, reach=0.5)
    play(cursor, exchange)
    assert exchange.ledger == {0, 1} and BACK not in cursor
    for _ in range(5):
        exchange.now += timedelta(hours=7)
        exchange.orders[len(exchange.orders)] = exchange.now - timedelta(hours=1)
        assert not any(outcome.refused for outcome in play(cursor, exchange))
    assert exchange.ledger == set(exchange.orders) - {2}


def test_an_exchange_that_ignores_ranges_ends_the_walk_honestly() -> None:
    cursor: dict = {}
    exchange = Exchange(1, 5, 200, ignores_ranges=True)
    outcomes = play(cursor, exchange)
    assert BACK not in cursor and len(exchange.asked) == 3
    assert outcomes[-1].gap and outcomes[-1].gap.start is None
    assert complete_from(outcomes) == NOW - 90 * DAY, "the windows that were not heeded prove nothing"


def test_a_past_that_is_known_already_is_walked_all_the_same() -> None:
    exchange = Exchange(1, 100, 190, 280, 370)
    exchange.ledger = set(exchange.orders)
    assert complete_from(play({}, exchange)) < NOW - 370 * DAY


def test_no_walk_goes_back_for_ever() -> None:
    exchange = Exchange(*range(1, 9000, 30))
    assert complete_from(play({}, exchange)) <= walk.FIRST_DAY


def settled(exchange: Exchange) -> dict:
    cursor: dict = {}
    play(cursor, exchange)
    exchange.asked.clear()
    return cursor


def reach_of_next_walk(exchange: Exchange, cursor: dict, missing: list[Missing] | None = None) -> timedelta:
    exchange.asked.clear()
    play(cursor, exchange, missing)
    return exchange.now - min(asked.start for asked in exchange.asked)


def test_what_is_new_is_read_with_an_overlap_two_days_now_and_then_and_ninety_once_a_day() -> None:
    exchange = Exchange(1)
    cursor = settled(exchange)
    exchange.now += timedelta(minutes=1)
    assert reach_of_next_walk(exchange, cursor) == timedelta(minutes=16)
    exchange.now += timedelta(minutes=6)
    assert reach_of_next_walk(exchange, cursor) == timedelta(days=2)
    exchange.now += timedelta(minutes=1)
    assert reach_of_next_walk(exchange, cursor) == timedelta(minutes=16)
    exchange.now += timedelta(days=1)
    assert reach_of_next_walk(exchange, cursor) == timedelta(days=90)


def test_an_outage_of_a_hundred_days_is_made_up_for() -> None:
    exchange = Exchange(1)
    cursor = settled(exchange)
    exchange.now += 100 * DAY
    exchange.orders |= {8: NOW + 3 * DAY, 9: NOW + 99 * DAY}
    outcomes = play(cursor, exchange)
    assert exchange.ledger == {0, 8, 9} and not any(outcome.gap for outcome in outcomes)
    assert cursor["until"] == exchange.now.isoformat()


def test_an_outage_longer_than_the_reach_is_a_gap() -> None:
    exchange = Exchange(1, reach=60)
    cursor = settled(exchange)
    exchange.now += 100 * DAY
    exchange.orders |= {8: NOW + 3 * DAY, 9: NOW + 99 * DAY}
    outcomes = play(cursor, exchange)
    gap = last(outcomes, lambda outcome: outcome.gap)
    assert isinstance(gap, walk.Gap) and gap.start == NOW
    assert exchange.now - 60 * DAY <= gap.end <= exchange.now - 58 * DAY
    assert exchange.ledger == {0, 9} and cursor["until"] == exchange.now.isoformat()


def test_a_sweep_beyond_the_reach_is_no_gap() -> None:
    exchange = Exchange(1, reach=30)
    cursor = settled(exchange)
    exchange.now += 2 * DAY
    outcomes = play(cursor, exchange)
    assert not any(outcome.gap for outcome in outcomes)
    assert last(outcomes, lambda outcome: outcome.read) == Read(None, exchange.now)


def test_a_missing_order_is_looked_for_at_once_then_every_few_minutes_for_an_hour() -> None:
    exchange = Exchange(1)
    cursor = settled(exchange)
    exchange.now += timedelta(minutes=1)
    gone = [Missing(exchange.now, NOW - 40 * DAY)]
    exchange.now += timedelta(seconds=5)
    assert reach_of_next_walk(exchange, cursor, gone) > 40 * DAY
    exchange.now += timedelta(minutes=1)
    assert reach_of_next_walk(exchange, cursor, gone) < DAY
    another = [*gone, Missing(exchange.now, NOW - 50 * DAY)]
    exchange.now += timedelta(seconds=1)
    assert reach_of_next_walk(exchange, cursor, another) > 50 * DAY
    exchange.now += timedelta(minutes=6)
    assert reach_of_next_walk(exchange, cursor, gone) > 40 * DAY
    exchange.now += timedelta(hours=2)
    assert reach_of_next_walk(exchange, cursor, gone) <= 2 * DAY, "now the daily sweep looks"


def test_the_sweep_goes_back_to_the_opening_of_all_that_are_missing() -> None:
    exchange = Exchange(1)
    cursor = settled(exchange)
    gone = [Missing(NOW, NOW - 400 * DAY)]
    exchange.now += 2 * DAY
    assert reach_of_next_walk(exchange, cursor, gone) > 400 * DAY


def test_an_order_is_lost_only_after_all_that_it_could_be_in_was_read_long_after_it_went() -> None:
    order = Missing(since=NOW, opened=NOW - 100 * DAY)
    later = NOW + timedelta(hours=2)
    assert walk.lost(order, Read(NOW - 101 * DAY, later))
    assert walk.lost(order, Read(None, later))
    assert not walk.lost(order, Read(NOW - 99 * DAY, later)), "the sweep did not reach its opening"
    assert not walk.lost(order, Read(None, NOW + timedelta(minutes=59))), "it may still be on its way"


def test_only_a_sweep_gives_up() -> None:
    exchange = Exchange(1)
    cursor = settled(exchange)
    exchange.now += timedelta(hours=2)
    assert not any(outcome.read for outcome in play(cursor, exchange))
    exchange.now += 2 * DAY
    assert [outcome.read for outcome in play(cursor, exchange) if outcome.read]


def test_a_walk_goes_on_at_its_next_page_and_from_the_first_after_a_cursor_that_led_nowhere() -> None:
    cursor: dict = {}
    walk.begin(cursor, NOW)
    asked = walk.window(cursor)
    assert asked
    assert walk.took(cursor, asked, seen=100, added=100, next_page=(5, 6)) == Outcome()
    again = walk.window(cursor)
    assert again and again.next == (5, 6) and (again.start, again.end) == (asked.start, asked.end)
    walk.restart(cursor, again)
    assert walk.window(cursor) == asked


def test_a_cursor_of_an_earlier_version_is_walked_on() -> None:
    cursor = {
        "until": NOW.isoformat(), "deep": NOW.isoformat(), "swept": NOW.isoformat(),
        "back": {
            "end": (NOW - 90 * DAY).isoformat(), "start": (NOW - 180 * DAY).isoformat(), "next": None,
            "days": 90.0, "empty": 0, "found": 3, "seen": 9,
        },
    }  # fmt: skip
    exchange = Exchange(100, 200)
    assert complete_from(play(cursor, exchange)) < NOW - 200 * DAY
    assert exchange.ledger == {0, 1}


def test_a_stray_lies_outside_by_every_time_it_tells() -> None:
    asked = Window(BACK, NOW - 90 * DAY, NOW, None)
    assert walk.stray(asked, [NOW - 200 * DAY, None, NOW - 100 * DAY])
    assert not walk.stray(asked, [NOW - 200 * DAY, NOW + 5 * DAY]), "it spans the window"
    assert not walk.stray(asked, [None, None])
    assert not walk.stray(asked, [NOW - 90.5 * DAY]), "the edges are not documented"


def test_the_mark_of_numbers_depends_on_nothing_but_the_numbers() -> None:
    assert walk.mark_of([1, 2, 3]) == walk.mark_of([3, 1, 2]) != walk.mark_of([1, 2])
    assert (walk.mark_of([1]) + walk.mark_of([2])) % 2**52 == walk.mark_of([1, 2])
