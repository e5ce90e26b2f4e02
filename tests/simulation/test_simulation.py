"""The simulated desk keeps its promises over seeds, and the judge of that sees every planted mistake."""

from __future__ import annotations

import pytest

from .bugs import BUGS, seeds_to_catch
from .play import play

BLOCK = 25
MOST_SEEDS_PER_BUG = 400


@pytest.mark.parametrize("first", range(0, 8 * BLOCK, BLOCK))
def test_nothing_is_lost_doubled_or_invented_whatever_befalls_the_desk(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + BLOCK) if (found := play(seed).violations)}
    assert not wrong, f"./run simulate --first {min(wrong)} --seeds 1 shows the trace"


@pytest.mark.parametrize("name", sorted(BUGS))
def test_a_planted_mistake_is_seen(name: str, record_property: object) -> None:
    seeds = seeds_to_catch(name, MOST_SEEDS_PER_BUG)
    record_property("seeds", seeds)  # type: ignore[operator]
    assert seeds, f"{MOST_SEEDS_PER_BUG} seeds do not see: {name}"


def test_a_seed_always_plays_the_same() -> None:
    one, other = play(7, traced=True), play(7, traced=True)
    assert one.trace == other.trace and one.figures == other.figures
    assert one.trace != play(8, traced=True).trace


def test_the_worlds_hold_what_they_are_for() -> None:
    figures: dict[str, int] = {}
    for seed in range(40):
        for name, value in play(seed).figures.items():
            figures[name] = figures.get(name, 0) + value
    rare = [name for name, value in figures.items() if not value]
    assert not rare, f"forty worlds without any: {rare}"
