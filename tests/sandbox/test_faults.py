"""Every fault, as the one who calls sees it, and what it leaves behind."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from copytrade.sandbox.errors import CATALOGUE
from copytrade.sandbox.faults import KINDS
from tests.sandbox.paths import (
    ACCOUNT,
    BILLS,
    COMMISSIONS,
    FUNDING,
    HISTORY,
    LIMIT_ORDER,
    OPEN,
    ORDER,
    SETTINGS,
    TRADER,
    TRADERS,
    UNIFIED,
)  # fmt: skip
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

LOST = (requests.ConnectionError, requests.Timeout)


def orders(exchange: Sandbox) -> int:
    return len(exchange.truth()["spot"]["orders"])


def trace_value(exchange: Sandbox) -> str:
    return str(exchange.truth()["settings"][str(TRADER)][0]["traceValue"])


@pytest.mark.parametrize("code", CATALOGUE)
def test_any_code_with_its_status(exchange: Sandbox, follower: Caller, code: int) -> None:
    exchange.fault("account", "code", code=code)
    assert refusal(follower.get(ACCOUNT)) == (CATALOGUE[code][0], code)
    answer(follower.get(ACCOUNT))


def test_a_code_with_another_status_and_text(exchange: Sandbox, follower: Caller) -> None:
    exchange.fault("account", "code", code=-1054, http=400, msg="insufficient balance")
    response = follower.get(ACCOUNT)
    assert (response.status_code, response.json()["msg"]) == (400, "insufficient balance")


@pytest.mark.parametrize("status", [400, 404, 500, 502, 503, 504])
@pytest.mark.parametrize(("body", "text"), [("html", "<h1>"), ("empty", ""), ("plain words", "plain words")])
def test_any_status_with_what_a_gateway_sends(
    exchange: Sandbox, follower: Caller, status: int, body: str, text: str
) -> None:
    exchange.fault("place_order", "http", http=status, body=body)
    response = follower.post(ORDER, LIMIT_ORDER)
    assert response.status_code == status
    assert text in response.text
    assert bool(response.text) == bool(text)
    assert orders(exchange) == 0


def test_rate_limit_with_and_without_retry_after(exchange: Sandbox, follower: Caller) -> None:
    exchange.fault("account", "rate_limit")
    response = follower.get(ACCOUNT)
    assert refusal(response) == (429, -1003)
    assert "Retry-After" not in response.headers
    exchange.fault("account", "rate_limit", retry_after=7)
    assert follower.get(ACCOUNT).headers["Retry-After"] == "7"


def test_html_with_200(exchange: Sandbox, follower: Caller) -> None:
    exchange.fault("account", "html_200")
    response = follower.get(ACCOUNT)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    with pytest.raises(json.JSONDecodeError):
        response.json()


def test_maintenance_lasts_until_it_is_over(exchange: Sandbox, follower: Caller) -> None:
    exchange.fault("*", "maintenance", lasts=60)
    for _ in range(2):
        assert follower.get(ACCOUNT).status_code == 503
    assert requests.get(exchange.url + "/api/v3/time", timeout=5).status_code == 503
    exchange.advance(seconds=61)
    answer(follower.get(ACCOUNT, shift_ms=61_000))


class TestLost:
    """Writes whose answer never comes, applied or not."""

    @pytest.mark.parametrize(
        ("kind", "more", "applied"),
        [
            ("timeout_before", {"seconds": 5}, False),
            ("timeout_after", {"seconds": 5}, True),
            ("timeout_before", {"seconds": 0}, False),
            ("timeout_after", {"seconds": 0}, True),
            ("reset", {}, False),
            ("reset", {"applied": True}, True),
            ("truncated", {}, True),
        ],
    )
    def test_a_lost_answer(
        self, exchange: Sandbox, follower: Caller, kind: str, more: dict[str, Any], applied: bool
    ) -> None:
        exchange.fault("update_follower_settings", kind, **more)
        before = trace_value(exchange)
        with pytest.raises((*LOST, requests.exceptions.ChunkedEncodingError)):
            follower.post(SETTINGS, UNIFIED, timeout=0.5)
        exchange.clear_faults()
        assert trace_value(exchange) == ("0.5" if applied else before)

    def test_a_lost_answer_may_have_been_a_refusal(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("update_follower_settings", "timeout_after", seconds=0)
        with pytest.raises(LOST):
            follower.post(SETTINGS, UNIFIED | {"traderId": 1})

    @pytest.mark.parametrize("how", ["drop", "timeout", "error"])
    def test_applied_late(self, exchange: Sandbox, follower: Caller, how: str) -> None:
        exchange.fault("update_follower_settings", "apply_late", seconds=0.4, answer=how)
        before = trace_value(exchange)
        if how == "error":
            assert refusal(follower.post(SETTINGS, UNIFIED)) == (500, -1000)
        else:
            with pytest.raises(LOST):
                follower.post(SETTINGS, UNIFIED, timeout=0.2)
        assert trace_value(exchange) == before
        deadline = time.monotonic() + 3
        while trace_value(exchange) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert trace_value(exchange) == "0.5"

    def test_a_reset_of_the_sandbox_forgets_what_was_to_come_late(
        self, exchange: Sandbox, follower: Caller
    ) -> None:
        exchange.fault("update_follower_settings", "apply_late", seconds=0.3)
        with pytest.raises(LOST):
            follower.post(SETTINGS, UNIFIED)
        exchange.reset()
        before = trace_value(exchange)
        time.sleep(0.5)
        assert trace_value(exchange) == before

    def test_a_reset_is_a_reset(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("account", "reset")
        request = f"GET {ACCOUNT} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", exchange.port), 5) as raw:
            raw.sendall(request)
            with pytest.raises(ConnectionResetError):
                raw.recv(100)

    def test_a_held_call_holds_up_nobody_else(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("update_follower_settings", "timeout_after", seconds=20)
        exchange.fault("account", "timeout_before", seconds=20, key="follower-key")
        held = [
            threading.Thread(
                target=lost, args=(lambda: Caller(exchange.url).post(SETTINGS, UNIFIED, timeout=15),)
            ),
            threading.Thread(target=lost, args=(lambda: Caller(exchange.url).get(ACCOUNT, timeout=15),)),
        ]
        for thread in held:
            thread.start()
        time.sleep(0.1)
        started = time.monotonic()
        answer(follower.get(TRADERS))
        assert time.monotonic() - started < 15
        exchange.clear_faults()  # lets the held calls go
        for thread in held:
            thread.join(3)
            assert not thread.is_alive()


def lost(call: Any) -> None:
    with pytest.raises(LOST):
        call()


def test_a_slow_drip_arrives_whole_in_the_end(exchange: Sandbox, follower: Caller) -> None:
    exchange.fault("account", "slow_drip", seconds=0.6)
    started = time.monotonic()
    found = answer(follower.get(ACCOUNT, timeout=1))
    assert time.monotonic() - started > 0.5
    assert found["uid"]


class TestRows:
    def test_duplicated(self, exchange: Sandbox, follower: Caller) -> None:
        plain = answer(follower.get(HISTORY, "limit=5"))["list"]
        exchange.fault("tracking_order_history", "duplicate_rows")
        assert answer(follower.get(HISTORY, "limit=5"))["list"] == plain + plain

    def test_the_page_before_comes_again(self, exchange: Sandbox, follower: Caller) -> None:
        first = answer(follower.get(TRADERS, "pageNo=1&pageSize=2"))
        page = answer(follower.get(HISTORY, "limit=5"))
        exchange.fault("*", "repeat_page", times=0)
        assert answer(follower.get(TRADERS, "pageNo=2&pageSize=2")) == first
        query = "limit=5&nextKeyId={nextKeyId}&nextKeyTime={nextKeyTime}".format(**page["nextKey"])
        assert answer(follower.get(HISTORY, query)) == page

    def test_reordered(self, exchange: Sandbox, follower: Caller) -> None:
        plain = answer(follower.get(OPEN))
        exchange.fault("open_tracking_orders", "reorder_rows")
        assert answer(follower.get(OPEN)) == plain[::-1]

    def test_a_cursor_that_stands_still(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("tracking_order_history", "cursor_loop", times=0)
        key = answer(follower.get(HISTORY, "limit=5"))["nextKey"]
        query = "limit=5&nextKeyId={nextKeyId}&nextKeyTime={nextKeyTime}".format(**key)
        again = answer(follower.get(HISTORY, query))
        assert (again["nextFlag"], again["nextKey"]) == (True, key)

    def test_pages_without_end(self, exchange: Sandbox, follower: Caller, affiliate: Caller) -> None:
        exchange.fault("*", "cursor_loop", times=0)
        assert answer(follower.get(TRADERS, "pageNo=50"))["nextFlag"] is True
        assert answer(follower.post(FUNDING, {"pageIndex": 50}))["hasNextPage"] is True
        assert answer(affiliate.get(COMMISSIONS, "page=50"))["pages"] == 1_000_000

    def test_unknown_words(self, exchange: Sandbox, follower: Caller, affiliate: Caller) -> None:
        exchange.fault("*", "unknown_status", times=0)
        assert {row["status"] for row in answer(follower.get(OPEN))} == {"UNHEARD_OF"}
        assert {row["bizType"] for row in answer(follower.post(BILLS, {}))} == {"UNHEARD_OF"}
        found = answer(affiliate.get(COMMISSIONS))["channelCommissionInfoItems"]
        assert {row["sourceType"] for row in found} == {99}
        exchange.clear_faults()
        assert {row["status"] for row in answer(follower.get(OPEN))} == {"HAVE_OPEN"}

    def test_missing_fields(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("open_tracking_orders", "missing_fields", fields=["trackingNo", "netProfit"])
        for row in answer(follower.get(OPEN)):
            assert not {"trackingNo", "netProfit"} & set(row)
            assert "symbol" in row
        exchange.fault("account", "missing_fields", fields=["accountType"])
        exchange.fault("account", "missing_fields")
        assert "asset" in answer(follower.get(ACCOUNT))["balances"][0]
        assert "locked" not in answer(follower.get(ACCOUNT))["balances"][0]

    def test_extra_fields(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("*", "extra_fields", times=2)
        assert all("addedLater" in row for row in answer(follower.get(OPEN)))
        found = answer(follower.get(HISTORY, "limit=2"))
        assert "addedLater" in found
        assert all("addedLater" in row for row in found["list"])

    def test_numbers_for_strings_are_exact(self, exchange: Sandbox, follower: Caller) -> None:
        plain = answer(follower.get(OPEN))
        exchange.fault("open_tracking_orders", "numbers_for_strings")
        text = follower.get(OPEN).text
        assert f'"openPriceAvg":{plain[0]["openPriceAvg"]},' in text
        assert f'"symbol":"{plain[0]["symbol"]}"' in text
        assert '"closeTime":""' in text
        found = json.loads(text, parse_float=str)
        assert [row["openFee"] for row in found] == [row["openFee"] for row in plain]

    def test_strings_for_numbers(self, exchange: Sandbox, follower: Caller) -> None:
        plain = answer(follower.get(OPEN))
        exchange.fault("open_tracking_orders", "strings_for_numbers")
        found = answer(follower.get(OPEN))
        assert found[0]["trackingNo"] == str(plain[0]["trackingNo"])
        assert found[0]["openLeverage"] == str(plain[0]["openLeverage"])


class TestClock:
    @pytest.mark.parametrize("seconds", [3600, -3600])
    def test_a_server_whose_clock_is_elsewhere(
        self, exchange: Sandbox, follower: Caller, seconds: int
    ) -> None:
        exchange.fault("*", "clock_skew", seconds=seconds)
        assert refusal(follower.get(ACCOUNT)) == (400, -1046)
        told = requests.get(exchange.url + "/api/v3/time", timeout=5).json()["serverTime"]
        offset = told - int(time.time() * 1000)
        assert abs(offset - seconds * 1000) < 2_000
        answer(follower.get(ACCOUNT, shift_ms=offset))
        exchange.clear_faults()
        answer(follower.get(ACCOUNT))


class TestChoosing:
    def test_times_after_and_key(self, exchange: Sandbox, follower: Caller, readonly: Caller) -> None:
        exchange.fault("account", "code", code=-1000, times=2, after=1, key="follower-key")
        answer(readonly.get(ACCOUNT))
        seen = [follower.get(ACCOUNT).status_code for _ in range(5)]
        assert seen == [200, 500, 500, 200, 200]

    def test_only_the_operation_that_was_named(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("my_traders", "code", code=-1000, times=0)
        answer(follower.get(ACCOUNT))
        assert refusal(follower.get(TRADERS)) == (500, -1000)
        shown = exchange.control("GET", "faults")["faults"]
        assert [(fault["operation"], fault["used"]) for fault in shown] == [("my_traders", 1)]

    def test_oldest_first(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("account", "code", code=-1000)
        exchange.fault("account", "code", code=-1057)
        assert [refusal(follower.get(ACCOUNT))[1] for _ in range(2)] == [-1000, -1057]

    def test_a_fault_is_in_the_log_of_calls(self, exchange: Sandbox, follower: Caller) -> None:
        exchange.fault("account", "reset")
        with pytest.raises(LOST):
            follower.get(ACCOUNT)
        (call,) = exchange.calls()["calls"]
        assert (call["operation"], call["fault"], call["status"]) == ("account", "reset", None)

    @pytest.mark.parametrize(
        ("wanted", "word"),
        [
            ({"kind": "nonsense"}, "kind must be"),
            ({}, "kind must be"),
            ({"kind": "code"}, "code must be"),
            ({"kind": "code", "code": -1}, "code must be"),
            ({"kind": "http"}, "http must be"),
            ({"kind": "http", "http": 99}, "http must be"),
            ({"kind": "reset", "operation": "nothing"}, "operation must be"),
            ({"kind": "reset", "times": -1}, "cannot be negative"),
            ({"kind": "timeout_after", "seconds": -1}, "cannot be negative"),
            ({"kind": "reset", "times": "2"}, "times must be int"),
            ({"kind": "reset", "whatever": 1}, "no field whatever"),
        ],
    )
    def test_nonsense_is_explained(self, exchange: Sandbox, wanted: dict[str, Any], word: str) -> None:
        response = requests.post(exchange.url + "/sandbox/faults", json=wanted, timeout=5)
        assert response.status_code == 400
        assert word in response.json()["error"]
        assert exchange.control("GET", "faults") == {"faults": []}


def test_every_kind_is_tried_here() -> None:
    source = Path(__file__).read_text("utf-8") + Path(__file__).with_name("test_permissions.py").read_text(
        "utf-8"
    )
    assert {kind for kind in KINDS if f'"{kind}"' not in source} == set()
