"""Laws of the figures that hold for any copies, in any order, against slower and plainer reckonings."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade import statistics
from copytrade.statistics import Copy, breakdown, daily, equity, summarise
from tests.support.reference_copies import NOW, START, a_copy, names_of_figures, whole

# Laws

money = st.decimals(-10_000, 10_000, places=6)
minutes = st.integers(0, 60 * 24 * 60)


@st.composite
def any_copies(draw, smallest=0, most=12):
    """Copies in any order, some closing together, with tracking numbers of their own."""
    made = []
    for number in range(draw(st.integers(smallest, most))):
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


# What is left of the figures where there is little to reckon with, or nothing that says what came first


@given(any_copies(smallest=1))
@settings(max_examples=100, deadline=None)
def test_who_only_won_fell_nowhere_and_has_no_losses_to_divide_by(copies):
    won = [replace(copy, net=abs(copy.net) + Decimal("0.01")) for copy in copies]
    summary, n = whole(won), len(won)
    assert (summary.wins, summary.losses, summary.break_even, summary.win_rate) == (n, 0, 0, 1)
    assert (summary.longest_win_streak, summary.longest_loss_streak) == (n, 0)
    assert summary.average_win == summary.expectancy > 0
    for name in ("average_loss", "payoff", "profit_factor"):
        assert getattr(summary, name) is None and summary.reasons[name] == "no losses"
    assert (summary.max_drawdown, summary.max_drawdown_percent, summary.current_drawdown) == (0, 0, 0)
    assert (summary.days_under_water, summary.recovery, summary.reasons["recovery"]) == (
        0,
        None,
        "no drawdown",
    )
    assert summary.sortino is None and summary.reasons["sortino"] == "no losing days"
    assert summary.worst_day >= 0 and summary.holding_losers.n == 0
    sums = [so_far for _, so_far, _ in equity(won)]
    assert sums == sorted(set(sums)) and sums[-1] == summary.net_profit


@given(any_copies(smallest=1))
@settings(max_examples=100, deadline=None)
def test_who_only_lost_fell_by_all_of_it_and_has_been_under_water_since_the_first_open(copies):
    lost = [replace(copy, net=-abs(copy.net) - Decimal("0.01")) for copy in copies]
    summary, n = whole(lost), len(lost)
    assert (summary.wins, summary.losses, summary.break_even, summary.win_rate) == (0, n, 0, 0)
    assert (summary.longest_win_streak, summary.longest_loss_streak) == (0, n)
    assert summary.average_loss == summary.expectancy.copy_negate() > 0
    assert summary.profit_factor == 0 and summary.payoff is None and summary.average_win is None
    assert {summary.reasons[name] for name in ("payoff", "average_win")} == {"no wins"}
    assert summary.max_drawdown == summary.current_drawdown == -summary.net_profit
    assert summary.recovery == -1
    close_to(summary.max_drawdown_percent, -Fraction(summary.net_profit) / 5000)
    since = min(copy.open_time for copy in lost)
    close_to(summary.days_under_water, Fraction((NOW - since) / timedelta(microseconds=1)) / 86_400_000_000)
    assert summary.best_day <= 0 and summary.holding_winners.n == 0


@given(any_copies(smallest=1, most=1))
@settings(max_examples=100, deadline=None)
def test_of_one_copy_every_figure_is_its_own(copies):
    (copy,) = copies
    summary, held = whole(copies), copy.close_time - copy.open_time
    assert (summary.closed_copies, summary.since, summary.until) == (1, copy.open_time, copy.close_time)
    assert summary.net_profit == summary.expectancy == copy.net
    assert (summary.gross, summary.open_fees) == (copy.realized, copy.open_fee)
    assert (summary.wins, summary.losses, summary.break_even) == (copy.net > 0, copy.net < 0, copy.net == 0)
    assert summary.win_rate == (None if not copy.net else int(copy.net > 0))
    assert (summary.average_win, summary.average_loss) == (
        copy.net if copy.net > 0 else None, -copy.net if copy.net < 0 else None,
    )  # fmt: skip
    assert summary.payoff is None and summary.profit_factor == (0 if copy.net < 0 else None)
    assert summary.max_drawdown == summary.current_drawdown == max(-copy.net, Decimal(0))
    assert (summary.longest_win_streak, summary.longest_loss_streak) == (copy.net > 0, copy.net < 0)
    assert (summary.peak_margin, summary.time_in_market) == ((copy.margin, 1) if held else (0, None))
    assert summary.margin_turned_over == copy.margin
    hours = Fraction(held / timedelta(microseconds=1)) / 3_600_000_000
    for figure in (summary.holding.mean, summary.holding.median, summary.holding.p90):
        close_to(figure, hours)
    for by in statistics.BREAKDOWNS:
        (row,) = breakdown(copies, by)
        assert (row.n, row.net, row.win_rate) == (1, copy.net, summary.win_rate)


@given(st.none() | money, money, st.none() | money)
@settings(max_examples=100, deadline=None)
def test_of_no_copy_there_are_sums_of_nothing_and_a_reason_for_the_rest(capital, net_before, reported):
    summary = whole([], capital=capital, net_before=net_before, reported_total=reported)
    nothing = (
        "closed_copies wins losses break_even net_profit gross cost_gap open_fees unexplained_costs "
        "provisional_copies provisional_net max_drawdown current_drawdown days_under_water peak_margin "
        "margin_turned_over longest_win_streak longest_loss_streak"
    )
    assert {name: getattr(summary, name) for name in nothing.split()} == dict.fromkeys(nothing.split(), 0)
    rates = (
        "win_rate average_win average_loss payoff profit_factor expectancy recovery best_day worst_day "
        "roi_on_peak_margin roi_on_margin_turned_over time_in_market"
    )
    for name in rates.split():
        assert getattr(summary, name) is None and summary.reasons[name] == "no closed copies", name
    base = (capital if capital is not None and capital > 0 else 0) + net_before
    assert summary.capital == (base if base > 0 else None)
    assert summary.roi_on_capital == summary.max_drawdown_percent == (0 if base > 0 else None)
    assert summary.reconciliation_gap == (None if reported is None else -reported)
    assert (summary.since, summary.until, summary.daily_series) == (None, None, ())


@given(
    any_copies(smallest=2), st.lists(st.integers(0, 2), min_size=12, max_size=12), st.permutations(range(12))
)
@settings(max_examples=100, deadline=None)
def test_copies_that_close_in_one_millisecond_come_by_tracking_number(copies, closes, numbers):
    """At most three moments, and numbers that have nothing to do with when a copy was opened."""
    end = START + timedelta(days=90)
    together = [
        replace(copy, tracking_no=number, close_time=end + timedelta(milliseconds=close))
        for copy, close, number in zip(copies, closes, numbers, strict=False)
    ]
    nets, moments, last_peak = [], [], min(copy.open_time for copy in together)
    so_far = peak = Decimal(0)
    sums, falls, parts = [], [], [Fraction(0)]
    for moment in sorted({copy.close_time for copy in together}):
        of_it = {copy.tracking_no: copy.net for copy in together if copy.close_time == moment}
        for number in sorted(of_it):
            so_far += of_it[number]
            if so_far >= peak:
                peak, last_peak = so_far, moment
            nets.append(of_it[number])
            moments.append(moment)
            sums.append(so_far)
            falls.append(peak - so_far)
            parts.append(Fraction(peak - so_far) / Fraction(5000 + peak))
    assert equity(together) == list(zip(moments, sums, falls, strict=True))
    now = end + timedelta(days=1)
    summary = whole(together, now=now)
    assert (summary.max_drawdown, summary.current_drawdown) == (max(falls), falls[-1])
    close_to(summary.max_drawdown_percent, max(parts))
    under = (now - last_peak) / timedelta(microseconds=1) if falls[-1] else 0
    close_to(summary.days_under_water, Fraction(under) / 86_400_000_000)
    signs = "".join("+" if net > 0 else "-" if net < 0 else "0" for net in nets)
    assert summary.longest_win_streak == max(map(len, re.split("[^+]+", signs)))
    assert summary.longest_loss_streak == max(map(len, re.split("[^-]+", signs)))
