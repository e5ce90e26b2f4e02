"""Copies parted by symbol, side, leverage, holding time and weekday: what belongs to which part, and in what order."""

from __future__ import annotations

from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from copytrade.statistics import breakdown
from tests.support.reference_copies import a_copy, reference_copies

# Breakdowns


def test_parts_by_symbol_come_best_first():
    rows = breakdown(reference_copies(), "symbol")
    assert [(row.key, row.n, row.net) for row in rows] == [
        ("SOLUSDT", 1, Decimal("35.00")),
        ("ETHUSDT", 2, Decimal("7.30")),
        ("XRPUSDT", 1, Decimal("0.00")),
        ("BTCUSDT", 4, Decimal("-22.65")),
    ]
    assert [row.win_rate for row in rows] == [1, Decimal("0.5"), None, Decimal("0.5")]
    assert [row.reason for row in rows] == ["no losses", "", "only break-even copies", ""]
    assert float(rows[3].profit_factor) == pytest.approx(22 / 44.65)
    assert rows[0].profit_factor is rows[2].profit_factor is None


def test_parts_by_side_and_leverage_and_weekday_keep_their_natural_order():
    assert [(row.key, row.n) for row in breakdown(reference_copies(), "side")] == [("LONG", 5), ("SHORT", 3)]
    assert [row.key for row in breakdown(reference_copies(), "leverage")] == ["4-5", "6-10", "11-20"]
    # The first of January 2026 is a Thursday, so the copies close on Thu, Fri, Sat, Sat, Mon, Wed, Thu, Fri.
    weekdays = [(row.key, row.n) for row in breakdown(reference_copies(), "weekday")]
    assert weekdays == [("Monday", 1), ("Wednesday", 1), ("Thursday", 2), ("Friday", 2), ("Saturday", 2)]


def test_leverage_bands():
    tops = {
        "1-3": (1, 3),
        "4-5": (4, 5),
        "6-10": (6, 10),
        "11-20": (11, 20),
        "21-50": (21, 50),
        "over 50": (51, 500),
    }
    for band, (lowest, highest) in tops.items():
        for leverage in (lowest, highest):
            assert breakdown([a_copy("1", leverage=leverage)], "leverage")[0].key == band


def test_holding_bands():
    """A time on a boundary belongs to the longer band."""
    bands = {
        "under 15 min": (0, 14.999),
        "15 min to 1 h": (15, 59.999),
        "1 h to 4 h": (60, 239),
        "4 h to 1 d": (240, 1439),
        "1 d to 7 d": (1440, 10079),
        "7 d or longer": (10080, 99999),
    }
    for band, edges in bands.items():
        for minutes_held in edges:
            assert breakdown([a_copy("1", closed=minutes_held / 60)], "holding")[0].key == band


def test_the_weekday_is_that_of_closing_in_the_given_zone():
    late = [a_copy("1", closed=20)]  # Thursday evening in UTC
    assert breakdown(late, "weekday")[0].key == "Thursday"
    assert breakdown(late, "weekday", ZoneInfo("Asia/Kolkata"))[0].key == "Friday"


def test_copies_cannot_be_parted_by_anything_else():
    with pytest.raises(ValueError, match="choose one of symbol, side, weekday, leverage, holding"):
        breakdown([], "mood")
