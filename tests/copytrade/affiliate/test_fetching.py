"""Reports are read window by window, and end as what one look at the whole would have shown."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qs

import pytest
from django.utils import timezone

from copytrade import connections, retention
from copytrade.affiliate import KINDS, AskRefused, ask, totals
from copytrade.affiliate.asking import MOST_WAITING
from copytrade.models import Account, AffiliateReport, AffiliateRow, AffiliateStanding
from tests.support.sandbox_process import Sandbox

from .asked import BOTH, COMMISSIONS, TRADING, USERS, State, days, read_all, records


@pytest.mark.parametrize("slug", KINDS)
def test_each_kind_is_read_and_its_totals_are_the_exact_sums_of_its_rows(
    affiliate: Account, slug: str
) -> None:
    kind = KINDS[slug]
    chosen = days(20) | {"product_type": "both"} | {"from_account_type": "SPOT", "to_account_type": "SPOT"}
    report = read_all(ask(affiliate, kind, {name: chosen.get(name) for name in kind.asks}))
    assert (report.state, report.error, report.done) == (State.DONE, "", len(report.steps))
    rows = records(report)
    assert rows and report.rows == len(rows)
    found = totals.totals(report, kind)
    assert sum(one.n for one in found) == len(rows)
    for place, column in enumerate(kind.summed):
        whole = sum((Decimal(row[column.name]) for row in rows), Decimal(0))
        assert sum((one.sums[place][0] or Decimal(0) for one in found), Decimal(0)) == whole


def test_a_year_of_users_in_five_windows_holds_each_user_once(affiliate: Account, sandbox: Sandbox) -> None:
    report = read_all(ask(affiliate, USERS, days(364)))
    assert len(report.steps) == 5 and report.state == State.DONE
    uids = [row["uid"] for row in records(report)]
    assert len(uids) == len(set(uids)) > 25
    windows = {(step["start"], step["end"]) for step in report.steps}
    asked = [call for call in sandbox.calls()["calls"] if call["operation"] == "affiliate_users"]
    assert len(windows) == len(asked) == 5


def test_the_sums_of_windows_are_the_sums_of_all_their_days(affiliate: Account) -> None:
    """The sandbox sums over a call's window; commissions of the same days, one by one, must come to the same."""
    trading = read_all(ask(affiliate, TRADING, days(180)))
    assert len(trading.steps) == 3
    single = read_all(ask(affiliate, COMMISSIONS, days(180) | BOTH))
    volume: Counter[int] = Counter()
    for row in records(single):
        volume[row["uid"]] += Decimal(row["taker_amount"]) + Decimal(row["maker_amount"])
    sums = {
        row["uid"]: Decimal(row["spot_trading_amount"]) + Decimal(row["futures_trading_amount"])
        for row in records(trading)
    }
    assert len(sums) == trading.rows
    assert {uid: one for uid, one in sums.items() if one} == dict(volume)


def test_a_range_beyond_the_interface_is_refused_with_its_sentence_before_any_call(
    affiliate: Account, sandbox: Sandbox
) -> None:
    before = len(sandbox.calls()["calls"])
    for slug, back in (("users", 366), ("trading", 366), ("withdrawals", 31)):
        with pytest.raises(AskRefused, match="only"):
            ask(affiliate, KINDS[slug], days(back))
    assert len(sandbox.calls()["calls"]) == before
    assert not AffiliateReport.objects.exists()


def test_the_withdrawals_of_another_wallet_and_of_one_id_are_their_own_questions(affiliate: Account) -> None:
    kind, chosen = KINDS["withdrawals"], days(29) | {"from_account_type": "SPOT", "to_account_type": "FUND"}
    every = records(read_all(ask(affiliate, kind, chosen)))
    assert every
    one = records(read_all(ask(affiliate, kind, chosen | {"withdraw_id": every[0]["withdraw_id"]})))
    assert one == [every[0]]


