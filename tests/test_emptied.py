"""After a test that commits the database is as Django's own flush leaves it, whichever way it was emptied."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import TransactionTestCase

from copytrade.models import Account, SyncJob, User
from tests.support import emptied
from tests.support.ledger_rows import account_of, trader_of, winner_and_loser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> TransactionTestCase:
    """A test that ends; `flushed` counts how often it took Django's own way."""
    made = TransactionTestCase()
    made.flushed = 0  # type: ignore[attr-defined]
    flush = emptied._flush

    def counted(ending: TransactionTestCase) -> None:
        made.flushed += 1  # type: ignore[attr-defined]
        flush(ending)

    monkeypatch.setattr(emptied, "_flush", counted)
    emptied.emptied(made)  # whatever came before, now it is known what a flush leaves
    made.flushed = 0  # type: ignore[attr-defined]
    return made


def everything() -> dict[str, list[str]]:
    """All rows of all tables, as text."""
    found = {}
    with connection.cursor() as cursor:
        for table in emptied._tables():
            cursor.execute(f'SELECT t::text FROM "{table}" t ORDER BY 1')
            found[table] = [row[0] for row in cursor.fetchall()]
    return found


def a_test_leaves_its_rows() -> None:
    person = User.objects.create_user("alice", "alice@example.com", "alice-password-of-20")
    person.user_permissions.add(Permission.objects.first())
    winner_and_loser(account_of(person))


def test_rows_are_gone_and_what_a_flush_fills_is_there(case: TransactionTestCase) -> None:
    before = everything()
    assert {table for table, rows in before.items() if rows} == {"auth_permission", "django_content_type"}
    a_test_leaves_its_rows()
    assert everything() != before
    emptied.emptied(case)
    assert everything() == before
    assert case.flushed == 0


def test_it_is_what_djangos_own_flush_leaves(case: TransactionTestCase) -> None:
    a_test_leaves_its_rows()
    emptied.emptied(case)
    ours = everything()
    emptied._flush(case)
    theirs = everything()
    assert ours.keys() == theirs.keys()
    assert {name: len(rows) for name, rows in ours.items()} == {n: len(rows) for n, rows in theirs.items()}


@pytest.mark.parametrize(
    "change",
    [
        lambda: ContentType.objects.create(app_label="copytrade", model="unheard of"),
        lambda: Permission.objects.first().delete(),
        lambda: Permission.objects.filter(pk=Permission.objects.first().pk).update(name="Other"),
    ],
)
def test_a_table_that_the_flush_had_filled_and_that_changed_is_filled_again(
    change: Callable[[], object], case: TransactionTestCase
) -> None:
    names = set(Permission.objects.values_list("content_type__model", "codename", "name"))
    change()
    emptied.emptied(case)
    assert case.flushed == 1
    assert set(Permission.objects.values_list("content_type__model", "codename", "name")) == names
    emptied.emptied(case)
    assert case.flushed == 1


def test_much_is_truncated(case: TransactionTestCase, monkeypatch: pytest.MonkeyPatch) -> None:
    a_test_leaves_its_rows()
    monkeypatch.setattr(emptied, "MUCH", 10_000)
    emptied.emptied(case)
    assert case.flushed == 1 and not User.objects.exists()


def test_foreign_keys_and_triggers_are_in_force_again(case: TransactionTestCase) -> None:
    a_test_leaves_its_rows()
    emptied.emptied(case)
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


def test_somebody_who_is_still_writing_is_waited_for(case: TransactionTestCase) -> None:
    """A thread that a test left behind has its rows removed, too, as truncating would."""
    account = account_of(User.objects.create_user("bob"))
    wrote, go_on = threading.Event(), threading.Event()

    def late() -> None:
        with transaction.atomic():
            trader_of(account)
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # at the end it would ask for one more lock
            wrote.set()
            go_on.wait(30)
        connection.close()

    thread = threading.Thread(target=late)
    thread.start()
    assert wrote.wait(30)
    threading.Timer(0.3, go_on.set).start()
    emptied.emptied(case)
    thread.join(30)
    assert case.flushed == 0
    assert not any(model.objects.exists() for model in (Account, SyncJob, User))
    assert {table for table, rows in everything().items() if rows} == {
        "auth_permission",
        "django_content_type",
    }
