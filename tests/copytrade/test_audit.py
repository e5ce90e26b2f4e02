"""The audit log: one row for a deed, readable when what it names is gone; and the operator's switch."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import transaction

from copytrade import audit
from copytrade.models import Account, AuditEntry, DeskPolicy, Trader, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def followed(alice: User) -> Trader:
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox")
    return Trader.objects.create(account=account, trader_id=702345678901234567, name="Northwind Steady")


def test_an_entry_says_who_did_what_to_whom(alice: User, followed: Trader) -> None:
    entry = audit.note(alice, "send", trader=followed, subject="Long leverage 5x to 10x")
    entry.refresh_from_db()
    assert (entry.user, entry.action, entry.trader, entry.account) == (
        alice,
        "send",
        followed,
        followed.account,
    )
    assert entry.subject == "Long leverage 5x to 10x" and entry.details == {}


def test_details_keep_exact_numbers_dates_and_ids_as_text(alice: User) -> None:
    given = {
        "value": Decimal("0.10"),
        "at": datetime(2026, 11, 21, tzinfo=UTC),
        "id": 702345678901234567,
        "rows": [["a", "b"]],
    }
    audit.note(alice, "imported", subject="x", details=given)
    kept = AuditEntry.objects.get().details
    assert kept["value"] == "0.10" and kept["at"].startswith("2026-11-21")
    assert kept["id"] == 702345678901234567 and kept["rows"] == [["a", "b"]]


def test_a_long_subject_is_cut_and_says_so(alice: User) -> None:
    subject = audit.note(alice, "send", subject="x" * 300).subject
    assert len(subject) == 200 and subject.endswith("…")


def test_an_action_that_is_not_listed_is_a_mistake_of_ours(alice: User) -> None:
    with pytest.raises(ValueError, match="stolen"):
        audit.note(alice, "stolen", subject="x")
    assert not AuditEntry.objects.exists()


def test_an_entry_stands_if_and_only_if_the_deed_does(alice: User) -> None:
    with transaction.atomic():
        audit.note(alice, "send", subject="x")
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()


def test_entries_outlive_the_rows_that_they_name(alice: User, followed: Trader) -> None:
    audit.note(alice, "send", trader=followed, subject="Northwind Steady: stop loss off")
    followed.account.delete()
    alice.delete()
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.trader, entry.account) == (None, None, None)
    assert entry.subject == "Northwind Steady: stop loss off"


def test_a_person_reads_only_what_he_did_himself_newest_first(alice: User, charlie: User) -> None:
    first = audit.note(alice, "send", subject="one")
    audit.note(charlie, "send", subject="theirs")
    second = audit.note(alice, "restore", subject="two")
    assert [e.subject for e in audit.entries(alice)] == ["two", "one"]
    assert list(audit.entries(alice, audit.Filters("send"))) == [first]
    assert list(audit.entries(alice, before=second.pk)) == [first]


def test_the_switch_is_off_until_somebody_touches_it() -> None:
    assert audit.policy().second_factor_for_sending is False
    assert not DeskPolicy.objects.exists(), "asking does not write"


def test_the_operators_switch_is_in_the_log_once_for_each_turn(alice: User) -> None:
    alice.is_operator = True
    for demanded in (True, True, False, False):
        audit.set_second_factor_for_sending(alice, demanded)
        assert audit.policy().second_factor_for_sending is demanded
    assert [e.details["second_factor_for_sending"] for e in audit.entries(alice)] == [False, True]
    assert DeskPolicy.objects.count() == 1


def test_only_an_operator_turns_the_switch(alice: User) -> None:
    with pytest.raises(ValueError, match="operator"):
        audit.set_second_factor_for_sending(alice, True)
    assert audit.policy().second_factor_for_sending is False
