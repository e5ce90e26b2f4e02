"""The look-up of a spot order by one of its ids, with what the exchange does not tell or nobody knows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from copytrade.models import Account
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import only, sent
from tests.support.spot_pages import page, url

pytestmark = pytest.mark.django_db


# --- the look-up


def test_an_order_is_looked_up_by_either_id(client: Client, trading: Account) -> None:
    order = only(sent(trading))
    for typed in ({"order_id": str(order.order_id)}, {"client_id": order.client_order_id}):
        html = page(client.post(url(trading, "spot_look_up"), typed))
        assert str(order.order_id) in html and "GTC" in html and "its ticket" in html


def test_a_look_up_needs_no_switch(client: Client, account: Account, sandbox: Sandbox) -> None:
    html = page(client.get(url(account, "spot_look_up")))
    assert "needs no switch" in html
    answer = client.post(url(account, "spot_look_up"), {"order_id": "1"})
    assert answer.status_code == 404 and "No such order" in page(answer)
    assert [call["operation"] for call in sandbox.calls()["calls"]].count("order") == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "Give one of the two"),
        ({"order_id": "1", "client_id": "a"}, "Give one of the two"),
        ({"order_id": "12x"}, "digits only"),
        ({"order_id": "9223372036854775808"}, "below 9223372036854775808"),
        ({"order_id": "١٢"}, "digits only"),
        ({"client_id": "a\u0007b"}, "cannot be sent"),
        ({"client_id": "x" * 65}, "at most 64"),
    ],
)
def test_a_look_up_without_one_id_asks_nobody(
    client: Client, account: Account, sandbox: Sandbox, typed: dict[str, str], said: str
) -> None:
    answer = client.post(url(account, "spot_look_up"), typed)
    assert answer.status_code == 422 and said in page(answer)
    assert sandbox.calls()["calls"] == []


def test_a_look_up_shows_unknown_words_and_tells_what_is_absent(
    client: Client, trading: Account, sandbox: Sandbox
) -> None:
    order = only(sent(trading))
    sandbox.fault("order", "unknown_status", times=1)
    html = page(client.post(url(trading, "spot_look_up"), {"order_id": str(order.order_id)}))
    status = re.search(r'<span class="pill told"><bdi>([^<]+)</bdi></span></div>\s*<dl', html)
    assert status and status[1] not in ("NEW", "FILLED", "CANCELED")
    sandbox.fault("order", "missing_fields", times=1, fields=["isWorking", "time"])
    html = page(client.post(url(trading, "spot_look_up"), {"order_id": str(order.order_id)}))
    assert "<dt>Active</dt><dd>not told</dd>" in html and "<dt>Created</dt><dd>not told</dd>" in html


@pytest.mark.parametrize(
    ("fault", "status"),
    [({"kind": "http", "http": 503}, 503), ({"kind": "code", "code": -1052, "http": 403}, 409)],
)
def test_a_failed_look_up_is_a_sentence(
    client: Client, account: Account, sandbox: Sandbox, fault: dict[str, Any], status: int
) -> None:
    sandbox.fault("order", times=0, **fault)
    answer = client.post(url(account, "spot_look_up"), {"order_id": "1"})
    assert answer.status_code == status and 'role="alert"' in page(answer)
