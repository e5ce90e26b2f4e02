"""What refused calls do to an account: a new key is pending, an old one is given up after three in a row."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from copytrade import connections
from copytrade.models import Account
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox


def calls(sandbox: Sandbox) -> int:
    return len(sandbox.calls()["calls"])


def refuse(sandbox: Sandbox) -> None:
    sandbox.fault("*", "key_pending")


def test_a_new_key_is_pending_and_tried_again_seldom(account: Account, sandbox: Sandbox) -> None:
    refuse(sandbox)
    for _ in range(5):
        run.sync_account(account.pk, ["traders"])
    account.refresh_from_db()
    assert account.state == "pending" and "tried again by itself" in account.state_reason
    assert run.run_due() == [], "nothing is due for a while"
    later = timezone.now() + run.PENDING_PAUSE + timedelta(seconds=1)
    assert len(run.run_due(later)) == 1, "one kind tries the key for all"


def test_a_pending_key_that_begins_to_work_makes_everything_due(account: Account, sandbox: Sandbox) -> None:
    refuse(sandbox)
    run.sync_account(account.pk, ["traders"])
    sandbox.clear_faults()
    assert run.sync_account(account.pk, ["traders"]) == {"traders": ""}
    account.refresh_from_db()
    assert (account.state, account.state_reason, account.refusals) == ("active", "", 0)
    assert len(run.run_due()) >= 3


def test_after_three_refusals_in_a_row_nothing_is_asked_until_the_owner_acts(
    old_account: Account, sandbox: Sandbox
) -> None:
    refuse(sandbox)
    for n in range(1, 4):
        old_account.refresh_from_db()
        assert old_account.state != "refused"
        run.sync_account(old_account.pk, ["traders"])
        old_account.refresh_from_db()
        assert old_account.refusals == n
    assert old_account.state == "refused" and "Reading has stopped" in old_account.state_reason
    before = calls(sandbox)
    assert run.sync_account(old_account.pk) == dict.fromkeys(run.ALL, old_account.state_reason)
    assert run.run_due(timezone.now() + timedelta(days=1)) == []
    assert calls(sandbox) == before
    sandbox.clear_faults()
    connections.resume(old_account)
    assert run.sync_account(old_account.pk, ["traders"]) == {"traders": ""}
    old_account.refresh_from_db()
    assert old_account.state == "active"


def test_a_success_in_between_starts_the_count_anew(old_account: Account, sandbox: Sandbox) -> None:
    for _ in range(3):
        sandbox.fault("my_traders", "code", code=-1047, times=2)
        for _ in range(2):
            run.sync_account(old_account.pk, ["traders"])
        assert run.sync_account(old_account.pk, ["traders"]) == {"traders": ""}
    old_account.refresh_from_db()
    assert (old_account.state, old_account.refusals) == ("active", 0)


def test_a_key_that_may_not_read_is_given_up_too_and_says_why(old_account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("*", "code", code=-1052, times=0)
    for _ in range(3):
        run.sync_account(old_account.pk, ["open"])
    old_account.refresh_from_db()
    assert old_account.state == "refused" and "permission" in old_account.state_reason.lower()


def test_an_exchange_in_trouble_says_nothing_about_the_key(old_account: Account, sandbox: Sandbox) -> None:
    sandbox.fault("my_traders", "http", http=503, times=0)
    for _ in range(4):
        assert run.sync_account(old_account.pk, ["traders"])["traders"]
    old_account.refresh_from_db()
    assert (old_account.state, old_account.refusals) == ("new", 0)
    job = old_account.jobs.get(kind="traders")
    assert job.failures == 4 and job.last_error and job.due_at > timezone.now() + timedelta(seconds=60)
