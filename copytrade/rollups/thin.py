"""Fewer points of a line, and fewer copies of a cloud, that still show all that can be seen of it.

Only points that are there are kept, so every figure that a picture tells is a true one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

# A picture is some 800 dots wide: more points than that cannot be told apart.
CURVE_POINTS = 800
# A page is sent anew at each view: the still of a line and of the margin in it is as fine as can be seen, and no finer.
STILL_POINTS, STEP_POINTS = 130, 80
SCATTER_POINTS = 200


def places(
    times: Sequence[Any], heights: Sequence[Any], depths: Sequence[Any], limit: int = CURVE_POINTS
) -> list[int]:
    """Which points of a line to draw, at most `limit` (10 or more): all where there are no more than that, else of
    each of equal stretches of time its highest and its lowest, and the first, the last, the deepest of `depths`
    with the high point before it. `times` rise."""
    if len(times) <= limit:
        return list(range(len(times)))
    stretches = limit // 2 - 4
    first, length = times[0], times[-1] - times[0]
    ends = [bisect_left(times, first + length * step // stretches) for step in range(1, stretches)]
    kept = {0, len(times) - 1, *_deepest(heights, depths)}
    for start, end in pairwise([0, *ends, len(times)]):
        if start < end:
            part = heights[start:end]
            kept.add(start + part.index(max(part)))
            kept.add(start + part.index(min(part)))
    return sorted(kept)


def _deepest(heights: Sequence[Any], depths: Sequence[Any]) -> set[int]:
    """Where the deepest fall ends, and the high point that it fell from (which is the start where there is none)."""
    if not depths:
        return set()
    low = depths.index(max(depths))
    before = heights[: low + 1]
    return {low, before.index(max(before))}


def cloud(heights: Sequence[Any], widths: Sequence[Any], limit: int = SCATTER_POINTS) -> list[int]:
    """Which copies to draw, at most `limit` (10 or more), chosen evenly, with the highest, lowest and widest."""
    n = len(heights)
    if n <= limit:
        return list(range(n))
    even = limit - 3
    kept = {place * (n - 1) // (even - 1) for place in range(even)}
    kept |= {heights.index(max(heights)), heights.index(min(heights)), widths.index(max(widths))}
    return sorted(kept)
