"""Changes that follow another: merged after a conflict, sent again, restored; and what is asked to confirm one."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from copytrade import changes, outcomes, rules, versions
from copytrade.models import AuditEntry, SettingsChange, Trader, User
from copytrade.sync import run
from tests.copytrade.test_changes import (
    bodies,
    confirmed,
    edit_elsewhere,
    edited,
    held,
    impatient,
    settle,
    truth,
)
from tests.support.sandbox_process import Sandbox

__all__ = ["impatient"]  # the fixture is used by being here

State = SettingsChange.State


def sent(draft: SettingsChange) -> str:
    changes.confirm(draft, draft.key)
    return changes.send(draft.pk)


def in_conflict(trader: Trader, sandbox: Sandbox, **elsewhere: object) -> SettingsChange:
    """Stop loss 27 % here, and something else elsewhere before it was sent."""
    change = confirmed(trader)
    edit_elsewhere(sandbox, trader, **elsewhere)
    assert changes.send(change.pk) == State.CONFLICT
    change.refresh_from_db()
    return change


def not_seen(trader: Trader, sandbox: Sandbox) -> SettingsChange:
    sandbox.fault("update_follower_settings", "reset", times=1)
    change = confirmed(trader)
    changes.send(change.pk)
    assert settle(change) == State.NOT_SEEN
    change.refresh_from_db()
    return change


def test_the_body_that_was_reviewed_is_the_one_that_is_confirmed(trader: Trader) -> None:
    draft = changes.draft(trader, edited(trader), None)
    seen = changes.body_mark(draft)
    SettingsChange.objects.filter(pk=draft.pk).update(
        body=rules.to_body(trader.trader_id, edited(trader, stop_loss=Decimal("0.9")))
    )
    draft.refresh_from_db()
    for mark in (seen, "", "x" * 64):
        with pytest.raises(changes.ChangeRefused, match="not what this change would send"):
            changes.confirm(draft, draft.key, seen=mark)
    assert changes.confirm(draft, draft.key, seen=changes.body_mark(draft)).state == State.CONFIRMED


def test_the_mark_of_a_body_does_not_depend_on_the_order_of_its_names(trader: Trader) -> None:
    draft = changes.draft(trader, edited(trader), None)
    before = changes.body_mark(draft)
    draft.body = dict(reversed(draft.body.items()))
    assert changes.body_mark(draft) == before


def deeds() -> QuerySet[AuditEntry]:
    """What people did with settings; that a key was stored and used for it is written down beside."""
    return AuditEntry.objects.exclude(action__startswith="key_")


def test_sending_is_in_the_audit_log_once(trader: Trader, alice: User) -> None:
    draft = changes.draft(trader, edited(trader), alice)
    assert not deeds().exists()
    for _ in range(3):
        changes.confirm(draft, draft.key, by=alice)
    stale = SettingsChange.objects.get(pk=draft.pk)
    stale.state = State.DRAFT  # another tab's view of it
    changes.confirm(stale, draft.key, by=alice)
    (entry,) = deeds()
    assert (entry.user, entry.action, entry.trader) == (alice, "send", trader)
    assert entry.details["differences"] == draft.differences and trader.name in entry.subject


def test_a_change_that_was_not_confirmed_leaves_no_trace_in_the_audit_log(trader: Trader) -> None:
    confirmed(trader)
    second = changes.draft(trader, edited(trader, stop_loss=Decimal("0.11")), None)
    with pytest.raises(changes.ChangeRefused, match="under way"):
        changes.confirm(second, second.key)
    assert deeds().count() == 1


def test_a_conflict_shows_three_sides_and_merges_into_a_new_draft(
    trader: Trader, sandbox: Sandbox, alice: User
) -> None:
    wanted = replace(held(trader).configs[0], take_profit=Decimal("1.5"), stop_loss=Decimal("0.27"))
    change = in_conflict(trader, sandbox)
    found = changes.conflict(change)
    assert (found.base, found.theirs) == (change.base, versions.latest(trader))
    assert {row.path: row.default for row in found.rows} == {"take_profit": "theirs", "stop_loss": "mine"}
    merged = changes.resolve(change, {}, alice, theirs=found.theirs.pk)
    assert (merged.origin, merged.previous, merged.base) == ("merge", change, found.theirs)
    assert [row[0] for row in merged.differences] == ["Stop loss"], "theirs is there already"
    assert bodies(sandbox) == []
    assert sent(merged) == State.APPLIED
    assert rules.same(truth(sandbox, trader), rules.CopySettings("unified", (wanted,)))
    change.refresh_from_db()
    assert change.state == State.CONFLICT, "the merge is a change of its own"


def test_a_clash_needs_a_choice(trader: Trader, sandbox: Sandbox) -> None:
    change = in_conflict(trader, sandbox, stop_loss=Decimal("0.1"))
    (row,) = changes.conflict(change).rows
    assert (row.path, row.clash, row.theirs, row.mine) == (
        "stop_loss", True, "10 % of margin", "27 % of margin",
    )  # fmt: skip
    with pytest.raises(changes.ChangeRefused, match="Choose one for each: Stop loss"):
        changes.resolve(change, {}, None)
    with pytest.raises(changes.ChangeRefused, match="nothing to send"):
        changes.resolve(change, {"stop_loss": "theirs"}, None)
    assert sent(changes.resolve(change, {"stop_loss": "mine"}, None)) == State.APPLIED


def test_choices_made_on_an_older_page_are_not_used(trader: Trader, sandbox: Sandbox) -> None:
    change = in_conflict(trader, sandbox)
    shown = changes.conflict(change).theirs.pk
    edit_elsewhere(sandbox, trader, stop_loss=Decimal("0.5"))
    assert changes.read_settings(trader).pk != shown
    with pytest.raises(changes.ChangeRefused, match="changed once more"):
        changes.resolve(change, {}, None, theirs=shown)
    with pytest.raises(changes.ChangeRefused, match="Choose one"):
        changes.resolve(change, {}, None, theirs=versions.latest(trader).pk)


def test_an_edit_after_the_merge_was_drafted_is_not_overwritten_either(
    trader: Trader, sandbox: Sandbox
) -> None:
    merged = changes.resolve(in_conflict(trader, sandbox), {}, None)
    edit_elsewhere(sandbox, trader, slippage=Decimal("0.002"))
    assert sent(merged) == State.CONFLICT and bodies(sandbox) == []
    again = changes.resolve(SettingsChange.objects.get(pk=merged.pk), {}, None)
    assert sent(again) == State.APPLIED
    now = truth(sandbox, trader).configs[0]
    assert (now.slippage, now.take_profit, now.stop_loss) == (
        Decimal("0.002"), Decimal("1.5"), Decimal("0.27"),
    )  # fmt: skip


def test_only_a_conflict_is_resolved_and_only_what_did_not_arrive_is_sent_again(trader: Trader) -> None:
    change = confirmed(trader)
    changes.send(change.pk)
    change.refresh_from_db()
    with pytest.raises(changes.ChangeRefused, match="not in conflict"):
        changes.resolve(change, {}, None)
    with pytest.raises(changes.ChangeRefused, match="did not arrive"):
        changes.again(change, None)


def test_a_conflict_over_settings_that_cannot_be_read_says_so(trader: Trader, sandbox: Sandbox) -> None:
    change = in_conflict(trader, sandbox)
    versions.record(trader, [], None, timezone.now())
    with pytest.raises(changes.ChangeRefused, match="cannot be compared"):
        changes.conflict(change)
    SettingsChange.objects.filter(pk=change.pk).update(base=None)
    change.refresh_from_db()
    with pytest.raises(changes.ChangeRefused, match="cannot be compared"):
        changes.resolve(change, {}, None)


def test_what_was_not_seen_is_sent_again_as_a_linked_change(
    trader: Trader, sandbox: Sandbox, alice: User
) -> None:
    lost = not_seen(trader, sandbox)
    again = changes.again(lost, alice)
    assert (again.origin, again.previous, again.body, again.author) == ("again", lost, lost.body, alice)
    assert again.key != lost.key
    assert sent(again) == State.APPLIED
    lost.refresh_from_db()
    assert lost.state == State.NOT_SEEN, "the second one did it"
    assert len(bodies(sandbox)) == 2 and versions.latest(trader).change == again


def test_a_refused_change_can_be_sent_again(trader: Trader, sandbox: Sandbox) -> None:
    sandbox.fault("update_follower_settings", "code", code=-1140, times=1)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.REJECTED
    change.refresh_from_db()
    assert sent(changes.again(change, None)) == State.APPLIED


def test_the_first_one_arriving_while_the_second_is_reviewed_sends_no_second_body(
    trader: Trader, sandbox: Sandbox
) -> None:
    lost = not_seen(trader, sandbox)
    again = changes.again(lost, None)
    sandbox.control("POST", "settings", {"account": "follower", "settings": lost.body})
    assert sent(again) == State.APPLIED
    again.refresh_from_db()
    lost.refresh_from_db()
    assert lost.state == State.APPLIED and "already held" in again.error_message
    assert len(bodies(sandbox)) == 1 and versions.latest(trader).change == lost


def test_an_accepted_change_that_shows_up_late_is_ours(trader: Trader, sandbox: Sandbox) -> None:
    """The exchange said yes, showed the old settings for a minute, and then held ours after all."""
    wanted = edited(trader)
    body = rules.to_body(trader.trader_id, wanted)
    change = confirmed(trader)
    now = versions.latest(trader).first_seen_at + timedelta(seconds=1)
    SettingsChange.objects.filter(pk=change.pk).update(state=State.SENDING, accepted=True, sent_at=now)
    assert settle(change) == State.CONFLICT
    change.refresh_from_db()
    assert "still shows the old settings" in change.error_message
    sandbox.control("POST", "settings", {"account": "follower", "settings": body})
    run.sync_account(trader.account_id, ["settings"])
    change.refresh_from_db()
    assert change.state == State.APPLIED and change.not_kept == []
    assert (versions.latest(trader).author, versions.latest(trader).change) == ("me", change)


def test_the_same_settings_much_later_are_an_edit_made_elsewhere(trader: Trader, sandbox: Sandbox) -> None:
    """A conflict ended by somebody else's settings stays one, whatever they choose afterwards."""
    wanted = edited(trader)
    sandbox.fault("update_follower_settings", "reset", times=1)
    change = confirmed(trader)
    changes.send(change.pk)
    edit_elsewhere(sandbox, trader)
    assert settle(change) == State.CONFLICT
    sandbox.control(
        "POST", "settings", {"account": "follower", "settings": rules.to_body(trader.trader_id, wanted)}
    )
    run.sync_account(trader.account_id, ["settings"])
    change.refresh_from_db()
    assert change.state == State.CONFLICT and versions.latest(trader).author == "outside"


