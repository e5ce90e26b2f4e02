"""The figures of a profit summary: the reference vector, laws that hold for any copies, and the corners."""

from __future__ import annotations

import dataclasses
import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade import statistics
from copytrade.statistics import Copy, breakdown, daily, equity, summarise

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

# Symbol, side, open h, close h after START, margin, leverage, openFee, realizedPnl, netProfit.
ORDERS = """
BTCUSDT LONG    1   5   100 10 0.60  20.00  17.00
BTCUSDT LONG    6  30   100 10 0.60 -30.00 -31.25
ETHUSDT SHORT  48  50    50 20 0.60  10.00   8.00
ETHUSDT SHORT  49  57    50 20 0.60   0.50  -0.70
SOLUSDT LONG   96 108    80  5 0.24  40.00  35.00
BTCUSDT SHORT 144 145   120 10 0.72 -12.00 -13.40
XRPUSDT LONG  168 169    40  5 0.02   0.04   0.00
BTCUSDT LONG  192 196    60 10 0.36   6.00   5.00
"""

# The reference values that belong to them: money as text is exact, numbers hold to 1e-12.
VECTOR = {
    "closed_copies": 8,
    "net_profit": "19.65",
    "gross": "34.54",
    "cost_gap": "14.89",
    "open_fees": "3.74",
    "win_rate": 0.5714285714285714,
    "average_win": 16.25,
    "average_loss": 15.116666666666667,
    "payoff": 1.0749724366041897,
    "profit_factor": 1.4332965821389194,
    "expectancy": 2.45625,
    "max_drawdown": "31.25",
    "max_drawdown_percent": 0.04358437935843794,
    "recovery": 0.6288,
    "roi_on_capital": 0.02807142857142857,
    "roi_on_peak_margin": 0.16375,
    "roi_on_margin_turned_over": 0.03275,
    "peak_margin": "120",
    "sharpe": 2.4783739054767997,
    "sortino": 4.097254142495741,
    "holding_hours_mean": 7.0,
    "holding_hours_median": 4.0,
    "time_in_market": 0.28205128205128205,
    "longest_win_streak": 1,
    "longest_loss_streak": 1,
    "best_day": "35.00",
    "worst_day": "-31.25",
}
DAYS = ["17.00", "-31.25", "7.30", "0", "35.00", "0", "-13.40", "0.00", "5.00"]


def reference_copies():
    copies = []
    for number, line in enumerate(ORDERS.strip().splitlines(), start=1):
        symbol, side, opened, closed, margin, leverage, fee, realized, net = line.split()
        opens, closes = (START + timedelta(hours=int(hours)) for hours in (opened, closed))
        money = (Decimal(text) for text in (margin, fee, realized, net))
        copies.append(Copy(number, symbol, side, int(leverage), opens, closes, *money))
    return copies


def reference(**changes):
    arguments = {"capital": Decimal(700), "now": NOW, "minimum_days": 0, "minimum_copies": 0}
    return summarise(reference_copies(), **{**arguments, **changes})


def a_copy(net, *, number=1, opened=0, closed=1, margin="10", fee="0", **changes):
    """A copy that was open from one hour to another; its gross is its net and its fee."""
    net, fee = Decimal(net), Decimal(fee)
    times = (START + timedelta(hours=opened), START + timedelta(hours=closed))
    made = Copy(number, "BTCUSDT", "LONG", 10, *times, Decimal(margin), fee, net + fee, net)
    return dataclasses.replace(made, **changes)


def run(*nets, **options):
    """A summary of copies that closed one after the other, an hour each."""
    copies = [a_copy(net, number=place, opened=place, closed=place + 1) for place, net in enumerate(nets)]
    return summarise(copies, **{"capital": Decimal(100), "now": NOW, **options})


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


# Laws

money = st.decimals(-10_000, 10_000, places=6)
minutes = st.integers(0, 60 * 24 * 60)


@st.composite
def any_copies(draw, smallest=0):
    """Copies in any order, some closing together, with tracking numbers of their own."""
    made = []
    for number in range(draw(st.integers(smallest, 12))):
        opened = START + timedelta(minutes=draw(minutes))
        closed = opened + timedelta(minutes=draw(st.sampled_from([0, 1, 60, 1440]) | minutes))
        margin = draw(st.decimals(0, 1000, places=2))
        net, realized, fee = (
            draw(money | st.just(Decimal(0))),
            draw(money),
            draw(st.decimals(0, 10, places=4)),
        )
        symbol, leverage = draw(st.sampled_from("ABC")), draw(st.integers(1, 60))
        made.append(Copy(number, symbol, "LONG", leverage, opened, closed, margin, fee, realized, net))
    return draw(st.permutations(made))


def whole(copies, **options):
    return summarise(
        copies, **{"capital": Decimal(5000), "now": NOW, "minimum_days": 0, "minimum_copies": 0, **options}
    )


