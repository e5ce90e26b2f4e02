"""Leases: one holder at a time, commits only while the lease is held, lost work comes back."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from copytrade.models import COPY_KINDS, Account, SyncJob, SyncRun, User
from copytrade.sync import handing_back, leases
from copytrade.sync.reading import Reading
from dashboard.celery import app
from tests.support.another_session import another_session
from tests.support.at_once import at_once


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

    def work() -> list[int]:
        return [job.pk for row in jobs if (job := leases.claim(row.pk))]

    got = at_once(*[work] * 6)
    assert sorted(pk for taken in got for pk in taken) == sorted(row.pk for row in jobs)


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


@pytest.mark.django_db(transaction=True)
def test_a_claim_passes_over_a_job_that_somebody_is_just_writing() -> None:
    owner = User.objects.create_user("owner")
    first, second = [
        SyncJob.objects.create(
            account=Account.objects.create(owner=owner, label=name, venue="sandbox"),
            kind="open",
            due_at=at(due),
        )
        for name, due in (("A", -60), ("B", -30))
    ]
    with another_session() as other, connection.cursor() as cursor:
        other.execute("SELECT FROM copytrade_syncjob WHERE id = %s FOR UPDATE", [first.pk])
        cursor.execute("SET lock_timeout = '2s'")
        try:
            taken = leases.claim_next()
        finally:
            cursor.execute("RESET lock_timeout")
    assert taken and taken.pk == second.pk
    again = leases.claim_next()
    assert again and again.pk == first.pk


def test_who_lost_the_job_hands_nothing_back(job: SyncJob) -> None:
    slow = leases.claim(job.pk)
    assert slow
    SyncJob.objects.update(lease_until=at(-1))
    fast = leases.claim(job.pk, now=at(120))
    assert fast
    slow.cursor = {"by": "slow"}
    reading = Reading(slow, slow.account, None, 1.0)  # type: ignore[arg-type]
    assert not handing_back.done(slow, reading, timedelta(seconds=60), 1, {"weight": 70.0})
    job.refresh_from_db()
    assert (job.lease_token, job.cursor, job.weight) == (fast.lease_token, {}, fast.weight)
    assert job.last_success_at is None and not SyncRun.objects.exists()


def test_a_cursor_that_moved_without_rows_is_stored_as_the_job_is_handed_back(job: SyncJob) -> None:
    taken = leases.claim(job.pk)
    assert taken
    taken.cursor = {"until": "today"}
    reading = Reading(taken, taken.account, None, 1.0)  # type: ignore[arg-type]
    assert handing_back.done(taken, reading, timedelta(seconds=60), 1, {})
    job.refresh_from_db()
    assert job.cursor == {"until": "today"} and job.lease_token is None


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
    jobs = [SyncJob.objects.create(account=hanging, kind=kind) for kind in COPY_KINDS]
    others = SyncJob.objects.create(account=other, kind="open")
    leases.take_due()
    held = at_once(*[partial(leases.claim, job.pk) for job in jobs])
    claimed = [job for job in held if job]
    assert len(claimed) == leases.AT_ONCE < app.conf.worker_concurrency
    assert leases.claim(others.pk) is not None

    (waiting,) = {job.pk for job in jobs} - {job.pk for job in claimed}
    assert waiting in leases.take_due(), "it is offered again at the next tick"
    leases.release(claimed[0], at(60))
    assert leases.claim(waiting) is not None


# --- the next job, whichever it is ----------------------------------------------------------------------
def desk_of(owner: User, *labels: str, **fields: object) -> list[Account]:
    return [Account.objects.create(owner=owner, label=label, venue="sandbox", **fields) for label in labels]


def due(account: Account, kind: str, seconds: float, **fields: object) -> SyncJob:
    return SyncJob.objects.create(account=account, kind=kind, due_at=at(-seconds), **fields)


def test_the_next_is_the_one_with_the_earliest_deadline(alice: User) -> None:
    a, b = desk_of(alice, "A", "B")
    rows = [due(a, "open", 10), due(b, "open", 30), due(a, "history", 20)]
    due(b, "history", -60)
    assert [leases.claim_next().pk for _ in range(3)] == [rows[1].pk, rows[2].pk, rows[0].pk]
    assert leases.claim_next() is None, "what is not due is left alone"


def test_who_waits_goes_first_and_a_first_backfill_gives_way_but_not_for_ever(alice: User) -> None:
    a, b = desk_of(alice, "A", "B")
    backfill = due(a, "history", 60, priority=2)
    usual, first = due(a, "open", 20), due(b, "open", 10, priority=0)
    assert [leases.claim_next().pk for _ in range(3)] == [first.pk, usual.pk, backfill.pk]
    SyncJob.objects.update(lease_token=None, lease_until=None)
    SyncJob.objects.filter(pk=backfill.pk).update(due_at=at(-60) - leases.PRIORITY_STEP * 2)
    assert leases.claim_next().pk == backfill.pk, "it has waited long enough"


def test_refused_accounts_are_passed_over_for_the_next(alice: User) -> None:
    (a,) = desk_of(alice, "A", state=Account.State.REFUSED)
    (b,) = desk_of(alice, "B")
    due(a, "open", 60)
    wanted = due(b, "open", 1)
    assert leases.claim_next().pk == wanted.pk and leases.claim_next() is None


def test_a_worker_takes_only_what_its_addresses_may_call_and_have_room_for(alice: User) -> None:
    a, b = desk_of(alice, "A", "B")
    north, south = due(a, "open", 60, egress="north"), due(b, "open", 1, egress="south")
    assert leases.claim_next(["west"]) is None
    assert leases.claim_next([]) is None
    taken = leases.claim_next(["south"])
    assert taken.pk == south.pk
    leases.give_back(taken)
    assert leases.claim_next(full=[("north", "sandbox")]).pk == south.pk, "a full address blocks no other"
    assert leases.claim_next(full=[("north", "weex")]).pk == north.pk, (
        "another venue's limit is not this one's"
    )


def test_what_was_given_back_is_due_as_before(job: SyncJob) -> None:
    before = SyncJob.objects.get()
    leases.give_back(leases.claim_next())
    after = SyncJob.objects.get()
    assert (after.due_at, after.lease_token, after.failures) == (before.due_at, None, 0)
    assert leases.claim_next() is not None


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_each_gets_another_job_and_no_account_more_than_its_share() -> None:
    owner = User.objects.create_user("owner")
    for account in desk_of(owner, *"ABCDE"):
        for kind in SyncJob.Kind.values:
            due(account, kind, 1)
    got: list[SyncJob] = []

    def work() -> None:
        while job := leases.claim_next():
            got.append(job)

    at_once(*[work] * 6)
    assert len({job.pk for job in got}) == len(got), "nobody got what another had"
    assert max(Counter(leases.held().values_list("account", flat=True)).values()) <= leases.AT_ONCE
    work()  # of two who met at one account both may have given way: whoever looks next takes it
    kept = Counter(leases.held().values_list("account", flat=True))
    assert len(kept) == 5 and set(kept.values()) == {leases.AT_ONCE}


def test_an_account_with_its_share_at_work_waits_while_others_are_served(alice: User) -> None:
    a, b = desk_of(alice, "A", "B")
    for kind in COPY_KINDS:
        due(a, kind, 60)
    other = due(b, "open", 1)
    held = [leases.claim_next() for _ in range(leases.AT_ONCE)]
    assert {job.account_id for job in held} == {a.pk}
    assert leases.claim_next().pk == other.pk and leases.claim_next() is None
    leases.release(held[0], at(60))
    assert leases.claim_next().account_id == a.pk


def test_an_account_that_hangs_while_hints_come_in_keeps_nobody_from_the_others(alice: User) -> None:
    """A hint puts a held job's deadline ahead by a little; it is held all the same."""
    a, b = desk_of(alice, "A", "B")
    for kind in COPY_KINDS:
        due(a, kind, 60)
    other = due(b, "open", 1)
    held = [leases.claim_next() for _ in range(leases.AT_ONCE)]
    SyncJob.objects.filter(pk__in=[job.pk for job in held]).update(due_at=at(18))
    assert leases.claim_next().pk == other.pk
    assert leases.claim_next() is None
    left = SyncJob.objects.get(account=a, lease_token=None)
    assert left.failures == 0 and left.lease_until is None


