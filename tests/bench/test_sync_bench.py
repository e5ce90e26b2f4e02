"""What `./run bench sync` and `./run bench load` measure with: their tables, bounds, models and made-up exchange."""

from __future__ import annotations

import json
import time
from random import Random

import pytest

from bench import canned, delay, load_model
from bench.accounts import load_accounts, world_of
from bench.ratios import Ratio, shown, table
from copytrade.clients import _credentials
from copytrade.exchange import OPERATIONS, envelopes
from copytrade.exchange.jsontext import parse
from copytrade.models import COPY_KINDS, OWN_KINDS, SyncJob, SyncRun, Trader, TraderDay
from copytrade.sandbox import keys
from copytrade.sync import run
from tests.support.sandbox_process import Sandbox


@pytest.mark.parametrize(
    ("figure", "limit", "side", "held"),
    [(1.1, 1.1, "most", True), (1.11, 1.1, "most", False), (0.97, 0.97, "least", True), (0.96, 0.97, "least", False)],
)  # fmt: skip
def test_a_limit_holds_up_to_the_figure_itself(figure, limit, side, held):
    assert Ratio("x", figure, limit, side).ok is held


def test_a_figure_without_a_limit_never_fails():
    assert Ratio("x", 10**9, None).ok


def test_the_table_says_what_was_missed():
    lines = table(
        [Ratio("quick", 1.0, 2.5, told="a against b"), Ratio("slow", 3.0, 2.5), Ratio("said", 5, None)]
    ).splitlines()
    assert lines[2:] == [
        "| quick | 1.000 | at most 2.5 | yes | a against b |",
        "| slow | 3.00 | at most 2.5 | **no** |  |",
        "| said | 5.00 |  |  |  |",
    ]
    assert shown(7989.6) == "7,990"


def test_the_optimum_spends_the_budget_and_no_other_spread_is_better():
    known = delay.true_rates(Random(5), 200)
    best, intervals = delay.optimum(known, budget=9.0)
    assert sum(delay.WEIGHT / one for one in intervals) == pytest.approx(9.0)
    assert all(delay.FLOOR <= one <= delay.CAP for one in intervals)
    alike = 200 * delay.WEIGHT / 9.0 / 2
    by_rate = sum(known) and sum(
        rate * (delay.WEIGHT * sum(known) / (9.0 * rate)) / 2 for rate in known
    ) / sum(known)
    assert best < min(alike, by_rate)


def test_the_delay_found_is_that_of_closes_that_did_happen():
    known = [1 / 100.0] * 20
    found = delay.scheduled(known, 3, learning=0.0, measured=2_000.0)
    assert found.closes == pytest.approx(400, rel=0.3)
    assert 0 < found.mean < found.worst <= delay.CAP * 1.1


def test_the_simulated_desk_spends_no_more_than_there_is_and_reads_everything(settings):
    desk, seen = load_model.Desk(accounts=40), load_model.Seen()
    desk.run(1_800.0, seen)
    assert 0 < seen.weight / 1_800 <= load_model.USABLE * 1.01
    assert set(seen.oldest) == set(load_model.KINDS)
    assert seen.oldest["open"] < 600


def test_the_canned_history_is_one_that_the_client_reads_to_its_end_without_a_note():
    answers, pages, key = canned.Answers(moving=False), 0, ""
    numbers = set()
    while True:
        data = parse(answers.to(f"/capi/v3/copy/follower/historyOrders?limit=100{key}"))
        page = envelopes.page(OPERATIONS["tracking_order_history"], data, 1, 100)
        assert page.bad == page.drift == []
        numbers |= {order.tracking_no for order in page.records}
        pages += 1
        if page.next is None:
            break
        key = f"&nextKeyId={page.next.id}&nextKeyTime={page.next.time_ms}"
    assert pages == canned.PAGES and len(numbers) == canned.PAGES * canned.SIZE


def test_windows_before_the_canned_history_are_empty():
    old = int(time.time() * 1000) - 90 * 86_400_000
    body = canned.Answers(moving=False).to(f"/x/historyOrders?startTime=1&endTime={old}")
    assert json.loads(body)["list"] == []


def test_a_moving_exchange_changes_one_order_at_each_asking():
    answers = canned.Answers(moving=True)
    first, second = (json.loads(answers.to("/x/openOrders")) for _ in range(2))
    assert sum(one != other for one, other in zip(first, second, strict=True)) == 1


def test_load_accounts_open_with_the_keys_of_the_sandbox(db):
    accounts = load_accounts(12)
    assert len({account.owner_id for account in accounts}) == 2
    for account in accounts:
        opened = _credentials(account)
        known = keys.find(opened.key, 12)
        assert known and (opened.secret, opened.passphrase) == (known.secret, keys.PASSPHRASE)
    jobs = SyncJob.objects.filter(last_success_at__isnull=False)
    assert all(jobs.filter(kind=kind).count() == 12 for kind in (*COPY_KINDS, *OWN_KINDS)), "as after days"
    assert Trader.objects.filter(account=accounts[0]).count() in (2, 3)


def test_load_accounts_fall_due_one_after_the_other(db):
    load_accounts(20)
    due = sorted(SyncJob.objects.filter(kind="open").values_list("due_at", flat=True))
    assert len(set(due)) == 20 and (due[-1] - due[0]).total_seconds() > 200


def test_a_first_reading_of_a_load_accounts_traders_finds_what_is_known(sandbox: Sandbox, redis_client, db):
    """Else each of 2,000 accounts has its history read once more, and the measurement is of a desk that just began."""
    sandbox.reset(accounts=5)
    accounts = load_accounts(5, world=world_of(sandbox, 5))
    before, totals = due(), list(Trader.objects.order_by("pk").values_list("trace_total_profit", flat=True))
    assert any(totals) and None not in totals
    for account in accounts:
        assert run.sync_account(account.pk, [SyncJob.Kind.TRADERS]) == {SyncJob.Kind.TRADERS: ""}
    readings = SyncRun.objects.filter(kind=SyncJob.Kind.TRADERS)
    assert [(one.changed, one.error_code) for one in readings] == [(0, "")] * 5
    assert due() == before, "no history was brought forward"
    assert totals == list(Trader.objects.order_by("pk").values_list("trace_total_profit", flat=True))


def test_without_a_world_no_balance_of_a_load_account_is_known(db):
    load_accounts(2)
    assert not Trader.objects.exclude(trace_total_profit=None, balances_at=None).exists()
    assert not TraderDay.objects.exists()


def due() -> list:
    """When the histories and settings fall due."""
    jobs = SyncJob.objects.filter(kind__in=(SyncJob.Kind.HISTORY, SyncJob.Kind.SETTINGS))
    return list(jobs.order_by("pk").values_list("due_at", flat=True))
