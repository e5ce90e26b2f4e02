"""kill -9 while the body of a settings change is under way: read back, never sent again."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from copytrade import changes, connections, rules, tasks, versions
from copytrade.models import SettingsChange, User
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

from .desk_workers import Workers

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def bodies(sandbox: Sandbox) -> list[dict]:
    return [c for c in sandbox.calls()["calls"] if c["operation"] == "update_follower_settings"]


def test_a_sender_killed_while_its_answer_is_awaited_leaves_one_body_and_the_truth(
    sandbox: Sandbox, redis_client: object, tmp_path: Path
) -> None:
    account = connections.add(
        User.objects.create_user("alice"),
        label="Main", venue="sandbox", key="follower-key", secret="follower-secret", passphrase="sandbox",
    )  # fmt: skip
    run.sync_account(account.pk, ["traders", "settings"])
    trader = account.traders.filter(copied=True, versions__mode=rules.UNIFIED).first()
    held = versions.settings_of(versions.latest(trader))
    wanted = replace(held, configs=(replace(held.configs[0], stop_loss=Decimal("0.27")),))
    change = changes.draft(trader, wanted, None)
    sandbox.fault("update_follower_settings", "timeout_after", seconds=60, times=1)
    with Workers(tmp_path, sandbox.url) as workers:
        workers.start()
        changes.confirm(change, change.key)
        tasks.hint_change(change.pk)
        workers.wait(lambda: len(bodies(sandbox)) == 1)
        workers.kill()
        change.refresh_from_db()
        assert change.state == SettingsChange.State.SENDING, "the kill came after the outcome was stored"
        workers.start()
        workers.wait(lambda: SettingsChange.objects.get(pk=change.pk).state == SettingsChange.State.APPLIED)
    assert len(bodies(sandbox)) == 1
    assert rules.same(rules.from_answer(sandbox.truth()["settings"][str(trader.trader_id)]), wanted)
    assert versions.latest(trader).author == "me"