def test_what_kills_its_workers_is_held_off_for_longer_each_time(job: SyncJob) -> None:
    lasts = []
    for _ in range(4):
        taken = leases.claim_next()
        assert taken is not None
        lasts.append(round((taken.lease_until - timezone.now()).total_seconds(), -1))
        SyncJob.objects.update(lease_until=at(-1))  # its worker was killed, and time has passed
    assert lasts[0] <= leases.lease_time().total_seconds()
    assert lasts == sorted(lasts) and lasts[-1] > 3 * lasts[0]
    taken = leases.claim_next()
    leases.release(taken, at(-1), failures=0)
    taken = leases.claim_next()
    assert taken.lease_until < at(leases.lease_time().total_seconds() + 5), (
        "one success, and it is as any other"
    )


def test_a_claim_moves_no_deadline(job: SyncJob) -> None:
    before = SyncJob.objects.get().due_at
    assert leases.claim_next().due_at == before == SyncJob.objects.get().due_at


# --- deadlines ------------------------------------------------------------------------------------------
def next_after(job: SyncJob, late: float, interval: float) -> float:
    """Seconds from now until a job that was so late is due again."""
    SyncJob.objects.update(due_at=at(-late))
    taken = leases.claim_next()
    reading = Reading(taken, taken.account, None, budget=1)
    assert handing_back.done(taken, reading, timedelta(seconds=interval), 1, {})
    return (SyncJob.objects.get().due_at - timezone.now()).total_seconds()


