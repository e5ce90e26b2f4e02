"""A woken worker: most urgent first, no address blocks another, and one bad reading does not stop the rest."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from copytrade import tasks
from copytrade.models import Account, SyncJob, User
from copytrade.scheduling import boosts, planner, room
from copytrade.sync import leases, run, worker
from tests.support.sandbox_process import Sandbox

from .ledger_truth import assert_ledger_is


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The accounts that were read, in order; nothing is called, every reading finds nothing new."""
    made: list[str] = []

    def read(job: SyncJob, budget: float) -> str:
        made.append(job.account.label)
        leases.release(job, timedelta(hours=1))
        return run.DONE

    monkeypatch.setattr(run, "run_claimed", read)
    return made


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The limiter's word by address: seconds until there is room, counted from now on."""
    until: dict[str, float] = {}
    monkeypatch.setattr(
        room, "seconds_until", lambda name, venue: max(0.0, until.get(name, 0) - time.monotonic())
    )
    return until


def due(owner: User, label: str, late: float, **fields: object) -> SyncJob:
    account = Account.objects.create(owner=owner, label=label, venue="sandbox")
    return SyncJob.objects.create(
        account=account, kind="open", due_at=timezone.now() - timedelta(seconds=late), **fields
    )


def test_the_oldest_deadline_is_met_first(alice: User, readings: list[str], rooms: dict) -> None:
    for label, late in (("new", 1), ("oldest", 60), ("old", 20)):
        due(alice, label, late)
    assert worker.work() == 3 and readings == ["oldest", "old", "new"]
    assert worker.work() == 0


def test_a_full_address_keeps_nobody_waiting_at_another(
    alice: User, readings: list[str], rooms: dict
) -> None:
    for n in range(3):
        due(alice, f"full {n}", 60, egress="full")
    due(alice, "free", 1, egress="free")
    rooms["full"] = time.monotonic() + 2.5
    assert worker.work() == 4
    assert readings[0] == "free" and time.monotonic() >= rooms["full"] - worker.PATIENCE


def test_an_address_stays_full_for_longer_than_a_worker_stays(
    alice: User, readings: list[str], rooms: dict
) -> None:
    before = due(alice, "full", 60, egress="full").due_at
    rooms["full"] = time.monotonic() + 3600
    assert worker.work(seconds=0.5) == 0
    row = SyncJob.objects.get()
    assert (row.due_at, row.lease_token, row.failures) == (before, None, 0), "due as before"


def test_readings_give_way_to_a_change_that_waits(alice: User, readings: list[str], rooms: dict) -> None:
    for n in range(3):
        due(alice, str(n), 60)
    assert worker.work(wanted_elsewhere=lambda: len(readings) == 1) == 1


def test_a_worker_that_may_use_one_address_leaves_the_others_alone(
    alice: User, readings: list[str], rooms: dict
) -> None:
    due(alice, "mine", 1, egress="north")
    due(alice, "not mine", 60, egress="south")
    assert worker.work(["north"]) == 1 and readings == ["mine"]
    assert worker.due_by_egress() == {"south": 1}


def test_an_unforeseen_fault_is_raised_after_its_job_was_pushed_ahead_and_the_next_worker_goes_on(
    account: Account, sandbox: Sandbox
) -> None:
    SyncJob.objects.filter(kind="history").update(
        cursor={"until": "no date"}, due_at=timezone.now() - timedelta(hours=2)
    )
    with pytest.raises(ValueError, match="isoformat"):
        tasks.work()
    poisoned = account.jobs.get(kind="history")
    assert poisoned.failures == 1 and poisoned.due_at > timezone.now() and poisoned.lease_token is None
    for _ in range(10):
        if not tasks.work():
            break
    others = account.jobs.exclude(kind="history")
    assert all(job.last_success_at for job in others)


@pytest.mark.django_db(transaction=True)
def test_five_ticks_at_once_are_as_good_as_one(account: Account, sandbox: Sandbox) -> None:
    """Five tickers, each waking workers of its own: every job is read by one of them, and what is there is right."""
    SyncJob.objects.update(due_at=timezone.now())
    errors: list[BaseException] = []

    def ticker() -> None:
        try:
            for _ in range(10):
                tasks.tick()
                tasks.work()
                tasks.chores()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ticker) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert_ledger_is(account, sandbox.truth())
    assert set(account.jobs.values_list("failures", "lease_token")) == {(0, None)}


# --- what a reading tells the planner -------------------------------------------------------------------
def test_unchanged_readings_slow_an_account_down_and_a_change_speeds_it_up(
    account: Account, sandbox: Sandbox
) -> None:
    def read() -> SyncJob:
        SyncJob.objects.filter(kind="open").update(last_success_at=timezone.now() - timedelta(minutes=5))
        assert run.run_job(account.jobs.get(kind="open").pk, force=True) == run.DONE
        return account.jobs.get(kind="open")

    first = run.run_job(account.jobs.get(kind="open").pk, force=True)
    assert first == run.DONE and account.jobs.get(kind="open").exposure == 0, "the first tells nothing"
    calm = read()
    assert calm.changes == 0 and 290 < calm.exposure < 320
    account.orders.filter(closed=False).delete()  # what is found again counts as new
    lively = read()
    assert lively.changes >= 1


def test_a_reading_that_took_more_pages_is_heavier(account: Account, sandbox: Sandbox) -> None:
    assert run.run_job(account.jobs.get(kind="traders").pk, force=True) == run.DONE
    assert run.run_job(account.jobs.get(kind="settings").pk, force=True) == run.DONE
    assert account.jobs.get(kind="settings").weight > account.jobs.get(kind="traders").weight == 10


def test_the_first_walk_through_the_past_gives_way_and_then_counts_as_any_other(
    account: Account, sandbox: Sandbox
) -> None:
    job = account.jobs.get(kind="history")
    assert job.priority == 2
    assert run.run_job(job.pk, force=True, budget=0) == run.MORE
    job.refresh_from_db()
    assert job.priority == 2 and job.weight == 10
    while run.run_job(job.pk, force=True) == run.MORE:
        pass
    job.refresh_from_db()
    assert job.priority == 1


def test_the_next_reading_is_due_one_planned_interval_after_the_last_deadline(
    account: Account, sandbox: Sandbox
) -> None:
    job = account.jobs.get(kind="open")
    late = timezone.now() - timedelta(seconds=3)
    SyncJob.objects.filter(pk=job.pk).update(interval=200.0, due_at=late)
    assert run.run_job(job.pk) == run.DONE
    job.refresh_from_db()
    assert (job.due_at - late).total_seconds() == pytest.approx(200, rel=0.06)


def test_closes_that_a_reading_saw_raise_the_other_followers(
    account: Account, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list = []
    monkeypatch.setattr(
        boosts, "close_seen", lambda account, traders: told.append((account.pk, set(traders)))
    )

    def read(reading: object) -> None:
        reading.closed_traders.add(7)  # type: ignore[attr-defined]

    monkeypatch.setitem(run.READERS, "open", read)
    run.run_job(account.jobs.get(kind="open").pk, force=True)
    assert told == [(account.pk, {7})]


def test_planned_and_read_the_demo_account_comes_to_rest_at_its_floors(
    account: Account, sandbox: Sandbox
) -> None:
    for _ in range(20):
        if not tasks.work():
            break
    planner.replan()
    assert dict(account.jobs.values_list("kind", "interval")) == {
        "open": 5.0, "history": 10.0, "traders": 15.0, "settings": 60.0,
    }  # fmt: skip
