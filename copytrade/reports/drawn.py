"""What a trader's page draws of closed copies: made here by the reference, copy by copy.

What is stored (rollups/details.py) is tested equal to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal

from copytrade import statistics
from copytrade.rollups.thin import STEP_POINTS, STILL_POINTS, cloud, places
from copytrade.statistics import Copy, Row
from copytrade.statistics.exact import HOUR, microseconds, ratio
from copytrade.statistics.series import ordered


@dataclass(frozen=True)
class Drawn:
    """`curve`: (time, cumulative net, drawdown); `margin`: (time, margin in use from then on); `still`, `margin_still`:
    the same lines in few points; `scatter`: (hours held, net, our order key). Money in USDT, exact; times in UTC."""

    still: list[tuple[datetime, Decimal, Decimal]]
    margin_still: list[tuple[datetime, Decimal]]
    curve: list[tuple[datetime, Decimal, Decimal]]
    margin: list[tuple[datetime, Decimal]]
    breakdowns: dict[str, list[Row]]
    scatter: list[tuple[Decimal, Decimal, int]]


Mark = tuple[int, datetime, datetime, str, Decimal]


def mark(copy: Copy) -> Mark:
    """What tells a copy from every other: an exchange may use a tracking number again."""
    return copy.tracking_no, copy.open_time, copy.close_time, copy.symbol, copy.net


def drawn(copies: Sequence[Copy], keys: Mapping[Mark, int], zone: tzinfo) -> Drawn:
    """`keys`: mark of a copy -> our order key."""
    closed = ordered(copies)
    curve = statistics.equity(closed)
    in_use = statistics.margin_in_use(closed)
    held = [microseconds(copy.close_time - copy.open_time) for copy in closed]
    nets = [copy.net for copy in closed]
    line = list(zip(*curve, strict=True)) if curve else [(), (), ()]
    steps = [when for when, _ in in_use], [margin for _, margin in in_use], []
    return Drawn(
        still=[curve[place] for place in places(*line, STILL_POINTS)],
        margin_still=[in_use[place] for place in places(*steps, STEP_POINTS)],
        curve=[curve[place] for place in places(*line)],
        margin=[in_use[place] for place in places(*steps)],
        breakdowns={name: statistics.breakdown(closed, name, zone) for name in statistics.BREAKDOWNS},
        scatter=[
            (ratio(held[place], HOUR), nets[place], keys[mark(closed[place])]) for place in cloud(nets, held)
        ],
    )
