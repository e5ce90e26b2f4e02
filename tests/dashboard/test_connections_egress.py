"""The pages of connections tell which address belongs on the key's allow-list."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import connections as jobs
from copytrade.models import Account, User
from dashboard.environment import Hidden

pytestmark = pytest.mark.django_db

GOOD = {"venue": "sandbox", "key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return jobs.add(alice, label="Main", **GOOD)


def shown(client: Client, name: str, *args: object) -> str:
    return unescape(client.get(reverse(name, args=args)).content.decode())


def test_an_address_of_this_machine_is_told_in_full(
    client: Client, account: Account, settings: object
) -> None:
    settings.EGRESS = {"a": {"source": "192.0.2.10"}}  # type: ignore[attr-defined]
    for html in (shown(client, "connection", account.pk), shown(client, "connection_add")):
        assert "192.0.2.10" in html
        assert "Put this address on your key's allow-list." in html


def test_each_connection_is_told_its_own_address(client: Client, alice: User, settings: object) -> None:
    settings.EGRESS = {name: {"source": f"192.0.2.{n}"} for n, name in enumerate("abcd", 1)}  # type: ignore[attr-defined]
    told = set()
    for n in range(8):
        account = jobs.add(alice, label=f"Number {n}", **GOOD)
        html = shown(client, "connection", account.pk)
        found = [address for address in (f"192.0.2.{n}" for n in range(1, 5)) if address in html]
        assert len(found) == 1
        told.add(found[0])
    assert len(told) > 1
    html = shown(client, "connection_add")
    assert "its page names it once it is added" in html
    assert "192.0.2." not in html


def test_of_a_proxy_the_name_is_told_and_never_its_password(
    client: Client, account: Account, settings: object
) -> None:
    settings.EGRESS = {"far": {"proxy": Hidden("http://desk:open-sesame@proxy.internal:3128")}}  # type: ignore[attr-defined]
    html = shown(client, "connection", account.pk)
    assert "through the proxy “far”" in html
    assert "sesame" not in html


def test_by_default_the_address_is_not_known_and_that_is_said(client: Client, account: Account) -> None:
    assert "this server's own address, which is not known here" in shown(client, "connection", account.pk)
