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

from copytrade.alerts import cure
from copytrade.models import Account, Alert, Channel, SyncJob, Trader, User

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


@pytest.mark.parametrize(("n", "words"), [(1, "1 waits for you."), (3, "3 wait for you.")])
def test_the_inbox_says_how_many_wait(client: Client, account: Account, n: int, words: str) -> None:
    for number in range(n):
        tell(account, number)
    assert words.rstrip(".") in page(client)


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


def test_the_page_says_how_alerts_reach_a_person(client: Client, alice: User) -> None:
    assert "It stands here only" in page(client)
    Channel.objects.create(owner=alice, kind="mail", label="My mail")
    Channel.objects.create(owner=alice, kind="webhook", label="Hook", enabled=False)
    assert ">My mail, Hook (not now)</a> too." in page(client)
    User.objects.update(is_demo=True)
    assert "The demo tells nobody outside." in page(client)


# --- folded ones, filters --------------------------------------------------------------------------------
def folded(account: Account, n: int = 11) -> Alert:
    head = tell(account, 0, sentence="11 copies closed within 10 minutes.", kind="closed", times=n)
    for number in range(11, n + 11):
        tell(account, number, kind="closed", folded_into=head)
    return head


def test_a_storm_is_one_line_with_its_list_one_press_away(client: Client, account: Account) -> None:
    head = folded(account)
    html = page(client)
    assert html.count("alert-head") == 1 and f'href="/alerts/{head.pk}/">Show the 11' in html
    html = page(client, f"/alerts/{head.pk}/")
    assert html.count("alert-head") == 11 and "reason 21" in html and "Mark as read" in html


def test_one_alert_has_a_page_that_says_when_and_how_it_was_told(client: Client, account: Account) -> None:
    later = timezone.now() + timedelta(hours=3)
    assert "To be told from" in page(client, f"/alerts/{tell(account, 1, loud_at=later).pk}/")
    assert "Silent" in page(client, f"/alerts/{tell(account, 2, silent=True).pk}/")
    head = folded(account, 3)
    assert "Told as one of many" in page(client, f"/alerts/{head.folded.first().pk}/")


def test_reading_a_storm_reads_all_of_it(client: Client, account: Account) -> None:
    head = folded(account)
    client.post(reverse("alert_read", args=[head.pk]))
    assert not Alert.objects.filter(read_at=None).exists()


def test_the_inbox_can_be_narrowed_to_a_trader_a_connection_and_a_state(
    client: Client, account: Account, alice: User
) -> None:
    other = Account.objects.create(owner=alice, label="Other", venue="sandbox")
    mine = Trader.objects.create(account=account, trader_id=1, name="Mine")
    tell(account, 1, trader=mine, kind="quiet")
    tell(other, 2)
    tell(other, 3, read_at=timezone.now())
    tell(other, 4, resolved_at=timezone.now())
    for query, shown in (
        (f"?trader={mine.pk}", {1}), (f"?account={other.pk}", {2}), ("?show=read", {3}), ("?show=healed", {4}),
        ("?show=all", {1, 2, 3, 4}), (f"?show=all&account={other.pk}", {2, 3, 4}), ("?trader=x&account=-1", {1, 2}),
        (f"?trader={10**17}", set()), (f"?trader={10**19}", {1, 2}),
    ):  # fmt: skip
        html = page(client, INBOX + query)
        assert {n for n in (1, 2, 3, 4) if f"reason {n}" in html} == shown, query


def test_a_storm_is_found_by_each_trader_in_it(client: Client, account: Account) -> None:
    mine = Trader.objects.create(account=account, trader_id=1, name="Mine")
    head = folded(account)
    head.folded.filter(pk=head.folded.first().pk).update(trader=mine)
    assert "11 copies closed" in page(client, f"{INBOX}?trader={mine.pk}")
    assert page(client, f"{INBOX}?account={account.pk}").count("11 copies closed within 10 minutes.</p>") == 1


def test_every_kind_leads_somewhere_with_and_without_its_rows(
    client: Client, account: Account, alice: User
) -> None:
    trader = Trader.objects.create(account=account, trader_id=1, name="Mine")
    for n, kind in enumerate(Alert.Kind):
        tell(account, 2 * n, kind=kind, trader=trader)
        Alert.objects.create(owner=alice, kind=kind, key=f"bare:{kind}", sentence=f"Bare {kind}.")
    html = page(client, f"{INBOX}?show=all")
    assert html.count("alert-head") == 2 * len(Alert.Kind)
    for alert in Alert.objects.all():
        assert client.get(cure(alert)[0]).status_code == 200, alert.kind


def test_anothers_alert_has_no_page(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    alert = tell(account)
    assert client_of(charlie).get(f"/alerts/{alert.pk}/").status_code == 404
    assert Client().get(f"/alerts/{alert.pk}/").status_code == 302
