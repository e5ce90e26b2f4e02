"""Boosts: what somebody looks at, or what is about to change, is read soon; everything else as before."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from copytrade import changes
from copytrade.intervals import bounds
from copytrade.models import Account, SyncJob, Trader, User
from copytrade.scheduling import boosts
from copytrade.sync import run

from .test_changes import confirmed

HOUR = timedelta(hours=1)


def desk(owner: User, label: str = "Desk", *, copies: int | None = None, **fields: object) -> Account:
    """An active account whose readings were made a minute ago and are due in an hour."""
    usual = {"venue": "weex", "state": "active"}
    account = Account.objects.create(owner=owner, label=label, **usual | fields)
    now = timezone.now()
    SyncJob.objects.bulk_create(
        SyncJob(account=account, kind=kind, due_at=now + HOUR, last_success_at=now - timedelta(minutes=1))
        for kind in run.ALL
    )
    if copies is not None:
        Trader.objects.create(account=account, trader_id=copies, copied=True)
    return account


def job(account: Account, kind: str = "open") -> SyncJob:
    return account.jobs.get(kind=kind)


def boosted(account: Account, kind: str = "open") -> bool:
    row = job(account, kind)
    return row.boost_until is not None and row.boost_until > timezone.now() and row.due_at <= timezone.now()


def test_a_page_of_all_accounts_raises_those_of_its_reader_alone(alice: User, charlie: User) -> None:
    mine, theirs = desk(alice), desk(charlie)
    boosts.watched(alice)
    assert boosted(mine) and not boosted(theirs)
    assert not boosted(mine, "settings") and not boosted(mine, "history")


def test_a_page_that_polls_writes_seldom(alice: User) -> None:
    mine = desk(alice)
    boosts.watched(alice)
    first = job(mine).boost_until
    boosts.watched(alice)
    assert job(mine).boost_until == first
    SyncJob.objects.update(boost_until=first - boosts.REFRESH - timedelta(seconds=1))
    boosts.watched(alice)
    assert job(mine).boost_until >= first


@pytest.mark.parametrize("page", ["/orders/open/", "/"])
def test_the_pages_of_open_orders_and_the_overview_raise_what_they_show(
    client: Client, alice: User, page: str
) -> None:
    mine = desk(alice)
    client.force_login(alice)
    assert client.get(page).status_code == 200
    assert boosted(mine)


def test_a_traders_page_raises_its_account_alone(client: Client, alice: User) -> None:
    one, other = desk(alice, "A", copies=7), desk(alice, "B")
    client.force_login(alice)
    assert client.get(f"/traders/{one.traders.get().pk}/").status_code == 200
    assert boosted(one) and not boosted(other)


def test_a_change_that_was_sent_raises_settings_and_open_orders(trader: Trader) -> None:
    SyncJob.objects.update(due_at=timezone.now() + HOUR, last_success_at=timezone.now() - HOUR)
    changes.proceed(confirmed(trader).pk)
    assert boosted(trader.account, "settings") and boosted(trader.account, "open")
    assert not boosted(trader.account, "history")


def test_a_close_at_one_follower_raises_all_others_of_that_trader(alice: User, charlie: User) -> None:
    first, second = desk(alice, copies=7), desk(charlie, copies=7)
    unrelated, elsewhere = desk(alice, "C", copies=8), desk(alice, "D", copies=7, venue="sandbox")
    former = desk(alice, "E", copies=7)
    former.traders.update(copied=False)
    boosts.close_seen(first, {7})
    assert boosted(second)
    for account in (first, unrelated, elsewhere, former):
        assert not boosted(account)
    boosts.close_seen(first, set())


def test_a_trader_with_many_followers_does_not_take_everybodys_budget(alice: User, monkeypatch) -> None:
    monkeypatch.setattr(boosts, "MOST_FOLLOWERS", 2)
    followers = [desk(alice, str(n), copies=7) for n in range(4)]
    SyncJob.objects.filter(account__in=followers[1:3]).update(last_success_at=timezone.now() - HOUR)
    boosts.close_seen(followers[0], {7})
    assert [boosted(account) for account in followers] == [False, True, True, False], "those read longest ago"


def test_where_every_list_waits_as_long_as_it_may_a_close_makes_nobody_wait_longer(alice: User) -> None:
    followers = [desk(alice, str(n), copies=7) for n in range(3)]
    cap = bounds("weex", "open").cap
    SyncJob.objects.filter(kind="open").update(interval=cap)
    boosts.close_seen(followers[0], {7})
    assert not any(map(boosted, followers))
    SyncJob.objects.filter(account=followers[1]).update(interval=cap / 2)
    boosts.close_seen(followers[0], {7})
    assert [boosted(account) for account in followers] == [False, True, True], "now there is room for more"


def test_a_close_raises_no_more_than_its_address_reads_in_a_part_of_the_time(
    alice: User, monkeypatch
) -> None:
    monkeypatch.setattr(boosts.room, "usable", lambda name, venue: {"default": 3.0, "a2": 1000.0}[name])
    followers = [desk(alice, str(n), copies=7) for n in range(9)]
    SyncJob.objects.filter(account__in=followers[5:]).update(egress="a2")
    boosts.close_seen(followers[0], {7})
    assert [sum(map(boosted, part)) for part in (followers[:5], followers[5:])] == [2, 4]


def test_what_failed_keeps_its_pause_and_refused_accounts_stay_stopped(alice: User) -> None:
    failing, refused = desk(alice, "A"), desk(alice, "B", state="refused")
    pending = desk(alice, "C", state="pending")
    failing.jobs.update(failures=2)
    boosts.watched(alice)
    assert [job(account).due_at > timezone.now() for account in (failing, refused, pending)] == [True] * 3


def test_what_was_read_a_moment_ago_is_read_again_after_its_floor(alice: User) -> None:
    mine = desk(alice)
    SyncJob.objects.update(last_success_at=timezone.now())
    boosts.watched(alice)
    wait = (job(mine).due_at - timezone.now()).total_seconds()
    assert 0 < wait <= boosts.SOONEST.total_seconds()


def test_a_list_at_its_cap_that_somebody_looks_at_is_read_once_a_minute(alice: User) -> None:
    mine = desk(alice)
    cap = bounds("weex", "open").cap
    for seconds, least, most in ((0, 50, 60), (45, 5, 15), (90, -5, 0)):
        SyncJob.objects.update(
            interval=cap, boost_until=None, due_at=timezone.now() + HOUR,
            last_success_at=timezone.now() - timedelta(seconds=seconds),
        )  # fmt: skip
        boosts.watched(alice)
        assert least <= (job(mine).due_at - timezone.now()).total_seconds() <= most, seconds


@pytest.mark.django_db(transaction=True)
def test_a_page_never_waits_for_a_reading_that_is_being_stored() -> None:
    owner = User.objects.create_user("owner")
    mine = desk(owner)
    locked, looked = threading.Event(), threading.Event()

    def store() -> None:
        with transaction.atomic():
            SyncJob.objects.select_for_update().get(pk=job(mine).pk)
            locked.set()
            looked.wait(60)
        connection.close()

    thread = threading.Thread(target=store)
    thread.start()
    locked.wait(60)
    boosts.watched(owner)
    looked.set()
    thread.join()
    assert not boosted(mine)
