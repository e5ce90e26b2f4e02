"""Fees, funding and the profit share."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from copytrade.sandbox.world import costs

from .moments import DAY, HOUR, START

MIDNIGHT = START // DAY * DAY
MONEY = st.decimals(Decimal(-500), Decimal(500), places=4)


def test_a_taker_fee_is_six_hundredths_of_a_percent():
    assert costs.fee(Decimal(100), Decimal(50)) == Decimal(3)


def test_margin_is_price_times_size_by_leverage():
    assert costs.margin(Decimal("95000"), Decimal("0.01"), 8) == Decimal("118.75")


def test_funding_is_paid_only_for_the_eight_hours_lived_through():
    notional = Decimal(10_000)
    assert costs.funding("LONG", notional, MIDNIGHT + HOUR, MIDNIGHT + 7 * HOUR) == 0
    within = costs.funding("LONG", notional, MIDNIGHT + HOUR, MIDNIGHT + 9 * HOUR)
    assert abs(within) == 1
    assert costs.funding("SHORT", notional, MIDNIGHT + HOUR, MIDNIGHT + 9 * HOUR) == -within
    assert costs.funding("LONG", notional, MIDNIGHT + HOUR, MIDNIGHT + 30 * DAY + HOUR) == 30


def test_the_share_taken_at_a_close_is_a_tenth_of_the_profit():
    assert costs.provisional_share(Decimal(40)) == 4
    assert costs.provisional_share(Decimal(-40)) == 0


def test_a_days_share_is_a_tenth_of_what_the_day_brought_after_costs():
    shares = costs.settled_shares(
        [(Decimal(40), Decimal(37)), (Decimal(10), Decimal(8)), (Decimal(-20), Decimal(-22))]
    )
    assert shares == [Decimal("1.84"), Decimal("0.46"), Decimal(0)]


def test_a_day_that_lost_owes_nothing():
    assert costs.settled_shares([(Decimal(10), Decimal(9)), (Decimal(-20), Decimal(-21))]) == [0, 0]


@given(st.lists(st.tuples(MONEY, st.decimals(Decimal(0), Decimal(9), places=4)), max_size=12))
def test_shares_are_never_negative_and_sum_to_a_tenth_of_the_days_result(copies):
    day = [(gross, gross - cost) for gross, cost in copies]
    shares = costs.settled_shares(day)
    earned = max(sum((after for _, after in day), Decimal(0)), Decimal(0))
    assert all(share >= 0 for share in shares)
    assert abs(sum(shares, Decimal(0)) - earned / 10) < Decimal("0.000001")
    assert all(share == 0 for share, (gross, _) in zip(shares, day, strict=True) if gross <= 0)
