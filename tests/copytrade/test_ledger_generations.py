"""The ledger in the database: the same rows and issues whatever the order, generations, and nothing written twice."""

from __future__ import annotations

import itertools
import json
import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copytrade import ledger, quarantine
from copytrade.exchange.records import FollowerOrder
from copytrade.models import Account, BadRecord, DataIssue, OrderRevision, TrackingOrder, User
from copytrade.steps.passes import Pass

from .test_ledger import START, UID, closed, ledger_account, order, rows

assert ledger_account  # a fixture of this module too
DAY = timedelta(days=1)
serial = itertools.count()

values = st.fixed_dictionaries(
    {
        "number": st.integers(1, 2),
        "at": st.integers(0, 1),
        "is_closed": st.booleans(),
        "net_profit": st.sampled_from(
            [Decimal("1"), Decimal("1.0"), Decimal("1E+3"), Decimal("-0.00"), None]
        ),
        "trader_id": st.sampled_from([UID, UID, UID + 1]),
        "open_time": st.sampled_from([START, START, START + DAY, START - DAY, None]),
        "close_time": st.sampled_from([START + 2 * DAY, None]),
        "update_time": st.sampled_from([START, None]),
        "symbol": st.sampled_from(["BTCUSDT", "BTCUSDT", "ETHUSDT", "X" * 65]),
        "trader_name": st.sampled_from(["Northwind", "N" * 300, None]),
        "extras": st.sampled_from([{}, {"b": True, "a": [1]}, {"a": [1], "b": 1}, {"a": Decimal("1.50")}]),
        "open_leverage": st.sampled_from([10, None]),
    }
)


def told(**value: Any) -> tuple[FollowerOrder, str]:
    """A record of these values, and the operation that answered with it."""
    is_closed, number, at = value.pop("is_closed"), value.pop("number"), value.pop("at")
    return (closed if is_closed else order)(number, at, **value), ledger.HISTORY if is_closed else ledger.OPEN


def everything(account: Account) -> tuple[list, set, set]:
    orders = TrackingOrder.objects.filter(account=account).order_by("tracking_no", "generation")
    more = list(orders.values_list("tracking_no", "generation", "beneath", "lost_since"))
    issues = set(DataIssue.objects.filter(account=account).values_list("kind", "subject"))
    bad = set(BadRecord.objects.filter(account=account).values_list("operation", "raw"))
    return [sorted(rows(account), key=str), more], issues, bad


