"""The merge as pure steps: a set of observations makes the same rows in any order, repetition and division."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.steps.merge import Identity, Observation, Row, generation, merged, same

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
OPENINGS = [None, START, START + DAY, START + 2 * DAY]


def seen(
    opened: datetime | None = START, *, closed: bool = False, at: int | None = 0, net: str = "1", **kin: Any
) -> Observation:
    """An observation of number 7, updated `at` days after the start."""
    told = {"trader": 1, "symbol": "BTCUSDT", "side": "LONG"} | kin
    identity = Identity(7, told["trader"], told["symbol"], told["side"], opened)
    return Observation(identity, closed, None if at is None else START + at * DAY, (net, opened))


observations = st.builds(
    lambda opened, closed, at, net, trader, side: seen(
        opened, closed=closed, at=at, net=net, trader=trader, side=side
    ),
    st.sampled_from(OPENINGS),
    st.booleans(),
    st.sampled_from([None, 0, 0, 1]),
    st.sampled_from(["1", "1.0", "2", "", "CLOSED"]),
    st.sampled_from([1, 1, 1, 2]),
    st.sampled_from(["LONG", "LONG", "SHORT"]),
)


def stored(pages: Sequence[Sequence[Observation]]) -> list[Row]:
    """What a database would hold after merging these pages, with keys given as rows come."""
    rows: list[Row] = []
    keys = iter(range(1, 1000))
    for page in pages:
        before = {row.key for row in rows}
        rows = merged(rows, page)
        assert before <= {row.key for row in rows}, "a row vanished"
        rows = [row if row.key else row._replace(key=next(keys)) for row in rows]
        assert len({row.generation for row in rows}) == len({row.key for row in rows}) == len(rows)
    return rows


def facts(rows: list[Row]) -> list[Row]:
    return sorted((row._replace(key=None) for row in rows), key=repr)


@given(st.lists(observations, min_size=1, max_size=9), st.randoms(use_true_random=False))
@settings(max_examples=1500, deadline=None)
def test_any_order_repetition_and_division_into_pages_ends_in_the_same_rows(
    told: list[Observation], chance: random.Random
) -> None:
    shuffled = [*told, *chance.choices(told, k=len(told))]
    chance.shuffle(shuffled)
    pages = []
    while shuffled:
        size = chance.randint(1, 4)
        pages.append(shuffled[:size])
        shuffled = shuffled[size:]
    assert facts(stored(pages)) == facts(stored([told])) == facts(stored([[one] for one in told]))


@given(st.lists(observations, min_size=1, max_size=9))
@settings(max_examples=500, deadline=None)
def test_merging_what_is_there_already_changes_nothing(told: list[Observation]) -> None:
    rows = stored([told])
    assert merged(rows, told) == rows
    for one in told:
        assert merged(rows, [one]) == rows


@given(st.lists(observations, min_size=1, max_size=9))
@settings(max_examples=500, deadline=None)
def test_every_order_that_was_dated_has_a_row_of_its_own_and_nothing_else_has(
    told: list[Observation],
) -> None:
    rows = stored([told])
    dated = {one.identity for one in told if one.identity.opened}
    kin = {one.identity[:4] for one in told} - {identity[:4] for identity in dated}
    assert {row.identity for row in rows if row.opened} == dated
    assert sorted(row.identity[:4] for row in rows if row.opened is None) == sorted(kin)
    assert [row.generation for row in rows].count(0) == 1


def test_an_order_is_closed_by_a_closing_record_however_old_and_never_opened_again() -> None:
    (row,) = stored([[seen(at=5)], [seen(closed=True, at=1)], [seen(at=9)]])
    assert row.held.closed and row.generation == 0


def test_the_newer_of_two_wins_and_a_tie_goes_by_its_text() -> None:
    assert stored([[seen(at=1, net="2"), seen(at=0, net="9")]])[0].held.content[0] == "2"
    both = seen(net="1"), seen(net="1.0")
    assert facts(stored([[both[0]], [both[1]]])) == facts(stored([[both[1]], [both[0]]]))


def test_a_number_used_again_is_another_row_and_the_earlier_order_is_the_first() -> None:
    earlier, later = seen(START, closed=True), seen(START + DAY)
    for pages in ([[earlier], [later]], [[later], [earlier]], [[later, earlier]]):
        first, second = stored(pages)
        assert (first.opened, first.generation) == (START, 0)
        assert second.opened == START + DAY and second.generation > 0
        assert not second.held.closed


def test_another_trader_symbol_or_side_is_another_order() -> None:
    for kin in ({"trader": 2}, {"symbol": "ETHUSDT"}, {"side": "SHORT"}):
        assert len(stored([[seen()], [seen(**kin)]])) == 2


def test_an_order_that_gets_its_opening_time_later_keeps_its_row() -> None:
    (row,) = stored([[seen(None, at=0)], [seen(START, at=1)]])
    assert row.key == 1 and row.opened == START and row.held.identity.opened == START


def test_a_closing_without_an_opening_time_closes_the_earliest_and_no_other() -> None:
    closing = seen(None, closed=True)
    for pages in (
        [[seen(START + DAY)], [closing], [seen(START)]],
        [[closing], [seen(START)], [seen(START + DAY)]],
    ):
        first, second = stored(pages)
        assert first.opened == START and first.held.closed
        assert second.opened == START + DAY and not second.held.closed


def test_a_generation_follows_from_what_never_changes() -> None:
    one, other = seen(START + DAY).identity, seen(START).identity
    assert generation(one, other) == generation(one, other._replace(trader=9)) != 0
    assert 0 < generation(one, other) < 2**63


def test_one_that_does_not_tell_its_opening_time_may_be_any_of_its_kin() -> None:
    assert same(seen(None).identity, seen().identity) and same(seen().identity, seen(None).identity)
    assert not same(seen(START + DAY).identity, seen().identity)
    assert not same(seen(None, side="SHORT").identity, seen().identity)


def test_of_the_same_state_a_known_word_and_more_told_win_whatever_came_last() -> None:
    """An answer that came spoiled once must not stand for ever."""
    right, strange, less = seen(net="CLOSED"), seen(net="UNHEARD_OF"), seen(net="")
    for spoiled in (strange, less):
        for pages in ([[right], [spoiled]], [[spoiled], [right]]):
            assert [row.held for row in stored(pages)] == [right]
