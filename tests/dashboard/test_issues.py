"""Data issues: the inbox, try again, dismiss with a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import issues, retries
from copytrade.models import Account, BadRecord, DataIssue, SyncJob, User
from tests.dashboard.test_overview import text
from tests.support.ledger_rows import account_of

pytestmark = pytest.mark.django_db
URL = "/issues/"


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice, "Seaside")


def issue_of(account: Account, kind: str = "gap", subject: str = "1", sentence: str = "A gap.") -> DataIssue:
    return issues.tell(account, kind, subject, sentence)


def shown(client: Client, query: str = "") -> str:
    return text(client.get(URL + query).content.decode())


def test_an_issue_says_what_when_and_how_often(client: Client, account: Account) -> None:
    for _ in range(3):
        issue_of(account, sentence="March could not be read.")
    page = shown(client)
    assert "March could not be read." in page
    assert re.search(r"Seaside, \d+ s ago , 3 times since", page)
    assert "1 open: what is not certain about your figures" in page


def test_open_issues_are_counted_beside_the_way_to_them(client: Client, account: Account) -> None:
    assert "Data issues 1 open" not in text(client.get("/").content.decode())
    issue_of(account)
    assert "Data issues 1 open" in text(client.get("/").content.decode())


def test_the_raw_record_is_shown_and_harmless(client: Client, account: Account) -> None:
    raw = '{"trackingNo": "<script>alert(1)</script>"}'
    record = BadRecord.objects.create(
        account=account, operation="open", fingerprint="f00d", raw=raw, reason="not a number"
    )
    issue_of(account, "bad_record", subject_of(record), "A record could not be read.")
    html = client.get(URL).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html and "<script>alert" not in html
    assert "not a number" in html


def subject_of(record: BadRecord) -> str:
    return record.fingerprint


def test_filters_are_in_the_address(client: Client, account: Account) -> None:
    issue_of(account, "gap", "1", "One.")
    issue_of(account, "generation", "2", "Two.")
    issues.heal(account, "generation")
    closed = issue_of(account, "rollup", "3", "Three.")
    issues.dismiss(closed, "It was a test.")
    for query, expected in (
        ("", {"One."}),
        ("?state=resolved", {"Two."}),
        ("?state=dismissed", {"Three."}),
        ("?state=all", {"One.", "Two.", "Three."}),
        ("?state=all&kind=rollup", {"Three."}),
        ("?kind=rollup", set()),
        ("?state=zzz&kind=<b>&account=x&page=-1", {"One."}),
    ):
        page = shown(client, query)
        assert {word for word in ("One.", "Two.", "Three.") if word in page} == expected, query
    assert re.search(r"Dismissed \d+ s ago : It was a test.", shown(client, "?state=dismissed"))
    assert "No issue fits these filters." in shown(client, "?kind=rollup")


def test_one_accounts_issues_can_be_asked_for(client: Client, account: Account, alice: User) -> None:
    other = account_of(alice, "Family")
    issue_of(account, sentence="One.")
    issue_of(other, sentence="Two.")
    page = shown(client, f"?account={other.pk}")
    assert "Two." in page and "One." not in page


def test_without_any_issue_the_page_says_so(client: Client, account: Account) -> None:
    assert "No open issue." in shown(client)


def test_without_a_connection_it_leads_to_one(client: Client) -> None:
    assert reverse("connection_add") in client.get(URL).content.decode()


def test_dismissing_needs_a_note_and_keeps_what_was_typed(client: Client, account: Account) -> None:
    issue = issue_of(account)
    answer = client.post(reverse("issue_dismiss", args=[issue.pk]), {"note": " x "})
    assert answer.status_code == 400
    html = answer.content.decode()
    assert 'value="x"' in html and "Write in 3 to 500 characters why." in html
    issue.refresh_from_db()
    assert (issue.state, issue.note) == ("open", "")


def test_a_dismissed_issue_keeps_its_note_and_dismissing_again_changes_nothing(
    client: Client, account: Account
) -> None:
    issue = issue_of(account)
    url = reverse("issue_dismiss", args=[issue.pk])
    answer = client.post(url, {"note": "Known, before my time.", "state": "all", "kind": "gap"})
    assert answer.headers["Location"] == "/issues/?state=all&kind=gap"
    before = DataIssue.objects.values().get(pk=issue.pk)
    assert (before["state"], before["note"]) == ("dismissed", "Known, before my time.")
    answer = client.post(url, {"note": "Another word."}, follow=True)
    assert "was closed already" in answer.content.decode()
    assert DataIssue.objects.values().get(pk=issue.pk) == before


@pytest.mark.parametrize("kind", sorted(retries.READ_AGAIN))
def test_trying_again_makes_the_readings_due_that_settle_it(
    client: Client, account: Account, kind: str
) -> None:
    later = timezone.now() + timedelta(hours=1)
    SyncJob.objects.update(due_at=later)
    issue = issue_of(account, kind)
    client.post(reverse("issue_retry", args=[issue.pk]))
    due = set(SyncJob.objects.filter(due_at__lt=later).values_list("kind", flat=True))
    assert due == set(retries.READ_AGAIN[kind])
    before = list(SyncJob.objects.order_by("pk").values())
    client.post(reverse("issue_retry", args=[issue.pk]))
    assert list(SyncJob.objects.order_by("pk").values()) == before


def test_sums_are_checked_again_without_asking_the_exchange(client: Client, account: Account) -> None:
    later = timezone.now() + timedelta(hours=1)
    SyncJob.objects.update(due_at=later)
    Account.objects.update(sums_checked_at=timezone.now(), state="refused")
    client.post(reverse("issue_retry", args=[issue_of(account, "rollup").pk]))
    account.refresh_from_db()
    assert account.sums_checked_at is None
    assert not SyncJob.objects.filter(due_at__lt=later).exists()


def test_every_kind_of_issue_can_be_tried_again() -> None:
    assert set(retries.AGAIN) == set(DataIssue.Kind.values)


def test_a_closed_issue_is_not_tried_again(client: Client, account: Account) -> None:
    later = timezone.now() + timedelta(hours=1)
    SyncJob.objects.update(due_at=later)
    issue = issue_of(account)
    issues.dismiss(issue, "Known.")
    answer = client.post(reverse("issue_retry", args=[issue.pk]), follow=True)
    assert "closed already" in answer.content.decode()
    assert not SyncJob.objects.filter(due_at__lt=later).exists()


def test_a_refused_key_leads_to_its_connection(client: Client, account: Account) -> None:
    issue = issue_of(account)
    Account.objects.update(state="refused")
    answer = client.post(reverse("issue_retry", args=[issue.pk]))
    assert answer.headers["Location"] == reverse("connection", args=[account.pk])


@pytest.mark.parametrize("name", ["issue_retry", "issue_dismiss"])
def test_a_stranger_gets_404_and_changes_nothing(
    account: Account, charlie: User, client_of: Callable[[User], Client], name: str
) -> None:
    issue = issue_of(account)
    before = DataIssue.objects.values().get(pk=issue.pk)
    answer = client_of(charlie).post(reverse(name, args=[issue.pk]), {"note": "Not mine."})
    assert answer.status_code == 404
    assert DataIssue.objects.values().get(pk=issue.pk) == before


def test_a_stranger_sees_none_of_it(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    issue_of(account, sentence="Alice's own.")
    page = shown(client_of(charlie), f"?state=all&account={account.pk}")
    assert "own." not in page and "Seaside" not in page


def test_twenty_issues_cost_as_many_queries_as_ten(client: Client, account: Account) -> None:
    counts = []
    for round_ in range(2):
        for number in range(10):
            record = BadRecord.objects.create(
                account=account, operation="open", fingerprint=f"{round_}{number}", raw="{}", reason="no"
            )
            issue_of(account, "bad_record", subject_of(record), "A record.")
        client.get(URL)
        with CaptureQueriesContext(connection) as captured:
            client.get(URL)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_more_than_a_page_has_pages(client: Client, account: Account) -> None:
    for number in range(35):
        issue_of(account, subject=str(number))
    page = client.get(URL).content.decode()
    assert "Page 1 of 2" in page and "?page=2" in page
