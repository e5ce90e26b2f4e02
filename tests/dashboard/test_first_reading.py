"""The first reading of a new connection is followed by the page, stage by stage."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from copytrade.models import Account, SyncJob, User

HTMX = {"HX-Request": "true"}
ADDRESS = "/first-reading/"


@pytest.fixture
def jobs(alice: User) -> dict[str, SyncJob]:
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox")
    return {kind: SyncJob.objects.create(account=account, kind=kind) for kind in SyncJob.Kind.values}


def done(*jobs: SyncJob) -> None:
    for job in jobs:
        job.last_success_at = timezone.now()
        job.save()


def ask(client: Client, was: str) -> object:
    return client.get(ADDRESS, {"was": was}, headers=HTMX)


def test_until_traders_and_copies_are_known_the_overview_shows_no_zeros(
    alice: User, client_of: Callable[[User], Client], jobs: dict[str, SyncJob]
) -> None:
    page = client_of(alice).get("/").content.decode()
    assert "appear here by themselves" in page
    assert f'hx-get="{ADDRESS}?was=start"' in page
    assert "Net today" not in page


def test_the_page_is_loaded_anew_at_each_stage_and_not_in_between(
    alice: User, client_of: Callable[[User], Client], jobs: dict[str, SyncJob]
) -> None:
    client = client_of(alice)
    assert "HX-Refresh" not in ask(client, "start").headers
    done(jobs["open"], jobs["traders"])
    assert ask(client, "start").headers["HX-Refresh"] == "true"

    jobs["history"].cursor = {"back": {"end": "2026-08-01T00:00:00+00:00", "seen": 120}}
    jobs["history"].save()
    answer = ask(client, "past")
    assert "HX-Refresh" not in answer.headers
    assert "120 closed copies found" in answer.content.decode()

    jobs["history"].cursor = {}
    done(jobs["history"], jobs["settings"])
    assert ask(client, "past").headers["HX-Refresh"] == "true"
    assert "first-reading" not in client.get("/").content.decode()


def test_a_page_that_is_ahead_is_not_loaded_again_and_again(
    alice: User, client_of: Callable[[User], Client], jobs: dict[str, SyncJob]
) -> None:
    """History counts its own reading alone, so its stage may be a later one."""
    assert "HX-Refresh" not in ask(client_of(alice), "past").headers
    assert "HX-Refresh" not in ask(client_of(alice), "nonsense").headers


def test_without_htmx_it_leads_to_the_overview(alice: User, client_of: Callable[[User], Client]) -> None:
    assert client_of(alice).get(ADDRESS).headers["Location"] == "/"


def test_a_stranger_learns_nothing_of_it(
    charlie: User, client_of: Callable[[User], Client], jobs: dict[str, SyncJob]
) -> None:
    assert ask(client_of(charlie), "").content.strip() == b""
