"""Leases: one holder at a time, commits only while the lease is held, lost work comes back."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from copytrade.models import Account, SyncJob, User
from copytrade.sync import leases
from dashboard.celery import app


@pytest.fixture
def job(alice: User) -> SyncJob:
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    return SyncJob.objects.create(account=account, kind="open", due_at=timezone.now())


def at(seconds: float):
    return timezone.now() + timedelta(seconds=seconds)


def test_a_job_that_is_held_or_not_due_is_not_claimed(job: SyncJob) -> None:
    assert leases.claim(job.pk) is not None
    assert leases.claim(job.pk) is None
    assert leases.claim(job.pk, force=True) is None
    SyncJob.objects.update(lease_token=None, lease_until=None, due_at=at(60))
    assert leases.claim(job.pk) is None
    assert leases.claim(job.pk, force=True) is not None
    assert leases.claim(-1) is None


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_gets_the_job() -> None:
    owner = User.objects.create_user("owner")
    accounts = [Account.objects.create(owner=owner, label=name, venue="sandbox") for name in "ABCD"]
    jobs = [SyncJob.objects.create(account=account, kind="open") for account in accounts]
    start, got = threading.Barrier(6), []

    def work() -> None:
        start.wait()
        got.extend(job.pk for row in jobs if (job := leases.claim(row.pk)))
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(row.pk for row in jobs)


def test_a_holder_that_was_overtaken_writes_nothing(job: SyncJob) -> None:
    slow = leases.claim(job.pk)
    SyncJob.objects.update(lease_until=at(-1))
    fast = leases.claim(job.pk, now=at(120))
    assert slow and fast
    slow.cursor = {"by": "slow"}
    with pytest.raises(leases.LeaseLost), leases.fenced(slow):
        pytest.fail("the block must not run")
    with leases.fenced(fast):
        fast.cursor = {"by": "fast"}
    assert not leases.release(slow, at(0))
    job.refresh_from_db()
    assert job.cursor == {"by": "fast"} and job.lease_token == fast.lease_token
    assert leases.release(fast, at(5))


def test_rows_and_cursor_are_stored_together_or_not_at_all(job: SyncJob) -> None:
    held = leases.claim(job.pk)
    assert held

    def store_and_break() -> None:
        with leases.fenced(held):
            held.cursor = {"page": 1}
            Account.objects.update(label="half way")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        store_and_break()
    job.refresh_from_db()
    assert job.cursor == {} and Account.objects.get().label == "A"
    until = held.lease_until
    with leases.fenced(held):
        held.cursor = {"page": 1}
    job.refresh_from_db()
    assert job.cursor == {"page": 1} and job.lease_until > until


def test_a_dead_holders_job_comes_back_after_its_lease(job: SyncJob) -> None:
    assert leases.claim(job.pk)
    assert leases.take_due(at(1)) == []
    after = timezone.now() + leases.lease_time() + timedelta(seconds=1)
    assert leases.take_due(after) == [job.pk]
    assert leases.claim(job.pk, now=after)


def test_refused_accounts_are_left_alone(job: SyncJob) -> None:
    Account.objects.update(state=Account.State.REFUSED)
    assert leases.take_due() == []


def test_the_oldest_come_first(job: SyncJob) -> None:
    older = SyncJob.objects.create(account=job.account, kind="history", due_at=at(-60))
    assert leases.take_due() == [older.pk, job.pk]


def test_bringing_forward_never_pushes_back(job: SyncJob) -> None:
    SyncJob.objects.update(due_at=at(-60))
    leases.make_due(job.account, "open")
    job.refresh_from_db()
    assert job.due_at < at(-50)
    SyncJob.objects.update(due_at=at(60))
    leases.make_due(job.account, "open", "history")
    job.refresh_from_db()
    assert job.due_at <= timezone.now()


@pytest.mark.django_db(transaction=True)
def test_an_account_that_hangs_leaves_workers_to_the_others() -> None:
    owner = User.objects.create_user("owner")
    hanging, other = (Account.objects.create(owner=owner, label=name, venue="sandbox") for name in "AB")
    jobs = [SyncJob.objects.create(account=hanging, kind=kind) for kind in SyncJob.Kind.values]
    others = SyncJob.objects.create(account=other, kind="open")
    start, held = threading.Barrier(len(jobs)), []

    def work(job: SyncJob) -> None:
        start.wait()
        held.append(leases.claim(job.pk))
        connection.close()

    leases.take_due()
    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    claimed = [job for job in held if job]
    assert len(claimed) == leases.AT_ONCE < app.conf.worker_concurrency
    assert leases.claim(others.pk) is not None

    (waiting,) = {job.pk for job in jobs} - {job.pk for job in claimed}
    assert waiting in leases.take_due(), "it is offered again at the next tick"
    leases.release(claimed[0], at(60))
    assert leases.claim(waiting) is not None