@given(any_copies(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_the_copies_does_not_matter(copies, dice):
    other = list(copies)
    dice.shuffle(other)
    assert whole(other) == whole(copies)
    assert equity(other) == equity(copies) and daily(other) == daily(copies)
    for by in statistics.BREAKDOWNS:
        assert breakdown(other, by) == breakdown(copies, by)


@given(any_copies(), any_copies())
@settings(max_examples=100, deadline=None)
def test_the_sums_of_two_sets_add_up(one, other):
    first, second, both = whole(one), whole(other), whole([*one, *other])
    added = (
        "closed_copies wins losses break_even net_profit gross cost_gap open_fees unexplained_costs "
        "provisional_copies provisional_net margin_turned_over"
    )
    for name in added.split():
        assert getattr(both, name) == getattr(first, name) + getattr(second, name), name
    assert both.peak_margin <= first.peak_margin + second.peak_margin
    assert both.peak_margin >= max(first.peak_margin, second.peak_margin)


@given(any_copies())
@settings(max_examples=100, deadline=None)
def test_every_way_to_part_the_copies_adds_up_to_the_whole(copies):
    summary = whole(copies)
    assert sum((result for _, result in summary.daily_series), Decimal(0)) == summary.net_profit
    for by in statistics.BREAKDOWNS:
        rows = breakdown(copies, by)
        assert sum(row.n for row in rows) == summary.closed_copies
        assert sum((row.net for row in rows), Decimal(0)) == summary.net_profit


@given(any_copies(smallest=1))
@settings(max_examples=100, deadline=None)
def test_the_figures_hold_against_a_slow_and_plain_reckoning(copies):
    summary = whole(copies)
    nets = [
        Fraction(copy.net) for copy in sorted(copies, key=lambda copy: (copy.close_time, copy.tracking_no))
    ]
    gains, losses = sum(net for net in nets if net > 0), -sum(net for net in nets if net < 0)
    close_to(summary.profit_factor, gains / losses if losses else None)
    close_to(summary.expectancy, sum(nets) / len(nets))
    curve = [Fraction(0)]
    for net in nets:
        curve.append(curve[-1] + net)
    falls = [max(curve[: place + 1]) - point for place, point in enumerate(curve)]
    assert summary.max_drawdown == max(falls) >= 0
    assert summary.current_drawdown == falls[-1]
    parts = [fall / (5000 + max(curve[: place + 1])) for place, fall in enumerate(falls)]
    close_to(summary.max_drawdown_percent, max(parts))
    held = [
        sum(Fraction(copy.margin) for copy in copies if copy.open_time <= moment.open_time < copy.close_time)
        for moment in copies
    ]
    assert summary.peak_margin == max(held)


@given(any_copies(smallest=1))
@settings(max_examples=100, deadline=None)
def test_the_time_in_market_counts_each_minute_once(copies):
    start = min(copy.open_time for copy in copies)
    length = (max(copy.close_time for copy in copies) - start) // timedelta(minutes=1)
    open_minutes = set()
    for copy in copies:
        first, last = (
            (moment - start) // timedelta(minutes=1) for moment in (copy.open_time, copy.close_time)
        )
        open_minutes.update(range(first, last))
    close_to(
        summarise(copies, capital=None, now=NOW).time_in_market,
        Fraction(len(open_minutes), length) if length else None,
    )


@given(any_copies(smallest=1))
@settings(max_examples=100, deadline=None)
def test_sharpe_and_sortino_hold_against_floats(copies):
    days = [float(result) for _, result in daily(copies)]
    base, returns = 1e6, []
    for result in days:
        returns.append(result / base)
        base += result
    summary = whole(copies, capital=Decimal(10**6))
    mean = sum(returns) / len(returns)
    if summary.sharpe is not None:
        deviation = (sum((value - mean) ** 2 for value in returns) / (len(returns) - 1)) ** 0.5
        assert float(summary.sharpe) == pytest.approx(mean / deviation * 365**0.5, rel=1e-6, abs=1e-9)
    if summary.sortino is not None:
        downside = (sum(min(value, 0) ** 2 for value in returns) / len(returns)) ** 0.5
        assert float(summary.sortino) == pytest.approx(mean / downside * 365**0.5, rel=1e-6, abs=1e-9)


@given(any_copies())
@settings(max_examples=100, deadline=None)
def test_a_figure_without_a_value_has_a_reason_and_one_with_a_value_has_none(copies):
    summary = summarise(copies, capital=None, now=NOW)
    for name in names_of_figures() - {"since", "until", "reported_total", "capital", "reasons"}:
        assert (getattr(summary, name) is None) == (name in summary.reasons), name
    assert all(reason and not reason.endswith(".") for reason in summary.reasons.values())


def close_to(value, expected):
    assert (value is None) == (expected is None)
    if value is not None:
        assert abs(Fraction(value) - expected) <= abs(expected) * Fraction(1, 10**40)


def test_percentiles_lie_between_the_closest_ranks():
    copies = [a_copy("1", number=n, closed=hours) for n, hours in enumerate((10, 2, 4, 1))]
    spread = summarise(copies, capital=None, now=NOW).holding
    assert (spread.mean, spread.median, spread.p90) == (Decimal("4.25"), 3, Decimal("8.2"))


# The rest


def names_of_figures():
    return {field.name for field in dataclasses.fields(statistics.Summary)}


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
