"""Messages are hints: they carry ids alone, may be lost or repeated, and losing them loses nothing."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import pytest
import redis
from django.utils import timezone

from copytrade import changes, retention, tasks
from copytrade.models import Account, Chore, DataIssue, SettingsChange, SyncJob, SyncRun, Trader
from dashboard import celery_app
from dashboard.celeryconfig import broker_address, schedule_file
from tests.support.sandbox_process import Sandbox

from .ledger_truth import assert_ledger_is
from .test_changes import confirmed

PREFIX = "celery:"


@pytest.fixture
def broker(redis_client: redis.Redis, settings) -> redis.Redis:
    """This test's Redis as the broker of the application."""
    assert celery_app.conf.broker_url == broker_address(settings.REDIS_URL)
    return redis_client


def nothing_but_readings_is_due() -> None:
    """Somebody is at every chore."""
    later = timezone.now() + timedelta(hours=1)
    Chore.objects.bulk_create(Chore(name=name, lease_until=later) for name in tasks.CHORES)


def messages(broker: redis.Redis, queue: str) -> list[dict]:
    """What waits in a queue, oldest first: headers and body."""
    waiting = []
    for text in reversed(broker.lrange(f"{PREFIX}{queue}", 0, -1)):
        message = json.loads(text)
        waiting.append(message | {"body": json.loads(base64.b64decode(message["body"]))})
    return waiting


def test_a_tick_wakes_as_many_workers_as_there_is_work(account: Account, broker: redis.Redis) -> None:
    nothing_but_readings_is_due()
    SyncJob.objects.update(due_at=timezone.now() + timedelta(hours=1))
    assert tasks.tick() == 0
    SyncJob.objects.filter(kind__in=["open", "traders"]).update(due_at=timezone.now())
    assert tasks.tick() == 2
    waiting = messages(broker, "readings.default")
    assert {m["headers"]["task"] for m in waiting} == {"copytrade.tasks.work"}
    SyncJob.objects.update(due_at=timezone.now())
    celery_app.conf.worker_concurrency, usual = 3, celery_app.conf.worker_concurrency
    assert tasks.tick() == 1, "two are waiting, and more than the processes there are would only wait too"
    assert tasks.tick() == 0
    broker.delete(f"{PREFIX}readings.default")
    assert tasks.tick() == 3
    celery_app.conf.worker_concurrency = usual


def test_messages_hold_ids_and_nothing_secret(
    account: Account, trader: Trader, broker: redis.Redis, sandbox: Sandbox
) -> None:
    change = confirmed(trader)
    assert tasks.hint_change(change.pk) and tasks.hint_account(account.pk)
    SyncJob.objects.update(due_at=timezone.now())
    tasks.tick()
    names = ("changes.default", "desk", "readings.default")
    everything = [message for name in names for message in messages(broker, name)]
    assert {m["headers"]["task"].removeprefix("copytrade.tasks.") for m in everything} == {
        "proceed_with_change", "wake", "chores", "work",
    }  # fmt: skip
    for message in everything:
        args, kwargs, _ = message["body"]
        assert kwargs == {} and all(isinstance(value, int) for value in args)
    raw = " ".join(map(str, everything))
    for hidden in ("follower-secret", "follower-key", "sandbox"):
        assert hidden not in raw


def test_a_person_is_served_before_the_readings(account: Account, broker: redis.Redis) -> None:
    order = [queue.name for queue in celery_app.conf.task_queues]
    assert order == ["changes.default", "desk", "readings.default"]
    tasks.hint_change(1)
    assert len(messages(broker, "changes.default")) == 1 and not messages(broker, "readings.default")


def test_a_working_worker_sees_that_a_change_waits_for_it(account: Account, broker: redis.Redis) -> None:
    SyncJob.objects.update(due_at=timezone.now())
    tasks.hint_change(1)
    assert tasks.work() == 0, "the readings give way"
    broker.delete(f"{PREFIX}changes.default")
    SyncJob.objects.filter(kind="history").update(due_at=timezone.now() + timedelta(hours=1))
    assert tasks.work() >= 3