def test_deadlines_do_not_drift_with_small_delays(job: SyncJob) -> None:
    assert next_after(job, late=5, interval=100) == pytest.approx(95, abs=3)


def test_what_was_missed_is_not_caught_up_with(job: SyncJob) -> None:
    assert next_after(job, late=1000, interval=100) == pytest.approx(90, abs=3)


def test_a_hint_that_comes_during_a_reading_is_heeded_after_it(job: SyncJob) -> None:
    taken = leases.claim_next()
    leases.make_due(job.account, "open")
    assert leases.claim_next() is None
    leases.release(taken, at(600))
    assert SyncJob.objects.get().due_at <= timezone.now()
    again = leases.claim_next()
    leases.release(again, at(600))
    assert SyncJob.objects.get().due_at > at(500), "heeded once"


def test_a_hint_does_not_cut_the_pause_of_what_failed_meanwhile(job: SyncJob) -> None:
    taken = leases.claim_next()
    leases.make_due(job.account, "open")
    leases.release(taken, at(600), heed_hints=False, failures=1)
    assert SyncJob.objects.get().due_at > at(500)


def test_hints_do_not_undo_a_stretched_plan(job: SyncJob) -> None:
    SyncJob.objects.update(due_at=at(900), interval=900.0, last_success_at=timezone.now())
    leases.make_due(job.account, "open")
    assert at(20) < SyncJob.objects.get().due_at < at(31)
    SyncJob.objects.update(due_at=at(900), last_success_at=at(-60))
    leases.make_due(job.account, "open")
    assert SyncJob.objects.get().due_at <= timezone.now()


def test_a_hint_does_not_cut_the_pause_of_what_failed_unless_a_person_asks(job: SyncJob) -> None:
    SyncJob.objects.update(due_at=at(300), failures=3)
    leases.make_due(job.account, "open")
    assert SyncJob.objects.get().due_at > at(200)
    leases.make_due(job.account, "open", anyway=True)
    assert SyncJob.objects.get().due_at <= timezone.now()


# --- what a reading that found nothing costs -----------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_a_fence_without_news_writes_nothing(alice: User) -> None:
    (account,) = desk_of(alice, "A")
    due(account, "open", 1)
    taken = leases.claim_next()
    version = row_version()
    with leases.fenced(taken):
        pass
    assert row_version() == version
    with leases.fenced(taken):
        taken.cursor["page"] = 2
    assert row_version() != version


def row_version() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text FROM copytrade_syncjob")
        return cursor.fetchone()[0]


def test_what_was_changed_of_the_cursor_before_the_fence_is_stored_too(job: SyncJob) -> None:
    taken = leases.claim_next()
    taken.cursor["until"] = "now"
    with leases.fenced(taken):
        pass
    assert SyncJob.objects.get().cursor == {"until": "now"}