def test_each_operation_is_asked_with_what_the_interface_names_and_its_page_size(
    affiliate: Account, sandbox: Sandbox
) -> None:
    """interface.md, Limits: at most 200 withdrawals a page; 100 is the default of the other lists."""
    before = {call["n"] for call in sandbox.calls()["calls"]}
    chosen = days(2) | {"product_type": "FUTURES", "coin": "BTC", "uid": 7, "sub_uid": 9, "user_ids": [3, 4]}
    for kind in KINDS.values():
        read_all(ask(affiliate, kind, chosen))
    new = [call for call in sandbox.calls()["calls"] if call["n"] not in before]
    asked = {call["operation"]: parse_qs(call["query"]) for call in new}
    bodies = {call["operation"]: json.loads(call["body"]) for call in new if call["body"]}
    sizes = {name: one["pageSize"] for name, one in asked.items() if "pageSize" in one}
    assert sizes == {
        "affiliate_commissions": ["100"], "affiliate_users": ["100"], "affiliate_trades_and_assets": ["100"],
        "internal_withdrawals": ["200"],
    }  # fmt: skip
    commissions = asked["affiliate_commissions"]
    assert (commissions["uid"], commissions["coin"], commissions["productType"]) == (
        ["7"],
        ["BTC"],
        ["FUTURES"],
    )
    assert asked["deal_data"]["userIds"] == ["3", "4"]
    assert asked["deal_data"]["startTime"] == [chosen["since"].isoformat()]
    sub = bodies["sub_affiliates"]
    assert (sub["subUid"], sub["productType"], sub["pageSize"], sub["pageNum"]) == (9, "FUTURES", 100, 1)


def test_deal_data_of_some_customers_says_which_days_the_exchange_took(affiliate: Account) -> None:
    kind = KINDS["deals"]
    everybody = read_all(ask(affiliate, kind, {}))
    assert everybody.told["since"] < everybody.told["until"]
    two = sorted(row["user_id"] for row in records(everybody))[:2]
    some = read_all(ask(affiliate, kind, {"user_ids": two} | days(3)))
    assert sorted(row["user_id"] for row in records(some)) == two
    assert some.told["since"] == days(3)["since"].isoformat()


def test_unknown_values_missing_and_unknown_fields_are_kept_as_they_came(
    affiliate: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("affiliate_commissions", "extra_fields", times=1)
    report = read_all(ask(affiliate, COMMISSIONS, days(3) | {"product_type": "SPOT"}))
    assert all(row["extras"] for row in records(report))
    sandbox.fault("internal_withdrawals", "unknown_status", times=1)
    report = read_all(ask(affiliate, KINDS["withdrawals"], days(29)))
    assert {row["status"] for row in records(report)} - {"SUCCESS", "FAILED", "PROGRESSING"}
    fields = ["commission", "coin", "date"]
    sandbox.fault("affiliate_commissions", "missing_fields", times=1, fields=fields)
    report = read_all(ask(affiliate, COMMISSIONS, days(4) | {"product_type": "SPOT"}))
    assert report.rows and all(row["commission"] is None and row["coin"] is None for row in records(report))
    [total] = totals.totals(report, COMMISSIONS)
    assert total.names == (None, "SPOT") and total.sums[0] == (None, report.rows), "not told is not 0"


def test_a_key_that_is_no_affiliates_is_not_asked_further(follower: Account) -> None:
    assert connections.test(follower).ok
    with pytest.raises(AskRefused, match="Ask the exchange first"):
        ask(follower, USERS, days(3))
    assert AffiliateStanding.objects.get(account=follower).may is False


# --- the same question --------------------------------------------------------------------------------------


def test_the_same_question_is_the_same_report_until_it_is_old_or_asked_again(affiliate: Account) -> None:
    first = ask(affiliate, USERS, days(3))
    assert ask(affiliate, USERS, days(3), again=True) == first, "it is under way"
    read_all(first)
    assert ask(affiliate, USERS, days(3)) == first
    assert ask(affiliate, USERS, days(4)) != first
    second = ask(affiliate, USERS, days(3), again=True)
    assert second != first
    read_all(second)
    AffiliateReport.objects.update(finished_at=timezone.now() - timedelta(minutes=16))
    assert ask(affiliate, USERS, days(3)) not in (first, second)


def test_only_so_many_wait_at_a_time(affiliate: Account) -> None:
    for back in range(MOST_WAITING):
        ask(affiliate, USERS, days(back))
    with pytest.raises(AskRefused, match="being read already"):
        ask(affiliate, USERS, days(MOST_WAITING))


def test_reports_live_for_ninety_days_and_go_with_their_account(affiliate: Account) -> None:
    old, new = (read_all(ask(affiliate, USERS, days(back))) for back in (200, 201))
    AffiliateReport.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=91))
    retention.tidy()
    assert list(AffiliateReport.objects.all()) == [new]
    assert set(AffiliateRow.objects.values_list("report", flat=True)) == {new.pk}
    connections.remove(affiliate)
    assert not AffiliateReport.objects.exists() and not AffiliateRow.objects.exists()