def test_without_a_broker_a_hint_says_no_and_the_tick_has_the_change(
    account: Account, trader: Trader, broker: redis.Redis
) -> None:
    change = confirmed(trader)
    pool = broker.connection_pool.connection_kwargs
    with celery_app.connection_for_write(f"redis+socket://{pool.get('path')}-gone") as nowhere:
        assert not tasks.hint_change(change.pk, connection=nowhere)
    SettingsChange.objects.update(look_again_at=timezone.now())
    assert changes.take_up() == [change.pk]


def test_repeated_and_stale_messages_do_nothing(
    account: Account, sandbox: Sandbox, broker: redis.Redis
) -> None:
    tasks.work()
    account.jobs.update(due_at=timezone.now() + timedelta(hours=1))  # none falls due while this test runs
    calls = len(sandbox.calls()["calls"])
    assert [tasks.work(), tasks.work("default"), tasks.work("elsewhere")] == [0, 0, 0]
    assert len(sandbox.calls()["calls"]) == calls


def test_a_woken_worker_reads_all_that_is_due(
    account: Account, sandbox: Sandbox, broker: redis.Redis
) -> None:
    for _ in range(20):
        if not tasks.work():
            break
    assert_ledger_is(account, sandbox.truth())


def test_a_change_is_taken_up_by_a_task(trader: Trader, sandbox: Sandbox, broker: redis.Redis) -> None:
    change = confirmed(trader)
    assert tasks.proceed_with_change(change.pk) == SettingsChange.State.APPLIED


def test_celery_is_set_up_for_short_work_that_may_be_lost() -> None:
    conf = celery_app.conf
    assert conf.task_acks_late and conf.task_reject_on_worker_lost and conf.task_ignore_result
    assert conf.worker_prefetch_multiplier == 1
    assert (conf.task_serializer, conf.accept_content) == ("json", ["json"])
    options = conf.broker_transport_options
    assert options["visibility_timeout"] > conf.task_time_limit
    assert options["unacked_restore_interval"] * options["unacked_restore_throttle"] <= 5
    celery_app.loader.import_default_modules()
    for entry in conf.beat_schedule.values():
        assert entry["task"] in celery_app.tasks


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("redis://localhost:6379/1", "redis://localhost:6379/1"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
        ("unix:///run/redis.sock?db=5", "redis+socket:///run/redis.sock?virtual_host=5"),
    ],
)
def test_a_socket_address_is_written_the_way_kombu_reads_it(address: str, expected: str) -> None:
    assert broker_address(address) == expected


def test_beat_keeps_its_file_out_of_the_tree(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("COPYDESK_DATA", str(tmp_path))
    assert schedule_file() == str(tmp_path / "beat-schedule")
    monkeypatch.delenv("COPYDESK_DATA")
    assert schedule_file().startswith("/")


def test_what_has_outlived_its_span_is_deleted(account: Account, trader: Trader) -> None:
    now = timezone.now()
    old = now - 2 * retention.SPANS[SyncRun][1]
    SyncRun.objects.create(account=account, kind="open", first_at=old, last_at=old)
    draft = SettingsChange.objects.create(trader=trader, body={}, created_at=old)
    kept = SettingsChange.objects.create(trader=trader, body={}, created_at=old, state="applied")
    closed = now - 2 * retention.CLOSED_ISSUES
    for subject, state, seen in (
        ("gone", "resolved", closed),
        ("met", "dismissed", now),
        ("open", "open", closed),
    ):
        DataIssue.objects.create(
            account=account, kind="gap", subject=subject, state=state, sentence="S.", last_seen_at=seen,
            closed_at=None if state == "open" else closed,
        )  # fmt: skip
    runs = SyncRun.objects.count()
    assert retention.tidy() == 3
    assert set(DataIssue.objects.values_list("subject", flat=True)) == {"met", "open"}
    assert SyncRun.objects.count() == runs - 1
    assert not SettingsChange.objects.filter(pk=draft.pk).exists()
    assert SettingsChange.objects.filter(pk=kept.pk).exists()
