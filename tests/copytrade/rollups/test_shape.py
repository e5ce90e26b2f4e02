"""The quick way to the figures that hang on order gives what statistics gives, to the last digit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.rollups.shape import EPOCH, Columns, outer, shape
from copytrade.rollups.shape import spark as spark_of
from copytrade.statistics import Copy, daily
from copytrade.statistics.parts import parts_of
from copytrade.statistics.series import ordered

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)
# Few different moments and results: ties in close time, zeros, and copies that closed as they opened.
minutes = st.integers(0, 40) | st.integers(0, 80_000)
money = st.sampled_from(["0", "1", "-1", "2.5", "-2.50", "0.00000001"]).map(Decimal) | st.decimals(
    "-1000", "1000", places=8
)


@st.composite
def copies(draw: st.DrawFn) -> Copy:
    opened = START + timedelta(minutes=draw(minutes))
    return Copy(
        tracking_no=draw(st.integers(1, 2**63 - 1)),
        symbol=draw(st.sampled_from(["BTCUSDT", "ETHUSDT", "ŻUSDT"])),
        side="LONG",
        leverage=10,
        open_time=opened,
        close_time=opened + timedelta(minutes=draw(minutes)),
        margin=abs(draw(money)),
        open_fee=abs(draw(money)),
        realized=draw(money),
        net=draw(money),
    )


def columns_of(found: list[Copy]) -> Columns:
    def since(moment: datetime) -> int:
        return (moment - EPOCH) // timedelta(microseconds=1)

    return Columns(
        [since(copy.open_time) for copy in found],
        [since(copy.close_time) for copy in found],
        [int(copy.net.scaleb(8)) for copy in found],
        [int(copy.margin.scaleb(8)) for copy in found],
        8,
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(copies(), max_size=40))
def test_a_shape_says_what_the_reference_says(found: list[Copy]) -> None:
    closed = ordered(found)
    expected = parts_of(closed, daily(closed), NOW)
    got = shape(columns_of(closed))
    for name in (
        "since", "until", "peak_margin", "max_drawdown", "current_drawdown", "last_peak", "holding",
        "holding_winners", "holding_losers", "time_in_market", "longest_win_streak", "longest_loss_streak",
    ):  # fmt: skip
        assert getattr(got, name) == getattr(expected, name), name


falls = st.lists(st.tuples(st.integers(0, 500), st.integers(1, 500)), max_size=30)


@settings(max_examples=300, deadline=None)
@given(falls, st.integers(1, 2000))
def test_the_deepest_fall_in_percent_of_any_capital_is_among_those_kept(
    points: list[tuple[int, int]], capital: int
) -> None:
    rising = [(Decimal(peak), Decimal(fall)) for peak, fall in sorted(dict(points).items())]

    def deepest(among: list[tuple[Decimal, Decimal]]) -> Decimal:
        return max((fall / (capital + peak) for peak, fall in among), default=Decimal(0))

    assert deepest(outer(rising)) == deepest(rising)


def test_a_long_line_of_growing_falls_is_kept_short() -> None:
    """Only those that stand out of the line between their neighbours can be the deepest for some capital."""
    line = [(Decimal(step), Decimal(step)) for step in range(1, 1000)]
    assert outer(line) == [line[0], line[-1]]


def test_a_spark_line_begins_at_nothing_and_ends_with_the_total() -> None:
    assert spark_of([]) == [0]
    assert spark_of([1, 3]) == [0, 1, 3]
    sums = list(range(1, 1001))
    line = spark_of(sums)
    assert len(line) == 40 and line[0] == 0 and line[-1] == 1000 and line == sorted(line)


def test_a_small_fall_after_a_return_to_the_same_high_point_hides_no_deeper_one() -> None:
    found = [
        Copy(place, "BTCUSDT", "LONG", 1, START, START + timedelta(days=place), *map(Decimal, (1, 0, 0, net)))
        for place, net in enumerate(["-5", "5", "-1"], 1)
    ]
    assert parts_of(found, daily(found), NOW).max_drawdown == shape(columns_of(found)).max_drawdown == 5
