"""Connections: stored sealed, tested with words that name the fault, replaced and removed."""

from __future__ import annotations

import logging

import pytest
from django.db import connection

from copytrade import clients, connections, keys
from copytrade.models import (
    COPY_KINDS,
    Account,
    BadRecord,
    Credential,
    SettingsChange,
    SyncJob,
    TrackingOrder,
    Trader,
    User,
)
from copytrade.sync import run
from copytrade.vault import Tampered
from tests.support.sandbox_process import Sandbox

PARTS = {"key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}


def add(owner: User, **changed: str) -> Account:
    return connections.add(owner, **({"label": "Main", "venue": "sandbox"} | PARTS | changed))


def test_a_connection_is_stored_sealed_and_due(alice: User) -> None:
    account = add(alice, label=" Main ", key=" follower-key ")
    assert (account.label, account.key_hint, account.state) == ("Main", "-key", "new")
    assert account.writes_enabled
    assert set(account.jobs.values_list("kind", flat=True)) == set(COPY_KINDS)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t::text FROM copytrade_credential t UNION ALL SELECT t::text FROM copytrade_account t"
        )
        stored = " ".join(row[0] for row in cursor.fetchall())
    for part in ("follower-key", "follower-secret"):
        assert part not in stored and part.encode().hex() not in stored


def test_the_real_exchange_starts_read_only(alice: User) -> None:
    account = add(alice, venue="weex")
    assert not account.writes_enabled
    assert not clients.client_for(account).allow_writes
    connections.set_writes(account, True)
    assert clients.client_for(account).allow_writes


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"label": "  "}, "label", "Give the connection a name"),
        ({"label": "x" * 61}, "label", "1 to 60"),
        ({"venue": "https://elsewhere.example"}, "venue", "Choose one of"),
        ({"key": ""}, "key", "Enter the key"),
        ({"secret": "ключ"}, "secret", "does not look like a secret"),
        ({"passphrase": "a\nb"}, "passphrase", "does not look like a passphrase"),
        ({"key": "k" * 513}, "key", "at most 512"),
    ],
)
def test_what_cannot_be_stored_is_refused_beside_its_field(
    alice: User, changed, field: str, said: str
) -> None:
    with pytest.raises(connections.BadConnection, match=said) as refused:
        add(alice, **changed)
    assert refused.value.field == field
    assert not Account.objects.exists()


def test_a_name_is_taken_once_per_person(alice: User, charlie: User) -> None:
    add(alice)
    with pytest.raises(connections.BadConnection, match="already have a connection named 'Main'"):
        add(alice)
    add(charlie)


def test_the_demo_user_sees_the_sandbox_alone(alice: User) -> None:
    assert [key for key, _ in connections.venues_for(alice)] == ["sandbox", "weex"]
    alice.is_demo = True
    assert [key for key, _ in connections.venues_for(alice)] == ["sandbox"]
    with pytest.raises(connections.BadConnection):
        add(alice, venue="weex")


def test_a_good_key_is_active_after_the_test(account: Account) -> None:
    result = connections.test(account)
    assert result.ok and result.sentence == "The key works."
    assert "It may read copy trading." in result.details
    account.refresh_from_db()
    assert account.state == "active" and account.permissions == result.permissions and account.uid


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"key": "unknown-key"}, "API key"),
        ({"secret": "wrong"}, "secret does not belong"),
        ({"passphrase": "wrong"}, "passphrase"),
    ],
)
def test_a_refused_key_says_which_part_is_at_fault(
    alice: User, sandbox: Sandbox, changed, named: str
) -> None:
    account = add(alice, **changed)
    result = connections.test(account)
    assert not result.ok and named in result.sentence
    account.refresh_from_db()
    assert account.state == "pending", "a new key may still be on its way"
    assert "15 minutes" in account.state_reason


@pytest.mark.parametrize(
    ("code", "named"),
    [(-1056, "address"), (-1052, "permission"), (-1046, "clock"), (-1057, "locked"), (-1055, "two-factor")],
)
def test_address_permission_clock_and_lock_are_told_apart(
    account: Account, sandbox: Sandbox, code: int, named: str
) -> None:
    sandbox.fault("account", "code", code=code, times=5)
    result = connections.test(account)
    assert not result.ok and named in result.sentence.lower()


