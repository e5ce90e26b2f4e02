"""Chores: each is done by whoever finds it due, once, and one that fails stops no other."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from copytrade import tasks
from copytrade.models import Chore, User
from copytrade.scheduling import chores
from copytrade.scheduling.chores import Work
from tests.support.at_once import at_once


class Done:
    """Work that counts itself, and fails as long as it is told to."""

    def __init__(self) -> None:
        self.times = 0
        self.broken = False

    def __call__(self) -> None:
        self.times += 1
        if self.broken:
            raise RuntimeError("out of ink")


def ago(seconds: float):
    return timezone.now() - timedelta(seconds=seconds)


def make_due(name: str) -> None:
    Chore.objects.filter(name=name).update(due_at=ago(1))


def test_a_new_chore_is_done_at_once_and_again_after_its_period(db) -> None:
    write = Done()
    works = {"write": Work(write, every=60)}
    assert chores.is_due(works)
    assert chores.run_due(works) == ["write"]
    assert not chores.is_due(works) and chores.run_due(works) == [] and write.times == 1
    row = Chore.objects.get()
    assert timedelta(seconds=25) < row.due_at - timezone.now() <= timedelta(seconds=60)
    assert row.last_success_at and row.lease_token is None
    make_due("write")
    assert chores.is_due(works) and chores.run_due(works) == ["write"]


def test_a_chore_that_fails_comes_back_later_and_later_and_stops_no_other(db) -> None:
    write, count = Done(), Done()
    write.broken = True
    works = {"write": Work(write, every=10), "count": Work(count, every=10)}
    Chore.objects.create(name="write", due_at=ago(5))
    pauses = []
    for _ in range(4):
        make_due("write")
        with pytest.raises(RuntimeError, match="out of ink"):
            chores.run_due(works)
        row = Chore.objects.get(name="write")
        assert row.lease_token is None and "out of ink" in row.last_error
        pauses.append((row.due_at - timezone.now()).total_seconds())
    assert pauses == sorted(pauses) and pauses[-1] > 5 * pauses[0]
    chores.run_due(works)
    assert count.times == 1
    write.broken = False
    make_due("write")
    assert chores.run_due(works) == ["write"]
    row = Chore.objects.get(name="write")
    assert (row.failures, row.last_error) == (0, "")


def test_a_chore_whose_worker_died_is_taken_over_after_its_lease(db) -> None:
    write = Done()
    works = {"write": Work(write, every=10)}
    chores.run_due(works)
    Chore.objects.update(due_at=ago(9), lease_token="0" * 32, lease_until=timezone.now() + timedelta(60))
    assert not chores.is_due(works) and chores.run_due(works) == []
    Chore.objects.update(lease_until=ago(1))
    assert chores.is_due(works) and chores.run_due(works) == ["write"]


def test_a_clock_that_was_set_back_holds_no_chore_up(db) -> None:
    write = Done()
    works = {"write": Work(write, every=10)}
    chores.run_due(works)
    Chore.objects.update(due_at=timezone.now() + timedelta(minutes=10))
    assert chores.is_due(works), "a tick sends somebody to look"
    assert chores.run_due(works) == ["write"]
    assert not chores.is_due(works)
    assert Chore.objects.get().due_at < timezone.now() + timedelta(seconds=11)


def test_a_chore_that_is_due_again_at_once_keeps_no_worker_for_ever(db) -> None:
    write, count = Done(), Done()

    def slow() -> None:
        write()
        assert write.times < 5, "it is done over and over by the same worker"
        Chore.objects.update(due_at=ago(60))

    works = {"write": Work(slow, every=0.001), "count": Work(count, every=0.001)}
    assert sorted(chores.run_due(works)) == ["count", "write"]
    assert (write.times, count.times) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_does_it() -> None:
    lock, done = threading.Lock(), []

    def write() -> None:
        with lock:
            done.append(1)

    works = {name: Work(write, every=600) for name in ("a", "b", "c")}

    at_once(*[partial(chores.run_due, works)] * 5)
    assert len(done) == len(works)


def test_every_chore_of_the_desk_runs_on_an_empty_desk_and_on_one_with_people(alice: User) -> None:
    assert set(tasks.chores()) == set(tasks.CHORES)
    assert tasks.chores() == []
    assert not Chore.objects.exclude(last_error="").exists()
