"""What must hold at the moment of a call, whatever held when its work began: whose key it is, and the switch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection

from copytrade import changes, connections, health, versions
from copytrade.clients import NoKey
from copytrade.exchange import Unauthorized
from copytrade.models import Account, SettingsChange, SettingsVersion, TrackingOrder, Trader
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

State = SettingsChange.State
LEAD = {"key": "lead-key", "secret": "lead-secret", "passphrase": "sandbox"}


def confirmed(trader: Trader) -> SettingsChange:
    version = versions.latest(trader)
    assert version
    held = versions.settings_of(version)
    wanted = replace(held, configs=(replace(held.configs[0], stop_loss=Decimal("0.27")), *held.configs[1:]))
    draft = changes.draft(trader, wanted, None)
    return changes.confirm(draft, draft.key)


def sent(sandbox: Sandbox) -> int:
    return sum(call["operation"] == "update_follower_settings" for call in sandbox.calls()["calls"])


def at_the_same_time(work: Callable[[], object]) -> threading.Thread:
    def run_it() -> None:
        work()
        connection.close()

    thread = threading.Thread(target=run_it)
    thread.start()
    return thread


def test_a_key_of_another_account_reads_nothing_even_untested(account: Account) -> None:
    """The test right after a replacement may fail for another reason, or come after a worker."""
    assert connections.test(account).ok
    connections.replace_key(account, **LEAD)
    said = run.sync_account(account.pk)
    account.refresh_from_db()
    assert account.state == "refused" and "another exchange account" in account.state_reason
    assert set(said.values()) == {account.state_reason}
    assert not Trader.objects.exists() and not TrackingOrder.objects.exists()


def test_the_account_is_known_from_the_first_reading_on(account: Account) -> None:
    """Where the test at the beginning got no answer, the first reading asks whose key it is."""
    assert account.uid is None
    run.sync_account(account.pk, ["traders"])
    account.refresh_from_db()
    assert account.uid and account.state == "active"
    connections.replace_key(account, **LEAD)
    assert "another exchange account" in run.sync_account(account.pk, ["open"])["open"]


def test_opening_the_settings_does_not_revive_a_key_of_another_account(trader: Trader) -> None:
    connections.replace_key(trader.account, **LEAD)
    assert not connections.test(trader.account).ok
    before = SettingsVersion.objects.count()
    for _ in range(2):
        with pytest.raises(NoKey, match="another exchange account"):
            changes.read_settings(Trader.objects.get(pk=trader.pk))
    assert Account.objects.get().state == "refused"
    assert SettingsVersion.objects.count() == before


def test_a_change_is_not_sent_with_a_key_of_another_account(trader: Trader, sandbox: Sandbox) -> None:
    change = confirmed(trader)
    connections.replace_key(Account.objects.get(), **LEAD)
    assert changes.send(change.pk) == State.REJECTED
    change.refresh_from_db()
    assert "another exchange account" in change.error_message
    assert sent(sandbox) == 0


def test_a_success_of_the_old_key_says_nothing_of_the_new_one(account: Account) -> None:
    """A long reading ends with the key that it began with."""
    under_way = Account.objects.get(pk=account.pk)
    connections.replace_key(account, **LEAD)
    health.succeeded(under_way)
    assert Account.objects.get().state == "new"


def test_a_refusal_of_the_old_key_says_nothing_of_the_new_one(account: Account) -> None:
    under_way = Account.objects.get(pk=account.pk)
    connections.replace_key(account, **LEAD)
    before = Account.objects.values("state", "state_reason", "refusals").get()
    health.failed(under_way, Unauthorized("The key was refused.", code=-1044))
    assert Account.objects.values("state", "state_reason", "refusals").get() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["writes", "key", "removed key"])
def test_what_changes_while_a_change_is_prepared_counts(trader: Trader, sandbox: Sandbox, what: str) -> None:
    change = confirmed(trader)
    sandbox.fault("follower_settings", "slow_drip", seconds=1.0, times=1)
    sending = at_the_same_time(lambda: changes.send(change.pk))
    time.sleep(0.4)
    account = Account.objects.get()
    if what == "writes":
        connections.set_writes(account, False)
    elif what == "key":
        connections.replace_key(account, **LEAD)
    else:
        account.credential.delete()
    sending.join()
    change.refresh_from_db()
    assert sent(sandbox) == 0
    assert change.state == State.REJECTED
    assert change.error_message
