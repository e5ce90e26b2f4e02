"""Alerts of connections and settings: each occasion once, over when it has healed; and the inbox."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import alerts, connections, retention
from copytrade.alerts.kinds import KINDS
from copytrade.models import Account, Alert, AlertRule, SettingsVersion, SyncJob, TrackingOrder, Trader, User
from copytrade.sync import run
from tests.support.at_once import at_once
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db


def desk(owner: User, label: str = "Desk", **fields: object) -> Account:
    """An account whose readings all succeeded a moment ago."""
    values = {"venue": "sandbox", "state": "active", "created_at": timezone.now() - timedelta(days=9)}
    account = Account.objects.create(owner=owner, label=label, **(values | fields))
    now = timezone.now()
    SyncJob.objects.bulk_create(SyncJob(account=account, kind=k, last_success_at=now) for k in run.ALL)
    return account


def silent_since(account: Account, minutes: int, *kinds: str) -> None:
    then = timezone.now() - timedelta(minutes=minutes)
    account.jobs.filter(kind__in=kinds or run.ALL).update(last_success_at=then, last_error="Time-out.")


def one(**where: object) -> Alert:
    return Alert.objects.get(**where)


# --- a key refused ---------------------------------------------------------------------------------------
def test_a_refused_key_is_told_once_and_is_over_when_its_owner_has_cured_it(
    old_account: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("*", "key_pending")
    for _ in range(3):
        assert alerts.watch() == 0, "before reading stops there is nothing to do for the owner"
        run.sync_account(old_account.pk, ["traders"])
    assert [alerts.watch() for _ in range(3)] == [1, 0, 0]
    alert = one()
    assert (alert.kind, alert.account, alert.owner) == ("key_refused", old_account, old_account.owner)
    assert "Main: " in alert.sentence and "Reading has stopped" in alert.sentence
    sandbox.clear_faults()
    old_account.refresh_from_db()
    connections.resume(old_account)
    alerts.watch()
    assert one().resolved_at is not None


def test_a_key_refused_again_is_told_again(alice: User) -> None:
    account = desk(alice, state="refused", state_reason="Wrong passphrase.")
    alerts.watch()
    Account.objects.update(state="active")
    alerts.watch()
    Account.objects.update(state="refused", state_since=timezone.now())
    assert alerts.watch() == 1
    assert sorted(a.resolved_at is None for a in Alert.objects.filter(account=account)) == [False, True]


def test_a_new_key_that_waits_to_become_active_is_no_alert(alice: User) -> None:
    account = desk(alice, state="pending", state_reason="Not yet.")
    silent_since(account, 60)
    assert alerts.watch() == 0


# --- data gone stale -------------------------------------------------------------------------------------
def test_a_short_silence_is_nobodys_business(alice: User) -> None:
    silent_since(desk(alice), 14)
    assert alerts.watch() == 0


def test_an_account_that_falls_silent_is_told_once_whatever_is_missing(alice: User) -> None:
    account = desk(alice)
    silent_since(account, 20, "open")
    assert alerts.watch() == 1
    silent_since(account, 16, "traders", "history")
    assert alerts.watch() == 0
    alert = one()
    assert alert.kind == "data_stale"
    assert alert.sentence.startswith("Desk: open orders not read since ") and "Time-out." in alert.sentence


def test_stale_data_is_over_when_all_of_it_is_fresh_and_a_new_silence_is_a_new_alert(alice: User) -> None:
    account = desk(alice)
    silent_since(account, 20, "open", "traders")
    alerts.watch()
    account.jobs.filter(kind="open").update(last_success_at=timezone.now())
    assert alerts.watch() == 0 and one().resolved_at is None, "traders are still missing"
    account.jobs.update(last_success_at=timezone.now())
    alerts.watch()
    assert one().resolved_at is not None
    silent_since(account, 30, "open")
    assert alerts.watch() == 1


def test_a_connection_that_never_gave_anything_is_told_after_a_while(alice: User) -> None:
    account = desk(alice, key_set_at=timezone.now() - timedelta(minutes=10))
    account.jobs.update(last_success_at=None)
    assert alerts.watch() == 0
    Account.objects.update(key_set_at=timezone.now() - timedelta(minutes=20))
    assert alerts.watch() == 1
    assert "not read at all since the key was entered" in one().sentence


def test_slow_readings_have_four_of_their_intervals(alice: User) -> None:
    account = desk(alice, venue="weex")
    silent_since(account, 39, "settings")
    assert alerts.watch() == 0
    silent_since(account, 41, "settings")
    assert alerts.watch() == 1


def test_a_refused_key_explains_the_silence_so_one_alert_is_enough(alice: User) -> None:
    silent_since(desk(alice, state="refused", state_reason="No."), 60)
    assert alerts.watch() == 1
    assert one().kind == "key_refused"


# --- settings changed outside ----------------------------------------------------------------------------
def version(trader: Trader, author: str, answer: list, at: datetime) -> SettingsVersion:
    return SettingsVersion.objects.create(
        trader=trader, mode="unified", answer=answer, fingerprint=str(at), copy_enable=True,
        author=author, first_seen_at=at, last_seen_at=at,
    )  # fmt: skip


def changed(answer: list, **fields: object) -> list:
    return [item | fields for item in answer]


def test_settings_changed_outside_are_told_once_with_what_differs(trader: Trader) -> None:
    assert alerts.watch() == 0, "what the first reading found is no change"
    first = trader.versions.get()
    moment = timezone.now()
    version(trader, "outside", changed(first.answer, traceType="amount", traceValue="77"), moment)
    assert [alerts.watch(), alerts.watch()] == [1, 0]
    alert = one()
    assert (alert.kind, alert.trader) == ("settings_outside", trader)
    assert f"{trader}: changed outside the desk: " in alert.sentence and "77" in alert.sentence


def test_an_outside_change_is_over_when_settings_are_sent_from_here_again(trader: Trader) -> None:
    first, now = trader.versions.get(), timezone.now()
    version(trader, "outside", changed(first.answer, traceValue="77"), now)
    alerts.watch()
    version(trader, "outside", changed(first.answer, traceValue="78"), now + timedelta(seconds=1))
    assert alerts.watch() == 1
    assert Alert.objects.filter(resolved_at=None).count() == 2
    version(trader, "me", first.answer, now + timedelta(seconds=2))
    alerts.watch()
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_what_the_desk_sent_itself_is_no_alert(trader: Trader) -> None:
    version(trader, "me", changed(trader.versions.get().answer, traceValue="77"), timezone.now())
    assert alerts.watch() == 0


def test_copying_switched_off_elsewhere_is_said_in_words(trader: Trader) -> None:
    first = trader.versions.get()
    made = version(trader, "outside", first.answer, timezone.now())
    SettingsVersion.objects.filter(pk=made.pk).update(copy_enable=not first.copy_enable)
    alerts.watch()
    assert "copying is off" in one().sentence


def test_an_answer_that_cannot_be_read_is_told_all_the_same(trader: Trader) -> None:
    version(trader, "outside", [], timezone.now())
    alerts.watch()
    assert "cannot read" in one().sentence


def test_a_name_from_the_exchange_breaks_no_line_and_no_limit(trader: Trader) -> None:
    trader.name = "Evil\r\nBcc: all@example.com " + "x" * 170
    trader.save()
    changes = changed(trader.versions.get().answer, traceValue="77", maxHoldSize="1")
    version(trader, "outside", changes, timezone.now())
    alerts.watch()
    assert len(one().sentence) <= 500 and not {"\r", "\n"} & set(one().sentence)


# --- looking ---------------------------------------------------------------------------------------------
def test_five_accounts_cost_as_many_queries_as_ten(alice: User) -> None:
    def queries(accounts: range) -> int:
        for n in accounts:
            silent_since(desk(alice, label=f"Desk {n}", state="active"), 30)
        with CaptureQueriesContext(connection) as captured:
            alerts.watch()
        return len(captured)

    assert queries(range(5)) == queries(range(5, 10))
    assert Alert.objects.count() == 10


@pytest.mark.django_db(transaction=True)
def test_five_that_look_at_once_leave_one_alert(alice: User) -> None:
    silent_since(desk(alice), 30)
    desk(alice, label="Other", state="refused", state_reason="No.")
    at_once(*[alerts.watch] * 5)
    assert sorted(Alert.objects.values_list("kind", flat=True)) == ["data_stale", "key_refused"]


def test_the_inbox_shows_a_person_his_own_open_ones(alice: User, charlie: User) -> None:
    silent_since(desk(alice), 30)
    silent_since(desk(charlie), 30)
    alerts.watch()
    assert alerts.waiting(alice) == alerts.waiting(charlie) == 1
    assert [a.owner for a in alerts.inbox(alice)] == [alice]
    assert alerts.mark_read(alerts.inbox(alice)) == 1
    assert alerts.waiting(alice) == 0 and alerts.waiting(charlie) == 1
    assert alerts.inbox(alice, show="all").count() == 1
    assert alerts.inbox(alice, show="all", kind="key_refused").count() == 0


def test_old_alerts_are_tidied_away(alice: User) -> None:
    silent_since(desk(alice), 30)
    alerts.watch()
    retention.tidy(timezone.now() + timedelta(days=179))
    assert Alert.objects.exists()
    retention.tidy(timezone.now() + timedelta(days=181))
    assert not Alert.objects.exists()


def test_every_kind_has_a_page_that_cures_it(trader: Trader) -> None:
    version(trader, "outside", changed(trader.versions.get().answer, traceValue="77"), timezone.now())
    alerts.watch()
    assert alerts.cure(one())[0] == f"/traders/{trader.pk}/settings/timeline/"
    assert set(alerts.CURES) == set(Alert.Kind) == set(KINDS)


# --- against the sandbox exchange ------------------------------------------------------------------------
def test_ninety_days_read_for_the_first_time_raise_no_alert_and_what_closes_then_one_each(
    old_account: Account, sandbox: Sandbox
) -> None:
    owner = old_account.owner
    for kind in ("opened", "closed"):
        AlertRule.objects.create(owner=owner, kind=kind, mode="silent", since=moment(sandbox, days=-100))
    Account.objects.update(created_at=moment(sandbox))
    run.sync_account(old_account.pk)
    while old_account.jobs.get(kind="history").cursor.get("back"):
        run.sync_account(old_account.pk, ["history"])
    before = TrackingOrder.objects.filter(closed=True).count()
    assert before > 100 and TrackingOrder.objects.filter(closed=False).exists()
    alerts.watch(moment(sandbox))
    assert not Alert.objects.filter(kind__in=["opened", "closed", "loss"]).exists()
    known = len(sandbox.truth()["closed"])
    for _ in range(120):
        sandbox.advance(seconds=3600)
        if len(sandbox.truth()["closed"]) > known:
            break
    run.sync_account(old_account.pk, ["open", "history"])
    alerts.watch(moment(sandbox))
    closed = TrackingOrder.objects.filter(closed=True).count() - before
    told = Alert.objects.filter(kind__in=["closed", "loss"], times=1)
    assert closed > 0 and told.count() == closed
    assert alerts.watch(moment(sandbox)) == 0


def moment(sandbox: Sandbox, days: int = 0) -> datetime:
    """Now, by the exchange's clock, which a test has put forward."""
    return datetime.fromtimestamp(sandbox.clock()["serverTime"] / 1000, tz=UTC) + timedelta(days=days)
