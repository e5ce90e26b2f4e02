"""Where weight is short: what readings bring forward gives way to the open lists, which are promised."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from copytrade.intervals import bounds
from copytrade.models import Account, SyncJob, User
from copytrade.sync import run
from copytrade.sync.open_orders import PATIENCE_AT_CAP
from tests.support.listed_exchange import DAY, NOW, Exchange, job, read
from tests.support.told_orders import order

HOUR = timedelta(hours=1)


@pytest.fixture
def exchange() -> Exchange:
    return Exchange()


@pytest.fixture
def account(alice: User) -> Account:
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    run.ensure_jobs(account)
    return account


def planned(account: Account, kind: str, *, at_cap: bool = True) -> None:
    """A job whose interval is the longest that its kind may have, or half of it."""
    cap = bounds(account.venue, kind).cap
    account.jobs.filter(kind=kind).update(interval=cap if at_cap else cap / 2)


@pytest.mark.parametrize("at_cap", [True, False])
def test_a_copy_that_left_makes_history_due_at_once_or_a_little_later_where_weight_is_short(
    account: Account, exchange: Exchange, at_cap: bool
) -> None:
    exchange.open = [order(1), order(2)]
    read(account, exchange, "open")
    exchange.open.pop()
    planned(account, "open", at_cap=at_cap)
    account.jobs.filter(kind__in=["history", "traders"]).update(due_at=NOW + DAY)
    read(account, exchange, "open")
    history, traders = (job(account, kind).due_at for kind in ("history", "traders"))
    if at_cap:
        assert 0.8 * PATIENCE_AT_CAP < history - timezone.now() <= PATIENCE_AT_CAP
        assert traders == NOW + DAY
    else:
        assert max(history, traders) <= timezone.now()


@pytest.mark.parametrize(
    ("at_cap", "history_read", "due"),
    [(True, -2 * HOUR, True), (True, HOUR / 2, False), (False, HOUR / 2, True), (True, None, True)],
)
def test_a_moved_total_makes_the_history_due_unless_weight_is_short_and_it_was_read_since(
    account: Account, exchange: Exchange, at_cap: bool, history_read: timedelta | None, due: bool
) -> None:
    read(account, exchange, "traders")
    before = NOW - HOUR
    planned(account, "traders", at_cap=at_cap)
    account.jobs.filter(kind="traders").update(last_success_at=before)
    read_at = before + history_read if history_read is not None else None
    account.jobs.filter(kind="history").update(due_at=NOW + DAY, last_success_at=read_at)
    exchange.money = Decimal("7")
    assert read(account, exchange, "traders").changed
    assert (job(account, "history").due_at <= timezone.now()) is due
    assert SyncJob.objects.get(account=account, kind="settings").due_at <= timezone.now()
