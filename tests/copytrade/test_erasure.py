"""Delete everything: nothing of the person remains in any table, nobody else loses a row, a killed worker resumes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection, models
from django.test import Client
from django.urls import reverse

from copytrade import audit, clients, connections, erasure
from copytrade.models import (
    Account,
    Alert,
    AuditEntry,
    BadRecord,
    ChangeGroup,
    Credential,
    DataIssue,
    DataKey,
    DeskPolicy,
    Erasure,
    Invitation,
    OrderRevision,
    SettingsChange,
    SettingsTemplate,
    SettingsVersion,
    SpotOrder,
    SpotTicket,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    TraderDay,
    TraderNote,
    User,
)  # fmt: skip
from copytrade.sync.run import sync_account
from tests.support.sandbox_process import Sandbox
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db
State = SettingsChange.State


def furnished(user: User, sandbox: Sandbox) -> Account:
    """A connection read from the sandbox, and a row of every kind that a person leaves behind."""
    account = connections.add(
        user, label=f"Main of {user.username}", venue="sandbox",
        key="follower-key", secret="follower-secret", passphrase="sandbox",
    )  # fmt: skip
    sync_account(account.pk, ["traders", "open", "settings"])
    trader = Trader.objects.filter(account=account).first()
    assert trader is not None
    version = SettingsVersion.objects.filter(trader=trader).first()
    group = ChangeGroup.objects.create(owner=user, label="of " + user.username)
    change = SettingsChange.objects.create(
        trader=trader, author=user, body={}, base=version, group=group, state=State.APPLIED
    )
    SettingsVersion.objects.filter(pk=version.pk).update(change=change)  # a circle of foreign keys
    SettingsChange.objects.create(trader=trader, author=user, body={}, previous=change)
    SettingsTemplate.objects.create(owner=user, name="of " + user.username, body={})
    TraderNote.objects.create(trader=trader, day="2026-05-04", text="noted by " + user.username)
    TraderDay.objects.get_or_create(trader=trader, day="2026-05-04")
    order = TrackingOrder.objects.filter(account=account).first()
    assert order is not None
    OrderRevision.objects.create(order=order, changed={})
    BadRecord.objects.create(account=account, operation="x", fingerprint="y", raw="z", reason="r")
    DataIssue.objects.create(account=account, kind="gap", subject="s", sentence="t")
    audit.note(user, "send", trader=trader, subject="sent by " + user.username)
    Client().post(
        reverse("account_login"), {"login": user.username, "password": f"{user.username}-password-of-20"}
    )
    signed_in(user)
    return account


def everything() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table that Django knows."""
    return {
        model._meta.label: list(model._base_manager.order_by().values())
        for model in apps.get_models(include_auto_created=True)
    }


def of_person(user_pk: int) -> Counter[str]:
    """How many rows of each table lead to this person, over any chain of foreign keys that goes with its target."""
    counted: Counter[str] = Counter()
    for model, path in erasure.plan():
        counted[model._meta.label] += model._base_manager.filter(**{path: user_pk}).count()
    return counted


def test_nothing_of_the_person_remains_in_any_table_and_nobody_else_loses_a_row(
    alice: User, charlie: User, sandbox: Sandbox, redis_client: object
) -> None:
    User.objects.filter(pk=charlie.pk).update(is_operator=True)
    charlie.refresh_from_db()
    furnished(alice, sandbox)
    furnished(charlie, sandbox)
    used = Invitation.objects.create(
        token_hash="h", invited_by=charlie, used_by=alice, expires_at="2030-01-01T00:00Z"
    )
    before, his = of_person(alice.pk), of_person(charlie.pk)
    for label in ("Account", "Trader", "TrackingOrder", "OrderRevision", "SettingsVersion", "AuditEntry"):
        assert before[f"copytrade.{label}"], label
    pk = alice.pk
    erasure.begin(alice)
    while erasure.proceed():
        pass
    left = json.dumps(everything(), default=str)
    assert "alice" not in left
    assert not any(of_person(pk).values())
    assert of_person(charlie.pk) == his
    assert [one.get_decoded()["_auth_user_id"] for one in Session.objects.all()] == [str(charlie.pk)] * 2
    used.refresh_from_db()
    assert used.used_by is None
    done = Erasure.objects.get()
    assert done.user is None and done.done_at is not None
    assert done.removed_orders == done.orders > 0


