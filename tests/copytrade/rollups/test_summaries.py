"""When summaries are made: stale ones, never an older one over a newer, as the day ends, and without copies too."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from copytrade import reports, rollups
from copytrade.locks import SUMMARY_LOCK
from copytrade.models import PeriodSummary, Trader, User
from copytrade.rollups import summaries
from tests.support.another_session import another_session
from tests.support.rollup_truth import NOW, assert_summaries_equal_the_reference, put, rows, told


def test_a_new_capital_base_shows_at_once(trader: Trader) -> None:
    told(put(trader, str(day % 7 - 2), NOW - timedelta(days=day)) for day in range(60))
    rollups.summarise_stale(now=NOW)
    Trader.objects.filter(pk=trader.pk).update(capital_base=Decimal(333))
    (row,) = rows(trader, "all")
    trader.refresh_from_db()
    expected = reports.trader_summary(trader, now=NOW)
    assert row.summary.roi_on_capital == expected.roi_on_capital
    assert row.summary.max_drawdown_percent == expected.max_drawdown_percent
    assert row.summary.capital_label == "on the capital you entered"
    assert row.summary.sharpe is None and row.summary.reasons["sharpe"].startswith("not worked out")
    rollups.summarise([trader.pk], now=NOW)
    assert_summaries_equal_the_reference(trader.account)


def test_a_page_merged_while_a_summary_is_made_leaves_it_stale(
    trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    told([put(trader, "3", NOW)])
    write = summaries._write

    def meanwhile(made: dict) -> int:
        told([put(trader, "4", NOW)])
        return write(made)

    monkeypatch.setattr(summaries, "_write", meanwhile)
    rollups.summarise_stale(now=NOW)
    (row,) = rows(trader, "all")
    assert row.net == 3 and row.stale
    monkeypatch.undo()
    rollups.summarise_stale(now=NOW)
    (row,) = rows(trader, "all")
    assert row.net == 7 and not row.stale


def test_an_older_summary_never_takes_the_place_of_a_newer_one(
    trader: Trader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow worker comes back after a page was merged and another worker has summarised it."""
    told([put(trader, "3", NOW)])
    write = summaries._write

    def slow(made: dict) -> int:
        monkeypatch.setattr(summaries, "_write", write)
        told([put(trader, "4", NOW)])
        assert rollups.summarise([trader.pk], now=NOW) == 1
        return write(made)

    monkeypatch.setattr(summaries, "_write", slow)
    assert rollups.summarise([trader.pk], now=NOW) == 0
    (row,) = rows(trader, "all")
    assert row.net == 7 and not row.stale


def test_a_trader_at_which_another_worker_is_gets_passed_over(trader: Trader) -> None:
    told([put(trader, "3", NOW)])
    with another_session() as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [SUMMARY_LOCK, trader.pk])
        assert rollups.summarise_stale(now=NOW) == 0
    assert rollups.summarise_stale(now=NOW) == 1
    assert rollups.summarise_stale(now=NOW) == 0


@pytest.mark.parametrize(
    ("zone", "at"),
    [
        ("UTC", datetime(2026, 3, 30, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2026, 3, 29, 18, 30, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 3, 30, tzinfo=UTC)),  # the true-up, four hours before midnight
    ],
)
def test_summaries_are_made_again_when_the_day_ends(trader: Trader, zone: str, at: datetime) -> None:
    User.objects.update(zone=zone)
    told([put(trader, "3", NOW)])
    assert rollups.summarise_stale(now=NOW) == 1
    assert rollups.summarise_stale(now=at - timedelta(seconds=1)) == 0
    assert rollups.summarise_stale(now=at) == 1
    assert rollups.summarise_stale(now=at) == 0


def test_a_period_ends_with_today_and_loses_its_oldest_day_at_midnight(trader: Trader) -> None:
    told([put(trader, "3", NOW), put(trader, "4", NOW - timedelta(days=6))])
    rollups.summarise_stale(now=NOW)
    assert [row.net for row in rows(trader, "7")] == [7]
    tomorrow = NOW + timedelta(days=1)
    rollups.summarise_stale(now=tomorrow)
    (row,) = rows(trader, "7", tomorrow)
    assert (row.net, row.kept.net_before) == (3, 4)
    assert PeriodSummary.objects.get(period="7").as_of == date(2026, 3, 30)


def test_a_trader_without_copies_has_a_row_too(trader: Trader) -> None:
    (row,) = rows(trader, "30")
    assert row.stale and row.closed_copies == 0 and row.spark == [0]
    assert row.summary == replace(reports.trader_summary(trader, since=NOW, now=NOW), daily_series=())
    rollups.summarise_stale(now=NOW)
    assert_summaries_equal_the_reference(trader.account)