@given(st.lists(values, min_size=1, max_size=7), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_orders_generations_issues_and_what_is_set_aside_depend_on_nothing_but_what_was_seen(
    alice: User, picked: list[dict], chance: random.Random
) -> None:
    seen = [told(**value) for value in picked]
    one, other, paged = (
        Account.objects.create(owner=alice, label=f"g{next(serial)}", venue="sandbox") for _ in range(3)
    )
    for record, source in seen:
        ledger.merge(one, [record], source=source)
    shuffled = [*seen, *chance.choices(seen, k=len(seen))]
    chance.shuffle(shuffled)
    for record, source in shuffled:
        ledger.merge(other, [record], source=source)
    for source in chance.sample([ledger.HISTORY, ledger.OPEN], 2):
        ledger.merge(paged, [record for record, kind in shuffled if kind == source], source=source)
    assert everything(one) == everything(other) == everything(paged)
    for record, source in seen:
        ready = ledger.observed([record], source)
        assert ledger.says_nothing_new(one, ready) == (not ready.unfit)


def test_a_number_used_again_is_another_row_with_an_issue_and_overwrites_nothing(
    ledger_account: Account,
) -> None:
    ledger.merge(ledger_account, [closed(1)], source=ledger.HISTORY)
    old = TrackingOrder.objects.get()
    again = order(1, symbol="ETHUSDT", open_time=START + 9 * DAY, at=20_000)
    for _ in range(2):
        done = ledger.merge(ledger_account, [again], source=ledger.OPEN)
    assert done.added == done.changed == 0
    first, second = TrackingOrder.objects.order_by("open_time")
    assert first == old and first.closed and first.symbol == "BTCUSDT" and first.generation == 0
    assert not second.closed and second.symbol == "ETHUSDT" and second.generation
    issue = DataIssue.objects.get()
    assert (issue.kind, issue.subject, issue.times) == ("generation", "1", 1)
    assert not OrderRevision.objects.exists()


def test_an_earlier_order_that_is_heard_of_later_takes_the_first_place_and_the_rows_keep_their_keys(
    ledger_account: Account,
) -> None:
    ledger.merge(ledger_account, [order(1, open_time=START + DAY)], source=ledger.OPEN)
    later = TrackingOrder.objects.get()
    ledger.merge(ledger_account, [closed(1, open_time=START)], source=ledger.HISTORY)
    earlier = TrackingOrder.objects.exclude(pk=later.pk).get()
    later.refresh_from_db()
    assert earlier.generation == 0 and later.generation > 0 and not later.closed


def test_an_order_that_gets_its_opening_time_keeps_its_row_and_tells_the_change(
    ledger_account: Account,
) -> None:
    ledger.merge(ledger_account, [order(1, open_time=None)], source=ledger.OPEN)
    ledger.merge(ledger_account, [order(1, at=1)], source=ledger.OPEN)
    row = TrackingOrder.objects.get()
    assert row.open_time == START and row.generation == 0
    assert row.revisions.get().changed == {"open_time": [None, START.isoformat()]}
    assert not DataIssue.objects.exists()


def test_another_order_of_the_same_number_on_the_list_does_not_hide_that_the_first_is_gone(
    ledger_account: Account,
) -> None:
    ledger.merge(ledger_account, [order(1), order(1, symbol="ETHUSDT")], source=ledger.OPEN, seen_at=START)
    seen = Pass()
    ready = ledger.observed([order(1, symbol="ETHUSDT")], ledger.OPEN)
    seen.take([one.identity for one in ready.orders[1]], [], full=False)
    (gone,) = ledger.note_absent(ledger_account, seen, START + DAY)
    assert TrackingOrder.objects.get(pk=gone.pk).symbol == "BTCUSDT"


def test_a_name_of_any_length_sets_no_order_aside(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(1, trader_name="N" * 5000)], source=ledger.OPEN)
    row = TrackingOrder.objects.get()
    assert row.trader_name == "N" * 200 and row.extras == {"traderName": "N" * 5000}
    assert ledger.says_nothing_new(
        ledger_account, ledger.observed([order(1, trader_name="N" * 5000)], ledger.OPEN)
    )
    assert not BadRecord.objects.exists()


def test_an_order_given_up_as_lost_that_turns_up_after_all_is_healed(ledger_account: Account) -> None:
    for record, source in ((order(1), ledger.OPEN), (closed(1), ledger.HISTORY)):
        TrackingOrder.objects.all().delete()
        ledger.merge(ledger_account, [order(1)], source=ledger.OPEN)
        TrackingOrder.objects.update(lost_since=START, missing_since=START)
        DataIssue.objects.update_or_create(
            account=ledger_account, kind="lost_window", subject="1", defaults={"state": "open"}
        )
        assert not ledger.says_nothing_new(ledger_account, ledger.observed([record], source))
        ledger.merge(ledger_account, [record], source=source)
        row = TrackingOrder.objects.get()
        assert row.lost_since is None and row.missing_since is None
        assert DataIssue.objects.get().state == DataIssue.State.RESOLVED


def test_a_history_that_shows_an_order_as_open_does_not_bring_back_one_that_is_missing(
    ledger_account: Account,
) -> None:
    ledger.merge(ledger_account, [order(1)], source=ledger.OPEN)
    TrackingOrder.objects.update(missing_since=START)
    ledger.merge(ledger_account, [order(1, at=5)], source=ledger.HISTORY)
    assert TrackingOrder.objects.get().missing_since == START


def test_which_traders_had_a_close_is_told_once(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(1), order(2, trader_id=UID + 1)], source=ledger.OPEN)
    page = [closed(1), order(2, trader_id=UID + 1), closed(3, trader_id=UID + 2)]
    assert ledger.merge(ledger_account, page, source=ledger.HISTORY).closed_traders == {UID, UID + 2}
    assert ledger.merge(ledger_account, page, source=ledger.HISTORY).closed_traders == set()


# --- records that could not be read -------------------------------------------------------------------------


def set_aside(account: Account) -> BadRecord:
    ledger.merge(account, [order(1, symbol="X" * 65)], source=ledger.OPEN)
    return BadRecord.objects.get()


