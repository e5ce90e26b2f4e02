"""The cost gap in parts, and what realizedPnl already contains by an account's own data."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.statistics import costs
from copytrade.statistics.costs import BOTH_FEES, NOTHING, OPEN_FEE, Fill, Support

D = Decimal
# 0.01 BTC from 50,000 to 51,000 at 0.06 %: 10 of the prices, 0.30 to open, 0.306 to close.
LONG = Fill("LONG", D(50_000), D("0.01"), D("0.3"), D(51_000), D("0.01"), D(10), D("9"))
REPORTED = {NOTHING: D(10), OPEN_FEE: D("9.7"), BOTH_FEES: D("9.394")}

money = st.decimals(-10_000, 10_000, places=4)
positive = st.decimals(D("0.0001"), 100_000, places=4)
fills = st.builds(
    Fill,
    side=st.sampled_from(["LONG", "SHORT", "BOTH"]),
    open_price=positive | st.none(),
    open_size=positive | st.none(),
    open_fee=positive | st.none() | st.just(D(0)),
    close_price=positive | st.none(),
    close_size=positive | st.none(),
    realized=money | st.none(),
    net=money,
)


def test_the_closing_fee_is_estimated_at_the_rate_of_the_opening() -> None:
    assert costs.close_fee(LONG) == D("0.306")
    for unknown in ("open_price", "open_size", "open_fee", "close_price", "close_size"):
        assert costs.close_fee(replace(LONG, **{unknown: None})) is None


def test_a_short_earns_when_the_price_falls() -> None:
    assert costs.price_result(LONG) == 10
    assert costs.price_result(replace(LONG, side="SHORT")) == -10
    assert costs.price_result(replace(LONG, side="BOTH")) is None


@pytest.mark.parametrize("reading", REPORTED)
def test_twenty_copies_that_agree_decide_what_the_realized_result_contains(reading: str) -> None:
    one = replace(LONG, realized=REPORTED[reading])
    assert costs.readings_met(one) == {reading}
    assert costs.support([one] * 19).decided is None
    found = costs.support([one] * 20)
    assert found.decided == reading
    assert "20 of 20 copies" in found.sentence
    mixed = costs.support([one] * 20 + [replace(LONG, realized=D(0))] * 3)
    assert mixed.decided is None, "fewer than nine in ten agree"
    assert "cannot be told" in mixed.sentence


def test_copies_that_cannot_tell_are_not_counted() -> None:
    silent = [replace(LONG, open_fee=None), replace(LONG, open_fee=D(0)), replace(LONG, realized=None)]
    assert costs.support(silent) == Support(0, {NOTHING: 0, OPEN_FEE: 0, BOTH_FEES: 0})


def test_what_is_contained_already_is_no_part_of_the_gap() -> None:
    told = costs.split([LONG], NOTHING)
    assert (told.open_fees, told.close_fees, told.unexplained) == (D("0.3"), D("0.306"), D("0.394"))
    told = costs.split([replace(LONG, realized=D("9.394"))], BOTH_FEES)
    assert (told.gap, told.open_fees, told.close_fees) == (D("0.394"), 0, 0)
    assert (told.unexplained, told.contained) == (D("0.394"), D("0.606"))
    told = costs.split([replace(LONG, realized=D("9.7"))], OPEN_FEE)
    assert (told.open_fees, told.close_fees, told.unexplained) == (0, D("0.306"), D("0.394"))


def test_a_copy_without_prices_is_said_to_be_unestimated() -> None:
    assert costs.split([LONG, replace(LONG, close_price=None)], None).unestimated == 1


@given(st.lists(fills, max_size=12), st.sampled_from([None, *REPORTED]))
def test_the_parts_always_add_up_to_the_gap_exactly(some: list[Fill], decided: str | None) -> None:
    told = costs.split(some, decided)
    gross = sum((fill.net if fill.realized is None else fill.realized for fill in some), D(0))
    assert told.gap == gross - sum((fill.net for fill in some), D(0))
    # To the last of the 50 digits that a division keeps.
    assert abs(told.open_fees + told.close_fees + told.unexplained - told.gap) < D("1e-15")


@given(st.lists(fills, max_size=12), st.integers(0, 12))
def test_support_is_the_same_in_parts_and_in_any_order(some: list[Fill], at: int) -> None:
    whole = costs.support(some)
    assert whole == costs.support(some[::-1])
    assert whole == costs.joined([costs.support(some[:at]), costs.support(some[at:])])
