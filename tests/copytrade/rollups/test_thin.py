"""Fewer points of a line and of a cloud: never too many, only points that are there, and all that can be seen of it."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from copytrade.rollups.thin import CURVE_POINTS, SCATTER_POINTS, cloud, places

COPIES = st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 1000)), min_size=1, max_size=200)


def falls(heights: list[int]) -> list[int]:
    return [peak - height for peak, height in zip(accumulate(heights, max, initial=0), heights, strict=False)]


@given(COPIES, st.integers(10, 150))
def test_a_thinned_line_keeps_its_ends_its_extremes_and_its_deepest_fall(
    copies: list[tuple[int, int]], limit: int
) -> None:
    heights = list(accumulate(net for net, _ in copies))
    times = list(accumulate(step for _, step in copies))
    depths = falls(heights)
    kept = places(times, heights, depths, limit)
    assert len(kept) <= limit or len(kept) == len(copies) <= limit
    assert kept == sorted(set(kept)) and (kept[0], kept[-1]) == (0, len(copies) - 1)
    for choose in (min, max):
        assert choose(heights[place] for place in kept) == choose(heights)
    assert max(depths[place] for place in kept) == max(depths)
    if len(copies) <= limit:
        assert kept == list(range(len(copies)))


@given(st.integers(2, 30), st.integers(0, 29))
def test_each_stretch_of_time_keeps_its_peak_and_its_trough(stretches: int, at: int) -> None:
    """A needle of one copy is seen, wherever it stands."""
    limit, n = 2 * stretches + 8, 5_000
    heights = [0] * n
    heights[(at * 163) % (n - 2) + 1] = 9
    heights[(at * 307) % (n - 2) + 1] -= 5
    kept = places(range(n), heights, [], limit)
    assert len(kept) <= limit
    assert {heights[place] for place in kept} >= {max(heights), min(heights)}


def test_a_long_line_is_never_longer_than_a_page_may_draw() -> None:
    n = 300_000
    heights = [(place * 7919) % 1_000 for place in range(n)]
    assert CURVE_POINTS <= 2_000 and SCATTER_POINTS <= 500
    assert len(places(range(n), heights, [])) <= CURVE_POINTS
    assert len(cloud(heights, heights)) <= SCATTER_POINTS


def test_all_at_one_moment_is_a_line_too() -> None:
    kept = places([5] * 50, list(range(50)), [], 10)
    assert (kept[0], kept[-1]) == (0, 49) and len(kept) <= 10


@given(
    st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 99)), min_size=1, max_size=400),
    st.integers(10, 60),
)
def test_a_cloud_keeps_the_highest_the_lowest_and_the_widest(rows: list[tuple[int, int]], limit: int) -> None:
    heights, widths = [row[0] for row in rows], [row[1] for row in rows]
    kept = cloud(heights, widths, limit)
    assert len(kept) <= max(limit, 0) and kept == sorted(set(kept))
    shown = [heights[place] for place in kept]
    assert (max(shown), min(shown)) == (max(heights), min(heights))
    assert max(widths[place] for place in kept) == max(widths)
    gaps = [after - before for before, after in pairwise(kept)]
    assert max(gaps, default=1) <= len(rows) // max(len(kept) - 4, 1) + 2, "chosen evenly"
