"""The affiliate's rows: deterministic, filtered, paged, and consistent with each other."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.paths import ASSETS, COMMISSIONS, DEALS, SUBS, USERS, WITHDRAWALS
from tests.sandbox.signer import Caller, answer
from tests.support.sandbox_process import Sandbox

DAY = 86_400_000
LISTS = {COMMISSIONS: "channelCommissionInfoItems", USERS: "channelUserInfoItemList", ASSETS: "records"}


def rows(caller: Caller, path: str, query: str = "") -> list[dict[str, Any]]:
    found = answer(caller.get(path, f"pageSize=100000&{query}"))
    return list(found[LISTS[path]])


@pytest.mark.parametrize("path", LISTS)
def test_pages_make_the_whole(affiliate: Caller, path: str) -> None:
    end = int(time.time() * 1000) - 1000
    query = f"&startTime={end - 6 * DAY}&endTime={end}" if path == COMMISSIONS else f"&endTime={end}"
    whole = rows(affiliate, path, query)
    first = answer(affiliate.get(path, "pageSize=3" + query))
    assert (first["total"], first["pages"]) == (len(whole), -(-len(whole) // 3))
    paged = []
    for page in range(1, first["pages"] + 2):
        paged += answer(affiliate.get(path, f"pageSize=3&page={page}{query}"))[LISTS[path]]
    assert paged == whole


def test_the_same_question_has_the_same_answer_after_a_reset(exchange: Sandbox, affiliate: Caller) -> None:
    end = int(time.time() * 1000) - 1000
    query = f"startTime={end - 80 * DAY}&endTime={end}"
    before = {path: rows(affiliate, path, query) for path in LISTS}
    exchange.reset()
    assert {path: rows(affiliate, path, query) for path in LISTS} == before
    exchange.reset(seed=99)
    assert rows(affiliate, COMMISSIONS, query) != before[COMMISSIONS]


def test_commissions_can_be_narrowed(affiliate: Caller) -> None:
    every = rows(affiliate, COMMISSIONS)
    assert every == sorted(every, key=lambda row: (-row["date"], row["uid"]))
    uid = every[0]["uid"]
    assert rows(affiliate, COMMISSIONS, f"uid={uid}") == [row for row in every if row["uid"] == uid]
    for coin in ("USDT", "BTC"):
        found = rows(affiliate, COMMISSIONS, f"coin={coin}")
        assert found == [row for row in every if row["coin"] == coin]
        assert found
    futures = rows(affiliate, COMMISSIONS, "productType=FUTURES")
    assert {row["productType"] for row in futures} == {"FUTURES"}
    assert {row["sourceType"] for row in futures} == {1, 2}
    assert rows(affiliate, COMMISSIONS, "uid=1") == []


def test_commission_is_fee_times_rate(affiliate: Caller) -> None:
    for row in rows(affiliate, COMMISSIONS):
        assert Decimal(row["commission"]) == Decimal(row["fee"]) * Decimal(row["rate"]) > 0


def test_there_are_rows_for_a_whole_year(affiliate: Caller) -> None:
    now = int(time.time() * 1000)
    for months in range(1, 12, 3):
        end = now - months * 30 * DAY
        assert rows(affiliate, COMMISSIONS, f"startTime={end - 20 * DAY}&endTime={end}")
    assert rows(affiliate, USERS, f"startTime={now - 360 * DAY}&endTime={now - 280 * DAY}")


def test_users_are_selected_by_registration(affiliate: Caller) -> None:
    now = int(time.time() * 1000)
    found = rows(affiliate, USERS)
    assert found
    for row in found:
        assert now - 90 * DAY - 5_000 <= row["registerTime"] < row["firstDeposit"] < row["firstTrade"] <= now
        assert row["firstDeposit"] <= row["lastDeposit"] <= now
        assert row["firstTrade"] <= row["lastTrade"] <= now
    uid = found[0]["uid"]
    assert rows(affiliate, USERS, f"uid={uid}") == found[:1]


def test_totals_agree_with_deal_data(affiliate: Caller) -> None:
    """Both tell a direct user's volumes of the same whole days."""
    end = (int(time.time() * 1000) // DAY - 3) * DAY - 1
    start = end + 1 - 10 * DAY
    first, last = (time.strftime("%Y-%m-%d", time.gmtime(moment / 1000)) for moment in (start, end))
    totals = {row["uid"]: row for row in rows(affiliate, ASSETS, f"startTime={start}&endTime={end}")}
    data = answer(affiliate.get(DEALS, f"startTime={first}&endTime={last}"))["data"]
    assert data
    for row in data:
        total = totals[str(row["userId"])]
        assert row["spotDealAmountUsdt"] == total["spotTradingAmount"]
        assert row["futuresProDealAmountUsdt"] == total["futuresTradingAmount"]


def test_deal_data_of_some_users_by_a_repeated_parameter(affiliate: Caller) -> None:
    everybody = answer(affiliate.get(DEALS))["data"]
    first, second = everybody[0]["userId"], everybody[3]["userId"]
    some = answer(affiliate.get(DEALS, f"userIds={first}&userIds={second}&userIds=12345"))["data"]
    assert [row["userId"] for row in some] == [first, second]
    listed = {int(row["uid"]) for row in rows(affiliate, ASSETS)}
    assert {row["userId"] for row in everybody} < listed  # the others came by sub-agents


def test_withdrawals_by_wallet_coin_and_id(affiliate: Caller) -> None:
    every = answer(affiliate.get(WITHDRAWALS, "pageSize=200"))["items"]
    assert every
    assert {row["status"] for row in every} <= {"SUCCESS", "FAILED", "PROGRESSING"}
    one = every[-1]
    assert answer(affiliate.get(WITHDRAWALS, f"withdrawID={one['withdrawId']}"))["items"] == [one]
    usdt = answer(affiliate.get(WITHDRAWALS, "coin=USDT&pageSize=200"))["items"]
    assert usdt == [row for row in every if row["coin"] == "USDT"]
    funds = answer(affiliate.get(WITHDRAWALS, "toAccountType=FUND&pageSize=200"))["items"]
    assert funds
    assert not {row["withdrawId"] for row in funds} & {row["withdrawId"] for row in every}


def test_sub_affiliates_by_product_and_uid(affiliate: Caller) -> None:
    found = answer(affiliate.post(SUBS, {"productType": "FUTURES", "pageSize": 5}))
    assert (found["size"], found["current"], len(found["records"])) == (5, 1, 5)
    uid = found["records"][0]["subAffiliateUid"]
    one = answer(affiliate.post(SUBS, {"productType": "FUTURES", "subUid": int(uid)}))["records"]
    assert {row["subAffiliateUid"] for row in one} == {uid}
    assert [row["date"] for row in one] == sorted((row["date"] for row in one), reverse=True)
    last = answer(affiliate.post(SUBS, {"productType": "FUTURES", "pageNum": found["pages"], "pageSize": 5}))
    assert 0 < len(last["records"]) <= 5
    week = {"productType": "SPOT", "startTime": int(time.time() * 1000) - 7 * DAY, "endTime": None}
    assert len({row["date"] for row in answer(affiliate.post(SUBS, week))["records"]}) <= 8


def test_new_days_and_users_appear_as_the_clock_goes_on(exchange: Sandbox, affiliate: Caller) -> None:
    before = rows(affiliate, COMMISSIONS)
    exchange.advance(seconds=60 * 86_400)
    shift = 60 * DAY
    after = answer(affiliate.get(COMMISSIONS, "pageSize=1000", shift_ms=shift))["channelCommissionInfoItems"]
    assert after
    assert not {row["date"] for row in before} & {row["date"] for row in after}
    users = answer(affiliate.get(USERS, "", shift_ms=shift))["channelUserInfoItemList"]
    assert max(row["registerTime"] for row in users) > int(time.time() * 1000)
