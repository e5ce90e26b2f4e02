"""What a look at a page costs beside the page: a boost once in a while, the mark of a visit once a minute."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade.models import SyncJob, User
from dashboard import watching
from tests.support.ledger_rows import account_of, open_copy, trader_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    watching.remembered.forget()


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_the_memory_lasts_as_long_as_it_says_and_tells_people_apart() -> None:
    clock = Clock()
    memory = watching.Memory(20, clock)
    assert memory.is_new("user", 1) and not memory.is_new("user", 1)
    assert memory.is_new("user", 2) and memory.is_new("account", 1)
    clock.at += 19.9
    assert not memory.is_new("user", 1)
    clock.at += 0.2
    assert memory.is_new("user", 1)


def test_the_memory_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_REMEMBERED", 3)
    memory = watching.Memory(20)
    for key in range(10):
        assert memory.is_new("user", key)
    assert len(memory._until) <= 3


@pytest.mark.parametrize("address", ["/", "/orders/open/", "/orders/{order}/", "/traders/{trader}/"])
def test_the_first_look_boosts_and_the_next_ones_pay_nothing_for_it(
    alice: User, client_of: Callable[[User], Client], address: str
) -> None:
    trader = trader_of(account_of(alice))
    address = address.format(order=open_copy(trader, 1).pk, trader=trader.pk)
    client = client_of(alice)
    client.get(address)
    boosted = SyncJob.objects.get(kind="open").boost_until
    assert boosted and boosted > timezone.now() + timedelta(seconds=30)
    with CaptureQueriesContext(connection) as caught:
        client.get(address)
    assert not [
        query for query in caught if "copytrade_syncjob" in query["sql"] and "FOR NO KEY" in query["sql"]
    ]
    writes = [query["sql"] for query in caught if query["sql"].startswith("UPDATE")]
    assert [sql for sql in writes if "usersession" not in sql] == [], "neither boost nor visit"


def test_a_page_is_a_visit_and_the_parts_that_it_refreshes_are_none(
    alice: User, client_of: Callable[[User], Client]
) -> None:
    account_of(alice)
    client = client_of(alice)
    client.get("/orders/open/", headers={"HX-Request": "true"})
    alice.refresh_from_db()
    assert alice.last_here_at is None
    client.get("/orders/open/")
    alice.refresh_from_db()
    assert alice.last_here_at and alice.here_since and alice.was_here_at is None


def test_nobody_has_no_visits(db: None) -> None:
    assert Client().get("/").status_code == 302


def test_the_next_visit_counts_from_the_last_page_of_the_one_before(
    alice: User, client_of: Callable[[User], Client]
) -> None:
    before = timezone.now() - timedelta(hours=3)
    User.objects.filter(pk=alice.pk).update(here_since=before, last_here_at=before)
    client = client_of(alice)
    client.get("/traders/")
    alice.refresh_from_db()
    assert alice.was_here_at == before
