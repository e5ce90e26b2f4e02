"""What an account says of itself, read from the sandbox: facts, balances, bills of both wallets, own lead orders."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from copytrade import connections, own
from copytrade.clients import talking_to
from copytrade.exchange import records as wire
from copytrade.exchange.decoding import decode_one
from copytrade.exchange.errors import LocalRefusal
from copytrade.models import (
    COPY_KINDS,
    OWN_KINDS,
    Account,
    AccountFacts,
    Balance,
    BalanceDay,
    Bill,
    LeadOrder,
    SyncJob,
    User,
)
from copytrade.scheduling import own as planning
from copytrade.scheduling import planner
from copytrade.steps import bills as walk
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db

NOW = timezone.now().replace(microsecond=0)


def lead_of(user: User, key: str = "lead") -> Account:
    return connections.add(
        user, label=key, venue="sandbox", key=f"{key}-key", secret=f"{key}-secret", passphrase="sandbox"
    )


def test_all_of_it_is_read_to_the_end_and_a_second_time_changes_nothing(account: Account) -> None:
    kinds = ["account", "bills", "funding"]
    assert run.sync_account(account.pk, kinds) == dict.fromkeys(kinds, "")
    facts = AccountFacts.objects.get(account=account)
    assert (facts.maker_commission, facts.account_type, facts.can_withdraw) == (
        facts.maker_commission,
        "SPOT",
        False,
    )
    assert facts.uid is not None
    before = {wallet: set(rows(account, wallet)) for wallet in Bill.Wallet.values}
    assert len(before["spot"]) > 50 and len(before["funding"]) > 2
    assert run.sync_account(account.pk, kinds) == dict.fromkeys(kinds, "")
    assert {wallet: set(rows(account, wallet)) for wallet in Bill.Wallet.values} == before
    for kind in ("bills", "funding"):
        job = SyncJob.objects.get(account=account, kind=kind)
        assert job.cursor["ended"] == "empty" and "back" not in job.cursor and job.cursor["gaps"] == []
        assert job.complete_from is not None and job.complete_from < NOW - timedelta(days=300)


def rows(account: Account, wallet: str) -> list[tuple]:
    return list(
        Bill.objects.filter(account=account, wallet=wallet).values_list(
            "bill_id", "delta", "after", "seen_at"
        )
    )


def test_balances_are_those_of_the_exchange_and_the_day_keeps_them(account: Account) -> None:
    run.sync_account(account.pk, ["account", "bills"])
    held = {row.asset: row.free + row.locked for row in Balance.objects.filter(account=account)}
    for asset, total in held.items():
        last = (
            Bill.objects.filter(account=account, wallet="spot", coin=asset).order_by("-at", "-place").first()
        )
        assert last is None or last.after == total
    assert BalanceDay.objects.filter(account=account).count() == len(held)


def test_only_a_copy_trade_key_is_asked_for_its_own_orders_again(
    account: Account, alice: User, sandbox: Sandbox
) -> None:
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    assert not LeadOrder.objects.exists()
    job = SyncJob.objects.get(account=account, kind="lead")
    assert job.cursor["not_lead"] == account.key_set_at.isoformat()
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    assert [one.pages for one in account.runs.filter(kind="lead").order_by("pk")][-1] == 0
    account.refresh_from_db()
    assert account.state != Account.State.REFUSED and account.refusals == 0
    connections.replace_key(account, key="lead-key", secret="lead-secret", passphrase="sandbox")
    Account.objects.filter(pk=account.pk).update(uid=None)
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    assert LeadOrder.objects.filter(account=account).count() > 20
    job.refresh_from_db()
    assert "not_lead" not in job.cursor and "back" not in job.cursor


def test_a_lead_traders_past_is_read_whole_and_once(
    alice: User, sandbox: Sandbox, redis_client: object
) -> None:
    account = lead_of(alice)
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    before = set(LeadOrder.objects.values_list("tracking_no", "seen_at"))
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    assert set(LeadOrder.objects.values_list("tracking_no", "seen_at")) == before
    assert all(count is not None for count in LeadOrder.objects.values_list("follow_count", flat=True))


def test_a_permission_that_bills_lack_is_said_there_and_the_key_is_not_refused(
    old_account: Account, sandbox: Sandbox
) -> None:
    run.sync_account(old_account.pk)
    for _ in range(5):
        sandbox.fault("bills", "code", code=-1052, times=1)
        said = run.sync_account(old_account.pk, ["bills"])["bills"]
        assert "permission" in said.lower()
    old_account.refresh_from_db()
    assert old_account.state == Account.State.ACTIVE and old_account.refusals == 0
    assert SyncJob.objects.get(account=old_account, kind="bills").failures == 5


def test_a_refused_key_counts_whoever_asked(old_account: Account, sandbox: Sandbox) -> None:
    run.sync_account(old_account.pk, ["traders"])
    sandbox.fault("bills", "code", code=-1047, times=1)
    run.sync_account(old_account.pk, ["bills"])
    old_account.refresh_from_db()
    assert old_account.refusals == 1


def test_their_jobs_are_made_once_the_open_list_was_read_and_give_way(account: Account) -> None:
    planning.keep_up()
    assert not account.jobs.filter(kind__in=OWN_KINDS).exists()
    run.sync_account(account.pk)
    assert planning.keep_up() >= len(OWN_KINDS)
    own_jobs = account.jobs.filter(kind__in=OWN_KINDS)
    assert set(own_jobs.values_list("kind", "priority")) == {(kind, 2) for kind in OWN_KINDS}
    assert planning.keep_up() == 0
    assert {job.interval for job in own_jobs.filter(kind="account")} == {30.0}


def test_the_first_readings_of_many_accounts_come_as_thin_as_their_share(
    account: Account, alice: User
) -> None:
    """After an upgrade all accounts lack them at once; the copies must not wait for thousands of such readings."""
    accounts = Account.objects.bulk_create(
        Account(owner=alice, label=f"More {n}", venue="sandbox", key_hint="-key") for n in range(40)
    )
    SyncJob.objects.bulk_create(
        SyncJob(account=one, kind="open", last_success_at=timezone.now(), egress="default")
        for one in accounts[:30]
    )
    planning.keep_up()
    for one in accounts[30:]:
        SyncJob.objects.create(account=one, kind="open", last_success_at=timezone.now(), egress="default")
    planning.keep_up()
    share = planning._share("default", "sandbox", "contract")
    due = sorted(SyncJob.objects.filter(kind="lead").values_list("due_at", flat=True))
    assert len(due) == 40 and due[0] <= timezone.now(), "the first at once"
    waits = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(due)]
    assert min(waits) > 0.9 * 10 / share, "each after what the one before weighs, those that came later, too"
    spot = SyncJob.objects.filter(kind__in=OWN_KINDS).exclude(kind="lead").order_by("-due_at").first()
    assert spot and spot.due_at < due[-1], "the spot root has a share of its own"


def test_the_plan_of_the_copy_quota_does_not_know_them(account: Account) -> None:
    run.sync_account(account.pk)
    planner.replan()
    before = dict(account.jobs.values_list("kind", "interval"))
    planning.keep_up()
    account.jobs.filter(kind__in=OWN_KINDS).update(priority=2, due_at=NOW)
    planner.replan()
    after = dict(account.jobs.filter(kind__in=COPY_KINDS).values_list("kind", "interval"))
    assert after == before


def test_many_accounts_at_one_address_are_read_less_often(account: Account, alice: User) -> None:
    run.sync_account(account.pk)
    planning.keep_up()
    usual = account.jobs.get(kind="bills").interval
    SyncJob.objects.filter(kind="account").update(weight=10**9)
    planning.keep_up()
    assert account.jobs.get(kind="bills").interval > 2 * usual
    assert account.jobs.get(kind="lead").interval == 60.0


# --- merging ------------------------------------------------------------------------------------------------


def bill(number: str, **more: str) -> wire.Bill:
    raw = {"billId": number, "coinName": "USDT", "bizType": "deposit", "deltaAmount": "1", "afterAmount": "1",
           "fees": "0", "cTime": "1790000000000"}  # fmt: skip
    return decode_one(wire.Bill, raw | more)


def test_of_two_answers_about_a_bill_the_later_one_stays_in_whatever_order_they_come(
    account: Account,
) -> None:
    early, late = NOW, NOW + timedelta(minutes=1)
    for order in ((early, late), (late, early)):
        Bill.objects.all().delete()
        for at in order:
            own.store_bills(account, "spot", [bill("7", afterAmount="2" if at == late else "1")], [], at)
        assert Bill.objects.get().after == Decimal(2)


def test_unknown_kinds_long_words_and_strange_ids_are_kept(account: Account) -> None:
    odd = [
        bill("0007", bizType="airdrop_v2", planet="Mars"),
        bill("7", bizType="x" * 5000),
        bill("bill/ü", coinName=""),
    ]
    assert own.store_bills(account, "spot", odd, [], NOW).added == 3
    assert own.store_bills(account, "funding", [bill("y" * 300)], [], NOW).bad == 1
    by_id = {row.bill_id: row for row in Bill.objects.all()}
    assert by_id["0007"].biz_type == "airdrop_v2" and by_id["0007"].extras == {"planet": "Mars"}
    assert by_id["7"].extras["bizType"] == "x" * 5000
    assert account.bad_records.get().operation == "funding_bills"


def test_absent_fields_are_not_told_and_never_false(account: Account) -> None:
    own.store_account(account, decode_one(wire.AccountInfo, {"canTrade": False}), NOW)
    facts = AccountFacts.objects.get()
    assert facts.can_trade is False
    told = (facts.can_withdraw, facts.brokered, facts.permissions, facts.account_type, facts.maker_rate)
    assert told == (None,) * 5
    assert not facts.balances_told


def test_an_asset_that_is_not_named_any_more_has_gone_and_an_answer_without_balances_takes_none(
    account: Account,
) -> None:
    def answer(**fields: object) -> wire.AccountInfo:
        return decode_one(wire.AccountInfo, fields)

    two = [{"asset": "USDT", "free": "1", "locked": "0"}, {"asset": "BTC", "free": "2", "locked": "0"}]
    own.store_account(account, answer(balances=two), NOW)
    own.store_account(account, answer(), NOW + timedelta(minutes=1))
    assert Balance.objects.filter(gone_at=None).count() == 2
    own.store_account(account, answer(balances=two[:1]), NOW + timedelta(minutes=2))
    assert Balance.objects.get(asset="BTC").gone_at == NOW + timedelta(minutes=2)
    own.store_account(account, answer(balances=two), NOW + timedelta(minutes=3))
    assert Balance.objects.get(asset="BTC").gone_at is None


def lead(number: int, updated: int, **more: object) -> wire.LeadOrder:
    raw = {"trackingNo": number, "symbol": "BTCUSDT", "positionSide": "LONG", "status": "HAVE_OPEN",
           "updateTime": updated}  # fmt: skip
    return decode_one(wire.LeadOrder, raw | more)


def test_of_two_answers_about_an_own_order_the_one_updated_later_counts(account: Account) -> None:
    opened, closed = lead(1, 1_790_000_000_000), lead(1, 1_790_000_060_000, status="CLOSED")
    for order in ((opened, closed), (closed, opened)):
        LeadOrder.objects.all().delete()
        for place, record in enumerate(order):
            own.store_lead(account, [record], [], NOW + timedelta(minutes=place))
        assert LeadOrder.objects.get().status == "CLOSED"


# --- what the interface forbids, and what the exchange answers then ------------------------------------------


BOUNDS = [("bills", "limit", 0), ("bills", "limit", 101), ("funding_bills", "page_size", 0),
          ("funding_bills", "page_size", 101), ("funding_bills", "page", 0), ("lead_order_history", "limit", 0),
          ("lead_order_history", "limit", 101)]  # fmt: skip


@pytest.mark.parametrize(("operation", "parameter", "value"), BOUNDS)
def test_the_client_refuses_what_the_interface_forbids_and_the_exchange_is_not_asked(
    account: Account, sandbox: Sandbox, operation: str, parameter: str, value: int
) -> None:
    before = len(sandbox.calls())
    with talking_to(account, whose=False) as client, pytest.raises(LocalRefusal):
        getattr(client, operation)(**{parameter: value})
    assert len(sandbox.calls()) == before


def test_a_lead_traders_range_is_at_most_90_days(account: Account, sandbox: Sandbox) -> None:
    with talking_to(account, whose=False) as client, pytest.raises(LocalRefusal):
        client.lead_order_history(start_time=NOW - timedelta(days=91), end_time=NOW)


@pytest.mark.parametrize(("kind", "operation"), [("bills", "bills"), ("funding", "funding_bills")])
def test_an_exchange_that_goes_back_no_further_ends_the_walk_and_it_is_known(
    account: Account, sandbox: Sandbox, kind: str, operation: str
) -> None:
    run.sync_account(account.pk, ["account"])
    run.ensure_jobs(account, [kind])
    job = SyncJob.objects.get(account=account, kind=kind)
    now = int(NOW.timestamp() * 1000)
    job.cursor = {
        "mark": now, "reach": now - 90 * walk.DAY, "swept": now, "gaps": [],
        "back": {"days": 90.0, "empty": 0.0, "windows": 1}, "span": {"part": "back", "from": now - 180 * walk.DAY,
        "to": now - 90 * walk.DAY, "found": 0, "todo": [[now - 180 * walk.DAY, now - 90 * walk.DAY, 1, 0, 0]]},
    }  # fmt: skip
    job.save()
    sandbox.fault(operation, "code", code=-1170, times=12)
    assert run.sync_account(account.pk, [kind]) == {kind: ""}
    job.refresh_from_db()
    assert walk.state(job.cursor) == "reach" and job.complete_from == walk_time(now - 90 * walk.DAY)


def walk_time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


@pytest.mark.parametrize("code", [-1140, -1171, -1142])
@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ("account", "account"),
        ("bills", "bills"),
        ("funding", "funding_bills"),
        ("lead", "lead_order_history"),
    ],
)
def test_a_refusal_is_kept_with_its_sentence_and_nothing_is_lost(
    account: Account, sandbox: Sandbox, kind: str, operation: str, code: int
) -> None:
    run.sync_account(account.pk, ["account"])
    sandbox.fault(operation, "code", code=code, times=1)
    said = run.sync_account(account.pk, [kind])[kind]
    job = SyncJob.objects.get(account=account, kind=kind)
    assert said and job.last_error == said and job.failures == 1
    assert run.sync_account(account.pk, [kind])[kind] == ""
    job.refresh_from_db()
    assert (job.last_error, job.failures) == ("", 0)
