"""The audit log of the door: who signed in and out, from where; wrong passwords and codes; factors and keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import audit, connections, retention
from copytrade.models import Account, Alert, AuditEntry, DataIssue, SyncJob, User
from copytrade.sync.run import sync_account
from tests.dashboard.test_security import code_for
from tests.support.signed_in import signed_in

pytestmark = pytest.mark.django_db
LOG = "/security/audit/"
PASSWORD = "alice-password-of-20"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture(autouse=True)
def _no_tries_counted(redis_client: object) -> None:
    cache.clear()


def enter(name: str = "alice", password: str = PASSWORD) -> Client:
    client = Client(REMOTE_ADDR="203.0.113.9", HTTP_USER_AGENT=FIREFOX)
    client.post(reverse("account_login"), {"login": name, "password": password})
    return client


def subjects(user: User | None) -> list[str]:
    return list(AuditEntry.objects.filter(user=user).order_by("pk").values_list("subject", flat=True))


def test_a_sign_in_and_out_are_told_with_address_and_browser_in_words(alice: User) -> None:
    client = enter()
    html = client.get(LOG).content.decode()
    assert "Signed in, from 203.0.113.9 with Firefox on Linux" in html
    client.post(reverse("account_logout"))
    assert subjects(alice)[-1] == "Signed out, from 203.0.113.9 with Firefox on Linux"


@pytest.mark.parametrize("name", ["alice", "alice@example.com"])
def test_what_waits_for_one_is_told_however_one_signed_in(alice: User, name: str) -> None:
    Alert.objects.create(owner=alice, kind=Alert.Kind.LOSS, key="one", sentence="A copy closed with a loss.")
    account = Account.objects.create(owner=alice, label="A", venue="sandbox")
    DataIssue.objects.create(account=account, kind=DataIssue.Kind.GAP, subject="x", sentence="A gap.")
    client = enter(name)
    for _ in range(2):
        assert "1 waits for you" in client.get(reverse("alerts")).content.decode()
        assert "1 open: what is not certain" in client.get(reverse("issues")).content.decode()


def test_a_wrong_password_is_counted_in_the_log_of_whom_it_was_meant_for(alice: User, charlie: User) -> None:
    for _ in range(3):
        enter(password="not-her-password")
    entry = AuditEntry.objects.get(user=alice)
    assert (entry.action, entry.times) == ("sign_in_failed", 3)
    assert entry.subject == "Wrong password, from 203.0.113.9 with Firefox on Linux"
    html = enter().get(LOG).content.decode()
    assert "3 times" in html and "Wrong password" in html
    assert not AuditEntry.objects.filter(user=charlie).exists()


def test_a_wrong_password_for_an_address_of_mail_is_its_owners(alice: User) -> None:
    enter("alice@example.com", "not-her-password")
    assert subjects(alice) == ["Wrong password, from 203.0.113.9 with Firefox on Linux"]


def test_a_name_that_nobody_has_is_the_desks_and_is_never_written_down(alice: User) -> None:
    enter("my-secret-password-typed-as-name", "something-long-enough")
    entry = AuditEntry.objects.get()
    assert entry.user is None
    assert "my-secret" not in f"{entry.subject} {entry.details} {entry.fold}"
    assert "something-long" not in f"{entry.subject} {entry.details} {entry.fold}"


def test_the_operator_reads_the_desks_log_and_nobody_elses(
    alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    User.objects.filter(pk=alice.pk).update(is_operator=True)
    enter("nobody-has-this", "something-long-enough")
    enter("charlie", "not-his-password")
    html = client_of(alice).get(f"{LOG}?of=desk").content.decode()
    assert "a name that nobody has" in html
    assert "Wrong password" not in html
    assert client_of(charlie).get(f"{LOG}?of=desk").status_code == 404
    assert client_of(charlie).get("/security/audit/export.csv?of=desk").status_code == 404
    assert Client().get(f"{LOG}?of=desk").status_code == 302


def test_the_shared_demo_tells_no_visitor_where_another_came_from(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_demo=True)
    enter()
    assert subjects(alice) == []


@pytest.mark.django_db(transaction=True)
def test_second_factor_codes_and_recovery_codes_leave_entries_without_their_secrets(alice: User) -> None:
    client = enter()
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    secret = with_totp_of(client)
    told = subjects(alice)
    assert any(line.startswith("Authenticator app set up") for line in told)
    assert any(line.startswith("Recovery codes set up") for line in told)
    again = enter()
    again.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert subjects(alice)[-1].startswith("Wrong code of the second factor")
    kept = json.dumps(list(AuditEntry.objects.values("subject", "details", "fold")))
    assert secret not in kept and "000000" not in kept


def with_totp_of(client: Client) -> str:
    url = reverse("mfa_activate_totp")
    secret = client.get(url).context["form"].secret
    assert client.post(url, {"code": code_for(secret)}).status_code == 302
    return secret


def test_a_changed_password_is_told_and_neither_of_both_is(alice: User) -> None:
    new = "eight loud mountains"
    client = enter()
    client.post(
        reverse("account_change_password"), {"oldpassword": PASSWORD, "password1": new, "password2": new}
    )
    assert any(line.startswith("Password changed, from 203.0.113.9") for line in subjects(alice))
    assert new not in " ".join(subjects(alice))


def test_ending_the_other_sessions_is_told(alice: User) -> None:
    one, _ = enter(), enter()
    one.post(reverse("usersessions_list"))
    assert subjects(alice)[-1] == "One other browser signed out from the list of sessions"


# --- keys ------------------------------------------------------------------------------------------------
@pytest.fixture
def account(alice: User) -> Account:
    return connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )


def test_a_key_is_told_when_stored_tested_replaced_and_removed_and_its_parts_never(
    account: Account, sandbox: object, alice: User
) -> None:
    connections.test(account)
    connections.replace_key(account, key="follower-key", secret="follower-secret", passphrase="sandbox")
    connections.set_writes(account, False)
    connections.remove(account)
    assert subjects(alice) == [
        "Main: connected, with a key that ends in -key",
        "Main: key used for a test",
        "Main: key replaced by one that ends in -key",
        "Main: changes at the exchange switched off",
        "Main: connection and key removed, with everything read through it",
    ]
    kept = json.dumps(list(AuditEntry.objects.values("subject", "details")))
    assert "follower-secret" not in kept and "follower-key" not in kept


def test_readings_are_one_entry_a_day_that_counts(account: Account) -> None:
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    assert audit.count_readings(noon) == 0
    SyncJob.objects.filter(account=account, kind="open").update(key_uses=8000)
    SyncJob.objects.filter(account=account, kind="history").update(key_uses=639)
    assert audit.count_readings(noon) == 1
    SyncJob.objects.filter(account=account, kind="open").update(key_uses=1)
    audit.count_readings(noon + timedelta(hours=11))
    SyncJob.objects.filter(account=account, kind="open").update(key_uses=2)
    audit.count_readings(noon + timedelta(hours=13))
    rows = AuditEntry.objects.filter(action="key_read").order_by("pk")
    assert [(row.times, row.account_id, row.user_id) for row in rows] == [
        (8640, account.pk, account.owner_id),
        (2, account.pk, account.owner_id),
    ]
    assert not SyncJob.objects.filter(key_uses__gt=0).exists()
    assert "8,640 times" in signed_in(account.owner).get(LOG).content.decode()


def test_a_reading_counts_its_use_of_the_key(account: Account, sandbox: object) -> None:
    sync_account(account.pk, ["traders"])
    assert SyncJob.objects.get(account=account, kind="traders").key_uses == 1


def test_a_reading_that_had_no_key_to_open_counts_nothing(alice: User) -> None:
    keyless = Account.objects.create(owner=alice, label="Keyless", venue="sandbox")
    sync_account(keyless.pk, ["traders"])
    job = SyncJob.objects.get(account=keyless, kind="traders")
    assert job.failures == 1 and job.key_uses == 0


# --- what is shown, exported and kept --------------------------------------------------------------------
def test_the_log_is_narrowed_by_group_connection_and_day(account: Account, alice: User) -> None:
    client = enter()
    AuditEntry.objects.filter(action="signed_in").update(at=datetime(2026, 5, 4, 23, tzinfo=UTC))
    shown = lambda query: client.get(f"{LOG}?{query}").content.decode()  # noqa: E731 (short)
    assert "Signed in," in shown("kind=sign-ins") and "Main: connected" not in shown("kind=sign-ins")
    assert "Main: connected" in shown(f"account={account.pk}")
    assert "Signed in," not in shown(f"account={account.pk}")
    assert "Signed in," in shown("since=2026-05-04&until=2026-05-04")
    assert "Signed in," not in shown("since=2026-05-05")
    assert "Signed in," not in shown("until=2026-05-03")


def test_a_strangers_connection_narrows_to_nothing(account: Account, charlie: User) -> None:
    html = signed_in(charlie).get(f"{LOG}?account={account.pk}").content.decode()
    assert "Nothing of this kind" in html and "Main: connected" not in html


def test_the_log_is_exported_as_filtered_and_that_is_an_entry_with_its_rows(
    alice: User, charlie: User
) -> None:
    audit.note(alice, "send", subject="=1+1 sent", details={"a": 1})
    audit.note(alice, "restore", subject="restored")
    audit.note(charlie, "send", subject="of charlie")
    client = signed_in(alice)
    text = b"".join(client.get("/security/audit/export.csv?kind=send").streaming_content).decode()
    assert "'=1+1 sent" in text and "restored" not in text and "of charlie" not in text
    entry = AuditEntry.objects.filter(user=alice).latest("pk")
    assert entry.subject == "Audit log as CSV, 1 row"
    assert entry.details == {"filters": "kind=send", "rows": 1}
    lines = b"".join(client.get("/security/audit/export.jsonl").streaming_content).decode().splitlines()
    assert len(lines) == AuditEntry.objects.filter(user=alice).count() - 1
    assert AuditEntry.objects.filter(user=alice).latest("pk").details["rows"] == len(lines)
    assert client.get("/security/audit/export.exe").status_code == 404
    assert Client().get("/security/audit/export.csv").status_code == 302


def test_sign_ins_are_kept_for_400_days_and_deeds_for_good(alice: User) -> None:
    long_ago = timezone.now() - timedelta(days=401)
    for action in ("signed_in", "sign_in_failed", "key_read", "send", "key_stored"):
        audit.note(alice, action, subject=action)
    AuditEntry.objects.update(at=long_ago)
    audit.note(alice, "signed_in", subject="lately")
    retention.tidy()
    assert subjects(alice) == ["send", "key_stored", "lately"]
