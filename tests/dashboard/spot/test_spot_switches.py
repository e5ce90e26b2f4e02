"""The switches of spot orders, the desk's and the connection's: why they are off, and who can switch them on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from copytrade import connections
from copytrade.models import Account, AuditEntry, DeskPolicy, SpotTicket, User
from dashboard import demo
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in
from tests.support.spot_pages import page, review, send, url

pytestmark = pytest.mark.django_db


# --- off, and who can switch it on


def test_while_it_is_off_the_page_says_why_and_who_can_switch_it_on(client: Client, account: Account) -> None:
    html = page(client.get(url(account)))
    assert "Spot orders are switched off for this desk." in html and "Its operator can" in html
    assert "What this key may do is not known yet." in html and 'id="spot-form"' not in html
    answer = review(client, account)
    assert answer.status_code == 409 and not SpotTicket.objects.exists()


def test_the_operator_switches_it_on_for_the_desk(
    client: Client, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    switch = reverse("spot_policy")
    assert client.post(switch, {"spot_trading": "on"}).status_code == 404, "not an operator"
    assert "spot-policy" not in page(client.get(reverse("security")))
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    html = page(client.get(reverse("security")))
    assert 'id="spot-policy"' in html
    client.post(switch, {"spot_trading": "on"})
    assert DeskPolicy.objects.get().spot_trading
    client.post(switch, {"spot_trading": "nonsense"})
    assert DeskPolicy.objects.get().spot_trading
    client.post(switch, {"spot_trading": "off"})
    assert not DeskPolicy.objects.get().spot_trading
    assert AuditEntry.objects.filter(action="policy").count() == 2
    old = signed_in(alice, seconds_ago=3600).post(switch, {"spot_trading": "on"})
    assert "reauthenticate" in old.headers["Location"] and not DeskPolicy.objects.get().spot_trading


def test_the_owner_switches_it_on_for_a_connection_and_off_again(
    client: Client, alice: User, account: Account
) -> None:
    switch = url(account, "connection_spot")
    assert "cannot be switched on yet" in page(client.get(switch))
    assert client.post(switch, {"enabled": "1"}).status_code == 409
    assert connections.test(account).ok
    old = signed_in(alice, seconds_ago=3600)
    assert "reauthenticate" in old.post(switch, {"enabled": "1"}).headers["Location"]
    account.refresh_from_db()
    assert not account.spot_enabled
    assert client.post(switch, {"enabled": "1"}).status_code == 302
    account.refresh_from_db()
    assert account.spot_enabled
    assert old.post(switch, {"enabled": "0"}).status_code == 302, "off asks for nothing"
    account.refresh_from_db()
    assert not account.spot_enabled
    assert AuditEntry.objects.filter(action="spot_switched").count() == 2


def test_a_readonly_key_cannot_be_switched_on(
    client: Client, alice: User, sandbox: Sandbox, redis_client: object
) -> None:
    account = connections.add(
        alice, label="Looking", venue="sandbox", key="readonly-key", secret="readonly-secret", passphrase="sandbox"
    )  # fmt: skip
    assert connections.test(account).ok
    assert client.post(url(account, "connection_spot"), {"enabled": "1"}).status_code == 409
    assert "no permission for spot orders" in page(client.get(url(account, "connection_spot")))


def test_the_demos_visitors_may_try_it_at_the_sandbox(
    sandbox: Sandbox, redis_client: object, client_of: Callable[[User], Client]
) -> None:
    visitor = demo.demo_user()
    account, _ = demo.ensure_connection(visitor)
    assert connections.test(account).ok
    client = client_of(visitor)
    html = page(client.get(url(account)))
    assert "switched off for this desk" not in html and "switched off for this connection" in html
    assert client.post(url(account, "connection_spot"), {"enabled": "1"}).status_code == 302
    review(client, account)
    assert "Taken by the exchange" in page(send(client, SpotTicket.objects.get()))
