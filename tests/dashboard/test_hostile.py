"""Addresses and forms as somebody who means harm would write them: an answer, never a broken page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from copytrade.models import Account, TrackingOrder, Trader, User

pytestmark = pytest.mark.django_db

ODD = [
    "\x00",
    "a\x00b",
    "9" * 5000,
    "-1",
    "9223372036854775808",
    "१२",
    "²",
    "' OR 1=1 --",
    "%s%(a)s{}",
    "\u202e",
    "x" * 9000,
]


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    alice.zone = "Asia/Tokyo"
    alice.save()
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox", key_hint="-key")
    trader = Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind")
    TrackingOrder.objects.create(
        account=account, trader=trader, tracking_no=1, symbol="BTCUSDT", position_side="LONG", status="OPEN"
    )
    return client_of(alice)


@pytest.mark.parametrize("odd", ODD, ids=lambda text: ascii(text)[:20])
@pytest.mark.parametrize(
    "name", ["overview", "traders", "trader", "open_orders", "history", "activity", "connections"]
)
def test_no_value_of_an_address_breaks_a_page(client: Client, name: str, odd: str) -> None:
    args = [Trader.objects.get().pk] if name == "trader" else []
    names = [
        "trader",
        "symbol",
        "account",
        "side",
        "result",
        "since",
        "until",
        "after",
        "before",
        "period",
        "sort",
        "show",
        "page",
        "kind",
        "errors",
    ]
    for one in names:
        answer = client.get(reverse(name, args=args), {one: odd})
        assert answer.status_code in (200, 400, 404), (one, odd[:20])


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize(
    ("first", "last"), [("2009-01-03", "9999-12-31"), ("0001-01-01", "0001-01-02"), ("2026-02-30", "x")]
)
def test_no_own_range_breaks_the_page_of_a_trader(client: Client, zone: str, first: str, last: str) -> None:
    User.objects.update(zone=zone)
    asked = {"period": "range", "from": first, "to": last}
    for show in ("", "equity", "days", "chart"):
        answer = client.get(reverse("trader", args=[Trader.objects.get().pk]), asked | {"show": show})
        assert answer.status_code == 200, show


@pytest.mark.parametrize(
    "since", ["0001-01-01", "0001-01-02", "9999-12-31", "9999-12-30", "2026-02-30", "20260101", "2026-W01-1"]
)
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
def test_no_day_of_an_address_breaks_the_history(client: Client, alice: User, since: str, zone: str) -> None:
    User.objects.update(zone=zone)
    for name in ("since", "until"):
        answer = client.get(reverse("history"), {name: since})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["/traders/%s/", "/orders/%s/", "/connections/%s/", "/traders/%s/settings/", "/join/%s/"]
)
@pytest.mark.parametrize(
    "odd", ["99999999999999999999999", "9" * 5000, "%00", "%ED%A0%80", "1%0a", "%2e%2e", "%F0%9F%92%A9"]
)
def test_no_path_breaks(client: Client, path: str, odd: str) -> None:
    assert client.get(path % odd).status_code in (302, 400, 404, 410)


@pytest.mark.parametrize("odd", ODD, ids=lambda text: ascii(text)[:20])
def test_no_form_breaks(client: Client, odd: str) -> None:
    for name in ("connection_add", "zone", "look", "invitations", "account_change_password", "account_email"):
        data = dict.fromkeys(
            (
                "label",
                "venue",
                "key",
                "secret",
                "passphrase",
                "zone",
                "theme",
                "gain",
                "next",
                "note",
                "email",
                "oldpassword",
                "password1",
                "action_add",
            ),
            odd,
        )
        assert client.post(reverse(name), data).status_code in (200, 302, 400, 404), name
    for name in ("account_login", "setup", "account_reset_password", "mfa_authenticate"):
        data = dict.fromkeys(("login", "password", "token", "email", "code", "next"), odd)
        assert Client().post(reverse(name), data).status_code in (200, 302, 400, 404, 429), name
