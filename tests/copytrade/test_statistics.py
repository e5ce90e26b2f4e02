"""The figures of a profit summary: the reference vector, the definition of each, and the documentation's example."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from copytrade import statistics
from copytrade.statistics import daily, summarise
from tests.support.reference_copies import (
    DAYS,
    NOW,
    VECTOR,
    a_copy,
    names_of_figures,
    reference,
    reference_copies,
    run,
)

# The reference


@pytest.mark.parametrize("figure", VECTOR)
def test_the_reference_vector(figure):
    value, expected = getattr(reference(), figure), VECTOR[figure]
    if isinstance(expected, str):
        assert value == Decimal(expected)
    else:
        assert float(value) == pytest.approx(expected, abs=1e-12, rel=1e-12)


def test_the_reference_vector_by_day():
    days = reference().daily_series
    assert [result for _, result in days] == [Decimal(text) for text in DAYS]
    assert [day for day, _ in days] == [date(2026, 1, 1) + timedelta(days=offset) for offset in range(9)]
    assert daily(reference_copies()) == list(days)


def test_the_reference_in_other_time_zones():
    """Kolkata is 5:30 ahead: what closes at 20:00 UTC is the next day there, at 17:00 it is not."""
    by_day = dict(daily(reference_copies(), ZoneInfo("Asia/Kolkata")))
    assert by_day[date(2026, 1, 2)] == Decimal("-31.25")
    at = [a_copy("1", closed=hour) for hour in (18, 18.49, 18.5, 19)]
    kolkata = daily(at, ZoneInfo("Asia/Kolkata"))
    assert kolkata == [(date(2026, 1, 1), Decimal(2)), (date(2026, 1, 2), Decimal(2))]
    newfoundland = timezone(timedelta(hours=-3, minutes=-30))
    assert daily(at, newfoundland) == [(date(2025, 12, 31), Decimal(0)), (date(2026, 1, 1), Decimal(4))]
    assert daily([a_copy("1", closed=3.49), a_copy("2", closed=3.5)], newfoundland) == [
        (date(2025, 12, 31), Decimal(1)),
        (date(2026, 1, 1), Decimal(2)),
    ]
    kathmandu = reference(zone=ZoneInfo("Asia/Kathmandu"))
    assert sum(result for _, result in kathmandu.daily_series) == kathmandu.net_profit


def test_a_day_of_25_hours_is_one_day():
    berlin = ZoneInfo("Europe/Berlin")
    begin = datetime(2026, 10, 24, 22, tzinfo=UTC)  # midnight in Berlin, before the clocks go back
    at = [begin + timedelta(hours=hours) for hours in (0, 24.5, 25)]
    copies = [a_copy("1", open_time=begin, close_time=moment) for moment in at]
    assert daily(copies, berlin) == [(date(2026, 10, 25), Decimal(2)), (date(2026, 10, 26), Decimal(1))]


# The rest


def test_every_figure_has_one_sentence_as_definition():
    assert set(statistics.DEFINITIONS) == names_of_figures() - {"reasons"}
    for name, sentence in statistics.DEFINITIONS.items():
        assert sentence[0].isupper() and sentence.endswith(".") and ". " not in sentence, name
    assert len(set(statistics.DEFINITIONS.values())) == len(statistics.DEFINITIONS)


def test_ten_thousand_copies_are_summarised():
    dice = random.Random(5)
    copies = []
    for number in range(10_000):
        opened = dice.randrange(24 * 400)
        net = str(dice.randrange(-100_000, 110_000) / 1000)
        copies.append(a_copy(net, number=number, opened=opened, closed=opened + dice.randrange(1, 90)))
    summary = summarise(copies, capital=Decimal(700), now=NOW, zone=ZoneInfo("Asia/Kolkata"))
    assert summary.closed_copies == 10_000
    assert summary.net_profit == sum(copy.net for copy in copies)


def test_the_documentation_has_the_definitions_word_for_word():
    text = (Path(__file__).parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    documented = {row[1].strip("`"): row[2] for row in rows if row[1].startswith("`")}
    assert documented == dict(statistics.DEFINITIONS)


def test_the_worked_example_of_the_documentation():
    summary = run("100", "-50", "30", capital=Decimal(1000))
    assert (summary.net_profit, summary.average_win, summary.average_loss) == (80, 65, 50)
    assert (summary.payoff, summary.profit_factor) == (Decimal("1.3"), Decimal("2.6"))
    assert (summary.max_drawdown, summary.current_drawdown, summary.roi_on_capital) == (
        50,
        20,
        Decimal("0.08"),
    )
    assert [f"{value:.3f}" for value in (summary.win_rate, summary.max_drawdown_percent)] == [
        "0.667",
        "0.045",
    ]
    assert f"{summary.expectancy:.2f}" == "26.67"
