"""The merge: any order, any repetition, the same rows; closed by the history alone; numbers exact."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from copytrade import ledger
from copytrade.exchange.records import FollowerOrder
from copytrade.models import Account, BadRecord, OrderRevision, TrackingOrder, Trader, User
from tests.support.told_orders import START, UID, closed, order

serial = itertools.count()


@pytest.fixture
def ledger_account(alice: User) -> Account:
    return Account.objects.create(owner=alice, label="A", venue="sandbox")


def rows(account: Account) -> list[dict]:
    """Everything that the merge decides about each order."""
    columns = ["tracking_no", "trader__trader_id", "closed", "missing_since", *ledger.COLUMNS]
    found = (
        TrackingOrder.objects.filter(account=account).order_by("tracking_no", "generation").values(*columns)
    )
    return [{name: str(value) for name, value in row.items()} for row in found]


numbers = st.sampled_from(
    [Decimal("1"), Decimal("1.0"), Decimal("2.50"), Decimal("-3.1"), Decimal("1E+3"), None]
)
records = st.builds(
    lambda number, at, is_closed, net, symbol, leverage, extra, uid: (
        (closed if is_closed else order)(
            number, at, net_profit=net, symbol=symbol, open_leverage=leverage, extras=extra, trader_id=uid
        ),
        ledger.HISTORY if is_closed else ledger.OPEN,
    ),
    st.integers(1, 3),
    st.integers(0, 3),
    st.booleans(),
    numbers,
    st.sampled_from(["BTCUSDT", "ETHUSDT"]),
    st.sampled_from([5, 10, None]),
    st.sampled_from([{}, {"note": "a"}, {"note": Decimal("1.50")}]),
    st.sampled_from([UID, UID + 1]),
)


@given(st.lists(records, min_size=1, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_and_repetition_ends_in_the_same_rows(
    alice: User, seen: list, chance: random.Random
) -> None:
    one, other, paged = (
        Account.objects.create(owner=alice, label=f"p{next(serial)}", venue="sandbox") for _ in range(3)
    )
    for record, source in seen:
        ledger.merge(one, [record], source=source)
    shuffled = [*seen, *chance.choices(seen, k=len(seen))]
    chance.shuffle(shuffled)
    for record, source in shuffled:
        ledger.merge(other, [record], source=source)
    for source in (ledger.HISTORY, ledger.OPEN):
        ledger.merge(paged, [record for record, kind in seen if kind == source], source=source)
    assert rows(one) == rows(other) == rows(paged)


def test_an_order_is_kept_to_the_last_digit(ledger_account: Account) -> None:
    exact = Decimal("0.1234567890123456789012345678901234")
    ledger.merge(
        ledger_account, [order(2**62 + 1, net_profit=exact, open_order_id=2**63 - 1)], source=ledger.OPEN
    )
    row = TrackingOrder.objects.get()
    assert row.net_profit == exact and str(row.open_size) == "0.010"
    assert (row.tracking_no, row.open_order_id) == (2**62 + 1, 2**63 - 1)
    assert row.trader.trader_id == UID and row.trader.name == "Northwind" and not row.trader.copied


def test_the_open_list_never_closes_and_the_history_does(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [closed()], source=ledger.OPEN)
    assert not TrackingOrder.objects.get().closed
    done = ledger.merge(ledger_account, [closed()], source=ledger.HISTORY)
    assert TrackingOrder.objects.get().closed and done.closed == 1


def test_an_order_that_the_history_shows_as_open_stays_open(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order()], source=ledger.HISTORY)
    assert not TrackingOrder.objects.get().closed


def test_an_unknown_status_with_a_closing_time_counts_as_closed_and_is_kept(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [closed(status="LIQUIDATED")], source=ledger.HISTORY)
    row = TrackingOrder.objects.get()
    assert row.closed and row.status == "LIQUIDATED"


def test_no_open_record_reopens_what_is_closed(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [closed(at=60)], source=ledger.HISTORY)
    for at in (0, 60, 600):
        ledger.merge(ledger_account, [order(at=at)], source=ledger.OPEN)
    row = TrackingOrder.objects.get()
    assert row.closed and row.status == "CLOSED" and row.net_profit == 5


def test_a_true_up_makes_a_revision_and_a_repetition_none(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order()], source=ledger.OPEN)
    ledger.merge(ledger_account, [closed(net="5")], source=ledger.HISTORY)
    for _ in range(2):
        ledger.merge(ledger_account, [closed(at=900, net="4.20")], source=ledger.HISTORY)
    ledger.merge(ledger_account, [closed(net="5")], source=ledger.HISTORY)
    assert TrackingOrder.objects.get().net_profit == Decimal("4.20")
    closing, true_up = OrderRevision.objects.all()
    assert closing.changed["status"] == ["HAVE_OPEN", "CLOSED"]
    assert true_up.changed == {"net_profit": ["5", "4.20"]}


def test_the_same_number_in_other_digits_is_no_revision(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(net_profit=Decimal("1"))], source=ledger.OPEN)
    ledger.merge(ledger_account, [order(at=1, net_profit=Decimal("1.00"))], source=ledger.OPEN)
    assert not OrderRevision.objects.exists()
    assert TrackingOrder.objects.get().update_time == START + timedelta(minutes=1)


def test_a_repeated_page_writes_nothing(ledger_account: Account) -> None:
    page = [closed(n) for n in range(50)]
    assert ledger.merge(ledger_account, page, source=ledger.HISTORY).added == 50
    with CaptureQueriesContext(
        connection,
    ) as queries:
        again = ledger.merge(ledger_account, page, source=ledger.HISTORY)
    assert (again.seen, again.added, again.changed) == (50, 0, 0)
    assert not [q for q in queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]


@pytest.mark.parametrize("source", [ledger.OPEN, ledger.HISTORY])
def test_a_page_of_a_hundred_takes_as_many_queries_as_one_of_ten(
    ledger_account: Account, source: str
) -> None:
    def cost(numbers: range, at: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            ledger.merge(ledger_account, [order(n, at, open_leverage=at) for n in numbers], source=source)
        return len(queries)

    cost(range(1), 0)
    assert cost(range(10, 20), 1) == cost(range(100, 200), 1)
    assert cost(range(10, 20), 2) == cost(range(100, 200), 2) <= 9


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"symbol": "X" * 65}, "symbol is longer"),
        ({"open_leverage": 2**40}, "openLeverage is too large"),
        ({"net_profit": Decimal("1e400")}, "out of any range"),
        ({"net_profit": Decimal("0." + "1" * 200)}, "out of any range"),
    ],
)
def test_a_record_that_does_not_fit_is_kept_and_the_page_goes_on(
    ledger_account: Account, changed: dict, said: str
) -> None:
    for _ in range(2):
        done = ledger.merge(ledger_account, [order(1), order(2, **changed), order(3)], source=ledger.OPEN)
    assert (done.seen, done.bad) == (3, 1)
    assert set(TrackingOrder.objects.values_list("tracking_no", flat=True)) == {1, 3}
    bad = BadRecord.objects.get()
    assert said in bad.reason and '"trackingNo": 2' in bad.raw and bad.times == 2


def test_text_that_the_database_cannot_hold_is_cleaned(ledger_account: Account) -> None:
    record = order(trader_name="No\x00rth", extras={"note": "a\x00b", "more": [Decimal("1.5")]})
    ledger.merge(ledger_account, [record], source=ledger.OPEN)
    row = TrackingOrder.objects.get()
    assert row.trader_name == "North" and row.extras == {"note": "ab", "more": ["1.5"]}


# What COPY gives a meaning of its own, and what looks like it.
odd = st.text(st.sampled_from("ab\\\t\n\r.N|'\"\u00e9\u200b\U0001f600"), max_size=8)
amounts = st.none() | st.builds(
    lambda minus, digits, places: Decimal(f"{'-' * minus}{digits}E{places}"),
    st.booleans(), st.integers(0, 10**6) | st.sampled_from([0, 10**50, 10**50 - 1]), st.integers(-12, 9),
)  # fmt: skip


@given(odd, odd, odd, st.lists(amounts, min_size=4, max_size=4))
@example("\\N", "\\.", "\\", [Decimal("-0"), Decimal("-0.00"), Decimal("-0.5"), Decimal("1E+9")])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_record_says_is_stored_as_it_is_and_is_no_news_when_it_comes_again(
    alice: User, name: str, symbol: str, note: str, told: list[Decimal | None]
) -> None:
    account = Account.objects.create(owner=alice, label=f"o{next(serial)}", venue="sandbox")
    money = dict(zip(("net_profit", "realized_pnl", "profit_rate", "tp_trigger_price"), told, strict=True))
    said = {"trader_name": name, "symbol": symbol, "extras": {"note": note} if note else {}, **money}
    record = closed(1, created_time=None, **said)
    assert ledger.merge(account, [record, closed(2)], source=ledger.HISTORY).added == 2
    row = TrackingOrder.objects.get(account=account, tracking_no=1)
    assert {column: getattr(row, column) for column in said} == said
    assert (row.open_time, row.created_time, row.update_time) == (START, None, record.update_time)
    assert ledger.says_nothing_new(account, ledger.observed([record], ledger.HISTORY))


def test_missing_from_a_complete_pass_marks_and_never_closes(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(1), order(2)], source=ledger.OPEN, seen_at=START)
    ledger.merge(ledger_account, [closed(3)], source=ledger.HISTORY, seen_at=START)
    later = START + timedelta(minutes=5)
    assert [o.pk for o in ledger.note_absent(ledger_account, {1}, later)] == [
        TrackingOrder.objects.get(tracking_no=2).pk
    ]
    assert ledger.note_absent(ledger_account, {1}, later + timedelta(minutes=1)) == []
    gone = TrackingOrder.objects.get(tracking_no=2)
    assert gone.missing_since == later and not gone.closed
    assert TrackingOrder.objects.get(tracking_no=3).missing_since is None
    ledger.merge(ledger_account, [order(2)], source=ledger.OPEN)
    assert TrackingOrder.objects.get(tracking_no=2).missing_since is None


def test_an_order_that_came_during_the_pass_is_not_missing(ledger_account: Account) -> None:
    ledger.merge(ledger_account, [order(1)], source=ledger.OPEN, seen_at=START)
    assert ledger.note_absent(ledger_account, set(), START) == []


def test_two_accounts_keep_two_ledgers(ledger_account: Account, alice: User) -> None:
    other = Account.objects.create(owner=alice, label="B", venue="sandbox")
    ledger.merge(ledger_account, [order(1)], source=ledger.OPEN)
    ledger.merge(other, [closed(1)], source=ledger.HISTORY)
    assert not TrackingOrder.objects.get(account=ledger_account).closed
    assert TrackingOrder.objects.get(account=other).closed
    assert Trader.objects.filter(trader_id=UID).count() == 2


def later_rows() -> Iterator[FollowerOrder]:
    yield from (order(n, at=5) for n in (1, 2))


def test_records_may_come_from_any_iterable(ledger_account: Account) -> None:
    assert ledger.merge(ledger_account, later_rows(), source=ledger.OPEN).added == 2
