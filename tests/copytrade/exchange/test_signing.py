"""The signature, by the vectors of open-points.md, and that what is signed is what is sent, byte for byte."""

import base64
import hashlib
import hmac
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copytrade.exchange import OPERATIONS, Credentials, LocalRefusal
from copytrade.exchange.calls import encode
from copytrade.exchange.signing import sign
from copytrade.exchange.transport import Transport

from .samples import CALLS, LEAST, NOW, sample
from .scripted import KEY, PASSPHRASE, SECRET, ScriptedServer, answer

VECTORS = [
    (
        "1659076670000",
        "/capi/v3/copy/follower/settings?traderId=123456",
        "8cFb/dUBt9kqV4BYzK1Ze8OBlrssCZ9eapN6uSOJ000=",
    ),
    (
        "1591089508404",
        "/api/v3/market/depth?symbol=BTCUSDT&limit=20",
        "tRf5+lw590XPJQqlTWTdbvE4wExekCWM2wkap/YFldQ=",
    ),
    ("1659076670000", "/api/v3/account", "nPNt1O53MHEwgA9e+aAbB/OPw18WIbQIYgFA09Xm2Tw="),
    ("1659076670000", "/api/v3/account/", "dEMq9WQmoPjz07QKu9G+cfuBaKdSpIAYYvLzYk//oF4="),
]


@pytest.mark.parametrize(("timestamp", "target", "expected"), VECTORS)
def test_the_vectors_come_out_as_documented(timestamp, target, expected):
    assert sign("weex-lab-secret", timestamp, "GET", target, "") == expected


@pytest.mark.parametrize("arguments", [CALLS, LEAST], ids=["every parameter", "the least"])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_signed_is_what_is_sent(name, arguments):
    """The server verifies with its own arithmetic over the bytes that arrived."""
    with ScriptedServer(answer(sample(name))) as server:
        client = server.client(clock=NOW.timestamp)
        getattr(client, name)(**arguments[name])
        request = server.received[0]
    assert request.headers["access-key"] == KEY
    assert request.headers["access-passphrase"] == PASSPHRASE
    assert request.headers["access-timestamp"] == str(int(NOW.timestamp() * 1000))
    text = request.headers["access-timestamp"] + request.method + request.target
    wanted = hmac.new(SECRET.encode(), text.encode() + request.body, hashlib.sha256).digest()
    assert request.headers["access-sign"] == base64.b64encode(wanted).decode()
    operation = OPERATIONS[name]
    assert (request.method, request.target.partition("?")[0]) == (operation.method, operation.path)
    assert ("content-type" in request.headers) == (request.method == "POST")
    if request.method == "POST":
        assert request.headers["content-type"] == "application/json"
        json.loads(request.body)
    else:
        assert request.body == b""


def test_a_list_repeats_its_key():
    with ScriptedServer(answer(sample("deal_data"))) as server:
        server.client().deal_data(user_ids=[3, 702345678901234567])
        assert server.received[0].target == "/api/v3/agency/getDealData?userIds=3&userIds=702345678901234567"


def test_decimals_travel_as_plain_text_and_ids_as_exact_integers():
    with ScriptedServer(answer(sample("place_order"))) as server:
        server.client().place_order(**CALLS["place_order"])
        body = json.loads(server.received[0].body)
    assert body["price"] == "1000"
    assert body["quantity"] == "0.5"
    with ScriptedServer(answer(sample("update_follower_settings"))) as server:
        server.client().update_follower_settings(**CALLS["update_follower_settings"])
        assert b'"traderId":702345678901234567' in server.received[0].body


def test_explicit_nulls_go_out_where_the_interface_allows_them():
    with ScriptedServer(answer(sample("sub_affiliates"))) as server:
        client = server.client()
        client.sub_affiliates(product_type="SPOT", start_time=None, end_time=None)
        client.sub_affiliates(product_type="SPOT")
        first, second = (json.loads(request.body) for request in server.received)
    assert first["startTime"] is None
    assert first["endTime"] is None
    assert not {"startTime", "endTime"} & set(second)


@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_no_library_rewrites_the_address(text):
    """requests and urllib3 normalise addresses; what `encode` writes is already normal."""
    target, _ = encode(OPERATIONS["open_tracking_orders"], {"symbol": text})
    import requests

    prepared = requests.Request("GET", "https://exchange.test" + target).prepare()
    assert prepared.path_url == target


def test_the_transport_refuses_an_address_that_would_be_rewritten():
    with ScriptedServer(answer({})) as server, pytest.raises(Exception, match="not be sent as it was signed"):
        Transport().send("GET", server.url, "/api/v3/order?a=%7e", {}, b"", seconds=1)
    assert server.received == []


@pytest.mark.parametrize("part", ["key", "secret", "passphrase"])
@pytest.mark.parametrize("text", ["", "line\nbreak", " padded", "ünïcode"])
def test_a_part_that_cannot_be_sent_is_named_and_not_shown(part, text):
    parts = {"key": KEY, "secret": SECRET, "passphrase": PASSPHRASE, part: text}
    if part == "secret" and text:
        Credentials(**parts)  # it signs and does not travel
        return
    with pytest.raises(LocalRefusal) as refused:
        Credentials(**parts)
    assert refused.value.field == refused.value.fault == part
    assert not text or text.strip() not in str(refused.value)


def test_credentials_are_never_written_out():
    credentials = Credentials(KEY, SECRET, PASSPHRASE)
    with pytest.raises(TypeError):
        pickle.dumps(credentials)
    with pytest.raises(TypeError):
        json.dumps(credentials)
    assert "nowhere" not in repr(credentials) + str(credentials) + f"{credentials}" + credentials.fingerprint