def test_what_the_answer_leaves_out_is_said_to_be_unreadable(trader: Trader, sandbox: Sandbox) -> None:
    """An exchange that never tells the take profit: nothing is claimed about it, and nothing sent again."""
    sandbox.fault("follower_settings", "missing_fields", fields=["takeProfitRatio"], times=0)
    changes.read_settings(trader)
    change = confirmed(trader, take_profit=Decimal("0.4"), stop_loss=Decimal("0.27"))
    assert changes.send(change.pk) == State.CONFLICT
    change.refresh_from_db()
    assert change.not_kept == [["Take profit", "40 % of margin", changes.CANNOT_BE_READ]]
    assert "cannot be confirmed" in change.error_message and len(bodies(sandbox)) == 1


def test_unreadable_and_not_kept_are_told_apart(trader: Trader) -> None:
    mine = edited(trader, stop_loss=Decimal("0.27"), take_profit=Decimal(2))
    answer = [dict(item) for item in versions.latest(trader).answer]
    for item in answer:
        del item["takeProfitRatio"]
    found = {what: after for what, _, after in outcomes.not_kept_of(mine, answer)}
    assert found["Take profit"] == changes.CANNOT_BE_READ
    assert found["Stop loss"] not in ("27 % of margin", changes.CANNOT_BE_READ)
    assert outcomes.not_kept_of(mine, []) == []


