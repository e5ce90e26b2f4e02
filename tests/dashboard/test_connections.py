"""Connections as their owner sees them, against the sandbox exchange over HTTP."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade import connections as jobs
from copytrade.models import Account, BadRecord, Credential, SettingsChange, Trader, User
from dashboard.permissions import describe
from tests.dashboard.test_overview import FRAME
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db

GOOD = {"venue": "sandbox", "key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User, sandbox: Sandbox) -> Account:
    return jobs.add(alice, label="Main", **GOOD)


def page(client: Client, answer: object) -> str:
    """The page that an answer leads to."""
    return client.get(answer.headers["Location"]).content.decode()  # type: ignore[attr-defined]


# --- add ---


def test_adding_a_connection_tests_it_at_once(client: Client, alice: User, sandbox: Sandbox) -> None:
    answer = client.post(reverse("connection_add"), {"label": "Main", **GOOD})
    account = alice.accounts.get()
    assert answer.headers["Location"] == reverse("connection", args=[account.pk])
    html = page(client, answer)
    assert "Main: The key works." in html
    assert "It may read copy trading." in html
    assert (account.state, account.key_hint) == (Account.State.ACTIVE, "-key")


def test_the_sandboxs_keys_are_on_the_page(client: Client) -> None:
    html = client.get(reverse("connection_add")).content.decode()
    for text in ("follower-key", "readonly-secret", "lead-key", "affiliate-secret", "<code>sandbox</code>"):
        assert text in html


@pytest.mark.parametrize("part", ["label", "venue", "key", "secret", "passphrase"])
def test_a_missing_part_is_named_and_what_was_typed_stays(client: Client, part: str) -> None:
    data = {"label": "Main", **GOOD} | {part: ""}
    answer = client.post(reverse("connection_add"), data)
    assert answer.status_code == 400
    assert part in answer.context["form"].errors
    html = answer.content.decode()
    assert ('value="Main"' in html) == (part != "label")
    assert ('value="follower-key"' in html) == (part != "key")
    assert not Account.objects.exists()


def test_secrets_are_never_sent_back_to_the_browser(client: Client) -> None:
    typed = {
        "label": "",
        "venue": "sandbox",
        "key": "k",
        "secret": "my-own-secret",
        "passphrase": "my-own-phrase",
    }
    html = client.post(reverse("connection_add"), typed).content.decode()
    assert "my-own" not in html


def test_nobody_can_enter_an_address(client: Client) -> None:
    for venue in ("http://127.0.0.1:1/", "evil", "https://api.example.com"):
        assert (
            client.post(reverse("connection_add"), {"label": "Main", **GOOD, "venue": venue}).status_code
            == 400
        )
    assert not Account.objects.exists()


def test_a_name_is_used_once_by_one_person_and_again_by_another(
    client: Client, account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    again = client.post(reverse("connection_add"), {"label": "Main", **GOOD})
    assert again.status_code == 400
    assert b"already have a connection named" in again.content
    assert client_of(charlie).post(reverse("connection_add"), {"label": "Main", **GOOD}).status_code == 302


@pytest.mark.parametrize(
    ("part", "wrong", "named"),
    [("key", "follower-kex", "key"), ("secret", "nope", "secret"), ("passphrase", "nope", "passphrase")],
)
def test_a_refused_key_says_which_part_is_at_fault(
    client: Client, sandbox: Sandbox, part: str, wrong: str, named: str
) -> None:
    html = page(client, client.post(reverse("connection_add"), {"label": "Main", **GOOD} | {part: wrong}))
    assert "banner-error" in html
    assert named in html.lower()
    assert "15 minutes" in html
    assert Account.objects.get().state == Account.State.PENDING


def test_a_stored_key_is_not_readable_in_the_database_nor_on_a_page(client: Client, account: Account) -> None:
    stored = Credential.objects.get()
    for column in (stored.key, stored.secret, stored.passphrase):
        assert b"follower" not in bytes(column)
        assert b"sandbox" not in bytes(column)
    for name in ("connection", "connection_rotate", "connection_remove", "connection_writes"):
        html = client.get(reverse(name, args=[account.pk])).content.decode()
        assert "follower-secret" not in html
        assert "follower-key" not in html


# --- look and test ---


def test_the_list_shows_state_permissions_and_last_answer(client: Client, account: Account) -> None:
    before = client.get(reverse("connections")).content.decode()
    assert "Not tested yet" in before
    assert "not known yet" in before
    client.post(reverse("connection_test", args=[account.pk]))
    html = client.get(reverse("connections")).content.decode()
    assert "Active" in html
    assert "Copy settings" in html
    assert "ago" in html


def test_the_list_asks_the_same_number_of_questions_for_two_and_for_twelve(
    client: Client, account: Account, alice: User, django_assert_num_queries: Callable[..., object]
) -> None:
    client.get(reverse("connections"))
    with CaptureQueriesContext(connection) as few:
        client.get(reverse("connections"))
    for number in range(10):
        jobs.add(alice, label=f"Account {number}", **GOOD)
    with CaptureQueriesContext(connection) as many:
        client.get(reverse("connections"))
    assert len(few) == len(many)


def test_a_connections_page_asks_six_questions_beside_session_and_user(
    client: Client, account: Account
) -> None:
    address = reverse("connection", args=[account.pk])
    client.get(address)
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    assert len(asked) <= FRAME + 5


def test_an_empty_list_says_what_to_do_next(client: Client) -> None:
    assert "No exchange account is connected yet." in client.get(reverse("connections")).content.decode()


def test_testing_a_working_key_starts_a_stopped_reading_again(client: Client, account: Account) -> None:
    account.state, account.refusals = Account.State.REFUSED, 3
    account.save()
    html = page(client, client.post(reverse("connection_test", args=[account.pk])))
    account.refresh_from_db()
    assert "The key works." in html
    assert (account.state, account.refusals) == (Account.State.ACTIVE, 0)


def test_an_exchange_that_does_not_answer_is_no_fault_of_the_key(
    client: Client, account: Account, settings: object
) -> None:
    nowhere = {"spot": "http://127.0.0.1:9", "contract": "http://127.0.0.1:9"}
    settings.VENUES = settings.VENUES | {"sandbox": settings.VENUES["sandbox"] | nowhere}  # type: ignore[attr-defined]
    html = page(client, client.post(reverse("connection_test", args=[account.pk])))
    account.refresh_from_db()
    assert "banner-error" in html
    assert account.state == Account.State.NEW


def test_a_list_refreshed_by_htmx_is_only_the_list(client: Client, account: Account) -> None:
    html = client.get(reverse("connections"), headers={"HX-Request": "true"}).content.decode()
    assert html.strip().startswith('<div id="rows"')
    assert "<html" not in html


def test_a_page_restored_from_history_is_the_whole_page(client: Client, account: Account) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in client.get(reverse("connections"), headers=headers).content.decode()


# --- replace the key ---


def test_a_replaced_key_keeps_what_was_read(client: Client, account: Account) -> None:
    Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    answer = client.post(
        reverse("connection_rotate", args=[account.pk]),
        {"key": "readonly-key", "secret": "readonly-secret", "passphrase": "sandbox"},
    )
    html = page(client, answer)
    account.refresh_from_db()
    assert "The key works." in html
    assert account.traders.count() == 1
    assert account.jobs.count() == 4


def test_a_replaced_key_that_is_incomplete_changes_nothing(client: Client, account: Account) -> None:
    before = bytes(Credential.objects.get().key)
    data = {"key": "k", "secret": "", "passphrase": "p"}
    assert client.post(reverse("connection_rotate", args=[account.pk]), data).status_code == 400
    assert bytes(Credential.objects.get().key) == before


# --- writing ---


def test_a_real_exchange_starts_read_only_and_is_switched_on_by_its_owner(
    client: Client, alice: User
) -> None:
    account = jobs.add(alice, label="Real", venue="weex", key="k", secret="s", passphrase="p")
    assert not account.writes_enabled
    url = reverse("connection_writes", args=[account.pk])
    assert b"act on real copies" in client.get(url).content
    account.refresh_from_db()
    assert not account.writes_enabled
    client.post(url, {"enabled": "1"})
    account.refresh_from_db()
    assert account.writes_enabled
    client.post(url, {"enabled": "0"})
    account.refresh_from_db()
    assert not account.writes_enabled


@pytest.mark.parametrize("value", ["", "yes", "true", "2"])
def test_anything_but_a_clear_yes_leaves_writing_off(client: Client, alice: User, value: str) -> None:
    account = jobs.add(alice, label="Real", venue="weex", key="k", secret="s", passphrase="p")
    client.post(reverse("connection_writes", args=[account.pk]), {"enabled": value})
    account.refresh_from_db()
    assert not account.writes_enabled


# --- remove ---


def test_removing_says_what_goes_and_then_it_is_gone(client: Client, account: Account) -> None:
    Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    BadRecord.objects.create(account=account, operation="x", fingerprint="y", raw="{}", reason="z")
    url = reverse("connection_remove", args=[account.pk])
    html = client.get(url).content.decode()
    assert "0 tracking orders" in html
    assert "1 trader " in html
    assert "1 record that" in html
    assert Account.objects.exists()
    client.post(url)
    assert not Account.objects.exists()
    assert not Credential.objects.exists()
    assert client.post(url).status_code == 404


def test_a_connection_with_a_change_under_way_stays(client: Client, account: Account) -> None:
    trader = Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    SettingsChange.objects.create(trader=trader, body={}, state=SettingsChange.State.SENDING)
    html = page(client, client.post(reverse("connection_remove", args=[account.pk])))
    assert "under way" in html
    assert Account.objects.exists()


# --- words ---


@pytest.mark.parametrize(
    ("name", "title", "too_much"),
    [
        ("READONLY", "Read", False),
        ("SPOT_TRADING", "Spot orders", False),
        ("FUTURES_TRADING", "Copy settings", False),
        ("WITHDRAWALS", "Withdraw", True),
        ("TELEPORT", "TELEPORT", False),
    ],
)
def test_permissions_are_told_in_plain_words(name: str, title: str, too_much: bool) -> None:
    row = describe([name])[0]
    assert (row.title, row.too_much) == (title, too_much)
    assert row.meaning
