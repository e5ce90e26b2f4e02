"""Lines, dots and calendars as plain SVG: axes at round numbers, and nothing that the figures do not say."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import calendars, plots

START = datetime(2026, 1, 1, tzinfo=UTC)
AMOUNTS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 4))


def walked(path: str) -> list[tuple[int, int]]:
    """The places that a path comes to. Small letters are moves from the place before."""
    places, x, y = [], 0, 0
    for letter, rest in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", path):
        numbers = [int(number) for number in re.findall(r"-?\d+", rest)]
        if letter in "hH":
            x = numbers[0] + x * (letter == "h")
            places.append((x, y))
        elif letter in "vV":
            y = numbers[0] + y * (letter == "v")
            places.append((x, y))
        elif letter in "MmLl":
            for right, down in zip(numbers[::2], numbers[1::2], strict=True):
                x, y = right + x * letter.islower(), down + y * letter.islower()
                places.append((x, y))
    return places


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=60))
def test_moves_lead_to_the_very_places(spots: list[tuple[int, int]]) -> None:
    across, up = [x for x, _ in spots], [y for _, y in spots]
    start = f"M{across[0]} {up[0]}"
    drawn = walked(start + plots.joined(across, up))
    assert set(drawn) <= set(spots) and drawn[-1] == spots[-1]
    assert {y for _, y in drawn} == set(up), "only what lies on a level line is left out"
    assert walked(start + plots.stepped(across, up))[-1] == spots[-1]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 831, [0, 250, 500, 750]),
        (-10, 831, [0, 250, 500, 750]),
        (-162, 0, [-150, -100, -50, 0]),
        (0, 0.04, [0, 0.01, 0.02, 0.03, 0.04]),
        (0, 100, [0, 25, 50, 75, 100]),
        (5, 5, [5]),
    ],
)
def test_ticks_stand_at_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert plots.round_ticks(low, high) == ticks


@given(AMOUNTS, AMOUNTS)
def test_ticks_are_few_in_order_and_inside(one: float, other: float) -> None:
    low, high = sorted((one, other))
    ticks = plots.round_ticks(low, high)
    room = (high - low) * 1e-6 + 1e-9
    assert len(ticks) <= 6 and ticks == sorted(set(ticks))
    assert all(low - room <= tick <= high + room for tick in ticks)


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0"), (1500.0, "+1\u202f500"), (-2.5, "\u22122.5"), (0.01, "+0.01")]
)
def test_a_tick_says_its_number_with_its_sign(value: float, words: str) -> None:
    assert plots.amount(value) == words


def test_a_tick_of_what_is_no_result_has_no_plus() -> None:
    assert plots.amount(1500.0, signed=False) == "1\u202f500"


@pytest.mark.parametrize(
    ("days", "labels"),
    [
        (0.5, ["00:00", "03:00", "06:00", "09:00", "12:00"]),
        (6, ["1 Jan", "2 Jan", "3 Jan", "4 Jan", "5 Jan", "6 Jan", "7 Jan"]),
        (30, ["5 Jan", "12 Jan", "19 Jan", "26 Jan"]),
        (120, ["2026", "Feb", "Mar", "Apr", "May"]),
        (800, ["2026", "Jul", "2027", "Jul", "2028"]),
    ],
)
def test_times_are_labelled_by_hours_days_mondays_months_or_years(days: float, labels: list[str]) -> None:
    ticks = plots.time_ticks(START, START + timedelta(days=days), UTC)
    assert [tick.label for tick in ticks] == labels
    assert all(0 <= tick.at <= 100 for tick in ticks)


def test_days_of_an_axis_begin_at_the_zones_midnight_also_when_the_clock_changes() -> None:
    zone = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 3, 27, 23, tzinfo=UTC)
    ticks = plots.time_ticks(first, first + timedelta(days=4), zone)
    assert [tick.label for tick in ticks] == ["28 Mar", "29 Mar", "30 Mar", "31 Mar", "1 Apr"]
    hours = [round(tick.at / 100 * 96) for tick in ticks]
    assert hours == [0, 24, 47, 71, 95], "the night of the change is an hour shorter"


@given(st.lists(st.tuples(st.integers(0, 10**6), AMOUNTS), min_size=2, max_size=60))
def test_a_line_stays_in_its_box_and_0_is_in_the_picture(rows: list[tuple[int, float]]) -> None:
    points = [(START + timedelta(seconds=at), Decimal(str(value))) for at, value in sorted(rows)]
    plot = plots.line(points)
    assert plot is not None
    for shape in plot.shapes:
        assert all(0 <= x <= 1000 and 0 <= y <= plot.tall for x, y in walked(shape.path))
    if any(value for _, value in points):
        assert any(tick.zero for tick in plot.grid)


def test_a_margin_holds_until_its_next_step() -> None:
    points = [
        (START, Decimal(0)),
        (START + timedelta(hours=1), Decimal(10)),
        (START + timedelta(hours=2), Decimal(10)),
    ]
    plot = plots.line(points, steps=True, kind="margin")
    assert plot is not None and plot.shapes[1].path == "M0 600h500v-566h500"


def test_marks_outside_of_the_time_that_is_shown_are_left_out() -> None:
    points = [(START, Decimal(0)), (START + timedelta(days=10), Decimal(10))]
    marks = [(START + timedelta(days=days), "note", str(days)) for days in (-1, 0, 5, 10, 11)]
    plot = plots.line(points, marks=marks)
    assert plot is not None and [(mark.at, mark.label) for mark in plot.marks] == [
        (0, "0"),
        (50, "5"),
        (100, "10"),
    ]


def test_dots_are_round_for_gains_and_square_for_losses_and_0_is_no_loss() -> None:
    plot = plots.cloud([(Decimal(1), Decimal(5)), (Decimal(4), Decimal(-5)), (Decimal(9), Decimal(0))])
    assert plot is not None
    counts = {shape.kind: shape.path.count("h0") for shape in plot.shapes}
    assert counts == {"gains": 2, "losses": 1}
    assert plots.cloud([]) is None
    assert plots.cloud([(Decimal(0), Decimal(0))]) is not None, "held for no time at all"


def test_labels_of_holding_times_keep_apart() -> None:
    plot = plots.cloud([(Decimal("0.01"), Decimal(1)), (Decimal(2000), Decimal(1))])
    assert plot is not None and len(plot.below) >= 4
    places = [tick.at for tick in plot.below]
    assert all(after - before >= plots.APART for before, after in pairwise(places))


# --- the calendar ---


def series(nets: list[int], start: date = date(2026, 3, 4)) -> list[tuple[date, Decimal]]:
    return [(start + timedelta(days=n), Decimal(net)) for n, net in enumerate(nets)]


def test_a_month_puts_monday_first_and_weeks_below_each_other() -> None:
    calendar = calendars.calendar(series([1, -2, 0, 4, 5, 6]))  # a Wednesday to a Monday
    assert calendar is not None
    (month,) = calendar.months
    assert [(day.x, day.y) for day in month.days] == [(36, 0), (54, 0), (72, 0), (90, 0), (108, 0), (0, 18)]
    assert [day.kind for day in month.days] == ["gain", "loss", "none", "gain", "gain", "gain"]
    assert calendar.best and calendar.best.net == 6
    assert calendar.worst and calendar.worst.net == -2
    assert (month.net, month.gains, month.losses) == (14, 4, 1)


def test_a_long_calendar_draws_its_last_year_and_keeps_every_month_in_its_table() -> None:
    calendar = calendars.calendar(series([1] * 900))
    assert calendar is not None
    assert len(calendar.months) == 12 and len(calendar.rows) == 12 + calendar.earlier == 30
    assert calendar.rows[0].first == calendar.months[-1].first == date(2028, 8, 1)
    assert sum(month.net for month in calendar.rows) == 900


@pytest.mark.parametrize("nets", [[], [0, 0, 0]])
def test_where_nothing_was_gained_or_lost_there_is_no_calendar(nets: list[int]) -> None:
    assert calendars.calendar(series(nets)) is None


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=31))
def test_a_month_draws_each_of_its_days_once_in_its_place(nets: list[int]) -> None:
    calendar = calendars.calendar(series(nets, date(2026, 3, 1)))
    if calendar is None:
        return
    (month,) = calendar.months
    drawn = []
    for css, path in month.shapes:
        kind = css.split()[0].removeprefix("day-")
        edge = calendars.CIRCLE_FROM if kind == "loss" else calendars.SQUARE_FROM
        fields = re.findall(r"[Mm](-?[\d.]+) ?(-?[\d.]+)h[09]", path)
        x = y = 0.0
        for step_x, step_y in fields:
            x, y = x + float(step_x), y + float(step_y)
            drawn.append((x - edge, y - edge, css))
    expected = [(day.x, day.y, f"day-{day.kind} level-{day.level}") for day in month.days]
    assert sorted(drawn) == sorted(expected)
