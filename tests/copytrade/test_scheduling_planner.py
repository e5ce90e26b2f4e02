"""The planner: what it writes, for whom, and that the sum of it fits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import egress
from copytrade.intervals import BOUNDS, OVERLAP_AT_LAST, Bounds
from copytrade.models import COPY_KINDS, Account, SyncJob, User
from copytrade.scheduling import planner, room
from copytrade.sync import run

KINDS = COPY_KINDS


@pytest.fixture
def usable(monkeypatch: pytest.MonkeyPatch):
    """What the limiter says is usable, weight per second."""

    def say(weight: float) -> None:
        monkeypatch.setattr(room, "usable", lambda name, venue: weight)

    say(45.0)
    return say


def accounts(owner: User, n: int, venue: str = "weex", **job: object) -> list[Account]:
    made = Account.objects.bulk_create(
        Account(owner=owner, label=f"A{i}", venue=venue, state="active") for i in range(n)
    )
    now = timezone.now()
    usual = {"due_at": now + timedelta(seconds=1), "last_success_at": now, "exposure": 86_400.0} | job
    SyncJob.objects.bulk_create(
        SyncJob(account=account, kind=kind, **usual) for account in made for kind in KINDS
    )
    return made


def planned(kind: str) -> list[float]:
    return list(SyncJob.objects.filter(kind=kind).order_by("pk").values_list("interval", flat=True))


def spent() -> float:
    return sum(job.weight / job.interval for job in SyncJob.objects.all())


def test_a_few_accounts_are_read_at_the_floor(alice: User, usable) -> None:
    accounts(alice, 2)
    assert planner.replan() == 8
    assert {kind: set(planned(kind)) for kind in KINDS} == {kind: {BOUNDS[kind].floor} for kind in KINDS}
    assert planner.replan() == 0, "what has not moved is not written"


def test_the_demo_stays_lively(alice: User, usable) -> None:
    accounts(alice, 3, venue="sandbox")
    planner.replan()
    assert set(planned("open")) == {5.0} and set(planned("history")) == {10.0}


def test_many_accounts_share_what_is_usable_and_the_lively_ones_get_more(alice: User, usable) -> None:
    accounts(alice, 300)
    lively = list(SyncJob.objects.filter(kind="open").values_list("pk", flat=True)[:30])
    SyncJob.objects.filter(pk__in=lively).update(changes=80, exposure=86_400)
    planner.replan()
    assert 0.9 * 45 < spent() <= 45
    often = SyncJob.objects.filter(pk__in=lively).values_list("interval", flat=True)
    others = SyncJob.objects.filter(kind="open").exclude(pk__in=lively).values_list("interval", flat=True)
    assert max(often) * 5 < min(others) and max(others) <= BOUNDS["open"].cap


def test_the_longest_wait_of_an_open_list_can_be_set(
    alice: User, usable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BOUNDS, "open", Bounds(5.0, 120.0))
    accounts(alice, 300)
    usable(300 * 10 / 115 + 2 * 300 * 10 / 6480 + 1.2)
    planner.replan()
    assert max(planned("open")) <= 120 * 1.01 and min(planned("settings")) > 120


def test_under_overload_the_overlap_waits_first_and_the_rest_evenly(alice: User, usable) -> None:
    accounts(alice, 300)
    usable(300 * 10 / 540 + 2 * 300 * 10 / 6480 + 1.2)  # enough for the caps, hardly anything for the overlap
    planner.replan()
    assert max(planned("open")) <= BOUNDS["open"].cap * 1.01
    assert BOUNDS["history"].cap < min(planned("history")) <= OVERLAP_AT_LAST
    usable(3.0)
    planner.replan()
    assert set(planned("history")) == {OVERLAP_AT_LAST}
    late = {round(t / BOUNDS["open"].cap, 6) for t in planned("open")}
    late |= {round(t / BOUNDS["settings"].cap, 6) for t in planned("settings")}
    assert len(late) == 1 and late.pop() > 1.5


def test_changes_bring_histories_forward_and_that_is_reckoned_with(alice: User, usable) -> None:
    accounts(alice, 200)
    planner.replan()
    calm = spent()
    SyncJob.objects.filter(kind="open").update(changes=200, exposure=86_400)
    planner.replan()
    assert spent() < 0.9 * calm, "some is kept for the readings that changes bring forward"


def test_while_somebody_looks_their_account_is_read_often(alice: User, usable) -> None:
    watched = accounts(alice, 400)[7]
    SyncJob.objects.filter(account=watched, kind="open").update(
        boost_until=timezone.now() + timedelta(minutes=1)
    )
    planner.replan()
    boosted = SyncJob.objects.get(account=watched, kind="open").interval
    assert boosted < sorted(planned("open"))[1] / 10
    SyncJob.objects.update(boost_until=timezone.now() - timedelta(seconds=1))
    planner.replan()
    assert SyncJob.objects.get(account=watched, kind="open").interval > 5 * boosted


def test_the_first_reading_of_a_past_gets_a_share(alice: User, usable) -> None:
    accounts(alice, 300)
    planner.replan()
    before = spent()
    SyncJob.objects.filter(kind="history", pk=SyncJob.objects.filter(kind="history").first().pk).update(
        priority=2
    )
    planner.replan()
    assert spent() < before * 0.9


def test_a_shorter_interval_brings_the_deadline_forward_and_a_longer_one_leaves_it(
    alice: User, usable
) -> None:
    now = timezone.now()
    read_at = now - timedelta(seconds=10)
    accounts(alice, 50, interval=500.0, due_at=now + timedelta(seconds=400), last_success_at=read_at)
    planner.replan()
    dues = [
        (due - now).total_seconds()
        for due in SyncJob.objects.filter(kind="open").values_list("due_at", flat=True)
    ]
    assert max(dues) < 60
    dues.sort()
    assert dues[0] != dues[-1], "not all at the same moment"
    soon = timezone.now() + timedelta(seconds=2)
    SyncJob.objects.filter(kind="open").update(interval=5.0, due_at=soon)
    usable(2.0)
    planner.replan()
    assert set(SyncJob.objects.filter(kind="open").values_list("due_at", flat=True)) == {soon}


def test_deadlines_set_before_a_clock_was_put_back_are_brought_back(alice: User, usable) -> None:
    accounts(alice, 2)
    planner.replan()
    SyncJob.objects.update(due_at=timezone.now() + timedelta(days=1))
    assert planner.replan() == 8
    assert not SyncJob.objects.filter(due_at__gt=timezone.now() + timedelta(minutes=6)).exists()


def test_what_failed_keeps_its_pause_and_what_is_held_is_left_alone(alice: User, usable) -> None:
    accounts(alice, 2)
    later = timezone.now() + timedelta(minutes=9)
    SyncJob.objects.filter(kind="open").update(due_at=later, failures=4)
    SyncJob.objects.filter(kind="traders").update(
        due_at=later, lease_token="0" * 32, lease_until=timezone.now() + timedelta(minutes=1)
    )
    planner.replan()
    kept = SyncJob.objects.filter(kind__in=["open", "traders"]).values_list("due_at", flat=True)
    assert set(kept) == {later}


def test_refused_accounts_take_nothing_from_the_others(alice: User, usable) -> None:
    accounts(alice, 300)
    Account.objects.filter(pk__gt=Account.objects.order_by("pk")[9].pk).update(state="refused")
    planner.replan()
    assert [t for t in planned("open") if t is not None] == [5.0] * 10


def test_an_address_that_is_stopped_altogether_keeps_its_plan(alice: User, usable) -> None:
    accounts(alice, 2, interval=77.0)
    usable(0.0)
    assert planner.replan() == 0 and set(planned("open")) == {77.0}


def test_each_address_is_planned_by_itself_and_accounts_are_pinned_to_theirs(
    alice: User, usable, settings
) -> None:
    settings.EGRESS = {"north": {}, "south": {}}
    made = accounts(alice, 40)
    planner.replan()
    for account in made:
        assert {job.egress for job in account.jobs.all()} == {egress.of(account.pk)}
    planner.replan()
    assert None not in planned("open")
    for name in settings.EGRESS:
        jobs = SyncJob.objects.filter(egress=name)
        assert jobs.count() and sum(job.weight / job.interval for job in jobs) <= 45


def test_new_jobs_know_their_address(alice: User, settings) -> None:
    settings.EGRESS = {"north": {}, "south": {}}
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    run.ensure_jobs(account)
    assert {job.egress for job in account.jobs.all()} == {egress.of(account.pk)}


def test_it_takes_as_many_queries_for_many_accounts_as_for_few(alice: User, usable) -> None:
    accounts(alice, 3)
    with CaptureQueriesContext(connection) as few:
        planner.replan()
    SyncJob.objects.all().delete()
    Account.objects.all().delete()
    accounts(alice, 60)
    with CaptureQueriesContext(connection) as many:
        planner.replan()
    assert len(few) == len(many) <= 4


def test_real_limiter_says_what_is_usable(alice: User, redis_client) -> None:
    accounts(alice, 1)
    assert planner.replan() == 4
    assert 0 < room.usable("default", "weex") <= 50
    assert room.usable("default", "gone") == 0.0 == room.seconds_until("default", "gone")
