"""Laws of the figures that hold for any copies, in any order, against slower and plainer reckonings."""

from __future__ import annotations

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