def test_a_record_set_aside_raises_one_issue_and_counts(ledger_account: Account) -> None:
    bad = set_aside(ledger_account)
    set_aside(ledger_account)
    issue = DataIssue.objects.get()
    assert (issue.kind, issue.subject, issue.times) == ("bad_record", bad.fingerprint, 1)
    assert BadRecord.objects.get().times == 2


def test_an_unreadable_open_order_that_moves_with_every_poll_is_one_record_with_its_latest_text(
    ledger_account: Account,
) -> None:
    for at in (3, 1, 2):
        moved = order(1, at=at, symbol="X" * 65, net_profit=Decimal(at))
        ledger.merge(ledger_account, [moved], source=ledger.OPEN)
    bad = BadRecord.objects.get()
    assert (json.loads(bad.raw)["netProfit"], bad.times) == ("3", 3)
    assert DataIssue.objects.count() == 1
    ledger.merge(ledger_account, [order(2, symbol="X" * 65)], source=ledger.OPEN)
    ledger.merge(ledger_account, [closed(1, symbol="X" * 65)], source=ledger.HISTORY)
    assert BadRecord.objects.count() == 3, (
        "another order, and what the history says, are records of their own"
    )


def test_a_reader_that_fails_again_is_not_tried_again_until_there_is_another(
    ledger_account: Account,
) -> None:
    bad = set_aside(ledger_account)
    assert quarantine.retry_all() == 0
    bad.refresh_from_db()
    assert bad.tried_with == quarantine.reader_version() and bad.read_at is None
    assert DataIssue.objects.get().state == DataIssue.State.OPEN
    asked = BadRecord.objects.exclude(tried_with=quarantine.reader_version())
    assert not asked.exists()
    # What an upgrade might change: another reader, to which the record is well.
    BadRecord.objects.update(tried_with="an older reader", raw=bad.raw.replace("X" * 65, "XUSDT"))
    assert quarantine.retry_all() == 1 and quarantine.retry_all() == 0


def test_a_record_that_can_be_read_after_all_is_in_the_ledger_to_the_last_digit(
    ledger_account: Account,
) -> None:
    record = order(2**62 + 1, net_profit=Decimal("0.10"), extras={"new": [1, "a"]})
    raw = ledger.raw_of(record)
    ledger.keep_bad(ledger_account, "open_tracking_orders", [(raw, "symbol: missing")])
    bad = BadRecord.objects.get()
    assert quarantine.retry(bad) and quarantine.retry(bad)
    row = TrackingOrder.objects.get()
    assert row.tracking_no == 2**62 + 1 and str(row.net_profit) == "0.10" and row.extras == {"new": [1, "a"]}
    bad.refresh_from_db()
    assert bad.read_at and DataIssue.objects.get().state == DataIssue.State.RESOLVED
    assert ledger.says_nothing_new(ledger_account, ledger.observed([record], ledger.OPEN))


@pytest.mark.parametrize("raw", ["", "{", "[]", "{}", '"x"', '{"trackingNo": "no"}', "[" * 100_000])
@pytest.mark.parametrize("operation", ["open_tracking_orders", "my_traders", "gone"])
def test_what_still_cannot_be_read_stays_where_it_is(
    ledger_account: Account, raw: str, operation: str
) -> None:
    ledger.keep_bad(ledger_account, operation, [(raw, "no")])
    bad = BadRecord.objects.get()
    assert not quarantine.retry(bad)
    bad.refresh_from_db()
    assert bad.raw == raw and bad.read_at is None and bad.tried_with and bad.reason
    assert DataIssue.objects.get().state == DataIssue.State.OPEN


def test_a_trader_set_aside_is_marked_as_readable(ledger_account: Account) -> None:
    ledger.keep_bad(ledger_account, "my_traders", [('{"traderId": 5}', "no")])
    assert quarantine.retry(BadRecord.objects.get())
    assert BadRecord.objects.get().read_at


def test_an_old_record_read_again_does_not_say_that_a_missing_order_is_back(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(1)], source=ledger.OPEN)
    TrackingOrder.objects.update(missing_since=START)
    ledger.keep_bad(ledger_account, "open_tracking_orders", [(ledger.raw_of(order(1)), "no")])
    assert quarantine.retry(BadRecord.objects.get())
    assert TrackingOrder.objects.get().missing_since == START
