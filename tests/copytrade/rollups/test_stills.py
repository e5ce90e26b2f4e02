"""The few points that a page draws of its lines: chosen among all copies, kept beside whole lines, and read alone."""

from __future__ import annotations

from datetime import date
from io import StringIO

import pytest
from django.core.management import call_command

from copytrade import reports
from copytrade.models import PeriodDetail, Trader, User
from copytrade.reports.trader_page import TraderPage
from copytrade.rollups import details, ranges
from copytrade.rollups.details import Unread
from copytrade.rollups.pages import PageRow, page_rows
from copytrade.rollups.thin import CURVE_POINTS, STEP_POINTS, STILL_POINTS, places
from copytrade.statistics import equity, margin_in_use
from copytrade.statistics.series import ordered
from tests.support.ledger_rows import account_of, trader_of

from .test_ranges import NOW, ledger

pytestmark = pytest.mark.django_db
COPIES = 1_200  # three quarters of them are the trader's: more than a whole line shows, too
FIRST, LAST = date(2025, 12, 1), NOW.date()
BOTH: tuple[details.Line, details.Line] = ("curve", "margin")


def row_of(trader: Trader, *whole: details.Line) -> PageRow:
    (row,) = page_rows([trader], "all", NOW, whole)
    return row


def range_of(trader: Trader, *whole: details.Line) -> TraderPage:
    return reports.trader_range(trader, FIRST, LAST, NOW, whole=whole)


def test_a_still_is_chosen_among_all_copies_and_keeps_ends_extremes_and_the_deepest_fall(alice: User) -> None:
    trader = ledger(alice, COPIES)
    copies = ordered(reports.copies.copies_by_trader(trader.orders.all())[trader.pk])
    line, margin = equity(copies), margin_in_use(copies)
    for found in (row_of(trader), range_of(trader)):
        chosen = places(*zip(*line, strict=True), STILL_POINTS)
        assert found.still == [line[place] for place in chosen]
        steps = places([at for at, _ in margin], [held for _, held in margin], [], STEP_POINTS)
        assert found.margin_still == [margin[place] for place in steps]
        assert len(found.still) <= STILL_POINTS < len(line) and len(found.margin_still) <= STEP_POINTS
        for drawn, all_of_it in ((found.still, line), (found.margin_still, margin)):
            assert (drawn[0], drawn[-1]) == (all_of_it[0], all_of_it[-1])
            for choose in (min, max):
                assert choose(point[1] for point in drawn) == choose(point[1] for point in all_of_it)
        assert max(fall for *_, fall in found.still) == max(fall for *_, fall in line) > 0


def test_whole_lines_are_read_where_they_are_asked_for_and_not_otherwise(alice: User) -> None:
    trader = ledger(alice, COPIES)
    row, whole = row_of(trader), row_of(trader, *BOTH)
    assert row.detail.curve is row.detail.margin is None, "the database does not send them"
    assert row_of(trader, "curve").detail.margin is row_of(trader, "margin").detail.curve is None
    assert STILL_POINTS < len(whole.curve) <= CURVE_POINTS and STEP_POINTS < len(whole.margin) <= CURVE_POINTS
    assert row.curve == Unread() and row.margin == Unread(len(whole.margin))
    assert (row.still, row.margin_still) == (whole.still, whole.margin_still)
    page, whole_page = range_of(trader), range_of(trader, *BOTH)
    assert (whole_page.curve, whole_page.margin) == (whole.curve, whole.margin)
    assert page.curve == Unread() and page.margin == Unread(len(whole_page.margin))
    assert (page.still, page.margin_still) == (whole_page.still, whole_page.margin_still)


def test_a_line_that_was_not_read_says_so_to_whoever_looks_at_it() -> None:
    """It is not mistaken for an empty one, nor for a short one."""
    assert len(Unread(7)) == 7
    for look in (list, reversed, len, bool, lambda line: line[-1], lambda line: line[:2]):
        with pytest.raises(LookupError, match="ask for it whole"):
            list(look(Unread()))
    with pytest.raises(LookupError, match="ask for it whole"):
        list(Unread(7))


def test_a_row_from_before_there_were_stills_is_read_from_its_whole_lines(alice: User) -> None:
    trader = ledger(alice, COPIES)
    whole = row_of(trader, *BOTH)
    PeriodDetail.objects.update(still=None, margin_still=None, margin_steps=None)
    row = row_of(trader)
    assert (row.still, row.margin_still) == (whole.curve, whole.margin)
    assert row.margin == Unread(len(whole.margin))


def test_a_trader_whose_summary_was_never_made_has_empty_lines(alice: User) -> None:
    row = row_of(trader_of(account_of(alice)))
    assert list(row.still) == list(row.margin_still) == list(row.curve) == list(row.margin) == []


def test_days_with_too_many_copies_have_a_still_of_days_and_no_margin(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    trader = ledger(alice, 300)
    monkeypatch.setattr(ranges, "MOST_COPIES", 5)
    page = range_of(trader, *BOTH)
    assert page.by_day and page.still == page.curve and len(page.still) > 50
    assert page.margin_still == page.margin == range_of(trader).margin == []


def test_the_columns_are_added_without_a_look_at_any_row() -> None:
    """Neither a value for old rows nor a check of them: the table is locked for a moment, however large it is."""
    told = StringIO()
    call_command("sqlmigrate", "copytrade", "0019", stdout=told)
    sql = told.getvalue().upper()
    assert sql.count("ADD COLUMN") == 3
    assert not any(word in sql for word in ("DEFAULT", "CHECK", "NOT NULL", "UPDATE", "INDEX"))
