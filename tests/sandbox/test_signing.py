"""Who is calling: the headers, in the order in which they are checked, and the bytes that are signed."""

from __future__ import annotations

import json
import time

import pytest
import requests

from copytrade.sandbox.signing import signature
from tests.sandbox import signer
from tests.sandbox.paths import ACCOUNT, BILLS, OPEN, SETTINGS, TRADER
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

VECTORS = [
    (
        "1659076670000GET/capi/v3/copy/follower/settings?traderId=123456",
        "8cFb/dUBt9kqV4BYzK1Ze8OBlrssCZ9eapN6uSOJ000=",
    ),
    (
        "1591089508404GET/api/v3/market/depth?symbol=BTCUSDT&limit=20",
        "tRf5+lw590XPJQqlTWTdbvE4wExekCWM2wkap/YFldQ=",
    ),
    ("1659076670000GET/api/v3/account", "nPNt1O53MHEwgA9e+aAbB/OPw18WIbQIYgFA09Xm2Tw="),
    ("1659076670000GET/api/v3/account/", "dEMq9WQmoPjz07QKu9G+cfuBaKdSpIAYYvLzYk//oF4="),
]


@pytest.mark.parametrize(("text", "wanted"), VECTORS)
def test_signatures_are_those_of_the_vectors(text: str, wanted: str) -> None:
    assert signature("weex-lab-secret", text.encode()) == wanted
    assert signer.sign("weex-lab-secret", text) == wanted


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"ACCESS-KEY": None}, (400, -1040)),
        ({"ACCESS-SIGN": None}, (400, -1041)),
        ({"ACCESS-TIMESTAMP": None}, (400, -1042)),
        ({"ACCESS-TIMESTAMP": "1795244892"}, (400, -1043)),
        ({"ACCESS-TIMESTAMP": "17952448920000"}, (400, -1043)),
        ({"ACCESS-TIMESTAMP": "yesterday"}, (400, -1043)),
        ({"ACCESS-TIMESTAMP": "1659076670000"}, (400, -1046)),
        ({"ACCESS-KEY": "nobody-key"}, (401, -1044)),
        ({"ACCESS-KEY": "load-000001"}, (401, -1044)),
        ({"ACCESS-PASSPHRASE": None}, (401, -1049)),
        ({"ACCESS-PASSPHRASE": "Sandbox"}, (401, -1049)),
        ({"ACCESS-SIGN": "nonsense"}, (401, -1047)),
        ({"ACCESS-SIGN": "8cFb/dUBt9kqV4BYzK1Ze8OBlrssCZ9eapN6uSOJ000="}, (401, -1047)),
    ],
)
def test_a_bad_header_has_its_code(
    follower: Caller, headers: dict[str, str | None], wanted: tuple[int, int]
) -> None:
    assert refusal(follower.get(ACCOUNT, headers=headers)) == wanted


def test_headers_are_checked_in_one_order(follower: Caller) -> None:
    """Each step mends what the step before complained about."""
    bad: dict[str, str | None] = {
        "ACCESS-KEY": None, "ACCESS-SIGN": None, "ACCESS-TIMESTAMP": None, "ACCESS-PASSPHRASE": None,
    }  # fmt: skip
    codes = []
    for name, value in [
        ("ACCESS-KEY", "nobody"),
        ("ACCESS-SIGN", "nonsense"),
        ("ACCESS-TIMESTAMP", "x"),
        ("ACCESS-TIMESTAMP", "1659076670000"),
        ("ACCESS-TIMESTAMP", str(int(time.time() * 1000))),
        ("ACCESS-KEY", "follower-key"),
        ("ACCESS-PASSPHRASE", "sandbox"),
    ]:
        codes.append(refusal(follower.get(ACCOUNT, headers=dict(bad)))[1])
        bad[name] = value
    codes.append(refusal(follower.get(ACCOUNT, headers=bad))[1])
    assert codes == [-1040, -1041, -1042, -1043, -1046, -1044, -1049, -1047]


@pytest.mark.parametrize("shift_ms", [-29_000, 29_000])
def test_a_clock_within_30_seconds_is_accepted(follower: Caller, shift_ms: int) -> None:
    answer(follower.get(ACCOUNT, shift_ms=shift_ms))


@pytest.mark.parametrize("shift_ms", [-30_500, 31_500])
def test_a_clock_further_off_is_expired(follower: Caller, shift_ms: int) -> None:
    assert refusal(follower.get(ACCOUNT, shift_ms=shift_ms)) == (400, -1046)


def test_the_clock_that_counts_is_the_advanced_one(exchange: Sandbox, follower: Caller) -> None:
    exchange.advance(seconds=3600)
    assert refusal(follower.get(ACCOUNT)) == (400, -1046)
    answer(follower.get(ACCOUNT, shift_ms=3_600_000))


def test_both_forms_of_the_account_path_are_signed_as_sent(follower: Caller) -> None:
    assert answer(follower.get(ACCOUNT)) == answer(follower.get(ACCOUNT + "/"))
    now = int(time.time() * 1000)
    headers = follower.headers("GET", ACCOUNT, "", now)  # signed without the slash, sent with it
    assert refusal(follower.get(ACCOUNT + "/", headers=dict(headers))) == (401, -1047)


@pytest.mark.parametrize(
    "query", ["symbol=BTC%55SDT&limit=2", "limit=2&&page=1", "symbol=%E2%82%AC", "page=1&limit=2&x=a+b%20c"]
)
def test_the_query_is_signed_byte_for_byte(follower: Caller, query: str) -> None:
    answer(follower.get(OPEN, query))


def test_the_order_of_parameters_matters_to_the_signature(follower: Caller) -> None:
    headers = follower.headers("GET", OPEN + "?limit=2&page=1", "", int(time.time() * 1000))
    assert refusal(follower.get(OPEN, "page=1&limit=2", headers=dict(headers))) == (401, -1047)


@pytest.mark.parametrize("body", ['{"limit":3}', '{ "limit" : 3 }', '{"limit":3,"bizType":"dépôt"}', ""])
def test_the_body_is_signed_byte_for_byte(follower: Caller, body: str) -> None:
    signed = follower.send("POST", BILLS, "x")  # the right headers for another body
    assert refusal(signed) == (400, -1135)
    assert isinstance(answer(follower.send("POST", BILLS, body)), list)


def test_a_changed_body_is_refused(follower: Caller) -> None:
    headers = follower.headers("POST", BILLS, '{"limit":3}', int(time.time() * 1000))
    assert refusal(follower.send("POST", BILLS, '{"limit":4}', headers=dict(headers))) == (401, -1047)


def test_a_get_with_a_body_signs_it(follower: Caller) -> None:
    answer(follower.send("GET", f"{SETTINGS}?traderId={TRADER}", json.dumps({"a": 1})))


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_needs_its_content_type(follower: Caller, content_type: str | None) -> None:
    response = follower.post(BILLS, {}, headers={"Content-Type": content_type})
    assert refusal(response) == (400, -1045)


def test_a_content_type_with_a_charset_will_do(follower: Caller) -> None:
    answer(follower.post(BILLS, {}, headers={"Content-Type": "Application/JSON; charset=utf-8"}))


def test_no_secret_is_in_any_log_of_calls(exchange: Sandbox, follower: Caller) -> None:
    answer(follower.get(ACCOUNT))
    seen = json.dumps(exchange.calls())
    assert "follower-key" in seen
    assert "follower-secret" not in seen
    assert '"sandbox"' not in seen  # the passphrase
    assert requests.get(exchange.url + ACCOUNT, timeout=5).json()["code"] == -1040
