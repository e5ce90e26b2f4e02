"""The bounds of interface.md's table, one by one, and windows that cover a range without a hole."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.affiliate.kinds import (
    COMMISSIONS,
    DEALS,
    KINDS,
    SUB_AFFILIATES,
    TRADING,
    USERS,
    WITHDRAWALS,
    Kind,
)
from copytrade.exchange import ranges
from copytrade.exchange.checks import prepare

NOW = datetime(2026, 5, 4, 9, 30, 15, 123456, UTC)
TODAY = NOW.date()
MS = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        (COMMISSIONS, date(2016, 1, 1)),
        (USERS, date(2025, 5, 5)),
        (TRADING, date(2025, 5, 5)),
        (WITHDRAWALS, date(2026, 4, 4)),
        (SUB_AFFILIATES, date(1970, 1, 1)),
        (DEALS, date(1970, 1, 1)),
    ],
    ids=lambda one: one.slug if isinstance(one, Kind) else "",
)
def test_the_first_day_that_may_be_asked_for_lies_whole_within_the_reach(kind: Kind, first: date) -> None:
    assert ranges.days(kind.operation, NOW) == ranges.Days(first, TODAY)
    assert ranges.refusal(kind.operation, first, TODAY, NOW) is None
    found = ranges.refusal(kind.operation, first - timedelta(days=1), TODAY, NOW)
    assert found is not None and found[0] == "since" and first.isoformat() in found[1]


def test_the_sentences_name_the_bound() -> None:
    long_ago = date(2020, 1, 1)
    said = {kind.slug: ranges.refusal(kind.operation, long_ago, TODAY, NOW) for kind in KINDS.values()}
    assert said["users"] and "last 365 days" in said["users"][1]
    assert said["trading"] and "last 365 days" in said["trading"][1]
    assert said["withdrawals"] and "past month only (31 days)" in said["withdrawals"][1]
    assert said["commissions"] is None and said["sub-affiliates"] is None and said["deals"] is None
    tomorrow = TODAY + timedelta(days=1)
    assert ranges.refusal(DEALS.operation, None, tomorrow, NOW) == (
        "until",
        "Today is 2026-05-04 (UTC). Choose that day or an earlier one.",
    )
    backwards = ranges.refusal(COMMISSIONS.operation, TODAY, TODAY - timedelta(days=1), NOW)
    assert backwards == ("until", "The last day must not be before the first.")


@given(
    kind=st.sampled_from([COMMISSIONS, USERS, TRADING, WITHDRAWALS, SUB_AFFILIATES]),
    back=st.integers(0, 3600),
    length=st.integers(0, 3600),
    seconds=st.floats(0, 5 * 365 * 86_400),
)
def test_windows_cover_the_days_exactly_and_each_may_be_asked(
    kind: Kind, back: int, length: int, seconds: float
) -> None:
    now = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    allowed = ranges.days(kind.operation, now)
    since = max(allowed.first, allowed.last - timedelta(days=back))
    until = min(since + timedelta(days=length), allowed.last)
    found = ranges.windows(kind.operation, since, until, now, shared=not kind.sums)
    assert found[0][0] == datetime.combine(since, datetime.min.time(), UTC)
    end = datetime.combine(until, datetime.min.time(), UTC) + timedelta(days=1) - MS
    assert (
        found[-1][1] == end
        or (until == allowed.last and timedelta(0) <= now - found[-1][1] < MS)
        or (
            found[-1][1] - found[-1][0] == MS  # the day has only just begun
        )
    )
    apart = MS if kind.sums else timedelta(0)
    assert all(later[0] - earlier[1] == apart for earlier, later in pairwise(found))
    for start, stop in found:
        required = {"product_type": "SPOT"} if kind is SUB_AFFILIATES else {}
        prepare(kind.operation, {"start_time": start, "end_time": stop} | required, max(now, stop))


def test_three_months_are_calendar_months() -> None:
    found = ranges.windows(COMMISSIONS.operation, date(2025, 11, 30), date(2026, 5, 3), NOW)
    assert [(start.date(), stop.date()) for start, stop in found] == [
        (date(2025, 11, 30), date(2026, 2, 28)),
        (date(2026, 2, 28), date(2026, 5, 3)),
    ]
