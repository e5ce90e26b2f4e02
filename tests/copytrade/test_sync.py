"""Readings against the real sandbox: the ledger equals its truth, at first and after everything that happens."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from copytrade import connections
from copytrade.exchange.errors import RateLimited
from copytrade.models import (
    Account,
    BadRecord,
    OrderRevision,
    SettingsVersion,
    SyncJob,
    SyncRun,
    TrackingOrder,
    Trader,
    TraderDay,
    User,
)
from copytrade.sync import leases, run
from tests.support.sandbox_process import Sandbox

from .ledger_truth import assert_ledger_is, moment


def sync(account: Account, *kinds: str) -> None:
    wanted = kinds or run.ALL
    assert run.sync_account(account.pk, wanted) == dict.fromkeys(wanted, "")


def numbers(wires: list[dict]) -> set[int]:
    return {wire["trackingNo"] for wire in wires}


def until_something_opens(sandbox: Sandbox) -> None:
    """Let the sandbox's time pass until a new order is open: one of the first stays open for ever, and on some
    days it is the only one."""
    before = numbers(sandbox.truth()["open"])
    for _ in range(120):
        sandbox.advance(seconds=1800)
        if numbers(sandbox.truth()["open"]) - before:
            return
    raise AssertionError("nothing opened in 60 hours")


def until_something_closes(sandbox: Sandbox) -> set[int]:
    """Let the sandbox's time pass until an order that was open is closed; the numbers of those closed."""
    before = numbers(sandbox.truth()["open"])
    for _ in range(120):
        sandbox.advance(seconds=3600)
        if closed := before & numbers(sandbox.truth()["closed"]):
            return closed
    raise AssertionError("nothing closed in 120 hours")


def test_the_first_reading_equals_the_truth(account: Account, sandbox: Sandbox) -> None:
    sync(account)
    truth = sandbox.truth()
    assert_ledger_is(account, truth)
    copied = {wire["traderId"]: wire for wire in truth["traders"]}
    assert set(account.traders.filter(copied=True).values_list("trader_id", flat=True)) == set(copied)
    assert account.traders.filter(copied=False).count() == 2, "former traders are known from their orders"
    for trader in account.traders.filter(copied=True):
        assert str(trader.trace_total_profit) == copied[trader.trader_id]["traceTotalProfit"]
        assert str(trader.total_investment) == copied[trader.trader_id]["totalInvestment"]
        assert trader.days.get().total_investment == trader.total_investment
    account.refresh_from_db()
    assert account.state == "active" and account.last_success_at
    assert set(account.jobs.values_list("last_error", "failures")) == {("", 0)}


def test_reading_again_changes_nothing_and_folds_into_one_run(account: Account, sandbox: Sandbox) -> None:
    sync(account)
    sync(account)  # settings of former traders, known only after the first history, are new here
    orders = list(TrackingOrder.objects.order_by("pk").values())
    versions = SettingsVersion.objects.count()
    for _ in range(3):
        sync(account)
    assert list(TrackingOrder.objects.order_by("pk").values()) == orders
    assert not OrderRevision.objects.exists()
    assert SettingsVersion.objects.count() == versions
    for kind in run.ALL:
        first_changed, *others = SyncRun.objects.filter(account=account, kind=kind).order_by("pk")
        assert first_changed.changed
        assert others[-1].times >= 3 and not others[-1].changed


def test_the_whole_past_is_read_and_its_reach_is_told(account: Account, sandbox: Sandbox) -> None:
    sync(account, "history")
    job = account.jobs.get(kind="history")
    first = min(moment(wire["openTime"]) for wire in sandbox.truth()["closed"])
    assert job.complete_from and job.complete_from < first
    assert "back" not in job.cursor and "walk" not in job.cursor


