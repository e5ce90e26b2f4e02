"""The corners of a profit summary: no copies, no losses, equal moments; what cannot be told has its reason."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from copytrade.statistics import breakdown, daily, equity, summarise
from tests.support.reference_copies import (
    NOW,
    START,
    a_copy,
    names_of_figures,
    reference,
    reference_copies,
    run,
    whole,
)

# Corners


def test_no_copies_have_no_figures_but_reasons():
    summary = summarise([], capital=None, now=NOW)
    assert (summary.closed_copies, summary.net_profit, summary.max_drawdown, summary.peak_margin) == (
        0,
        0,
        0,
        0,
    )
    assert (summary.daily_series, summary.since, summary.until, summary.days_under_water) == (
        (),
        None,
        None,
        0,
    )
    undefined = {name for name in names_of_figures() if getattr(summary, name) is None}
    undefined -= {"since", "until", "reported_total", "capital"}
    assert set(summary.reasons) == undefined
    assert {summary.reasons[name] for name in ("win_rate", "payoff", "recovery", "roi_on_capital")} == {
        "no closed copies"
    }
    assert equity([]) == [] and daily([]) == [] and breakdown([], "symbol") == []


def test_without_losses_there_is_no_profit_factor_and_no_infinity():
    summary = run("1", "2", "0")
    for name in ("payoff", "profit_factor", "average_loss"):
        assert getattr(summary, name) is None and summary.reasons[name] == "no losses"
    assert (summary.win_rate, summary.average_win, summary.expectancy) == (1, Decimal("1.5"), 1)
    assert (summary.recovery, summary.reasons["recovery"]) == (None, "no drawdown")
    assert (summary.wins, summary.losses, summary.break_even) == (2, 0, 1)
    assert (summary.longest_win_streak, summary.longest_loss_streak) == (2, 0)


def test_without_wins_the_profit_factor_is_zero_and_the_payoff_undefined():
    summary = run("-1", "-2")
    assert (summary.win_rate, summary.profit_factor, summary.average_loss) == (0, 0, Decimal("1.5"))
    assert summary.payoff is None and summary.reasons["payoff"] == "no wins"
    assert summary.max_drawdown == 3 and summary.recovery == -1
    assert summary.max_drawdown_percent == Decimal("0.03")


def test_break_even_alone_decides_nothing():
    summary = run("0", "0.00", "-0")
    for name in ("win_rate", "payoff", "profit_factor"):
        assert getattr(summary, name) is None
    assert summary.reasons["win_rate"] == summary.reasons["profit_factor"] == "only break-even copies"
    assert summary.reasons["average_win"] == "no wins"


def test_one_copy():
    summary = run("5", minimum_days=0, minimum_copies=0)
    assert (summary.net_profit, summary.win_rate, summary.time_in_market) == (5, 1, 1)
    assert (summary.holding.mean, summary.holding.median, summary.holding.p90) == (1, 1, 1)
    assert (summary.holding_winners.n, summary.holding_losers.n) == (1, 0)
    assert (
        summary.reasons["sharpe"] == "fewer than two days" and summary.reasons["sortino"] == "no losing days"
    )


def test_a_break_even_copy_ends_both_runs():
    assert run("1", "1", "0", "1", "-1", "-1", "0", "-1").longest_win_streak == 2
    assert run("1", "1", "0", "1", "-1", "-1", "-1", "0", "-1").longest_loss_streak == 3


def test_copies_that_close_in_the_same_millisecond_are_ordered_by_tracking_number():
    copies = [a_copy(net, number=number) for number, net in ((3, "-5"), (1, "5"), (2, "-10"))]
    assert [point[1] for point in equity(copies)] == [5, -5, -10]
    assert summarise(copies, capital=None, now=NOW).max_drawdown == 15


def test_drawdown_counts_from_the_start_and_names_what_is_lost_of_all_there_was():
    assert [point[2] for point in equity([a_copy("-3"), a_copy("1", number=2)])] == [3, 2]
    summary = run("100", "-50", "400", "-200")
    assert summary.max_drawdown == 200
    assert float(summary.max_drawdown_percent) == pytest.approx(200 / 550)


def test_the_deepest_fall_in_money_and_in_percent_may_be_two_falls():
    summary = run("-50", "1000", "-60")
    assert summary.max_drawdown == 60 and summary.max_drawdown_percent == Decimal("0.5")


def test_days_under_water_run_from_the_last_high_point_until_now():
    summary = run("5", "-1", "1", "-2", now=START + timedelta(days=2, hours=3))
    assert (summary.current_drawdown, summary.days_under_water) == (2, 2)
    assert run("5", "-1", "1").days_under_water == 0
    touched_again = run("5", "0", "-1", "1", "-2", now=START + timedelta(days=2, hours=4))
    assert touched_again.days_under_water == 2
    never_up = run("-1", now=START + timedelta(days=3))
    assert (never_up.current_drawdown, never_up.days_under_water) == (1, 3)
    assert run("-1", now=START - timedelta(days=3)).days_under_water == 0


def test_the_capital_is_what_was_given_else_the_highest_margin():
    given = reference(capital_label="on money invested today")
    assert (given.capital, given.capital_label) == (700, "on money invested today")
    for unknown in (None, Decimal(0), Decimal(-5)):
        fallen_back = reference(capital=unknown, capital_label="on money invested today")
        assert (fallen_back.capital, fallen_back.capital_label) == (120, "on the highest margin held at once")
        assert fallen_back.roi_on_capital == fallen_back.roi_on_peak_margin
    assert reference().capital_label == "on the capital given"


def test_the_capital_of_a_period_holds_what_was_earned_before_it():
    copies = reference_copies()
    before, after = copies[:4], copies[4:]
    earned = sum(copy.net for copy in before)
    summary = summarise(after, capital=Decimal(700), net_before=earned, now=NOW)
    assert summary.capital == Decimal("693.05")
    assert float(summary.roi_on_capital) == pytest.approx(26.6 / 693.05)
    nothing_left = summarise(
        after, capital=Decimal(700), net_before=Decimal(-700), now=NOW, minimum_days=0, minimum_copies=0
    )
    for name in ("roi_on_capital", "max_drawdown_percent", "sharpe", "sortino"):
        assert getattr(nothing_left, name) is None
        assert nothing_left.reasons[name] == "no capital to measure against"


def test_a_capital_that_was_used_up_leaves_no_daily_return():
    copies = [
        a_copy(net, opened=24 * day, closed=24 * day + 1) for day, net in enumerate(("-60", "-60", "5"))
    ]
    summary = summarise(copies, capital=Decimal(100), now=NOW, minimum_days=0, minimum_copies=0)
    assert (
        summary.reasons["sharpe"]
        == summary.reasons["sortino"]
        == "the capital was used up on a day of this time"
    )


def test_annualised_figures_are_hidden_under_their_minimum_sample():
    copies = [a_copy("1" if n % 3 else "-1", number=n, opened=36 * n, closed=36 * n + 1) for n in range(20)]
    full = summarise(copies, capital=Decimal(100), now=NOW)
    assert len(full.daily_series) == 29
    assert full.sharpe is None and full.sortino is None
    assert full.reasons["sharpe"] == "needs 30 days and 20 closed copies; here are 29 days and 20 copies"
    longer = [*copies[:-1], dataclasses.replace(copies[-1], close_time=START + timedelta(days=29))]
    assert summarise(longer, capital=Decimal(100), now=NOW).sharpe is not None
    fewer = summarise([longer[0], *longer[2:]], capital=Decimal(100), now=NOW)
    assert fewer.sharpe is None and fewer.sortino is None
    assert fewer.reasons["sortino"].endswith("30 days and 19 copies")


def test_equal_days_have_no_sharpe():
    copies = [a_copy("0", opened=24 * day, closed=24 * day + 1) for day in range(3)]
    summary = summarise(copies, capital=Decimal(100), now=NOW, minimum_days=0, minimum_copies=0)
    assert summary.sharpe is None and summary.reasons["sharpe"] == "every day had the same result"


def test_what_closed_since_midnight_utc_may_still_change():
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    times = [midnight - timedelta(milliseconds=1), midnight, midnight + timedelta(hours=3)]
    copies = [a_copy("1", number=n, close_time=moment) for n, moment in enumerate(times)]
    tokyo = datetime(2026, 3, 2, 1, tzinfo=ZoneInfo("Asia/Tokyo"))  # still the first of March in UTC
    for now in (NOW, tokyo):
        summary = summarise(copies, capital=None, now=now)
        assert (summary.provisional_copies, summary.provisional_net) == (2, 2)


def test_the_sum_is_reconciled_with_the_exchanges_own_total():
    assert reference(reported_total=Decimal("20")).reconciliation_gap == Decimal("-0.35")
    summary = reference()
    assert summary.reconciliation_gap is None and "reconciliation_gap" in summary.reasons


def test_costs_are_parted_into_what_is_known_and_what_is_not():
    summary = reference()
    assert summary.unexplained_costs == Decimal("11.15")
    assert summary.gross - summary.open_fees - summary.unexplained_costs == summary.net_profit


def test_a_close_counts_before_an_open_of_the_same_moment():
    after = [a_copy("1", opened=0, closed=1, margin="10"), a_copy("1", opened=1, closed=2, margin="15")]
    assert summarise(after, capital=None, now=NOW).peak_margin == 15
    over = [after[0], dataclasses.replace(after[1], open_time=START + timedelta(minutes=59))]
    assert summarise(over, capital=None, now=NOW).peak_margin == 25


def test_a_copy_that_closed_as_it_opened_takes_no_time_and_no_margin():
    summary = summarise([a_copy("1", closed=0)], capital=None, now=NOW)
    assert summary.time_in_market is None and summary.reasons["time_in_market"].startswith("no time passed")
    assert summary.peak_margin == 0 and summary.reasons["roi_on_peak_margin"] == "no margin was held"
    apart = [a_copy("1", closed=0), a_copy("1", opened=5, closed=5)]
    assert summarise(apart, capital=None, now=NOW).time_in_market == 0


def test_a_copy_that_closed_before_it_opened_breaks_nothing():
    """The exchange's clocks may disagree with themselves; such a copy counts with its money only."""
    odd = a_copy("1", opened=30, closed=1)
    summary = whole([odd, a_copy("2", number=2, opened=0, closed=2)])
    assert (summary.net_profit, summary.peak_margin) == (3, 10)
    assert len(summary.daily_series) == 1 and 0 <= summary.time_in_market <= 1
    assert whole([odd]).peak_margin == 0 and whole([odd]).time_in_market is None


def test_digits_beyond_the_usual_28_are_summed_exactly():
    tiny, huge = "0." + "0" * 29 + "1", "9" * 30
    summary = run(huge, tiny, "-" + tiny, tiny)
    assert summary.net_profit == Decimal(huge + tiny[1:])
    assert summary.max_drawdown == Decimal(tiny)
