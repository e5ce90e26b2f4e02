"""Rates told from "changed" and "unchanged": near the truth, however many changes hide behind one."""

from __future__ import annotations

import random
from math import exp, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.scheduling import rates

HOUR, DAY = 3600.0, 86_400.0


def watched(rate: float, interval: float, readings: int, seed: int) -> list[float]:
    """The rates told after each of so many readings of a Poisson process."""
    rng, known, told = random.Random(seed), (0.0, 0.0), []
    for _ in range(readings):
        known = rates.observed(*known, interval, changed=rng.random() > exp(-rate * interval))
        told.append(rates.rate(*known))
    return told


@pytest.mark.parametrize("hidden_behind_one", [0.05, 0.5, 1.0, 2.0])
def test_changes_that_hide_behind_one_are_reckoned_with(hidden_behind_one: float) -> None:
    rate = 1 / HOUR
    interval = hidden_behind_one / rate
    later = [t for seed in range(5) for t in watched(rate, interval, 1000, seed)[500:]]
    assert 0.7 * rate < sum(later) / len(later) < 1.4 * rate


def test_counting_changed_readings_alone_would_be_far_off() -> None:
    """What the correction is for: with three changes a reading, nearly every reading says "changed"."""
    interval = HOUR
    naive = (1 - exp(-3)) / interval
    assert naive < 0.4 * 3 / interval
    later = [t for seed in range(5) for t in watched(3 / interval, interval, 400, seed)[200:]]
    assert sum(later) / len(later) > 0.65 * 3 / interval


def test_a_dead_account_slows_down_within_the_hour() -> None:
    told = watched(0.0, 30, 120, seed=1)
    assert told == sorted(told, reverse=True)
    assert told[-1] < 1 / (4 * HOUR) < rates.rate(0, 0)


def test_an_account_that_comes_to_life_is_believed_after_a_few_readings() -> None:
    known = (0.0, 0.0)
    for _ in range(10_000):  # ten weeks of nothing
        known = rates.observed(*known, 600, changed=False)
    silent = rates.rate(*known)
    for _ in range(5):
        known = rates.observed(*known, 60, changed=True)
    assert rates.rate(*known) > 40 * silent


def test_what_was_known_is_forgotten_by_half_in_a_day() -> None:
    known = rates.observed(0, 0, 60, changed=True)
    later = rates.observed(*known, DAY, changed=False)
    assert isclose(later[0], known[0] / 2)


def test_a_clock_that_was_set_back_counts_as_no_time() -> None:
    assert rates.observed(1.0, 500.0, -60, changed=False) == (1.0, 500.0)


@given(
    st.lists(st.tuples(st.floats(0, 10 * DAY), st.booleans()), max_size=50),
)
def test_any_course_of_readings_gives_a_rate_that_can_be_planned_with(readings: list) -> None:
    known = (0.0, 0.0)
    for seconds, changed in readings:
        known = rates.observed(*known, seconds, changed=changed)
        assert known[0] >= 0 and known[1] >= 0
        assert 0 < rates.rate(*known) <= rates.FASTEST


@given(st.floats(1e-12, 1e3))
def test_behind_one_change_hide_at_least_one_and_one_more_than_expected_at_most(expected: float) -> None:
    assert max(1.0, expected) <= rates.hidden(expected) * 1.000001
    assert rates.hidden(expected) <= expected + 1.000001
