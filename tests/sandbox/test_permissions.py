"""Which key may call what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.sandbox.paths import (
    ACCOUNT,
    ASSETS,
    BATCH,
    COMMISSIONS,
    DEALS,
    HISTORY,
    LEAD_HISTORY,
    ORDER,
    ROWS,
    SETTINGS,
    SUBS,
    TRADER,
    TRADERS,
    UNIFIED,
    USERS,
    WITHDRAWALS,
    Row,
)  # fmt: skip
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

Callers = Callable[[str], Caller]
KEYS = ("follower-key", "readonly-key", "lead-key", "affiliate-key")
TRADING = {"place_order", "place_orders", "update_follower_settings"}


def expected(row: Row, key: str) -> tuple[int, int] | None:
    """The refusal that a key gets for an operation; None when it may call it."""
    if row.name in TRADING and key != "follower-key":
        return 403, -1052
    if row.name == "lead_order_history" and key != "lead-key":
        return 403, -3236
    if row.name == "sub_affiliates" and key != "affiliate-key":
        return 403, -1051
    return None


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_key_with_every_operation(exchange: Sandbox, caller_of: Callers, row: Row, key: str) -> None:
    response = ask(caller_of(key), row)
    wanted = expected(row, key)
    if wanted:
        assert refusal(response) == wanted
    elif row.name == "order":
        assert refusal(response) == (404, -2200)  # it may ask; there is no such order yet
    else:
        answer(response)


def ask(caller: Caller, row: Row) -> requests.Response:
    return caller.get(row.path, row.ask) if row.method == "GET" else caller.post(row.path, row.ask)


def test_a_missing_permission_is_named(readonly: Caller) -> None:
    assert "Futures" in readonly.post(SETTINGS, UNIFIED).json()["msg"]
    assert "Spot" in readonly.post(BATCH, {}).json()["msg"]


def test_a_forbidden_write_changes_nothing(exchange: Sandbox, readonly: Caller) -> None:
    before = answer(readonly.get(SETTINGS, f"traderId={TRADER}"))
    assert refusal(readonly.post(SETTINGS, UNIFIED)) == (403, -1052)
    assert answer(readonly.get(SETTINGS, f"traderId={TRADER}")) == before


def test_permission_comes_before_the_parameters(readonly: Caller) -> None:
    assert refusal(readonly.send("POST", ORDER, "not json")) == (403, -1052)


def test_readonly_reads_the_same_account(follower: Caller, readonly: Caller) -> None:
    for path, query in ((TRADERS, ""), (HISTORY, "limit=5"), (SETTINGS, f"traderId={TRADER}")):
        assert answer(readonly.get(path, query)) == answer(follower.get(path, query))
    ours, theirs = answer(follower.get(ACCOUNT)), answer(readonly.get(ACCOUNT))
    assert ours["uid"] == theirs["uid"]
    assert ours["permissions"] == ["READ_ONLY", "SPOT_TRADING", "FUTURES_TRADING"]
    assert theirs["permissions"] == ["READ_ONLY"]
    assert (ours["canTrade"], theirs["canTrade"]) == (True, False)


@pytest.mark.parametrize(
    ("path", "rows"),
    [(COMMISSIONS, "channelCommissionInfoItems"), (USERS, "channelUserInfoItemList"), (ASSETS, "records"),
     (WITHDRAWALS, "items"), (DEALS, "data")],
)  # fmt: skip
def test_who_is_no_affiliate_sees_empty_pages(follower: Caller, path: str, rows: str) -> None:
    found = answer(follower.get(path))
    assert found[rows] == []
    if path != DEALS:
        assert (found["total"], found["pages"]) == (0, 0)


def test_a_copy_trade_key_follows_nobody(lead: Caller) -> None:
    assert answer(lead.get(TRADERS)) == {"list": [], "nextFlag": False, "total": 0}
    assert answer(lead.get(HISTORY))["list"] == []
    assert answer(lead.get(LEAD_HISTORY))["list"]


def test_load_accounts_exist_when_asked_for(exchange: Sandbox) -> None:
    exchange.reset(accounts=3)
    answer(Caller(exchange.url, "load-000003").get(TRADERS))
    for key in ("load-000004", "load-000000", "load-3"):
        assert refusal(Caller(exchange.url, key).get(TRADERS)) == (401, -1044)
    names: list[Any] = [answer(Caller(exchange.url, f"load-00000{n}").get(ACCOUNT))["uid"] for n in (1, 2, 3)]
    assert len(set(names)) == 3


def test_pending_keys_look_unknown_for_a_while(exchange: Sandbox, follower: Caller, readonly: Caller) -> None:
    exchange.fault("*", "key_pending", key="follower-key", lasts=900)
    assert refusal(follower.get(ACCOUNT)) == (401, -1044)
    answer(readonly.get(ACCOUNT))
    exchange.advance(seconds=901)
    answer(follower.get(ACCOUNT, shift_ms=901_000))


def test_an_affiliate_has_its_sub_affiliates(affiliate: Caller) -> None:
    assert answer(affiliate.post(SUBS, {"productType": "FUTURES"}))["records"]
