"""The plan of intervals: the budget is met, bounds are kept, and no other plan finds changes sooner."""

from __future__ import annotations

import random
from math import fsum, isclose

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from copytrade.scheduling.plan import Job, load, plan


@st.composite
def job(draw: st.DrawFn) -> Job:
    floor = draw(st.floats(1, 60))
    return Job(
        rate=draw(st.one_of(st.just(0.0), st.floats(1e-7, 1.0))),
        weight=draw(st.floats(1, 200)),
        floor=floor,
        cap=floor * draw(st.floats(1, 500)),
    )


jobs = st.lists(job(), min_size=1, max_size=30)


def at_caps(jobs: list[Job]) -> float:
    return load([job.cap for job in jobs], jobs)


def at_floors(jobs: list[Job]) -> float:
    return load([job.floor for job in jobs], jobs)


def delay(jobs: list[Job], intervals: list[float]) -> float:
    """The mean delay of noticing a change, times how many changes there are."""
    return fsum(job.rate * interval / 2 for job, interval in zip(jobs, intervals, strict=True))


@given(jobs, st.floats(0.01, 0.99))
def test_between_plenty_and_too_little_the_budget_is_met_and_every_bound_kept(
    jobs: list[Job], share: float
) -> None:
    # What never changes stays at its cap, so only what moves can spend the rest.
    most = fsum(job.weight / (job.floor if job.rate else job.cap) for job in jobs)
    budget = at_caps(jobs) + share * (most - at_caps(jobs))
    assume(budget > at_caps(jobs))
    intervals = plan(jobs, budget)
    assert isclose(load(intervals, jobs), budget, rel_tol=0.01)
    for job_, interval in zip(jobs, intervals, strict=True):
        assert job_.floor <= interval <= job_.cap


@given(jobs, st.floats(1, 10))
def test_with_plenty_everything_is_at_its_floor(jobs: list[Job], more: float) -> None:
    assert plan(jobs, at_floors(jobs) * more * 1.000001) == [job.floor for job in jobs]


@given(jobs, st.floats(0.001, 0.999))
def test_overload_stretches_every_cap_by_the_same_factor(jobs: list[Job], share: float) -> None:
    budget = at_caps(jobs) * share
    intervals = plan(jobs, budget)
    assert isclose(load(intervals, jobs), budget, rel_tol=1e-6)
    stretched = [interval / job.cap for job, interval in zip(jobs, intervals, strict=True)]
    assert all(isclose(factor, stretched[0], rel_tol=1e-9) and factor >= 1 for factor in stretched)


@given(jobs, st.floats(0.01, 100), st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_makes_no_difference(
    jobs: list[Job], budget: float, shuffle: random.Random
) -> None:
    order = list(range(len(jobs)))
    shuffle.shuffle(order)
    straight = plan(jobs, budget)
    assert plan([jobs[i] for i in order], budget) == [straight[i] for i in order]


@given(jobs, st.floats(0.1, 50), st.floats(1.0, 3.0))
def test_more_budget_lengthens_nobodys_interval(jobs: list[Job], budget: float, more: float) -> None:
    for tight, rich in zip(plan(jobs, budget), plan(jobs, budget * more), strict=True):
        assert rich <= tight * 1.000001


@given(jobs, st.floats(0.05, 0.95), st.randoms(use_true_random=False))
def test_no_other_plan_of_the_same_cost_finds_changes_sooner(
    jobs: list[Job], share: float, choose: random.Random
) -> None:
    """Shift weight from one job to another, within bounds and budget: the mean delay never gets less."""
    budget = at_caps(jobs) + share * (at_floors(jobs) - at_caps(jobs))
    assume(budget > at_caps(jobs))
    intervals = plan(jobs, budget)
    best = delay(jobs, intervals)
    for _ in range(20):
        giver, taker = choose.randrange(len(jobs)), choose.randrange(len(jobs))
        spent = [job.weight / interval for job, interval in zip(jobs, intervals, strict=True)]
        least = jobs[giver].weight / jobs[giver].cap
        most = jobs[taker].weight / jobs[taker].floor
        shift = choose.random() * min(spent[giver] - least, most - spent[taker])
        if giver == taker or shift <= 0:
            continue
        spent[giver] -= shift
        spent[taker] += shift
        other = [job.weight / weight for job, weight in zip(jobs, spent, strict=True)]
        assert delay(jobs, other) >= best * (1 - 1e-9)


def test_a_job_that_changes_four_times_as_often_is_read_twice_as_often() -> None:
    calm, lively = plan([Job(0.001, 10, 1, 1e6), Job(0.004, 10, 1, 1e6)], 0.3)
    assert isclose(calm, 2 * lively)
    assert isclose(10 / calm + 10 / lively, 0.3)


def test_a_reading_four_times_as_heavy_is_made_half_as_often() -> None:
    light, heavy = plan([Job(0.001, 10, 1, 1e6), Job(0.001, 40, 1, 1e6)], 0.3)
    assert isclose(heavy, 2 * light)


def test_what_never_changes_is_read_at_its_cap() -> None:
    assert plan([Job(0, 10, 5, 600), Job(0.01, 10, 5, 600)], 1.0)[0] == 600


def test_nothing_to_plan_and_nothing_to_plan_with() -> None:
    assert plan([], 45.0) == []
    with pytest.raises(ValueError, match="budget"):
        plan([Job(0.1, 10, 5, 600)], 0)
