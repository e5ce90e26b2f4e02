"""What one more address gives: the planner's own answer, though worked out for a few hundred groups."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from statistics import median_low

import pytest
from django.utils import timezone

from copytrade.models import Account, SyncJob, User
from copytrade.reports.more import OneMore, one_more
from copytrade.scheduling import planner, room
from tests.copytrade.test_scheduling_planner import accounts

QUOTA = 48.0


@pytest.fixture
def usable(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    def say(weight: float) -> None:
        monkeypatch.setattr(room, "usable", lambda name, venue: weight)

    say(QUOTA)
    return say


@pytest.fixture
def one_address(settings) -> None:
    settings.EGRESS = {"default": {}}


def lived(owner: User, n: int) -> None:
    """So many accounts, each with a past of its own."""
    chance = random.Random(n)
    accounts(owner, n)
    jobs = list(SyncJob.objects.all())
    for job in jobs:
        job.egress = "default"
        if job.kind != SyncJob.Kind.HISTORY:
            job.changes, job.exposure = 10 ** chance.uniform(-1, 2), 10 ** chance.uniform(2, 5)
            job.weight = chance.choice([10, 10, 10, 20, 30.5])
    SyncJob.objects.bulk_update(jobs, ["egress", "changes", "exposure", "weight"], batch_size=500)


def by_the_planner(quota: float) -> float:
    rows = list(planner._rows())
    intervals = planner.intervals(rows, quota * planner.PLANNED, "weex")
    return median_low(
        interval for row, interval in zip(rows, intervals, strict=True) if row.kind == SyncJob.Kind.OPEN
    )


def answer() -> OneMore:
    (found,) = one_more(["weex"])
    return found


@pytest.mark.parametrize("n", [3, 60, 400])
def test_now_and_then_are_what_the_planner_plans(alice: User, usable, one_address, n: int) -> None:
    lived(alice, n)
    told = answer()
    assert (told.accounts, told.addresses) == (n, 1)
    assert told.now == pytest.approx(by_the_planner(QUOTA), rel=0.05)
    assert told.then == pytest.approx(by_the_planner(2 * QUOTA), rel=0.05)


def test_few_accounts_are_at_their_floor_and_nothing_helps(alice: User, usable, one_address) -> None:
    accounts(alice, 2)
    told = answer()
    assert told.now == told.then == 5.0 == by_the_planner(QUOTA) and not told.helps


def test_two_thousand_quiet_accounts_wait_for_their_cap_and_no_longer(
    alice: User, usable, one_address
) -> None:
    """The history's overlap gives way first: the open lists stay within their cap."""
    accounts(alice, 2000)
    told = answer()
    assert told.now == pytest.approx(by_the_planner(QUOTA), rel=1e-6) == pytest.approx(575, rel=0.01)
    assert told.then == pytest.approx(by_the_planner(2 * QUOTA), rel=1e-6) and told.helps


def test_under_overload_everything_is_stretched_alike(alice: User, usable, one_address) -> None:
    accounts(alice, 300)
    usable(3.0)
    told = answer()
    assert told.now == pytest.approx(by_the_planner(3.0), rel=1e-6) and told.now > 1.5 * 575
    assert told.then == pytest.approx(by_the_planner(6.0), rel=1e-6)


def test_a_first_walk_and_who_is_watched_count_as_for_the_planner(alice: User, usable, one_address) -> None:
    lived(alice, 200)
    before = answer()
    first = Account.objects.earliest("pk")
    SyncJob.objects.filter(account=first, kind="history").update(priority=2)
    SyncJob.objects.filter(account=first, kind="open").update(
        boost_until=timezone.now() + timedelta(minutes=1)
    )
    told = answer()
    assert told.now == pytest.approx(by_the_planner(QUOTA), rel=0.05) and told.now > 1.1 * before.now


def test_an_address_that_is_stopped_is_left_out(alice: User, monkeypatch, one_address) -> None:
    accounts(alice, 2)
    monkeypatch.setattr(room, "usable", lambda name, venue: 0.0)
    assert one_more(["weex"]) == []


def test_two_addresses_and_a_third_are_planned_each_by_itself(alice: User, usable, settings) -> None:
    settings.EGRESS = {"east": {}, "west": {}}
    accounts(alice, 300)
    half = SyncJob.objects.filter(account__in=Account.objects.order_by("pk").values("pk")[:150])
    SyncJob.objects.update(egress="west")
    half.update(egress="east")
    rows = [row for row in planner._rows() if row.egress == "east"]
    alone = planner.intervals(rows, 1.5 * QUOTA * planner.PLANNED, "weex")
    (told,) = one_more(["weex"])
    assert (told.accounts, told.addresses) == (300, 2)
    assert told.then == pytest.approx(alone[0], rel=1e-6)
    assert rows[0].kind == SyncJob.Kind.OPEN