def test_a_close_moves_to_the_history(account: Account, sandbox: Sandbox) -> None:
    until_something_opens(sandbox)
    sync(account)
    closed = until_something_closes(sandbox)
    SyncJob.objects.filter(kind="history").update(due_at=timezone.now() + timedelta(hours=1))
    sync(account, "open")
    gone = TrackingOrder.objects.filter(tracking_no__in=closed)
    assert set(gone.values_list("closed", flat=True)) == {False}, "absence does not close"
    assert all(order.missing_since for order in gone)
    assert account.jobs.get(kind="history").due_at <= timezone.now(), "the history is due at once"
    sync(account, "history")
    assert set(gone.values_list("closed", "missing_since")) == {(True, None)}
    sync(account)
    assert_ledger_is(account, sandbox.truth())
    assert OrderRevision.objects.filter(order__in=gone).count() == len(closed)


@pytest.mark.parametrize("history_by", ["close", "open"])
def test_days_go_by_and_nothing_is_missed_whichever_time_the_history_filters_on(
    account: Account, sandbox: Sandbox, history_by: str
) -> None:
    sandbox.reset(history_by=history_by)
    sync(account)
    for hours in (1, 5, 30, 3):
        sandbox.advance(seconds=hours * 3600)
        sync(account)
        sync(account, "open", "history")
        assert_ledger_is(account, sandbox.truth())


def test_a_true_up_of_the_next_day_makes_a_revision(account: Account, sandbox: Sandbox) -> None:
    day = 24 * 3600
    evening = (20 * 3600 - sandbox.clock()["serverTime"] / 1000) % day  # of a day on which some have closed
    sandbox.advance(seconds=evening)
    sync(account)
    before = {order.pk: order.net_profit for order in TrackingOrder.objects.filter(closed=True)}
    sandbox.advance(seconds=day)
    sync(account, "open", "history")
    changed = [o for o in TrackingOrder.objects.filter(pk__in=before) if o.net_profit != before[o.pk]]
    assert changed, "the sandbox trues up at midnight"
    for order in changed:
        told = order.revisions.get().changed["net_profit"]
        assert told == [f"{before[order.pk]:f}", f"{order.net_profit:f}"]
    assert_ledger_is(account, sandbox.truth())


def test_a_short_budget_only_means_more_steps(account: Account, sandbox: Sandbox) -> None:
    job = account.jobs.get(kind="history")
    outcomes = []
    while not outcomes or outcomes[-1] == run.MORE:
        outcomes.append(run.run_job(job.pk, force=True, budget=0))
    assert outcomes[-1] == run.DONE and len(outcomes) > 4
    sync(account, "open")
    assert_ledger_is(account, sandbox.truth())


