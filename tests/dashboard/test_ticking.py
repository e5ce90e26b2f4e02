"""No singleton: every worker's parent ticks, beat is one more source, and a broker that is away is waited for."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from copytrade.models import OWN_KINDS, Account, Chore, SyncJob
from dashboard import celery_app, celeryconfig, ticking
from dashboard.celery import keep_what_is_loaded
from dashboard.ticking import Ticker
from tests.copytrade.conftest import account  # noqa: F401 (a fixture)
from tests.copytrade.ledger_truth import assert_ledger_is
from tests.copytrade.test_tasks import broker, messages  # noqa: F401 (a fixture)
from tests.faults.desk_workers import Workers
from tests.support.sandbox_process import Sandbox


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def ticker(monkeypatch: pytest.MonkeyPatch):
    """A ticker that runs, quickly; its parent is the application alone."""
    monkeypatch.setattr(ticking, "TICK_EVERY", 0.05)
    monkeypatch.setattr(ticking, "LONGEST_PAUSE", 0.2)
    step, parent = Ticker(SimpleNamespace()), SimpleNamespace(app=celery_app)
    step.start(parent)
    yield step
    step.stop(parent)
    step._thread.join(60)
    assert not step._thread.is_alive()


def test_a_workers_parent_publishes_ticks_that_soon_expire(broker: redis.Redis, ticker: Ticker) -> None:  # noqa: F811
    until(lambda: len(messages(broker, "desk")) > 2)
    for message in messages(broker, "desk"):
        assert message["headers"]["task"] == "copytrade.tasks.tick"
        assert message["headers"]["expires"], "a tick that nobody took in time means nothing"


def test_what_goes_wrong_with_the_broker_is_not_the_end_of_all_ticks(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch, ticker: Ticker  # noqa: F811
) -> None:  # fmt: skip
    publish, failed = ticking.publish, threading.Event()
    troubles = [
        OSError("reset"),
        redis.exceptions.OutOfMemoryError("full"),
        RuntimeError("a mistake of ours"),
    ]

    def fails_at_first(app: object, connection: object) -> None:
        if troubles:
            raise troubles.pop()
        failed.set()
        publish(app, connection)

    monkeypatch.setattr(ticking, "publish", fails_at_first)
    until(failed.is_set)
    broker.delete("celery:desk")
    until(lambda: bool(messages(broker, "desk")))


def test_the_ticker_belongs_to_every_worker() -> None:
    assert Ticker in celery_app.steps["worker"]


def test_beat_does_nothing_but_tick() -> None:
    assert {entry["task"] for entry in celery_app.conf.beat_schedule.values()} == {"copytrade.tasks.tick"}


def test_a_worker_may_be_kept_to_some_addresses(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    settings.EGRESS = {"north": {}, "south": {}, "west": {}}
    monkeypatch.delenv("WORKER_EGRESS", raising=False)
    assert celeryconfig.own_egress() == ["north", "south", "west"]
    monkeypatch.setenv("WORKER_EGRESS", "west, north")
    assert celeryconfig.own_egress() == ["west", "north"]
    monkeypatch.setenv("WORKER_EGRESS", "north,nort")
    with pytest.raises(ImproperlyConfigured, match="nort"):
        celeryconfig.own_egress()


def test_a_worker_has_a_process_for_each_address_unless_it_is_told(
    monkeypatch: pytest.MonkeyPatch, settings
) -> None:
    monkeypatch.delenv("WORKER_PROCESSES", raising=False)
    monkeypatch.delenv("WORKER_EGRESS", raising=False)
    settings.EGRESS = {"direct": {}}
    assert celeryconfig.own_processes() == 4
    settings.EGRESS = {f"a{number}": {} for number in range(8)}
    assert celeryconfig.own_processes() == 8
    monkeypatch.setenv("WORKER_EGRESS", "a1,a2")
    assert celeryconfig.own_processes() == 4
    monkeypatch.setenv("WORKER_PROCESSES", "")  # as docker-compose.yml hands on what is not set
    assert celeryconfig.own_processes() == 4
    monkeypatch.setenv("WORKER_PROCESSES", "6")
    assert celeryconfig.own_processes() == 6


def test_a_workers_process_looks_no_more_through_what_was_loaded() -> None:
    gc.unfreeze()  # conftest.py keeps what the tests loaded
    assert gc.get_freeze_count() == 0
    keep_what_is_loaded()
    assert gc.get_freeze_count() > 100_000


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_without_any_beat_reads_everything(
    account: Account, sandbox: Sandbox, redis_client: redis.Redis, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    """One real worker and nothing else: readings and chores come round, and after a kill of all its processes and
    a flush of Redis the next one goes on."""
    with Workers(tmp_path, sandbox.url) as workers:

        def start() -> None:
            with workers.log.open("ab") as log:
                command = [sys.executable, "-m", "celery", "-A", "dashboard", "worker"]
                workers.running.append(
                    subprocess.Popen(
                        command, cwd=Path(__file__).resolve().parents[2], env=workers.environment,
                        stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                    )
                )  # fmt: skip

        start()
        workers.wait(lambda: not SyncJob.objects.filter(last_success_at=None).exists(), 180)
        os.killpg(workers.running.pop().pid, signal.SIGKILL)
        redis_client.flushdb()
        SyncJob.objects.update(last_success_at=None)
        # These come round once a minute, and the others say as much.
        SyncJob.objects.filter(kind__in=OWN_KINDS).update(due_at=timezone.now())
        start()
        workers.wait(lambda: not SyncJob.objects.filter(last_success_at=None).exists(), 180)
        workers.wait(lambda: not SyncJob.objects.get(kind="history").cursor.get("back"), 180)
        workers.wait(lambda: Chore.objects.exclude(last_success_at=None).count() >= 4, 180)
    assert_ledger_is(account, sandbox.truth())
