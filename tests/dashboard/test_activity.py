"""Activity: what was read and written, and what could not be understood."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade.models import Account, BadRecord, SettingsChange, SyncRun, Trader, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="Seaside", venue="sandbox")


def runs(account: Account, number: int, **fields: object) -> None:
    SyncRun.objects.bulk_create(SyncRun(account=account, kind="open", **fields) for _ in range(number))


def test_readings_are_listed_with_their_result(client: Client, account: Account) -> None:
    runs(account, 1, times=40, pages=41, seen=120, changed=3)
    runs(account, 1, error_code="-1047", error_message="The secret does not fit the key.")
    runs(account, 1, bad=2)
    html = client.get(reverse("activity")).content.decode()
    assert "40 times since" in html
    assert "The secret does not fit the key." in html
    assert "2 not understood" in html
    assert "complete" in html


def test_only_problems_can_be_asked_for(client: Client, account: Account) -> None:
    runs(account, 3)
    runs(account, 1, error_code="-1047")
    runs(account, 1, bad=1)
    assert client.get(reverse("activity"), {"errors": "1"}).context["page"].paginator.count == 2


def test_the_address_filters_by_connection_and_reading(client: Client, account: Account, alice: User) -> None:
    other = Account.objects.create(owner=alice, label="Family", venue="sandbox")
    runs(account, 2)
    SyncRun.objects.create(account=other, kind="history")
    url = reverse("activity")
    assert client.get(url, {"account": other.pk}).context["page"].paginator.count == 1
    assert client.get(url, {"kind": "history"}).context["page"].paginator.count == 1
    assert client.get(url, {"account": account.pk, "kind": "history"}).context["page"].paginator.count == 0


@pytest.mark.parametrize(
    "query", ["account=x", "account=٣", "kind=zzz", "page=99", "page=-1", "page=x", "errors=<b>"]
)
def test_a_nonsense_filter_is_no_filter(client: Client, account: Account, query: str) -> None:
    runs(account, 2)
    answer = client.get(reverse("activity") + "?" + query)
    assert answer.status_code == 200
    assert answer.context["page"].paginator.count == 2


def test_a_strangers_connection_is_no_filter_either(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    runs(account, 2)
    answer = client_of(charlie).get(reverse("activity"), {"account": account.pk})
    assert answer.context["page"].paginator.count == 0
    assert b"Seaside" not in answer.content


def test_what_could_not_be_understood_is_shown_raw_and_harmless(client: Client, account: Account) -> None:
    raw = '{"trackingNo": "<script>alert(1)</script>"}'
    BadRecord.objects.create(
        account=account, operation="open", fingerprint="f", raw=raw, reason="not a number", times=3
    )
    html = client.get(reverse("activity")).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html
    assert "3 times" in html


def test_settings_changes_are_listed_without_drafts(client: Client, account: Account, alice: User) -> None:
    trader = Trader.objects.create(account=account, trader_id=1, name="Northwind Steady")
    common = {"trader": trader, "author": alice, "body": {}, "differences": [["Stop loss", "off", "20 %"]]}
    SettingsChange.objects.create(state=SettingsChange.State.APPLIED, **common)
    SettingsChange.objects.create(state=SettingsChange.State.DRAFT, **common)
    answer = client.get(reverse("activity"))
    assert len(answer.context["changes"]) == 1
    html = answer.content.decode()
    assert "applied and read back" in html
    assert "Stop loss" in html


def test_older_readings_are_a_page_away(client: Client, account: Account) -> None:
    runs(account, 120)
    html = client.get(reverse("activity"), {"kind": "open"}).content.decode()
    assert "Page 1 of 3" in html
    assert "?kind=open&amp;page=2" in html


def test_the_page_asks_the_same_number_of_questions_for_10_rows_and_for_20(
    client: Client, account: Account
) -> None:
    runs(account, 10)
    client.get(reverse("activity"))
    with CaptureQueriesContext(connection) as ten:
        client.get(reverse("activity"))
    runs(account, 10)
    with CaptureQueriesContext(connection) as twenty:
        client.get(reverse("activity"))
    assert len(ten) == len(twenty)


def test_htmx_gets_the_readings_alone(client: Client, account: Account) -> None:
    runs(account, 1)
    html = client.get(reverse("activity"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in html
    assert 'id="runs"' in html


def test_without_a_connection_the_page_says_what_to_do(client: Client) -> None:
    assert b"Add a connection" in client.get(reverse("activity")).content