def test_a_key_that_begins_to_work_makes_the_readings_due(old_account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("*", "key_pending")
    for _ in range(3):
        run.sync_account(old_account.pk, ["traders"])
    assert run.run_due() == []
    sandbox.clear_faults()
    old_account.refresh_from_db()
    assert connections.test(old_account).ok
    assert len(run.run_due()) == 4


def test_a_clock_that_is_off_is_learned_and_kept(account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("*", "clock_skew", seconds=300)
    assert connections.test(account).ok
    account.refresh_from_db()
    assert abs(account.clock_offset_ms - 300_000) < 5_000
    assert clients.client_for(account).clock_offset_ms == account.clock_offset_ms


def test_a_replaced_key_starts_anew(old_account: Account, sandbox: Sandbox) -> None:
    old_account.state, old_account.refusals = Account.State.REFUSED, 5
    old_account.save()
    SyncJob.objects.filter(account=old_account).update(failures=3)
    connections.replace_key(old_account, key="readonly-key", secret="readonly-secret", passphrase="sandbox")
    old_account.refresh_from_db()
    assert (old_account.state, old_account.refusals, old_account.key_hint) == ("new", 0, "-key")
    assert set(old_account.jobs.values_list("failures", flat=True)) == {0}
    assert connections.test(old_account).ok
    assert Credential.objects.count() == 1


def test_a_key_of_another_exchange_account_never_mixes_two_ledgers(account: Account) -> None:
    assert connections.test(account).ok
    connections.replace_key(account, key="lead-key", secret="lead-secret", passphrase="sandbox")
    result = connections.test(account)
    assert not result.ok and "another exchange account" in result.sentence
    account.refresh_from_db()
    assert account.state == "refused"
    assert run.sync_account(account.pk, ["traders"]) == {"traders": account.state_reason}
    assert not Trader.objects.exists()


def test_a_sealed_key_that_was_moved_or_changed_is_reported_in_a_sentence(
    account: Account, alice: User
) -> None:
    other = add(alice, label="Other")
    theirs = Credential.objects.get(account=account)
    Credential.objects.filter(account=other).update(secret=theirs.secret)
    result = connections.test(other)
    assert not result.ok and "does not open" in result.sentence
    with pytest.raises(Tampered):
        clients.client_for(other)
    assert "does not open" in run.sync_account(other.pk, ["open"])["open"]


def test_removing_deletes_the_key_and_all_that_was_read(account: Account) -> None:
    run.sync_account(account.pk)
    assert TrackingOrder.objects.exists()
    connections.remove(account)
    for model in (Account, Credential, TrackingOrder, Trader, SyncJob, BadRecord):
        assert not model.objects.exists()


def test_a_connection_with_a_change_under_way_is_not_removed(account: Account, trader: Trader) -> None:
    SettingsChange.objects.create(trader=trader, body={}, state="unknown")
    with pytest.raises(connections.BadConnection, match="under way"):
        connections.remove(account)
    assert Account.objects.filter(pk=account.pk).exists()


def test_secrets_show_up_nowhere(alice: User, sandbox: Sandbox, settings, caplog, capsys) -> None:
    """Neither in repr, logs nor exceptions: of success, of refusals, of lost answers, of a broken row."""
    caplog.set_level(logging.DEBUG)
    settings.EXCHANGE_DEADLINE = 2
    secret, phrase = "follower-secret", "sandbox-phrase"
    account = add(alice)
    wrong = add(alice, label="Wrong", passphrase=phrase)
    shown: list[object] = []
    for kind in ("timeout_before", "reset", "truncated", "html_200"):
        sandbox.fault("my_traders", kind, times=9, seconds=1)
        shown.append(run.sync_account(account.pk, ["traders"]))
        sandbox.clear_faults()
    shown += [connections.test(account), connections.test(wrong), run.sync_account(wrong.pk, ["open"])]
    with clients.talking_to(account) as client:
        shown += [client, vars(client), account, Credential.objects.get(account=account)]
        with pytest.raises(Exception, match="exchange") as caught:
            client.follower_settings(trader_id=1)
    shown += [caught.value, caught.value.__dict__, keys.vault()]
    out = capsys.readouterr()
    text = " ".join([*map(repr, shown), *map(str, shown), caplog.text, out.out, out.err])
    for hidden in (secret, phrase, "follower-key"):
        assert hidden not in text
