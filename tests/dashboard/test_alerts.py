"""The inbox: a person's own alerts, the way to each cure, marking as read; the count in the frame."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Account, Alert, SyncJob, Trader, User

pytestmark = pytest.mark.django_db
INBOX = "/alerts/"


@pytest.fixture
def account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="Main", venue="sandbox")


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def tell(account: Account, n: int = 1, **fields: object) -> Alert:
    """Alert number n of an account, as the watcher leaves it."""
    values = {"kind": "key_refused", "sentence": f"Main: reason {n}.", "key": f"{account.pk}:{n}"}
    return Alert.objects.create(owner=account.owner, account=account, **(values | fields))


def page(client: Client, address: str = INBOX) -> str:
    return client.get(address).content.decode()


def test_an_empty_inbox_says_so(client: Client) -> None:
    html = page(client)
    assert "Nothing waits for you." in html and "Mark these as read" not in html


def test_each_kind_leads_to_its_cure(client: Client, account: Account) -> None:
    trader = Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind Steady")
    tell(account, 1)
    tell(account, 2, kind="data_stale")
    tell(account, 3, kind="settings_outside", trader=trader)
    html = page(client)
    assert f'href="{reverse("connection", args=[account.pk])}">Test or replace the key' in html
    assert f'href="/activity/?account={account.pk}">See what failed' in html
    assert f'href="/traders/{trader.pk}/settings/timeline/">See what changed' in html
    for address in (f"/connections/{account.pk}/", f"/activity/?account={account.pk}"):
        assert client.get(address).status_code == 200
    assert client.get(f"/traders/{trader.pk}/settings/timeline/").status_code == 200


def test_what_was_read_or_has_healed_leaves_the_open_ones_and_stays_under_all(
    client: Client, account: Account
) -> None:
    tell(account, 1, resolved_at=timezone.now())
    tell(account, 2, read_at=timezone.now(), mailed_at=timezone.now())
    tell(account, 3)
    assert "reason 3" in (html := page(client)) and "reason 1" not in html and "reason 2" not in html
    html = page(client, f"{INBOX}?show=all")
    assert all(f"reason {n}" in html for n in (1, 2, 3))
    assert ", over " in html and ", read" in html and ", mailed" in html


def test_the_inbox_can_be_narrowed_to_one_kind(client: Client, account: Account) -> None:
    tell(account, 1)
    tell(account, 2, kind="data_stale")
    html = page(client, f"{INBOX}?kind=data_stale")
    assert "reason 2" in html and "reason 1" not in html
    assert "reason 1" in page(client, f"{INBOX}?kind=moonlight"), "what makes no sense is no filter"


def test_reading_one_marks_it_once_and_comes_back_to_the_same_view(client: Client, account: Account) -> None:
    alert = tell(account)
    url = reverse("alert_read", args=[alert.pk])
    answer = client.post(url, {"show": "all", "kind": "key_refused"})
    assert answer.headers["Location"] == f"{INBOX}?show=all&kind=key_refused"
    alert.refresh_from_db()
    first = alert.read_at
    assert first is not None
    assert client.post(url).status_code == 302
    alert.refresh_from_db()
    assert alert.read_at == first


def test_marking_the_page_leaves_what_came_in_since(client: Client, account: Account) -> None:
    shown, later = tell(account, 1), tell(account, 2)
    client.post(reverse("alerts_read"), {"alert": [str(shown.pk)]})
    assert list(Alert.objects.filter(read_at=None)) == [later]


@pytest.mark.parametrize("wrong", ["x", "", "-1", "١", "9" * 40, "1 OR 1"])
def test_nonsense_among_the_marked_marks_nothing(client: Client, account: Account, wrong: str) -> None:
    tell(account)
    assert client.post(reverse("alerts_read"), {"alert": [wrong]}).status_code == 302
    assert Alert.objects.filter(read_at=None).count() == 1


def test_a_stranger_sees_nothing_and_marks_nothing(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    alert, stranger = tell(account), client_of(charlie)
    assert "reason 1" not in page(stranger, f"{INBOX}?show=all")
    assert stranger.post(reverse("alert_read", args=[alert.pk])).status_code == 404
    stranger.post(reverse("alerts_read"), {"alert": [str(alert.pk)]})
    alert.refresh_from_db()
    assert alert.read_at is None


@pytest.mark.parametrize("name", ["alert_read", "alerts_read"])
def test_a_look_marks_nothing(name: str, client: Client, account: Account) -> None:
    alert = tell(account)
    args = [alert.pk] if name == "alert_read" else []
    assert client.get(reverse(name, args=args)).status_code == 405
    assert Alert.objects.filter(read_at=None).exists()


def test_the_count_stands_in_the_frame_of_every_page_and_the_overview_links_to_the_inbox(
    client: Client, account: Account
) -> None:
    assert "nav-count" not in page(client, "/activity/")
    tell(account, 1)
    tell(account, 2)
    tell(account, 3, resolved_at=timezone.now())
    assert 'nav-count">2' in page(client, "/activity/")
    SyncJob.objects.create(account=account, kind="open", last_success_at=timezone.now())
    overview = page(client, "/")
    assert "2 alerts wait for you in all" in overview and f'href="{INBOX}"' in overview


def test_a_text_from_the_exchange_is_text(client: Client, account: Account) -> None:
    tell(account, sentence="<script>alert(1)</script>")
    html = page(client)
    assert "<script>alert(1)" not in html and "&lt;script&gt;alert(1)" in html


def test_many_are_paged_and_the_filter_is_kept(client: Client, account: Account) -> None:
    for n in range(40):
        tell(account, n, created_at=timezone.now() - timedelta(minutes=n))
    html = page(client, f"{INBOX}?kind=key_refused")
    assert "Page 1 of 2" in html and "kind=key_refused&amp;page=2" in html
    assert "reason 39." in page(client, f"{INBOX}?kind=key_refused&page=2")


def test_ten_alerts_cost_as_many_queries_as_twenty(client: Client, account: Account) -> None:
    def queries(numbers: range) -> int:
        for n in numbers:
            tell(account, n)
        with CaptureQueriesContext(connection) as captured:
            client.get(INBOX)
        return len(captured)

    client.get(INBOX)  # the first request of a session writes down who came
    assert queries(range(10)) == queries(range(10, 20))


@pytest.mark.parametrize(
    ("host", "email", "demo", "words"),
    [
        ("mail.test", "alice@example.com", False, "mailed to alice@example.com"),
        ("", "alice@example.com", False, "no mail server"),
        ("mail.test", "", False, "You have no e-mail address here"),
        ("mail.test", "alice@example.com", True, "The demo sends no mail"),
    ],
)
def test_the_page_says_whether_alerts_are_mailed(
    client: Client, settings: object, host: str, email: str, demo: bool, words: str
) -> None:
    settings.EMAIL_HOST = host
    User.objects.filter(username="alice").update(email=email, is_demo=demo)
    assert words in page(client)
