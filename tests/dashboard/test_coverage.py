"""Coverage of the past on a connection's page, and where the pages lead to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import Account, CoverageGap, SyncJob, User
from copytrade.reports.coverage import coverage, coverages
from tests.dashboard.test_overview import text
from tests.support.ledger_rows import account_of, closed_copy, day, open_copy, trader_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


def shown(client: Client, account: Account) -> str:
    return text(client.get(reverse("connection", args=[account.pk])).content.decode())


def history(account: Account) -> object:
    return SyncJob.objects.filter(account=account, kind="history")


def test_a_complete_ledger_says_from_when(client: Client, account: Account) -> None:
    history(account).update(complete_from=day("2026-03-01T00:00"))
    page = shown(client, account)
    assert "Order history complete from 1 Mar 2026 on" in page
    assert "Every order that the exchange still gives is in the ledger." in page
    assert "None known since 1 Mar 2026." in page


def test_the_first_walk_shows_how_far_it_got(client: Client, account: Account) -> None:
    cursor = {"back": {"end": "2026-03-05T00:00:00+00:00", "seen": 321, "empty": 2}}
    history(account).update(cursor=cursor, complete_from=day("2026-03-05T00:00"))
    page = shown(client, account)
    assert "Back to 5 Mar 2026 , 321 closed copies found." in page
    assert "2 empty windows in a row so far" in page


def test_before_the_first_walk_nothing_is_claimed(client: Client, account: Account) -> None:
    history(account).update(cursor={}, complete_from=None)
    page = shown(client, account)
    assert "The order history has not been walked through yet." in page
    assert "Order history complete from not yet" in page


def test_gaps_are_said_with_their_reason(client: Client, account: Account) -> None:
    CoverageGap.objects.create(account=account, start=None, end=day("2026-01-01T00:00"), reason="Too far.")
    CoverageGap.objects.create(
        account=account, start=day("2026-02-01T00:00"), end=day("2026-02-03T00:00"), reason="Refused <b>."
    )
    page = shown(client, account)
    assert "Everything before 1 Jan 2026 Too far." in page
    assert "1 Feb 00:00 to 3 Feb 00:00 Refused &lt;b&gt;." in page
    assert "Some of the past could not be read and is in no figure." in page


def test_what_left_the_open_list_is_counted(client: Client, account: Account) -> None:
    trader, now = trader_of(account), timezone.now()
    open_copy(trader, 1)
    open_copy(trader, 2, missing_since=now)
    open_copy(trader, 3, missing_since=now, lost_since=now)
    SyncJob.objects.filter(account=account, kind="open").update(partial_since=now - timedelta(minutes=2))
    page = shown(client, account)
    assert "Left the open list, being looked up 1" in page
    assert "Closed beyond the exchange's history 1" in page
    assert "Open list partial since" in page
    assert coverage(account).state == "gaps"


def test_each_reading_says_when_it_succeeded_and_when_it_is_next(client: Client, account: Account) -> None:
    account.jobs.filter(kind="traders").update(
        last_success_at=timezone.now() - timedelta(minutes=3),
        due_at=timezone.now() + timedelta(minutes=5, seconds=30),
        last_error="No answer.",
    )
    assert "Copied traders 3 min ago stale in 5 min No answer." in shown(client, account)


def test_several_accounts_cost_three_queries(alice: User) -> None:
    accounts = [account_of(alice, f"A{number}") for number in range(12)]
    for account in accounts:
        CoverageGap.objects.create(account=account, end=timezone.now(), reason="x")
        open_copy(trader_of(account), 1, missing_since=timezone.now())
    with CaptureQueriesContext(connection) as captured:
        found = coverages(accounts)
    assert len(captured) == 3
    assert {(len(one.gaps), one.missing) for one in found.values()} == {(1, 1)}


def test_a_stranger_gets_404(account: Account, charlie: User, client_of: Callable[[User], Client]) -> None:
    url = reverse("connection", args=[account.pk])
    assert client_of(charlie).get(url).status_code == 404
    assert Client().get(url).headers["Location"].startswith("/accounts/login/")


def test_the_pages_lead_to_it(client: Client, account: Account) -> None:
    trader = trader_of(account)
    closed_copy(trader, 1)
    CoverageGap.objects.create(account=account, end=timezone.now(), reason="x")
    goal = f'href="{reverse("connection", args=[account.pk])}#coverage"'
    assert goal in client.get(reverse("activity")).content.decode()
    page = client.get(reverse("trader", args=[trader.pk])).content.decode()
    assert goal in page and "with 1 gap." in page