def test_any_version_can_be_restored_exactly(trader: Trader, sandbox: Sandbox, alice: User) -> None:
    first = versions.latest(trader)
    sent(changes.draft(trader, edited(trader, max_hold=None, leverage_type="trader"), alice))
    edit_elsewhere(sandbox, trader, trace_type="percent", trace_value=Decimal("0.5"))
    changes.read_settings(trader)
    assert trader.versions.count() == 3
    for version in [first, *trader.versions.exclude(pk=first.pk).order_by("pk")]:
        draft = changes.restore(version, alice)
        assert (draft.origin, draft.author) == ("restore", alice)
        assert sent(draft) == State.APPLIED
        assert versions.latest(trader).fingerprint == version.fingerprint
        assert rules.same(truth(sandbox, trader), versions.settings_of(version))
    assert AuditEntry.objects.filter(action="restore", user=alice).count() == 3


def test_what_is_in_force_or_was_never_understood_is_not_restored(trader: Trader) -> None:
    with pytest.raises(changes.ChangeRefused, match="nothing to send"):
        changes.restore(versions.latest(trader), None)
    odd = trader.versions.create(answer=[], fingerprint="odd", author="outside", mode="")
    with pytest.raises(changes.ChangeRefused, match="could not be understood"):
        changes.restore(odd, None)
    assert not SettingsChange.objects.exists() and not deeds().exists()


@pytest.mark.django_db(transaction=True)
def test_ticks_do_not_pile_up_readings_of_a_slow_exchange(trader: Trader, sandbox: Sandbox) -> None:
    """Before sending and when looking at the outcome: one reading at a time, whatever is handed out meanwhile."""

    def readings() -> int:
        return sum(call["operation"] == "follower_settings" for call in sandbox.calls()["calls"])

    def wake_four() -> int:
        """How many readings four ticks make, 0.2 s after one another."""
        before = readings()
        sandbox.fault("follower_settings", "slow_drip", seconds=1.0, times=1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        sandbox.clear_faults()
        return readings() - before

    def work() -> None:
        for change_id in changes.take_up():
            changes.proceed(change_id)
        connection.close()

    change = confirmed(trader)
    SettingsChange.objects.update(look_again_at=timezone.now())
    sandbox.fault("update_follower_settings", "reset", times=1)
    assert wake_four() == 1
    change.refresh_from_db()
    assert change.state == State.UNKNOWN and len(bodies(sandbox)) == 1
    SettingsChange.objects.update(look_again_at=timezone.now())
    assert wake_four() == 1
    assert len(bodies(sandbox)) == 1


def test_a_change_whose_reader_died_is_taken_up_again(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    assert outcomes.claim(outcomes.load(change.pk))
    later = timezone.now() + timedelta(seconds=5)
    assert changes.take_up(timezone.now()) == [] and changes.take_up(later) == [change.pk]
    assert changes.proceed(change.pk) == State.APPLIED
    assert not outcomes.claim(change), "it has moved on"