def test_every_foreign_key_that_leads_to_a_person_is_in_the_plan_or_lets_go_of_it() -> None:
    """By the database's own word, not by ours: tables that point to the users' table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
            " AND confrelid = 'copytrade_user'::regclass"
        )
        pointing = {row[0] for row in cursor.fetchall()}
    planned = {model._meta.db_table for model, _ in erasure.plan()}
    letting_go = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey) and field.related_model is User
        and field.remote_field.on_delete is models.SET_NULL
    }  # fmt: skip
    assert pointing
    assert pointing <= planned | letting_go
    assert "copytrade_auditentry" in planned


def test_the_account_is_unusable_at_once(alice: User, sandbox: Sandbox, redis_client: object) -> None:
    account = furnished(alice, sandbox)
    browser = signed_in(alice)
    assert browser.get("/").status_code == 200
    erasure.begin(alice)
    assert browser.get("/").status_code == 302
    assert not DataKey.objects.filter(user=alice).exists()
    assert not Credential.objects.filter(account=account).exists()
    assert not SyncJob.objects.filter(account=account).exists()
    account.refresh_from_db()
    with pytest.raises(clients.NoKey):
        clients.client_for(account)
    entered = Client().post(reverse("account_login"), {"login": "alice", "password": "alice-password-of-20"})
    assert entered.status_code == 200, "the form is shown again"
    assert TrackingOrder.objects.filter(account=account).exists(), "the rows go later, in steps"


def test_twice_is_once(alice: User, sandbox: Sandbox, redis_client: object) -> None:
    furnished(alice, sandbox)
    assert erasure.begin(alice) == erasure.begin(alice)
    while erasure.proceed():
        pass
    assert erasure.proceed() == 0
    assert Erasure.objects.count() == 1


def test_it_goes_in_bounded_steps_and_the_next_worker_goes_on(
    alice: User, sandbox: Sandbox, redis_client: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = furnished(alice, sandbox)
    trader = Trader.objects.filter(account=account).first()
    TrackingOrder.objects.bulk_create(
        TrackingOrder(
            account=account, trader=trader, tracking_no=n, symbol="BTCUSDT", position_side="LONG", status="x"
        )
        for n in range(1, 501)
    )
    orders = TrackingOrder.objects.filter(account=account).count()
    monkeypatch.setattr(erasure, "STEP", 100)
    erasure.begin(alice)
    turns = 0
    while Erasure.objects.get().done_at is None:
        gone = erasure.proceed(seconds=0)  # as if the worker were killed after each step
        turns += 1
        assert gone <= 200, "a step is bounded: rows of one table, and what points to them"
    assert turns > orders / 100
    assert Erasure.objects.get().removed_orders == orders
    assert not User.objects.filter(pk=alice.pk).exists()


def test_a_row_written_meanwhile_goes_too(alice: User, sandbox: Sandbox, redis_client: object) -> None:
    account = furnished(alice, sandbox)
    erasure.begin(alice)
    SyncJob.objects.create(account=account, kind="open")
    SyncRun.objects.create(account=account, kind="open")
    Alert.objects.filter(account=account).delete()
    while erasure.proceed():
        pass
    assert not SyncJob.objects.exists() and not Account.objects.exists()


# --- what holds it up, and what becomes of the desk --------------------------------------------------------
@pytest.fixture
def followed(alice: User) -> Trader:
    account = Account.objects.create(owner=alice, label="Main", venue="sandbox")
    return Trader.objects.create(account=account, trader_id=702345678901234567)


def test_a_change_that_waits_is_never_sent_and_one_on_its_way_is_waited_for(
    alice: User, followed: Trader
) -> None:
    change = SettingsChange.objects.create(trader=followed, author=alice, body={}, state=State.SENDING)
    with pytest.raises(erasure.NotNow, match="being sent at this moment"):
        erasure.begin(alice)
    assert User.objects.get(pk=alice.pk).is_active
    SettingsChange.objects.filter(pk=change.pk).update(state=State.CONFIRMED)
    erasure.begin(alice)
    assert not SettingsChange.objects.filter(pk=change.pk).exists()


def test_a_spot_order_that_waits_is_never_sent_and_one_on_its_way_is_waited_for(
    alice: User, followed: Trader
) -> None:
    ticket = SpotTicket.objects.create(account=followed.account, author=alice)
    order = SpotOrder.objects.create(
        ticket=ticket, account=followed.account, client_order_id="ours-1", side="BUY",
        type="MARKET", quantity=1, state=SpotOrder.State.SENDING,
    )  # fmt: skip
    with pytest.raises(erasure.NotNow, match="A spot order of yours is being sent"):
        erasure.begin(alice)
    SpotOrder.objects.filter(pk=order.pk).update(state=SpotOrder.State.CONFIRMED)
    erasure.begin(alice)
    assert not SpotOrder.objects.filter(pk=order.pk).exists()


def test_an_entry_that_is_written_at_the_last_moment_does_not_become_the_desks(
    alice: User, charlie: User, followed: Trader
) -> None:
    erasure.begin(alice)
    audit.note(alice, "key_used", subject="Main: key used")
    erasure._person(Erasure.objects.get(), User.objects.get(pk=alice.pk))
    assert not AuditEntry.objects.filter(subject="Main: key used").exists()
    assert not User.objects.filter(pk=alice.pk).exists()


def test_the_operator_names_a_successor_while_others_are_there(alice: User, charlie: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    with pytest.raises(erasure.NotNow, match="Say who runs it"):
        erasure.begin(alice)
    erasure.begin(alice, charlie)
    charlie.refresh_from_db()
    assert charlie.is_operator
    assert not User.objects.filter(pk=alice.pk, is_operator=True).exists()


def test_after_the_last_account_the_desk_is_new(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    alice.refresh_from_db()
    audit.set_second_factor_for_sending(alice, True)
    erasure.begin(alice)
    assert Client().get("/setup/").status_code == 404
    while erasure.proceed():
        pass
    assert Client().get("/setup/").status_code == 200
    assert not DeskPolicy.objects.exists() and not AuditEntry.objects.exists()


def test_the_demo_cannot_be_deleted(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_demo=True)
    with pytest.raises(erasure.NotNow, match="demo"):
        erasure.begin(alice)
