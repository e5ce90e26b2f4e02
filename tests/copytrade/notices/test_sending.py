"""Each alert once per channel, in order, with pauses that grow; one worker at a time; and what a killed one leaves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import alerts, notices, retention
from copytrade.models import Account, Alert, Channel, Delivery, User
from copytrade.notices import channels, sending
from copytrade.notices.telling import NotTold
from tests.support.at_once import at_once

from .conftest import Post

pytestmark = pytest.mark.django_db
Tell = Callable[..., Alert]
MINUTE = timedelta(minutes=1)


def round_(post: Post, now: datetime | None = None) -> int:
    """Look what is to be told, and tell it."""
    notices.plan(now)
    return notices.work(now, teller=post)


# --- what is told ----------------------------------------------------------------------------------------
def test_an_alert_is_told_once_by_each_channel(
    alice: User, hook: Channel, tell_alice: Tell, post: Post
) -> None:
    other, _ = channels.add_webhook(alice, "Other", "https://example.org/hooks/abcdefghijklmnop")
    Channel.objects.update(since=hook.since)
    tell_alice(1)
    assert [round_(post) for _ in range(3)] == [2, 0, 0]
    assert sorted(label for label, _, _ in post.told) == ["Hook", "Other"]
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}
    assert other.deliveries.get().attempts == 1


def test_alerts_are_told_in_the_order_of_becoming_loud(hook: Channel, tell_alice: Tell, post: Post) -> None:
    now = timezone.now()
    for n, minutes in ((1, 3), (2, 5), (3, 1)):
        tell_alice(n, loud_at=now - minutes * MINUTE)
    round_(post)
    assert post.words == ["Alert 2.", "Alert 1.", "Alert 3."]


def test_an_alert_of_quiet_hours_waits_until_it_is_loud(hook: Channel, tell_alice: Tell, post: Post) -> None:
    now = timezone.now()
    tell_alice(1, loud_at=now + 30 * MINUTE)
    assert round_(post, now) == 0
    assert round_(post, now + 31 * MINUTE) == 1


def test_a_silent_alert_is_never_told(hook: Channel, tell_alice: Tell, post: Post) -> None:
    alert = tell_alice(1)
    Alert.objects.filter(pk=alert.pk).update(loud_at=None, silent=True)
    assert round_(post) == 0 and not Delivery.objects.exists()


@pytest.mark.parametrize(
    "case", ["read", "healed", "folded", "old", "before the channel", "paused", "demo", "inactive"]
)
def test_what_need_not_be_told_is_not(case: str, hook: Channel, tell_alice: Tell, post: Post) -> None:
    now = timezone.now()
    alert = tell_alice(1, loud_at=now - timedelta(hours=25) if case == "old" else None)
    if case == "old":
        Channel.objects.update(since=now - timedelta(days=9))
    elif case == "read":
        alerts.mark_read(Alert.objects.all())
    elif case == "healed":
        Alert.objects.update(resolved_at=now)
    elif case == "folded":
        head = tell_alice(2, loud_at=now + timedelta(days=1))
        Alert.objects.filter(pk=alert.pk).update(folded_into=head)
    elif case == "before the channel":
        Channel.objects.update(since=now)
    elif case == "paused":
        channels.set_enabled(hook, False)
    else:
        User.objects.update(**{"demo": {"is_demo": True}, "inactive": {"is_active": False}}[case])
    assert round_(post) == 0 and post.told == []


@pytest.mark.parametrize(("field", "words"), [("read_at", "It was read"), ("resolved_at", "over")])
def test_what_was_read_or_healed_while_it_waited_is_dropped_and_said(
    hook: Channel, tell_alice: Tell, post: Post, field: str, words: str
) -> None:
    tell_alice(1)
    tell_alice(2)
    notices.plan()
    Alert.objects.filter(sentence="Alert 1.").update(**{field: timezone.now()})
    assert notices.work(teller=post) == 1 and post.words == ["Alert 2."]
    dropped = Delivery.objects.get(words="Alert 1.")
    assert dropped.state == "dropped" and words in dropped.error


def test_somebody_elses_alert_is_not_told(hook: Channel, charlie: User, tell_alice: Tell, post: Post) -> None:
    tell_alice(1, owner=charlie)
    assert round_(post) == 0


# --- when it fails ---------------------------------------------------------------------------------------
def test_a_failure_is_tried_again_with_pauses_that_grow_and_given_up_after_a_day(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    post.wrong["Hook"] = NotTold("The address answered 500.")
    begun = now = timezone.now()
    pauses = []
    while True:
        round_(post, now)
        row = Delivery.objects.get()
        if row.state == "given_up":
            break
        assert row.state == "failed" and row.error == "The address answered 500."
        assert notices.work(row.due_at - timedelta(seconds=1), teller=post) == 0, "not before its time"
        pauses.append((row.due_at - now) // MINUTE)
        now = row.due_at
    assert pauses == list(sending.PAUSES) == [1, 5, 15, 60, 180, 360, 720]
    assert row.attempts == 8 and now - begun < timedelta(days=1)
    hook.refresh_from_db()
    assert hook.enabled and (hook.failures, hook.last_error) == (8, "The address answered 500.")


def test_what_failed_once_arrives_later_and_the_channel_is_well_again(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    post.wrong["Hook"] = NotTold("No.")
    round_(post)
    post.wrong.clear()
    assert round_(post, timezone.now() + 2 * MINUTE) == 1
    hook.refresh_from_db()
    assert (hook.failures, hook.last_error) == (0, "") and hook.last_ok_at is not None
    assert Delivery.objects.get().attempts == 2


def test_what_comes_after_waits_for_what_failed(hook: Channel, tell_alice: Tell, post: Post) -> None:
    now = timezone.now()
    tell_alice(1)
    post.wrong["Hook"] = NotTold("No.")
    round_(post, now)
    post.wrong.clear()
    tell_alice(2)
    assert round_(post, now + MINUTE / 2) == 0, "in order, or not at all"
    assert round_(post, now + 2 * MINUTE) == 2
    assert post.words == ["Alert 1.", "Alert 2."]


def test_one_channel_that_fails_holds_up_no_other(
    alice: User, hook: Channel, tell_alice: Tell, post: Post
) -> None:
    channels.add_webhook(alice, "Other", "https://example.org/hooks/abcdefghijklmnop")
    Channel.objects.update(since=hook.since)
    tell_alice(1)
    post.wrong["Hook"] = NotTold("No.")
    assert round_(post) == 1 and [label for label, _, _ in post.told] == ["Other"]


def test_a_fault_of_ours_is_a_failure_like_others_and_tells_nothing(
    hook: Channel, tell_alice: Tell, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    tell_alice(1)
    post.wrong["Hook"] = RuntimeError("https://example.com/hooks/abcdefghijklmnop")
    assert round_(post) == 0
    row = Delivery.objects.get()
    assert row.state == "failed" and "fault of the desk" in row.error
    assert "abcdefghijklmnop" not in caplog.text + row.error


def test_a_channel_that_only_fails_is_switched_off_with_an_alert_in_the_inbox(
    alice: User, hook: Channel, tell_alice: Tell, post: Post
) -> None:
    now = timezone.now()
    tell_alice(1)
    post.wrong["Hook"] = NotTold("The address answered 500.")
    for _ in range(40):
        now += timedelta(hours=2)
        if (
            now - timezone.now() > timedelta(hours=20)
            and not Alert.objects.filter(sentence="Alert 2.").exists()
        ):
            tell_alice(2, loud_at=now)
        round_(post, now)
        hook.refresh_from_db()
        if not hook.enabled:
            break
    assert not hook.enabled and hook.off_reason == "The address answered 500."
    assert hook.failures == sending.OFF_AFTER
    told = Alert.objects.get(kind="channel_off")
    assert told.owner == alice and told.account is None
    assert told.sentence.startswith(
        "Hook: switched off after 12 failures in a row. The address answered 500."
    )
    assert set(Delivery.objects.values_list("state", flat=True)) == {"given_up"}
    assert round_(post, now + timedelta(days=1)) == 0


def test_an_address_that_is_gone_for_good_is_switched_off_at_once(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    tell_alice(2)
    post.wrong["Hook"] = NotTold("The address answered 410: it is gone for good.", gone=True)
    round_(post)
    hook.refresh_from_db()
    assert not hook.enabled and "410" in hook.off_reason
    assert Alert.objects.filter(kind="channel_off").count() == 1
    assert set(Delivery.objects.values_list("state", flat=True)) == {"given_up"}


def test_that_a_channel_was_switched_off_is_told_by_the_others(
    alice: User, hook: Channel, tell_alice: Tell, post: Post
) -> None:
    channels.add_webhook(alice, "Other", "https://example.org/hooks/abcdefghijklmnop")
    Channel.objects.update(since=hook.since)
    tell_alice(1)
    post.wrong["Hook"] = NotTold("Gone.", gone=True)
    round_(post)
    round_(post, timezone.now() + MINUTE)
    assert any("Hook: switched off" in words for words in post.words)


def test_switched_on_again_it_tells_what_comes_and_not_what_was(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    post.wrong["Hook"] = NotTold("Gone.", gone=True)
    round_(post)
    post.wrong.clear()
    hook.refresh_from_db()
    channels.set_enabled(hook, True)
    hook.refresh_from_db()
    assert (hook.enabled, hook.failures, hook.off_reason) == (True, 0, "")
    later = timezone.now() + MINUTE
    tell_alice(2, loud_at=later)
    round_(post, later)
    assert post.words == ["Alert 2."]


def test_a_pause_drops_what_waits(hook: Channel, tell_alice: Tell, post: Post) -> None:
    tell_alice(1)
    notices.plan()
    channels.set_enabled(hook, False)
    assert Delivery.objects.get().state == "dropped"
    channels.set_enabled(hook, True)
    assert round_(post) == 0


# --- several workers, and killed ones --------------------------------------------------------------------
def test_what_a_killed_worker_was_sending_is_sent_again_and_said(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    notices.plan()
    now = timezone.now()
    held = sending._claim(now)
    assert held is not None and not held.again
    key = held.rows[0].key
    assert notices.work(now, teller=post) == 0, "somebody is at it"
    later = now + sending.LEASE + timedelta(seconds=1)
    assert notices.work(later, teller=post) == 1
    assert post.told == [("Hook", ["Alert 1."], True)]
    row = Delivery.objects.get()
    assert (row.key, row.attempts, row.state) == (key, 2, "delivered")


def test_a_worker_that_slept_through_its_lease_writes_nothing(
    hook: Channel, tell_alice: Tell, post: Post
) -> None:
    tell_alice(1)
    notices.plan()
    now = timezone.now()
    held = sending._claim(now)
    assert held is not None
    notices.work(now + 2 * sending.LEASE, teller=post)
    assert sending._arrived(held, now) == 0
    sending._failed(held, NotTold("Late."), now)
    hook.refresh_from_db()
    assert Delivery.objects.get().state == "delivered" and (hook.failures, hook.last_error) == (0, "")


def test_what_kills_every_worker_is_given_up_in_the_end(hook: Channel, tell_alice: Tell, post: Post) -> None:
    tell_alice(1)
    now = timezone.now()
    notices.plan(now)
    for _ in range(len(sending.PAUSES) + 1):
        assert sending._claim(now) is not None
        now += sending.LEASE + timedelta(seconds=1)
    assert notices.work(now, teller=post) == 0
    assert Delivery.objects.get().state == "given_up" and post.told == []


@pytest.mark.django_db(transaction=True)
def test_five_workers_at_once_tell_each_alert_once(
    alice: User, hook: Channel, tell_alice: Tell, post: Post
) -> None:
    for n in range(10):
        tell_alice(n)
    at_once(*[partial(round_, post)] * 5)
    notices.work(teller=post)
    assert sorted(post.words) == sorted(f"Alert {n}." for n in range(10))
    assert set(Delivery.objects.values_list("attempts", flat=True)) == {1}


# --- cost and life span ----------------------------------------------------------------------------------
def test_planning_costs_the_same_for_ten_alerts_and_a_thousand(
    hook: Channel, tell_alice: Tell, account: Account
) -> None:
    def queries(numbers: range) -> int:
        loud = timezone.now() - MINUTE
        Alert.objects.bulk_create(
            Alert(
                owner=account.owner, account=account, kind="closed", key=str(n), sentence="S.", loud_at=loud
            )
            for n in numbers
        )
        with CaptureQueriesContext(connection) as captured:
            notices.plan()
        return len(captured)

    assert queries(range(10)) == queries(range(10, 1000))
    assert Delivery.objects.count() == 1000


def test_deliveries_are_kept_for_ninety_days(hook: Channel, tell_alice: Tell, post: Post) -> None:
    tell_alice(1)
    round_(post)
    retention.tidy(timezone.now() + timedelta(days=89))
    assert Delivery.objects.exists()
    retention.tidy(timezone.now() + timedelta(days=91))
    assert not Delivery.objects.exists() and Alert.objects.exists()


def test_what_nobody_could_be_told_for_two_days_is_ended(
    hook: Channel, tell_alice: Tell, alice: User
) -> None:
    tell_alice(1)
    notices.plan()
    User.objects.update(is_active=False)
    notices.plan(timezone.now() + timedelta(days=3))
    assert Delivery.objects.get().state == "given_up"
