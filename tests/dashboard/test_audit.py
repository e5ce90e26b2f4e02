"""The audit log's page, and the operator's demand on who sends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade import audit
from copytrade.models import Account, AuditEntry, Trader, User
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db
LOG, POLICY = "/security/audit/", "/security/sending/"


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def operator(alice: User) -> User:
    alice.is_operator = True
    alice.save()
    return alice


@pytest.fixture
def followed(alice: User) -> Trader:
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox")
    return Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind Steady")


def page(client: Client, address: str = LOG) -> str:
    return client.get(address).content.decode()


def test_a_log_without_entries_says_so(client: Client) -> None:
    assert "Nothing has been sent" in page(client)
    assert "Nothing of this kind" in page(client, f"{LOG}?kind=send")


def test_an_entry_shows_what_when_and_of_whom(client: Client, alice: User, followed: Trader) -> None:
    audit.note(alice, "send", trader=followed, subject="Long leverage 5x to 10x", details={"key": "k-1"})
    html = page(client)
    assert "Long leverage 5x to 10x" in html and "Settings sent" in html and "Northwind Steady" in html
    assert "&quot;key&quot;: &quot;k-1&quot;" in html


def test_an_entry_can_be_read_when_its_trader_is_gone(client: Client, alice: User, followed: Trader) -> None:
    audit.note(alice, "send", trader=followed, subject="Northwind Steady: stop loss off")
    followed.account.delete()
    assert "Northwind Steady: stop loss off" in page(client)


def test_a_stranger_and_even_the_operator_read_their_own_deeds_only(
    client: Client, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    audit.note(alice, "send", subject="alice's deed")
    User.objects.filter(pk=charlie.pk).update(is_operator=True)
    assert "alice&#x27;s deed" in page(client)
    assert "alice&#x27;s deed" not in page(client_of(charlie))


def test_the_log_is_narrowed_to_one_kind_and_nonsense_is_no_filter(client: Client, alice: User) -> None:
    audit.note(alice, "send", subject="sent one")
    audit.note(alice, "restore", subject="restored one")
    html = page(client, f"{LOG}?kind=restore")
    assert "restored one" in html and "sent one" not in html
    for nonsense in (
        "kind=moonlight",
        "before=x",
        "account=x",
        "since=x",
        "until=9999-12-31",
        "of=x",
        "before=-1",
        "before=" + "9" * 40,
    ):
        assert client.get(f"{LOG}?{nonsense}").status_code == 200


def test_a_long_log_is_walked_without_gaps_or_repeats(client: Client, alice: User) -> None:
    for n in range(120):
        audit.note(alice, "send", subject=f"deed {n:03}")
    seen: list[str] = []
    address: str | None = LOG
    while address:
        answer = client.get(address)
        seen += [entry.subject for entry, _, _ in answer.context["entries"]]
        audit.note(alice, "restore", subject="while reading")
        older = answer.context["older"]
        address = f"{LOG}?before={older}" if older else None
    assert seen == [f"deed {n:03}" for n in reversed(range(120))]


def test_ten_entries_cost_as_many_queries_as_twenty(client: Client, alice: User, followed: Trader) -> None:
    def queries() -> int:
        for n in range(10):
            audit.note(alice, "send", trader=followed, subject=f"deed {n}")
        with CaptureQueriesContext(connection) as captured:
            client.get(LOG)
        return len(captured)

    client.get(LOG)  # the first request of a session writes down who came
    assert queries() == queries()


def test_the_log_cannot_be_written_to(client: Client) -> None:
    assert client.post(LOG).status_code == 405


# --- the operator's switch -------------------------------------------------------------------------------
def test_the_operator_demands_a_second_factor_and_takes_it_back(client: Client, operator: User) -> None:
    assert 'value="on">Demand it' in page(client, "/security/")
    html = client.post(POLICY, {"second_factor_for_sending": "on"}, follow=True).content.decode()
    assert audit.policy().second_factor_for_sending
    assert "everybody needs a second factor" in html and "demanded</span>" in html
    by_factor = signed_in(operator, method="mfa")
    html = by_factor.post(POLICY, {"second_factor_for_sending": "off"}, follow=True).content.decode()
    assert not audit.policy().second_factor_for_sending
    assert "the password is enough" in html
    assert AuditEntry.objects.filter(action="policy").count() == 2


def test_pressing_the_same_button_twice_changes_nothing(operator: User) -> None:
    client = signed_in(operator, method="mfa")
    for _ in range(2):
        client.post(POLICY, {"second_factor_for_sending": "on"})
    assert audit.policy().second_factor_for_sending
    assert AuditEntry.objects.count() == 1


def test_the_switch_is_proved_like_sending_and_nothing_turns_on_the_way(operator: User) -> None:
    client = signed_in(operator, seconds_ago=3600)
    asked = client.post(POLICY, {"second_factor_for_sending": "on"}).headers["Location"]
    assert "about to change what everybody must prove" in page(client, asked)
    assert not audit.policy().second_factor_for_sending
    client.post("/accounts/reauthenticate/", {"password": "alice-password-of-20", "next": "/security/"})
    html = page(client, "/security/")
    assert "It is you." in html and "A review waits" not in html
    client.post(POLICY, {"second_factor_for_sending": "on"})
    assert audit.policy().second_factor_for_sending


def test_a_password_alone_does_not_take_the_demand_back(operator: User) -> None:
    audit.set_second_factor_for_sending(operator, True)
    client = signed_in(operator)
    assert (
        "you have none"
        in client.post(POLICY, {"second_factor_for_sending": "off"}, follow=True).content.decode()
    )
    assert audit.policy().second_factor_for_sending
    signed_in(operator, method="mfa").post(POLICY, {"second_factor_for_sending": "off"})
    assert not audit.policy().second_factor_for_sending


def test_nobody_else_turns_the_switch_or_sees_it(client: Client) -> None:
    assert "Second factor for sending" not in page(client, "/security/")
    assert client.post(POLICY, {"second_factor_for_sending": "on"}).status_code == 404
    assert not audit.policy().second_factor_for_sending


@pytest.mark.parametrize("wanted", ["", "yes", "true"])
def test_a_button_that_is_not_there_changes_nothing(operator: User, wanted: str) -> None:
    client = signed_in(operator, method="mfa")
    audit.set_second_factor_for_sending(operator, True)
    client.post(POLICY, {"second_factor_for_sending": wanted})
    assert audit.policy().second_factor_for_sending


def test_a_look_does_not_turn_the_switch(client: Client, operator: User) -> None:
    assert client.get(POLICY).status_code == 405


def test_the_security_page_says_what_sending_asks_for(client: Client, alice: User, settings: object) -> None:
    settings.SEND_PROOF_SECONDS = 300
    assert "given in the last 5 minutes" in page(client, reverse("security"))
    alice.is_operator = True
    audit.set_second_factor_for_sending(alice, True)
    assert "only after your second factor was used" in page(client, reverse("security"))
    User.objects.filter(pk=alice.pk).update(is_demo=True)
    assert "The demo is never asked again" in page(client, reverse("security"))
