"""Types, bounds, choices and defaults of parameters, each at its edge. Bounds are interface.md's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.sandbox.paths import (
    ACCOUNT,
    ASSETS,
    BILLS,
    COMMISSIONS,
    DEALS,
    FUNDING,
    HISTORY,
    LEAD_HISTORY,
    LIMIT_ORDER,
    OPEN,
    ORDER,
    SETTINGS,
    SUBS,
    TRADERS,
    USERS,
    WITHDRAWALS,
)  # fmt: skip
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

Callers = Callable[[str], Caller]
KEYS = {
    LEAD_HISTORY: "lead-key",
    **dict.fromkeys((COMMISSIONS, USERS, ASSETS, WITHDRAWALS, SUBS, DEALS), "affiliate-key"),
}
POSTED = {BILLS, FUNDING, SUBS}
BASE: dict[str, dict[str, Any]] = {SUBS: {"productType": "SPOT"}}

# path, parameter, lowest, highest that is accepted (None: no ceiling is stated)
BOUNDS = [
    (COMMISSIONS, "page", 1, None), (COMMISSIONS, "pageSize", 1, None),
    (USERS, "page", 1, None), (USERS, "pageSize", 1, None),
    (ASSETS, "page", 1, None), (ASSETS, "pageSize", 1, None),
    (WITHDRAWALS, "page", 1, None), (WITHDRAWALS, "pageSize", 1, 200),
    (SUBS, "pageNum", 1, None), (SUBS, "pageSize", 1, None),
    (BILLS, "limit", 1, 100),
    (FUNDING, "pageIndex", 1, None), (FUNDING, "pageSize", 1, 100),
    (OPEN, "limit", 1, 100), (OPEN, "page", 1, None),
    (HISTORY, "limit", 1, 100), (LEAD_HISTORY, "limit", 1, 100),
    (TRADERS, "pageNo", 1, None), (TRADERS, "pageSize", 1, 100),
]  # fmt: skip


@pytest.fixture
def ask(exchange: Sandbox, caller_of: Callers) -> Callable[..., requests.Response]:
    """ask(path, name=value): the operation by the key that may, with these parameters."""

    def call(path: str, **params: Any) -> requests.Response:
        caller = caller_of(KEYS.get(path, "follower-key"))
        if path in POSTED:
            return caller.post(path, BASE.get(path, {}) | params)
        return caller.get(path, "&".join(f"{name}={value}" for name, value in params.items()))

    return call


Ask = Callable[..., requests.Response]


@pytest.mark.parametrize(("path", "name", "low", "high"), BOUNDS)
def test_a_number_is_accepted_up_to_its_bounds_and_not_beyond(
    ask: Ask, path: str, name: str, low: int, high: int | None
) -> None:
    answer(ask(path, **{name: low}))
    assert refusal(ask(path, **{name: low - 1})) == (400, -1140)
    assert refusal(ask(path, **{name: -5})) == (400, -1140)
    if high is None:
        answer(ask(path, **{name: 100_000}))
    else:
        answer(ask(path, **{name: high}))
        assert refusal(ask(path, **{name: high + 1})) == (400, -1140)


@pytest.mark.parametrize("text", ["one", "1.0", "1e2", "+1", "", "0x1", "%D9%A1", "1%20", "9" * 20])
def test_a_number_in_a_query_is_plain_digits(ask: Ask, text: str) -> None:
    assert refusal(ask(OPEN, limit=text)) == (400, -1142)
    assert refusal(ask(HISTORY, startTime=text)) == (400, -1142)


@pytest.mark.parametrize("value", ["1", 1.0, 1.5, True, [1], {}])
def test_an_integer_in_a_body_is_an_integer(ask: Ask, value: object) -> None:
    assert refusal(ask(BILLS, limit=value)) == (400, -1142)


def test_a_long_in_a_body_may_be_a_string_of_digits(ask: Ask) -> None:
    assert answer(ask(BILLS, after="1", limit=100)) == answer(ask(BILLS, after=1, limit=100))
    for value in ("one", "1.0", "", 1.5, True):
        assert refusal(ask(BILLS, after=value)) == (400, -1142)


def test_null_in_a_body_is_absent(ask: Ask) -> None:
    nothing = {"coinId": None, "bizType": None, "after": None, "before": None, "limit": None}
    assert answer(ask(BILLS, **nothing)) == answer(ask(BILLS))
    assert answer(ask(SUBS, startTime=None, endTime=None, subUid=None)) == answer(ask(SUBS))
    assert refusal(ask(SUBS, productType=None)) == (400, -1128)


def test_a_parameter_is_given_once(ask: Ask) -> None:
    assert refusal(ask(OPEN, limit="1&limit=2")) == (400, -1142)


def test_unknown_parameters_are_ignored(ask: Ask) -> None:
    answer(ask(OPEN, somethingElse="x"))
    answer(ask(BILLS, somethingElse="x"))


@pytest.mark.parametrize(
    ("path", "name", "good"),
    [
        (COMMISSIONS, "coin", ["USDT", "BTC"]),
        (COMMISSIONS, "productType", ["SPOT", "FUTURES"]),
        (WITHDRAWALS, "coin", ["USDT", "BTC"]),
        (WITHDRAWALS, "fromAccountType", ["SPOT", "FUND"]),
        (WITHDRAWALS, "toAccountType", ["SPOT", "FUND"]),
        (SUBS, "productType", ["SPOT", "FUTURES"]),
    ],
)
def test_a_choice_is_one_of_its_words(ask: Ask, path: str, name: str, good: list[str]) -> None:
    for word in good:
        answer(ask(path, **{name: word}))
    for word in (good[0].lower(), "OTHER"):
        assert refusal(ask(path, **{name: word})) == (400, -1142)


@pytest.mark.parametrize(
    ("path", "params", "code"),
    [
        (SETTINGS, {}, -1128),
        (SETTINGS, {"traderId": "x"}, -1142),
        (SETTINGS, {"traderId": 123456}, -1142),
        (ORDER, {}, -1128),
        (HISTORY, {"nextKeyId": 1}, -1128),
        (HISTORY, {"nextKeyTime": 1}, -1128),
        (DEALS, {"startTime": "2026-2-1"}, -1142),
        (DEALS, {"endTime": "2026-02-30"}, -1142),
        (DEALS, {"endTime": 1795244892011}, -1142),
        (DEALS, {"userIds": "x"}, -1142),
    ],
)
def test_missing_and_malformed_ones_have_their_codes(
    ask: Ask, path: str, params: dict[str, Any], code: int
) -> None:
    assert refusal(ask(path, **params)) == (400, code)


@pytest.mark.parametrize(
    "body",
    ["{", "nonsense", '{"limit":NaN}', '{"limit":Infinity}', "[]", '"text"', "1", "[" * 50_000,
     '{"limit":' + "9" * 5_000 + "}"],
)  # fmt: skip
def test_what_is_not_a_json_object_is_refused(follower: Caller, body: str) -> None:
    assert refusal(follower.send("POST", BILLS, body)) == (400, -1135)


def test_the_defaults_are_those_of_the_interface(ask: Ask) -> None:
    sizes = {COMMISSIONS: 100, USERS: 100, ASSETS: 100, WITHDRAWALS: 100, FUNDING: 10}
    for path, size in sizes.items():
        assert answer(ask(path))["pageSize"] == size
    assert answer(ask(SUBS))["size"] == 100
    assert len(answer(ask(BILLS))) == 10
    assert len(answer(ask(HISTORY))["list"]) == 100
    assert {row["productType"] for row in answer(ask(COMMISSIONS))["channelCommissionInfoItems"]} == {"SPOT"}


ORDERS = [
    ({"side": None}, -1128), ({"side": "buy"}, -1117), ({"side": 1}, -1117),
    ({"type": None}, -1128), ({"type": "STOP"}, -1116),
    ({"timeInForce": None}, -1128), ({"timeInForce": "DAY"}, -1115),
    ({"price": None}, -1128), ({"price": "0"}, -1140), ({"price": "-1"}, -1140), ({"price": "1e3"}, -1142),
    ({"quantity": None}, -1128), ({"quantity": "0"}, -1140), ({"quantity": 0.001}, -1142), ({"quantity": 1}, -1142),
    ({"quantity": ""}, -1142), ({"quantity": ".5"}, -1142), ({"quantity": "1" * 37}, -1142),
    ({"symbol": None}, -1128), ({"symbol": 5}, -1142), ({"newClientOrderId": ""}, -1142),
    ({"newClientOrderId": 7}, -1142),
]  # fmt: skip


@pytest.mark.parametrize(("change", "code"), ORDERS)
def test_a_malformed_order_is_refused_whole(
    exchange: Sandbox, follower: Caller, change: dict[str, Any], code: int
) -> None:
    bad = LIMIT_ORDER | change
    assert refusal(follower.post(ORDER, bad)) == (400, code)
    batch = {"symbol": bad["symbol"], "orderList": [LIMIT_ORDER, bad]}
    assert refusal(follower.post(ORDER + "/batch", batch)) == (400, code)
    assert exchange.truth()["spot"]["orders"] == []


def test_a_market_order_needs_neither_price_nor_time_in_force(follower: Caller) -> None:
    order = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.001"}
    answer(follower.post(ORDER, order))
    assert refusal(follower.post(ORDER, order | {"price": "cheap"})) == (400, -1142)


@pytest.mark.parametrize("orders", [[], [LIMIT_ORDER] * 11, "text", [1], [[]], {}, None])
def test_a_batch_holds_one_to_ten_orders(follower: Caller, orders: object) -> None:
    status, code = refusal(follower.post(ORDER + "/batch", {"symbol": "BTCUSDT", "orderList": orders}))
    assert status == 400
    assert code == {"[]": -1140, "null": -1128}.get(json.dumps(orders), -1140 if _eleven(orders) else -1142)


def _eleven(orders: object) -> bool:
    return isinstance(orders, list) and len(orders) == 11


def test_ten_orders_are_accepted(follower: Caller) -> None:
    found = answer(follower.post(ORDER + "/batch", {"symbol": "BTCUSDT", "orderList": [LIMIT_ORDER] * 10}))
    assert len({row["orderId"] for row in found["orderList"]}) == 10


def test_account_takes_no_parameters_and_ignores_any(follower: Caller) -> None:
    assert answer(follower.get(ACCOUNT, "page=0"))["uid"]
