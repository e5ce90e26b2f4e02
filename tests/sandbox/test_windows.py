"""Time windows at their edges, and what is used when nothing is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from copytrade.sandbox.windows import three_months_after
from tests.sandbox.paths import (
    ASSETS,
    BILLS,
    COMMISSIONS,
    DEALS,
    FUNDING,
    HISTORY,
    LEAD_HISTORY,
    SUBS,
    USERS,
    WITHDRAWALS,
)  # fmt: skip
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

DAY = 86_400_000
SLACK = 5_000  # real time that may pass between asking and answering
TOO_LONG, BACKWARDS = (400, -1170), (400, -1171)
Callers = Callable[[str], Caller]


def now() -> int:
    return int(time.time() * 1000)


@pytest.mark.parametrize(("key", "path"), [("follower-key", HISTORY), ("lead-key", LEAD_HISTORY)])
class TestCopyHistory:
    def test_ninety_days_are_allowed(
        self, exchange: Sandbox, caller_of: Callers, key: str, path: str
    ) -> None:
        ask = caller_of(key).get
        end = now() - 20 * DAY
        answer(ask(path, f"startTime={end - 90 * DAY}&endTime={end}"))
        assert refusal(ask(path, f"startTime={end - 90 * DAY - 1}&endTime={end}")) == TOO_LONG

    def test_a_start_alone_reaches_until_now(
        self, exchange: Sandbox, caller_of: Callers, key: str, path: str
    ) -> None:
        answer(caller_of(key).get(path, f"startTime={now() - 90 * DAY + SLACK}"))
        assert refusal(caller_of(key).get(path, f"startTime={now() - 90 * DAY - SLACK}")) == TOO_LONG

    def test_an_end_alone_reaches_ninety_days_back(
        self, exchange: Sandbox, caller_of: Callers, key: str, path: str
    ) -> None:
        end = now() - 60 * DAY
        found = answer(caller_of(key).get(path, f"endTime={end}"))["list"]
        assert found
        assert all(end - 90 * DAY <= closed(row) <= end for row in found)

    def test_backwards_is_refused(self, exchange: Sandbox, caller_of: Callers, key: str, path: str) -> None:
        ask = caller_of(key).get
        assert refusal(ask(path, f"startTime={now()}&endTime={now() - 1000}")) == BACKWARDS
        moment = now() - DAY
        answer(ask(path, f"startTime={moment}&endTime={moment}"))

    def test_the_last_ninety_days_are_the_default(
        self, exchange: Sandbox, caller_of: Callers, key: str, path: str
    ) -> None:
        query, rows = "", []
        while True:
            page = answer(caller_of(key).get(path, query))
            rows += page["list"]
            if not page["nextFlag"]:
                break
            query = f"nextKeyId={page['nextKey']['nextKeyId']}&nextKeyTime={page['nextKey']['nextKeyTime']}"
        assert min(closed(row) for row in rows) >= now() - 90 * DAY - SLACK
        everything = exchange.truth("lead" if key == "lead-key" else "follower")
        known = everything["lead" if key == "lead-key" else "closed"]
        recent = {row["trackingNo"] for row in known if closed(row) >= now() - 90 * DAY}
        assert {row["trackingNo"] for row in rows} == recent


def closed(row: dict[str, object]) -> int:
    return int(str(row.get("closeTime") or row["updateTime"]))


class TestCommissions:
    def test_the_default_is_the_last_seven_days(self, affiliate: Caller) -> None:
        rows = answer(affiliate.get(COMMISSIONS, "pageSize=100000"))["channelCommissionInfoItems"]
        assert now() - 7 * DAY - SLACK <= min(row["date"] for row in rows)
        assert min(row["date"] for row in rows) < now() - 5 * DAY
        assert max(row["date"] for row in rows) <= now() + SLACK

    def test_three_calendar_months_are_allowed(self, affiliate: Caller) -> None:
        start = now() - 200 * DAY
        end = three_months_after(start)
        answer(affiliate.get(COMMISSIONS, f"startTime={start}&endTime={end}"))
        assert refusal(affiliate.get(COMMISSIONS, f"startTime={start}&endTime={end + 1}")) == TOO_LONG

    @pytest.mark.parametrize(
        ("start", "end"),
        [((2026, 1, 31), (2026, 4, 30)), ((2026, 11, 30), (2027, 2, 28)), ((2027, 11, 30), (2028, 2, 29)),
         ((2026, 8, 15), (2026, 11, 15))],
    )  # fmt: skip
    def test_three_months_end_on_the_same_day_or_the_months_last(
        self, start: tuple[int, int, int], end: tuple[int, int, int]
    ) -> None:
        first, last = (int(datetime(*day, 7, 30, tzinfo=UTC).timestamp() * 1000) for day in (start, end))
        assert three_months_after(first) == last

    def test_backwards_is_refused(self, affiliate: Caller) -> None:
        query = f"startTime={now()}&endTime={now() - 1000}"
        assert refusal(affiliate.get(COMMISSIONS, query)) == BACKWARDS
        # the start is 7 days before now, whatever the end
        assert refusal(affiliate.get(COMMISSIONS, f"endTime={now() - 8 * DAY}")) == BACKWARDS


@pytest.mark.parametrize("path", [USERS, ASSETS])
class TestNinetyDays:
    def test_at_most_ninety_days(self, affiliate: Caller, path: str) -> None:
        end = now() - 100 * DAY
        answer(affiliate.get(path, f"startTime={end - 90 * DAY}&endTime={end}"))
        assert refusal(affiliate.get(path, f"startTime={end - 90 * DAY - 1}&endTime={end}")) == TOO_LONG

    def test_starting_within_the_last_year(self, affiliate: Caller, path: str) -> None:
        start = now() - 365 * DAY
        answer(affiliate.get(path, f"startTime={start + SLACK}&endTime={start + DAY}"))
        assert refusal(affiliate.get(path, f"startTime={start - SLACK}&endTime={start + DAY}")) == TOO_LONG

    def test_the_end_is_later_than_the_start(self, affiliate: Caller, path: str) -> None:
        moment = now() - DAY
        for end in (moment, moment - 1):
            assert refusal(affiliate.get(path, f"startTime={moment}&endTime={end}")) == BACKWARDS

    def test_the_default_start_is_ninety_days_before_the_end(self, affiliate: Caller, path: str) -> None:
        end = now() - 30 * DAY
        explicit = answer(affiliate.get(path, f"startTime={end - 90 * DAY}&endTime={end}"))
        assert answer(affiliate.get(path, f"endTime={end}")) == explicit


class TestWithdrawals:
    def test_only_the_past_31_days(self, affiliate: Caller) -> None:
        oldest = now() - 31 * DAY
        answer(affiliate.get(WITHDRAWALS, f"startTime={oldest + SLACK}"))
        assert refusal(affiliate.get(WITHDRAWALS, f"startTime={oldest - SLACK}")) == TOO_LONG
        assert refusal(affiliate.get(WITHDRAWALS, f"endTime={oldest - SLACK}")) == TOO_LONG
        assert refusal(affiliate.get(WITHDRAWALS, f"startTime={now()}&endTime={now() - 1000}")) == BACKWARDS

    def test_the_window_selects(self, affiliate: Caller) -> None:
        start, end = now() - 20 * DAY, now() - 10 * DAY
        rows = answer(affiliate.get(WITHDRAWALS, f"startTime={start}&endTime={end}"))["items"]
        assert rows
        assert all(start <= row["createTime"] <= end for row in rows)


def test_deal_data_tells_the_dates_it_applied(affiliate: Caller) -> None:
    today = datetime.now(UTC).date()
    found = answer(affiliate.get(DEALS))
    assert (found["startTime"], found["endTime"]) == (str(today - timedelta(days=30)), str(today))
    found = answer(affiliate.get(DEALS, "endTime=2026-08-31"))
    assert (found["startTime"], found["endTime"]) == ("2026-08-01", "2026-08-31")
    found = answer(affiliate.get(DEALS, "startTime=2026-08-05&endTime=2026-08-05"))
    assert (found["startTime"], found["endTime"]) == ("2026-08-05", "2026-08-05")
    assert refusal(affiliate.get(DEALS, "startTime=2026-08-06&endTime=2026-08-05")) == BACKWARDS


def test_bills_and_sub_affiliates_refuse_a_window_backwards(affiliate: Caller, follower: Caller) -> None:
    backwards = {"startTime": now(), "endTime": now() - 1000}
    assert refusal(affiliate.post(SUBS, {"productType": "SPOT"} | backwards)) == BACKWARDS
    assert refusal(follower.post(FUNDING, backwards)) == BACKWARDS
    assert refusal(follower.post(BILLS, {"after": now(), "before": now() - 1000})) == BACKWARDS