def test_a_walk_that_breaks_off_goes_on_where_it_stood(account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("tracking_order_history", "code", code=-1000, after=7, times=4)
    trouble = run.sync_account(account.pk, ["history"])["history"]
    assert trouble
    read = TrackingOrder.objects.count()
    assert read == 700
    back = account.jobs.get(kind="history").cursor["back"]
    assert back["next"] and back["seen"] == 700
    calls = len(sandbox.calls()["calls"])
    sync(account, "open", "history")
    history_calls = [
        c for c in sandbox.calls()["calls"][calls:] if c["operation"] == "tracking_order_history"
    ]
    assert f"nextKeyId={back['next'][0]}" in history_calls[0]["query"]
    assert_ledger_is(account, sandbox.truth())


@pytest.mark.parametrize("kind", ["duplicate_rows", "reorder_rows", "numbers_for_strings", "extra_fields"])
def test_odd_pages_end_in_the_same_ledger(account: Account, sandbox: Sandbox, kind: str) -> None:
    sandbox.fault("tracking_order_history", kind, times=6)
    sandbox.fault("open_tracking_orders", kind, times=1)
    sync(account)
    assert_ledger_is(account, sandbox.truth())


def test_a_cursor_that_leads_in_a_circle_is_an_error_and_the_walk_recovers(
    account: Account, sandbox: Sandbox
) -> None:
    sandbox.fault("tracking_order_history", "cursor_loop", after=3, times=4)
    trouble = run.sync_account(account.pk, ["history"])["history"]
    assert "history" in trouble
    assert account.jobs.get(kind="history").failures == 1
    sandbox.clear_faults()
    sync(account, "open", "history")
    assert_ledger_is(account, sandbox.truth())


def test_bad_records_are_kept_as_they_came_and_read_when_they_are_well(
    account: Account, sandbox: Sandbox
) -> None:
    present = {wire["trackingNo"] for wire in sandbox.truth()["open"]}
    sandbox.fault("open_tracking_orders", "missing_fields", fields=["symbol"], times=2)
    sync(account, "open")
    sync(account, "open")
    bad = BadRecord.objects.filter(account=account, operation="open_tracking_orders")
    assert {json.loads(record.raw)["trackingNo"] for record in bad} == present
    assert {record.times for record in bad} == {2} and all("symbol" in record.reason for record in bad)
    assert account.runs.get(kind="open").bad == len(present)
    assert not TrackingOrder.objects.exists()
    sync(account, "open")
    assert set(TrackingOrder.objects.values_list("tracking_no", flat=True)) == present


def test_an_order_whose_record_is_bad_is_not_missing(account: Account, sandbox: Sandbox) -> None:
    sync(account)
    sandbox.fault("open_tracking_orders", "missing_fields", fields=["symbol"], times=1)
    sync(account, "open")
    assert not TrackingOrder.objects.exclude(missing_since=None).exists()


def test_an_unknown_status_is_stored_verbatim(account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("open_tracking_orders", "unknown_status", times=1)
    sync(account, "open")
    assert "UNHEARD_OF" in set(TrackingOrder.objects.values_list("status", flat=True))
    assert not TrackingOrder.objects.filter(closed=True).exists()


def test_a_trader_who_was_left_is_kept_as_former(account: Account, sandbox: Sandbox) -> None:
    ghost = Trader.objects.create(account=account, trader_id=42, name="Ghost", copied=True)
    sync(account, "traders")
    ghost.refresh_from_db()
    assert not ghost.copied and ghost.left_at
    assert account.traders.filter(copied=True).count() == 4


def test_a_list_of_traders_that_could_not_be_read_leaves_nobody(account: Account, sandbox: Sandbox) -> None:
    sync(account, "traders")
    sandbox.fault("my_traders", "missing_fields", fields=["traderId"], times=1)
    sync(account, "traders")
    assert account.traders.filter(copied=True).count() == 4
    sandbox.fault("my_traders", "html_200", times=9)
    assert run.sync_account(account.pk, ["traders"])["traders"]
    assert account.traders.filter(copied=True).count() == 4


def test_balances_are_kept_for_each_day(account: Account) -> None:
    sync(account, "traders")
    sync(account, "traders")
    today = datetime.now(UTC).date()
    assert set(TraderDay.objects.values_list("day", flat=True)) == {today}
    assert TraderDay.objects.count() == 4


def test_settings_of_every_trader_become_versions(account: Account, sandbox: Sandbox) -> None:
    sync(account)
    sync(account, "settings")
    assert set(SettingsVersion.objects.values_list("mode", flat=True)) == {"unified", "per_symbol"}
    assert set(SettingsVersion.objects.values_list("author", flat=True)) == {"first"}
    former = account.traders.filter(copied=False)
    assert set(SettingsVersion.objects.filter(trader__in=former).values_list("copy_enable", flat=True)) == {
        False
    }


def test_a_failing_kind_does_not_delay_the_others(account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("my_traders", "code", code=-1142, times=9)
    said = run.sync_account(account.pk)
    assert said.pop("traders") and set(said.values()) == {""}
    failed = account.runs.get(kind="traders")
    assert failed.error_code == "-1142" and failed.error_message


def test_a_failing_account_does_not_delay_another(account: Account, alice: User, sandbox: Sandbox) -> None:
    healthy = connections.add(
        alice, label="Other", venue="sandbox", key="readonly-key", secret="readonly-secret", passphrase="sandbox"
    )  # fmt: skip
    began = timezone.now()
    SyncJob.objects.update(due_at=began)
    sandbox.fault("*", "code", code=-1142, times=0, key="follower-key")
    due = run.run_due()
    assert len(due) == 8
    for job_id in due:
        run.run_job(job_id)
    failing = account.jobs.exclude(kind="settings")  # without traders there are no settings to ask for
    assert all(job.last_error and job.due_at > began for job in failing)
    account.jobs.update(due_at=timezone.now() + timedelta(hours=1))
    for _ in range(20):  # what is due from now on is the healthy one's alone
        for job_id in run.run_due():
            assert SyncJob.objects.get(pk=job_id).account_id == healthy.pk
            run.run_job(job_id)
    assert set(healthy.jobs.values_list("last_error", "failures")) == {("", 0)}
    assert_ledger_is(healthy, sandbox.truth())


def test_the_same_error_folds_into_one_run(account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("my_traders", "code", code=-1142, times=9)
    for _ in range(3):
        run.sync_account(account.pk, ["traders"])
    assert account.runs.get(kind="traders").times == 3
    sandbox.clear_faults()
    sync(account, "traders")
    assert account.runs.filter(kind="traders").count() == 2


def test_an_unforeseen_fault_pushes_the_job_ahead_before_it_is_raised(account: Account) -> None:
    job = account.jobs.get(kind="history")
    SyncJob.objects.filter(pk=job.pk).update(cursor={"until": "no date"}, due_at=timezone.now())
    with pytest.raises(ValueError, match="no date"):
        run.run_job(job.pk)
    job.refresh_from_db()
    assert job.due_at > timezone.now() and job.failures == 1 and job.lease_token is None
    assert "unexpected fault" in job.last_error
    assert job.pk not in leases.take_due()


def test_a_fault_after_the_reading_pushes_the_job_ahead_too(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = account.jobs.get(kind="open")
    SyncJob.objects.filter(pk=job.pk).update(due_at=timezone.now())
    monkeypatch.setitem(run.READERS, "open", lambda reading: None)
    monkeypatch.setattr(run.handing_back, "done", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        run.run_job(job.pk)
    job.refresh_from_db()
    assert job.due_at > timezone.now() and job.failures == 1 and job.lease_token is None


def test_what_our_own_limit_holds_back_comes_again_soon_and_is_no_failure(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a reading that was unlucky a few times would wait minutes, while others find room."""
    job = account.jobs.get(kind="open")

    def no_room(reading: object) -> None:
        raise RateLimited("The limit is used up.", retry_after=3.0, local=True)

    monkeypatch.setitem(run.READERS, "open", no_room)
    for _ in range(5):
        SyncJob.objects.filter(pk=job.pk).update(due_at=timezone.now())
        assert run.run_job(job.pk) == "The limit is used up."
        job.refresh_from_db()
        assert job.failures == 0 and job.lease_token is None
        assert 2 < (job.due_at - timezone.now()).total_seconds() < 5
    assert account.runs.filter(kind="open", error_code="RateLimited").exists(), "it is told all the same"


def test_a_refusal_for_too_many_calls_is_waited_for_as_it_says_and_longer_each_time(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for the interval: where quota is short that is minutes, and the address may go on within seconds."""

    def refused(reading: object) -> None:
        raise RateLimited("Too many requests.", retry_after=2.0)

    monkeypatch.setitem(run.READERS, "history", refused)
    job = account.jobs.get(kind="history")
    waits = []
    for _ in range(4):
        SyncJob.objects.filter(pk=job.pk).update(due_at=timezone.now(), interval=21_600.0)
        run.run_job(job.pk)
        job.refresh_from_db()
        waits.append(round((job.due_at - timezone.now()).total_seconds()))
    assert waits == [2, 4, 8, 16] and job.failures == 4


def test_the_command_reads_one_account_or_all(account: Account, alice: User, capsys) -> None:
    call_command("sync", account=account.pk, kind=["traders", "open"])
    out = capsys.readouterr().out
    assert "traders: read" in out and "open: read" in out and "history" not in out
    connections.add(alice, label="Broken", venue="sandbox", key="nobody", secret="x", passphrase="y")
    with pytest.raises(CommandError, match="1 of the readings failed"):
        call_command("sync", kind=["traders"])
    with pytest.raises(CommandError, match="no account"):
        call_command("sync", account=0)
