"""kill -9 in the middle of a history walk, then a restart: nothing lost, nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from copytrade import connections
from copytrade.exchange.kinds import EPOCH
from copytrade.models import Account, OrderRevision, SyncJob, TrackingOrder, User
from tests.copytrade.ledger_truth import assert_ledger_is
from tests.support.sandbox_process import Sandbox

from .desk_workers import Workers

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def account(sandbox: Sandbox, redis_client: object) -> Account:
    """A connection whose history comes slowly, so that there is a middle of the walk to be killed in."""
    sandbox.fault("tracking_order_history", "slow_drip", seconds=0.15, times=0)
    owner = User.objects.create_user("alice")
    return connections.add(
        owner,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )


@pytest.fixture
def workers(account: Account, sandbox: Sandbox, tmp_path: Path) -> Iterator[Workers]:
    with Workers(tmp_path, sandbox.url) as started:
        yield started


def read(account: Account) -> int:
    return TrackingOrder.objects.filter(account=account, closed=True).count()


def job(account: Account) -> SyncJob:
    return account.jobs.get(kind="history")


def finished(account: Account) -> bool:
    cursor = job(account).cursor
    done = bool(cursor) and "back" not in cursor and "walk" not in cursor
    return done and not account.jobs.filter(last_success_at=None).exists()


def history_calls(sandbox: Sandbox) -> list[dict]:
    return [c for c in sandbox.calls()["calls"] if c["operation"] == "tracking_order_history"]


def test_a_worker_killed_twice_in_its_walk_loses_and_doubles_nothing(
    account: Account, workers: Workers, sandbox: Sandbox
) -> None:
    for floor in (200, 800):
        workers.start()
        workers.wait(lambda floor=floor: read(account) >= floor)  # type: ignore[misc]
        workers.kill()
        assert not finished(account), "the kill came too late to be in the middle"
    stood, walked = job(account).cursor["back"], len(history_calls(sandbox))
    workers.start()
    workers.wait(lambda: finished(account))
    workers.kill()
    assert_ledger_is(account, sandbox.truth())
    assert not OrderRevision.objects.exists()
    resumed = history_calls(sandbox)[walked]["query"]
    # The window ends before that moment: with the last whole millisecond that lies before it.
    end = -((EPOCH - datetime.fromisoformat(stood["end"])) // timedelta(milliseconds=1)) - 1
    at_page = f"nextKeyId={stood['next'][0]}" if stood["next"] else f"endTime={end}"
    assert at_page in resumed, "the walk went on where it stood"


def test_a_pool_killed_under_its_parent_is_replaced_and_its_work_done(
    account: Account, workers: Workers, sandbox: Sandbox
) -> None:
    workers.start()
    for floor in (100, 500):
        workers.wait(lambda floor=floor: read(account) >= floor)  # type: ignore[misc]
        workers.kill_children()
    workers.wait(lambda: finished(account))
    assert workers.worker.poll() is None, "the parent lived on"
    workers.kill()
    assert_ledger_is(account, sandbox.truth())
    assert not OrderRevision.objects.exists()
