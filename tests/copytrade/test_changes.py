"""Changes of copy settings: one body at most, then the truth is read back, whatever happens in between."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from copytrade import changes, connections, rules, symbols, versions
from copytrade.models import Account, CopySymbols, SettingsChange, SettingsVersion, Trader, User
from copytrade.sync import run
from tests.support.at_once import at_once
from tests.support.sandbox_process import Sandbox

State = SettingsChange.State
AT_ONCE = (0.0, 0.0, 0.0)


@pytest.fixture(autouse=True)
def impatient(settings) -> None:
    """Calls give up after two seconds, so that lost answers do not take twenty."""
    settings.EXCHANGE_DEADLINE = 2


def held(trader: Trader) -> rules.CopySettings:
    """The settings last read."""
    version = versions.latest(trader)
    assert version
    return versions.settings_of(version)


def edited(trader: Trader, **changed: Any) -> rules.CopySettings:
    """What is in force, with something else in its first config."""
    now = held(trader)
    return replace(
        now,
        configs=(replace(now.configs[0], **(changed or {"stop_loss": Decimal("0.27")})), *now.configs[1:]),
    )


def confirmed(trader: Trader, **changed: Any) -> SettingsChange:
    draft = changes.draft(trader, edited(trader, **changed), None)
    return changes.confirm(draft, draft.key)


def bodies(sandbox: Sandbox) -> list[dict]:
    """Every body that reached the exchange."""
    return [c for c in sandbox.calls()["calls"] if c["operation"] == "update_follower_settings"]


def truth(sandbox: Sandbox, trader: Trader) -> rules.CopySettings:
    return rules.from_answer(sandbox.truth()["settings"][str(trader.trader_id)])


def edit_elsewhere(sandbox: Sandbox, trader: Trader, **changed: Any) -> None:
    body = rules.to_body(trader.trader_id, edited(trader, **(changed or {"take_profit": Decimal("1.5")})))
    sandbox.control("POST", "settings", {"account": "follower", "settings": body})


def settle(change: SettingsChange, seconds: float = 61) -> str:
    """Look at the outcome as the tick would, long after the sending."""
    SettingsChange.objects.filter(pk=change.pk).update(
        sent_at=timezone.now() - timedelta(seconds=seconds), look_again_at=timezone.now()
    )
    return changes.proceed(change.pk)


def test_a_change_is_sent_read_back_and_becomes_a_version(trader: Trader, sandbox: Sandbox) -> None:
    wanted = edited(trader)
    change = confirmed(trader)
    assert [change.differences[0][0], change.differences[0][2]] == ["Stop loss", "27 % of margin"]
    assert changes.send(change.pk) == State.APPLIED
    change.refresh_from_db()
    assert change.accepted and change.sent_at and change.resolved_at and not change.not_kept
    assert rules.same(truth(sandbox, trader), wanted)
    version = versions.latest(trader)
    assert (version.author, version.change_id) == ("me", change.pk)
    (sent,) = bodies(sandbox)
    assert json.loads(sent["body"]) == change.body, "what was reviewed is what was sent"


def test_nothing_is_sent_twice_whoever_asks(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    for _ in range(3):
        changes.send(change.pk)
        changes.proceed(change.pk)
        changes.confirm(change, change.key)
        changes.read_back(change.pk)
    assert len(bodies(sandbox)) == 1
    assert SettingsVersion.objects.filter(trader=trader, author="me").count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_send_one_body(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    at_once(*[partial(changes.send, change.pk)] * 4)
    assert len(bodies(sandbox)) == 1
    change.refresh_from_db()
    assert change.state == State.APPLIED


def test_a_refused_body_changes_nothing_and_says_why(trader: Trader, sandbox: Sandbox) -> None:
    before = truth(sandbox, trader)
    sandbox.fault("update_follower_settings", "code", code=-1140, times=1)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.REJECTED
    change.refresh_from_db()
    assert change.error_code == "-1140" and change.error_message and change.accepted is False
    assert rules.same(truth(sandbox, trader), before)


def test_a_key_without_the_permission_is_told_so_and_reading_goes_on(alice: User, sandbox: Sandbox) -> None:
    account = connections.add(
        alice, label="R", venue="sandbox", key="readonly-key", secret="readonly-secret", passphrase="sandbox"
    )
    run.sync_account(account.pk, ["traders", "settings"])
    trader = account.traders.exclude(versions=None).first()
    change = confirmed(trader, trace_value=Decimal("0.77"))
    assert changes.send(change.pk) == State.REJECTED
    change.refresh_from_db()
    assert "Futures" in change.error_message
    account.refresh_from_db()
    assert account.state == "active"


@pytest.mark.parametrize("kind", ["timeout_after", "truncated", "reset"])
def test_an_answer_lost_after_the_change_took_effect_ends_as_applied(
    trader: Trader, sandbox: Sandbox, kind: str
) -> None:
    more: dict = {"seconds": 3} if kind == "timeout_after" else {"applied": True} if kind == "reset" else {}
    sandbox.fault("update_follower_settings", kind, times=1, **more)
    wanted = edited(trader)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.UNKNOWN
    assert change.pk in changes.take_up(timezone.now() + timedelta(seconds=2))
    assert changes.read_back(change.pk) == State.APPLIED
    assert rules.same(truth(sandbox, trader), wanted) and len(bodies(sandbox)) == 1
    assert versions.latest(trader).author == "me"


def test_an_answer_lost_before_it_took_effect_ends_as_not_seen_and_is_not_sent_again(
    trader: Trader, sandbox: Sandbox
) -> None:
    before = truth(sandbox, trader)
    sandbox.fault("update_follower_settings", "reset", times=1)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.UNKNOWN
    states = [changes.read_back(change.pk, AT_ONCE) for _ in AT_ONCE]
    assert states[-1] == State.NOT_SEEN
    assert rules.same(truth(sandbox, trader), before) and len(bodies(sandbox)) == 1
    change.refresh_from_db()
    assert "send it again" in change.error_message
    again = confirmed(trader)
    assert changes.send(again.pk) == State.APPLIED


def test_the_looks_are_spread_over_a_minute(trader: Trader, sandbox: Sandbox) -> None:
    sandbox.fault("update_follower_settings", "reset", times=1)
    change = confirmed(trader)
    changes.send(change.pk)
    planned = []
    for _ in range(4):
        change.refresh_from_db()
        planned.append(round((change.look_again_at - change.sent_at).total_seconds()))
        assert changes.read_back(change.pk) == State.UNKNOWN
    change.refresh_from_db()
    planned.append(round((change.look_again_at - change.sent_at).total_seconds()))
    assert planned == [1, 3, 10, 30, 60]
    assert settle(change) == State.NOT_SEEN


def test_an_answer_that_is_slept_over_is_not_the_last_look(trader: Trader, sandbox: Sandbox) -> None:
    """It was given a moment after sending, however late it is when the worker goes on."""
    sandbox.fault("update_follower_settings", "reset", times=1)
    change = confirmed(trader)
    changes.send(change.pk)
    sandbox.fault("follower_settings", "slow_drip", seconds=0.7, times=1)
    SettingsChange.objects.filter(pk=change.pk).update(sent_at=timezone.now())
    assert changes.read_back(change.pk, delays=(0.0, 0.5)) == State.UNKNOWN
    assert changes.read_back(change.pk, delays=(0.0, 0.5)) == State.NOT_SEEN


def test_a_change_that_takes_effect_late_is_seen(trader: Trader, sandbox: Sandbox) -> None:
    sandbox.fault("update_follower_settings", "apply_late", seconds=0.5, times=1)
    wanted = edited(trader)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.UNKNOWN
    time.sleep(0.8)
    assert settle(change, seconds=3) == State.APPLIED
    assert rules.same(truth(sandbox, trader), wanted) and len(bodies(sandbox)) == 1


def test_a_change_thought_lost_that_arrives_after_all_is_ours_and_not_outside(
    trader: Trader, sandbox: Sandbox
) -> None:
    sandbox.fault("update_follower_settings", "reset", times=1)
    wanted = edited(trader)
    change = confirmed(trader)
    changes.send(change.pk)
    assert settle(change) == State.NOT_SEEN
    sandbox.control(
        "POST", "settings", {"account": "follower", "settings": rules.to_body(trader.trader_id, wanted)}
    )
    assert run.sync_account(trader.account_id, ["settings"]) == {"settings": ""}
    change.refresh_from_db()
    assert change.state == State.APPLIED
    assert versions.latest(trader).author == "me"


def test_a_sender_that_died_leaves_a_question_that_reading_answers(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    now = timezone.now()
    SettingsChange.objects.filter(pk=change.pk).update(
        state=State.SENDING, sent_at=now, look_again_at=now + changes.sender_time()
    )
    assert changes.proceed(change.pk) == State.SENDING, "it may still be at it"
    assert changes.take_up(now + timedelta(seconds=1)) == []
    assert settle(change) == State.NOT_SEEN
    assert bodies(sandbox) == []


def test_an_outcome_that_cannot_be_read_stays_open_until_it_can(trader: Trader, sandbox: Sandbox) -> None:
    sandbox.fault("update_follower_settings", "timeout_after", seconds=3, times=1)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.UNKNOWN
    sandbox.fault("follower_settings", "http", http=503, times=0)
    assert settle(change) == State.UNKNOWN
    change.refresh_from_db()
    assert "could not be read yet" in change.error_message and change.read_backs == 0
    sandbox.clear_faults()
    assert settle(change) == State.APPLIED


def test_an_edit_made_elsewhere_is_never_overwritten(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    edit_elsewhere(sandbox, trader)
    theirs = truth(sandbox, trader)
    assert changes.send(change.pk) == State.CONFLICT
    change.refresh_from_db()
    assert change.sent_at is None and "Nothing was sent" in change.error_message
    assert change.not_kept[0][0] == "Take profit"
    assert bodies(sandbox) == [] and rules.same(truth(sandbox, trader), theirs)
    assert versions.latest(trader).author == "outside"


def test_what_the_exchange_holds_already_is_not_sent(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    edit_elsewhere(sandbox, trader, stop_loss=Decimal("0.27"))
    assert changes.send(change.pk) == State.APPLIED
    change.refresh_from_db()
    assert "already held" in change.error_message and bodies(sandbox) == []


def test_an_exchange_that_is_away_means_not_sent_and_tried_for_a_while(
    trader: Trader, sandbox: Sandbox
) -> None:
    sandbox.fault("follower_settings", "http", http=503, times=0)
    change = confirmed(trader)
    assert changes.send(change.pk) == State.CONFIRMED
    assert change.pk in changes.take_up(timezone.now() + timedelta(seconds=6))
    SettingsChange.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert changes.send(change.pk) == State.REJECTED
    change.refresh_from_db()
    assert change.error_message.startswith("Nothing was sent.") and bodies(sandbox) == []


def test_a_read_only_connection_sends_nothing(trader: Trader, sandbox: Sandbox) -> None:
    draft = changes.draft(trader, edited(trader), None)
    connections.set_writes(trader.account, False)
    with pytest.raises(changes.ChangeRefused, match="read-only"):
        changes.confirm(draft, draft.key)
    SettingsChange.objects.update(state=State.CONFIRMED)
    assert changes.send(draft.pk) == State.REJECTED
    assert bodies(sandbox) == []


def test_one_open_change_per_trader(trader: Trader) -> None:
    first = confirmed(trader)
    second = changes.draft(trader, edited(trader, stop_loss=Decimal("0.11")), None)
    with pytest.raises(changes.ChangeRefused, match="under way"):
        changes.confirm(second, second.key)
    second.refresh_from_db()
    assert second.state == State.DRAFT
    assert changes.send(first.pk) == State.APPLIED


def test_another_key_confirms_nothing(trader: Trader) -> None:
    draft = changes.draft(trader, edited(trader), None)
    other = changes.draft(trader, edited(trader), None)
    with pytest.raises(changes.ChangeRefused, match="out of date"):
        changes.confirm(draft, other.key)


def test_broken_rules_are_named_and_nothing_is_drafted(trader: Trader) -> None:
    with pytest.raises(changes.ChangeInvalid) as invalid:
        changes.draft(trader, edited(trader, stop_loss=Decimal("5")), None)
    assert invalid.value.violations[0].field.endswith("stopLossRatio")
    with pytest.raises(changes.ChangeRefused, match="nothing to send"):
        changes.draft(trader, held(trader), None)
    assert not SettingsChange.objects.exists()


def test_settings_never_read_cannot_be_changed(trader: Trader) -> None:
    wanted = edited(trader)
    SettingsVersion.objects.all().delete()
    with pytest.raises(changes.ChangeRefused, match="Reload them first"):
        changes.draft(trader, wanted, None)


def test_the_symbol_list_is_learned_from_a_per_symbol_answer_and_the_operators_stands(
    account: Account, trader: Trader
) -> None:
    known = symbols.supported("sandbox")
    assert known and "BTCUSDT" in known
    symbols.set_by_operator("sandbox", ["BTCUSDT"])
    run.sync_account(account.pk, ["settings"])
    assert symbols.supported("sandbox") == {"BTCUSDT"}
    CopySymbols.objects.all().delete()
    assert symbols.supported("sandbox") is None
    assert "BTCUSDT" in symbols.proposals(trader)


def test_the_operator_enters_the_symbols_by_a_command(account: Account, trader: Trader, capsys) -> None:
    call_command("copy_symbols", "weex")
    assert capsys.readouterr().out == "The symbols of weex are not known yet.\n"
    call_command("copy_symbols", "sandbox", "ETHUSDT", "BTCUSDT", "BTCUSDT")
    assert capsys.readouterr().out == "BTCUSDT ETHUSDT\n"
    run.sync_account(account.pk, ["settings"])
    assert symbols.supported("sandbox") == {"BTCUSDT", "ETHUSDT"}, "a later answer does not take its place"
    with pytest.raises(CommandError, match="btcusdt"):
        call_command("copy_symbols", "sandbox", "btcusdt")
    assert symbols.supported("sandbox") == {"BTCUSDT", "ETHUSDT"}


def test_a_per_symbol_change_covers_every_symbol(account: Account, trader: Trader, sandbox: Sandbox) -> None:
    other = next(t for t in account.traders.filter(copied=True) if versions.latest(t).mode == "per_symbol")
    change = confirmed(other, stop_loss=Decimal("0.33"))
    assert changes.send(change.pk) == State.APPLIED
    CopySymbols.objects.all().delete()
    with pytest.raises(changes.ChangeInvalid):
        changes.draft(other, edited(other, stop_loss=Decimal("0.44")), None)


def test_an_older_reading_does_not_bring_the_past_back(trader: Trader) -> None:
    began = timezone.now()
    old = versions.latest(trader)
    assert changes.send(confirmed(trader).pk) == State.APPLIED
    newest = versions.latest(trader)
    assert versions.record(trader, old.answer, True, began) == newest
    assert versions.latest(trader) == newest


def test_settings_that_cannot_be_understood_are_stored_as_they_came(trader: Trader) -> None:
    odd = [{"settingMode": "unified"}, {"settingMode": "per_symbol", "symbol": "BTCUSDT"}]
    version = versions.record(trader, odd, None, timezone.now())
    assert version.answer == odd and version.mode == "" and versions.understood(odd) is None
    assert versions.record(trader, odd, None, timezone.now()).pk == version.pk


def test_the_command_takes_up_what_waits(trader: Trader, sandbox: Sandbox, capsys) -> None:
    change = confirmed(trader)
    call_command("send_changes")
    assert "applied" not in capsys.readouterr().out, "it is its worker's turn for the first seconds"
    SettingsChange.objects.update(look_again_at=timezone.now())
    call_command("send_changes")
    assert f"change {change.pk}: applied and read back" in capsys.readouterr().out
