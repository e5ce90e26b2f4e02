"""The judge of the reading battery sees what it is there for: each planted wrong is named, a right ledger passes."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from django.utils import timezone

from copytrade import connections
from copytrade.models import Account, DayResult, OrderRevision, TrackingOrder, User
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

from .sync_battery import own_429s, wrong_sums
from .sync_judge import Facts, judged, rows_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(sandbox: Sandbox, redis_client: object, alice: User) -> Account:
    """A connection whose whole past is read."""
    sandbox.reset(accounts=1, speed=1)
    made = connections.add(
        alice, label="Main", venue="sandbox", key="load-000001", secret="load-secret", passphrase="sandbox",
    )  # fmt: skip
    assert set(run.sync_account(made.pk).values()) == {""}
    return made


def verdict(account: Account, sandbox: Sandbox) -> Facts:
    truth = sandbox.truth("load-000001")
    # What happened since the account was read is not what these tests are about.
    until = int(account.jobs.get(kind="open").last_success_at.timestamp() * 1000) - 1000
    closed = [wire for wire in truth["closed"] if int(wire["closeTime"]) < until]
    still = [wire for wire in truth["open"] if wire["openTime"] < until and wire["updateTime"] < until]
    return judged(
        account, truth | {"closed": closed, "open": still}, sandbox.truth("load-000001"), rows_of(account)
    )


def orders(account: Account, *, closed: bool) -> TrackingOrder:
    return TrackingOrder.objects.filter(account=account, closed=closed).order_by("open_time").first()


def test_a_right_ledger_passes(account: Account, sandbox: Sandbox) -> None:
    assert verdict(account, sandbox).wrong() == {}


def test_a_lost_row_is_named(account: Account, sandbox: Sandbox) -> None:
    gone = orders(account, closed=True)
    TrackingOrder.objects.filter(pk=gone.pk).delete()
    assert verdict(account, sandbox).wrong() == {"lost": [gone.tracking_no]}


def test_a_close_that_was_missed_is_named(account: Account, sandbox: Sandbox) -> None:
    missed = orders(account, closed=True)
    TrackingOrder.objects.filter(pk=missed.pk).update(closed=False)
    assert missed.tracking_no in verdict(account, sandbox).unclosed


def test_a_doubled_row_is_named(account: Account, sandbox: Sandbox) -> None:
    twice = orders(account, closed=True)
    number = twice.tracking_no
    twice.pk, twice.generation = None, 7
    twice.save(force_insert=True)
    assert verdict(account, sandbox).wrong() == {"doubled": [number]}


def test_a_revision_noted_twice_is_named(account: Account, sandbox: Sandbox) -> None:
    order = orders(account, closed=True)
    for _ in range(2):
        OrderRevision.objects.create(order=order, changed={"status": ["HAVE_OPEN", "CLOSED"]})
    assert verdict(account, sandbox).wrong() == {"doubled": [order.tracking_no]}


def test_an_order_that_never_was_is_named(account: Account, sandbox: Sandbox) -> None:
    ghost = orders(account, closed=True)
    ghost.pk, ghost.tracking_no = None, 4
    ghost.save(force_insert=True)
    assert verdict(account, sandbox).wrong() == {"invented": [4]}


def test_an_invented_close_is_named(account: Account, sandbox: Sandbox) -> None:
    still = orders(account, closed=False)
    TrackingOrder.objects.filter(pk=still.pk).update(closed=True)
    assert still.tracking_no in verdict(account, sandbox).invented_closes


@pytest.mark.parametrize(
    ("column", "value"),
    [("net_profit", Decimal("0.01")), ("symbol", "XYZUSDT"), ("open_leverage", 99), ("status", "UNHEARD_OF")],
)
def test_a_wrong_field_is_named(column: str, value: object, account: Account, sandbox: Sandbox) -> None:
    order = orders(account, closed=True)
    TrackingOrder.objects.filter(pk=order.pk).update(**{column: value})
    found = verdict(account, sandbox).differing
    assert len(found) == 1 and f"{order.tracking_no}: {column} is {value}" in found[0]


def test_an_older_state_of_an_order_is_named(account: Account, sandbox: Sandbox) -> None:
    order = orders(account, closed=True)
    TrackingOrder.objects.filter(pk=order.pk).update(update_time=order.update_time - timedelta(seconds=1))
    assert any("older state" in text for text in verdict(account, sandbox).differing)


def test_an_order_given_up_that_the_exchange_has_is_named(account: Account, sandbox: Sandbox) -> None:
    order = orders(account, closed=True)
    TrackingOrder.objects.filter(pk=order.pk).update(lost_since=order.close_time)
    assert verdict(account, sandbox).wrong() == {"given_up": [order.tracking_no]}


def test_a_wrong_daily_sum_is_named_and_one_that_the_desk_mended_itself_too(
    account: Account, sandbox: Sandbox
) -> None:
    scene: Any = SimpleNamespace(accounts={"load-000001": account}, began=timezone.now())
    assert wrong_sums(scene) == []
    DayResult.objects.filter(pk=DayResult.objects.filter(account=account).first().pk).update(
        net=Decimal("0.01")
    )
    assert len(wrong_sums(scene)) == 2, "the sum, and the issue that was raised for it"
    assert len(wrong_sums(scene)) == 1, "the sum was made again; that it was wrong is still told"


def test_calls_beyond_the_limit_are_counted_and_those_that_a_fault_refuses_are_not(sandbox: Sandbox) -> None:
    scene: Any = SimpleNamespace(calls=lambda after: sandbox.calls()["calls"], since=0)
    sandbox.reset(limit=25)
    sandbox.fault("my_traders", "rate_limit")
    for _ in range(8):  # by somebody who does not count: 10 each, perhaps over the border of a window
        with pytest.raises(HTTPError):
            urlopen(f"{sandbox.url}/capi/v3/copy/follower/myTraders")
    refused = [call for call in sandbox.calls()["calls"] if call["status"] == 429]
    assert refused[0]["fault"] == "rate_limit"
    assert own_429s(scene) == len(refused) - 1 > 0
