"""Figures into shapes: nothing that a picture tells may differ from the figures."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.rollups import details
from dashboard import charts
from tests.dashboard.test_plots import walked

START = datetime(2026, 1, 1, tzinfo=UTC)


def curve(nets: list[int]) -> list[charts.Point]:
    points, total, peak = [], Decimal(0), Decimal(0)
    for number, net in enumerate(nets):
        total += net
        peak = max(peak, total)
        points.append((START + timedelta(hours=number), total, peak - total))
    return points


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=3000), st.integers(10, 400))
def test_a_thinned_curve_is_short_and_keeps_its_ends_and_extremes(nets: list[int], limit: int) -> None:
    points = curve(nets)
    kept = charts.thinned(points, limit)
    assert len(kept) <= limit + 2
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert set(kept) <= set(points) and kept == sorted(kept)
    for choose in (min, max):
        assert choose(total for _, total, _ in kept) == choose(total for _, total, _ in points)


def test_drawdowns_are_drawn_below_zero_and_times_are_seconds() -> None:
    data = charts.equity_data(curve([5, -3]), [(START, "Settings changed")], "UTC")
    assert data["drawdown"] == [0, -3]
    assert data["times"] == [int(START.timestamp()), int(START.timestamp()) + 3600]
    assert data["marks"] == [
        {"time": int(START.timestamp()), "label": "Settings changed", "kind": "settings"}
    ]


@given(st.lists(st.integers(-100, 100), max_size=50), st.integers(0, 60))
def test_a_window_starts_again_from_nothing(nets: list[int], hours: int) -> None:
    since = START + timedelta(hours=hours)
    assert [p[1:] for p in charts.window(curve(nets), since)] == [p[1:] for p in curve(nets[hours:])]


def test_no_window_is_all_of_it() -> None:
    assert charts.window(curve([1, 2]), None) == curve([1, 2])


def test_a_sparkline_needs_two_points_and_stays_in_its_box() -> None:
    assert charts.polyline([Decimal(1)]) == ""
    flat = charts.polyline([Decimal(3)] * 5)
    assert flat.startswith("0.0,") and flat.split()[-1].startswith("120.0,")
    for pair in charts.polyline([Decimal(n) for n in (5, -900, 10**9)]).split():
        x, y = map(float, pair.split(","))
        assert 0 <= x <= 120 and 0 <= y <= 28


def test_the_still_picture_goes_through_the_curve_from_end_to_end() -> None:
    still = charts.still(curve([1] * 1000))
    assert still is not None
    area, line = (shape.path for shape in still.equity.shapes)
    assert line.startswith("M0 ") and len(walked(line)) <= 152
    assert walked(line)[-1][0] == 1000
    assert area.endswith("z")
    assert charts.still(curve([1])) is None, "a line needs two points"


def series(nets: list[int], start: date = date(2026, 3, 4)) -> list[tuple[date, Decimal]]:
    return [(start + timedelta(days=n), Decimal(net)) for n, net in enumerate(nets)]


@given(st.lists(st.integers(-50, 50), max_size=300), st.sets(st.integers(0, 299)))
def test_the_table_has_each_day_with_a_close_and_ends_where_the_curve_ends(
    nets: list[int], closed: set[int]
) -> None:
    daily = series([net if place in closed else 0 for place, net in enumerate(nets)])
    days = {day for place, (day, _) in enumerate(daily) if place in closed}
    rows = charts.rows_of(daily, days)
    assert [(row.day, row.net) for row in reversed(rows)] == [row for row in daily if row[0] in days]
    totals = [row.total for row in rows] + [Decimal(0)]
    assert [row.net for row in rows] == [newer - older for newer, older in pairwise(totals)]
    assert totals[0] == sum(net for _, net in daily)


def test_a_day_that_came_out_even_is_in_the_table_and_one_without_a_close_is_not() -> None:
    days = series([3, 0, 0])
    assert [row.day for row in charts.rows_of(days, {days[0][0], days[2][0]})] == [days[2][0], days[0][0]]


def test_what_is_marked_is_what_happened_between_the_ends_of_the_line() -> None:
    def mark(hours: int) -> tuple[datetime, str, str]:
        return START + timedelta(hours=hours), "note", str(hours)

    points = curve([1, 2, 3])
    assert charts.within([mark(2), mark(0), mark(3), mark(-1), mark(1)], points) == [
        mark(2),
        mark(1),
        mark(0),
    ]
    assert charts.within([mark(0)], points[:1]) == [], "a line needs two points"


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], []), ([0], [(100, 0, "gain")]), ([4, -2], [(100, 100, "gain"), (50, 50, "loss")])],
)
def test_bars_share_one_scale_from_the_middle(values: list[int], expected: list[tuple]) -> None:
    assert [(b.x, b.width, b.kind) for b in charts.bars([Decimal(v) for v in values])] == expected


def test_the_table_of_days_loses_no_digit() -> None:
    large, small = (
        Decimal(10) ** 25,
        Decimal("0.0000000001"),
    )  # their sum has 36 digits, and a Decimal's own context 28
    days = [(date(2026, 1, 1), large), (date(2026, 1, 2), small), (date(2026, 1, 3), -large)]
    rows = charts.rows_of(days, {day for day, _ in days})
    assert [row.total for row in rows] == [small, Decimal(f"{large}.0000000001"), large]
    assert rows[0].drawdown == large and rows[1].drawdown == 0


def test_a_kept_curve_is_thinned_to_the_points_that_its_list_is_thinned_to() -> None:
    nets = [Decimal(n * 37 % 101 - 50) / 3 for n in range(400)]
    kept = [[n * 60_000_000, str(net), "0"] for n, net in enumerate(nets)]
    points = details.read_curve(kept)
    assert charts.thinned(points, 50) == charts.thinned(list(points), 50)
    assert [net for _, net, _ in points] == nets and points[-1][1] == nets[-1] and len(points[10:20]) == 10
    assert details.read_curve([]) == [] and not details.read_curve([])
