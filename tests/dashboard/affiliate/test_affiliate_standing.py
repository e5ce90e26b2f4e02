"""Who may ask as an affiliate: the key that may, the menu that shows it, and the reason where it may not."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from copytrade import connections
from copytrade.affiliate import ask_standing, standing_of
from copytrade.models import Account, AffiliateReport, AffiliateStanding, User
from tests.support.affiliate_pages import AFFILIATE, days, get, page_of
from tests.support.page_text import text
from tests.support.sandbox_process import Sandbox

FOLLOWER = {"key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}


# --- who may ------------------------------------------------------------------------------------------------


def in_the_menu(client: Client) -> bool:
    return 'href="/affiliate/"' in get(client, "/activity/")


def test_a_key_that_is_no_affiliates_gets_the_reason_and_no_menu(
    client: Client, alice: User, sandbox: Sandbox
) -> None:
    assert not in_the_menu(client), "there is no connection"
    assert client.get("/affiliate/")["Location"] == "/connections/add/"
    account = connections.add(alice, label="Main", venue="sandbox", **FOLLOWER)
    assert in_the_menu(client), "nobody asked yet"
    assert "Nobody has asked the exchange yet" in text(get(client, page_of(account, "users")))
    client.post(f"/affiliate/{account.pk}/standing/")
    page = text(get(client, page_of(account, "users")))
    assert "Main is no affiliate" in page and "Only the key of an affiliate account may ask for this." in page
    assert "Add a connection" in page and "Ask the exchange again" in page
    assert not in_the_menu(client)
    answer = client.post(page_of(account, "users") + "ask/", days(3))
    assert answer.status_code == 400 and not AffiliateReport.objects.exists()


def test_the_menu_shows_it_while_one_of_several_may(client: Client, alice: User, account: Account) -> None:
    other = connections.add(alice, label="A follower", venue="sandbox", **FOLLOWER)
    ask_standing(other)
    assert in_the_menu(client)
    assert client.get("/affiliate/")["Location"] == page_of(account, "commissions"), (
        "the one that may, not the first"
    )
    assert 'aria-label="Connection"' in get(client, page_of(account, "users"))
    connections.remove(account)
    assert not in_the_menu(client)


def test_another_key_is_asked_anew(client: Client, account: Account) -> None:
    connections.replace_key(account, **FOLLOWER)
    assert standing_of(account).may is None
    assert "Nobody has asked" in text(get(client, page_of(account, "users")))
    connections.replace_key(account, **AFFILIATE)
    assert connections.test(account).details[-1] == "It is an affiliate's key."
    assert standing_of(account).may is True, "the test learns it by the way"


def test_an_exchange_that_does_not_answer_leaves_it_open(
    client: Client, alice: User, sandbox: Sandbox
) -> None:
    account = connections.add(alice, label="Main", venue="sandbox", **AFFILIATE)
    sandbox.fault("sub_affiliates", "html_200", times=9)
    answer = client.post(f"/affiliate/{account.pk}/standing/", follow=True)
    page = answer.content.decode()
    assert "banner-error" in page and "Nobody has asked the exchange yet" in text(page)
    assert not AffiliateStanding.objects.exists()


def test_the_menu_costs_no_query(client: Client, account: Account) -> None:
    client.get("/activity/")
    with CaptureQueriesContext(connection) as shown:
        assert in_the_menu(client)
    User.objects.update(affiliate_shown=False)
    with CaptureQueriesContext(connection) as hidden:
        assert not in_the_menu(client)
    assert len(shown) == len(hidden)
