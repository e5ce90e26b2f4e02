"""Whether two traders win on the same days, what they share, and how far a line can be relied on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copytrade import reports
from copytrade.models import CoverageGap, SyncJob, Trader, User
from copytrade.statistics.correlation import LEAST_DAYS, correlation
from tests.support.ledger_rows import (
    account_of,
    closed_copies,
    closed_copy,
    open_copy,
    summed_once,
    trader_of,
)

DAY = date(2026, 1, 1)


def series(*nets: object, start: date = DAY) -> list[tuple[date, Decimal]]:
    return [(start + timedelta(days=place), Decimal(str(net))) for place, net in enumerate(nets)]


STEADY = [(number, "1", 2 + number * 3, "BTCUSDT") for number in range(25)]
WAVE = [1, -1, 2, -2, 3] * 5

# --- correlation ---


def test_equal_days_are_one_opposite_days_minus_one() -> None:
    assert correlation(series(*WAVE), series(*WAVE)).value == 1
    assert correlation(series(*WAVE), series(*(-net * 7 for net in WAVE))).value == -1


def test_it_is_pearsons_coefficient() -> None:
    ones, others = [1, 2, 3, 4] * 5, [2, 1, 4, 3] * 5
    found = correlation(series(*ones), series(*others))
    assert found.n == 20 and found.value == Decimal("0.6")


def test_too_few_days_in_common_are_told_with_their_number() -> None:
    found = correlation(series(*WAVE), series(*WAVE, start=DAY + timedelta(days=10)))
    assert (found.n, found.value, found.reason) == (15, None, f"fewer than {LEAST_DAYS} days in common")


def test_days_on_which_neither_closed_anything_do_not_count() -> None:
    quiet = [net if place % 2 else 0 for place, net in enumerate(WAVE * 2)]
    assert correlation(series(*quiet), series(*quiet)).n == sum(bool(net) for net in quiet)


def test_days_after_the_last_result_of_one_do_not_count() -> None:
    assert correlation(series(*WAVE, *[0] * 30), series(*WAVE, *[1, -1] * 15)).n == len(WAVE)


def test_the_same_result_every_day_has_no_correlation() -> None:
    found = correlation(series(*[3] * 25), series(*WAVE))
    assert found.value is None and found.reason == "one of them had the same result every day"


def test_nothing_at_all_is_no_error() -> None:
    assert correlation([], []).n == 0


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=20, max_size=40))
def test_it_lies_between_the_ends_and_does_not_hang_on_the_order(days: list[tuple[int, int]]) -> None:
    nets, others = zip(*days, strict=True)
    one, other = correlation(series(*nets), series(*others)), correlation(series(*others), series(*nets))
    assert (one.n, one.value) == (other.n, other.value)
    assert one.value is None or abs(one.value) <= 1 + Decimal("1e-40")


# --- the comparison ---


@pytest.fixture
def pair(alice: User) -> list[Trader]:
    """Two traders who share BTCUSDT: the first has 2 copies of it and one of ETHUSDT, the second one of it."""
    account = account_of(alice)
    one, other = trader_of(account, 1, "One"), trader_of(account, 2, "Other")
    with summed_once():
        for number, symbol in enumerate(["BTCUSDT", "BTCUSDT", "ETHUSDT"]):
            closed_copy(one, number, "3", number + 1, symbol=symbol)
    closed_copy(other, 10, "-2", 2, symbol="BTCUSDT")
    return [one, other]


@pytest.mark.django_db
def test_shared_symbols_have_a_row_of_each_trader(pair: list[Trader]) -> None:
    found = reports.compare(pair, "30", zone=UTC)
    (shared,) = found.shared
    assert shared.symbol == "BTCUSDT"
    assert [(row.n, row.net) for row in shared.rows if row] == [(2, Decimal(6)), (1, Decimal(-2))]


@pytest.mark.django_db
def test_every_two_of_them_are_a_pair(pair: list[Trader]) -> None:
    third = trader_of(pair[0].account, 3, "Third")
    found = reports.compare([*pair, third], "30", zone=UTC)
    assert [(p.one.name, p.other.name) for p in found.pairs] == [
        ("One", "Other"), ("One", "Third"), ("Other", "Third"),
    ]  # fmt: skip
    assert all(p.correlation.value is None and p.together == "" for p in found.pairs)


@pytest.mark.django_db
def test_two_traders_cost_as_many_queries_as_four_and_few_copies_as_many(pair: list[Trader]) -> None:
    def cost(traders: list[Trader]) -> int:
        with CaptureQueriesContext(connection) as caught:
            reports.compare(traders, "all", zone=UTC)
        return len(caught)

    more = [trader_of(pair[0].account, number, f"T{number}") for number in (3, 4)]
    few = cost(pair)
    closed_copies(more[0], *((number, "1", 3, "BTCUSDT") for number in range(100, 130)))
    assert cost([*pair, *more]) == few == 1


@pytest.mark.django_db
@pytest.mark.parametrize("n", [0, 1, 5])
def test_another_number_of_traders_is_refused(pair: list[Trader], n: int) -> None:
    more = [trader_of(pair[0].account, number, f"T{number}") for number in range(3, 6)]
    with pytest.raises(ValueError):
        reports.compare([*pair, *more][:n], "90", zone=UTC)


# --- reliability ---


@pytest.mark.django_db
def test_the_table_is_the_same_in_one_query(pair: list[Trader], alice: User, charlie: User) -> None:
    for number in range(50, 53):
        open_copy(pair[0], number)
    with CaptureQueriesContext(connection) as caught:
        rows, reaches = reports.table_and_reaches(alice, "all")
    assert len(caught) == 1
    with CaptureQueriesContext(connection) as caught:
        table = reports.table(alice, "all")
        assert all(row.trader.account.label for row in table.rows)
    assert len(caught) == 1
    assert [row.trader for row in table.rows] == [row.trader for row in rows] and table.reaches == reaches
    assert table.ready == reports.ready([row.trader for row in rows], table.at)
    assert table.freshness == reports.freshness(alice, ["traders", "history"], table.at)
    plain = reports.traders_table(alice, "all")
    told = [(row.trader, row.summary.net_profit, row.open_count, row.open_margin) for row in rows]
    assert told == [(row.trader, row.summary.net_profit, row.open_count, row.open_margin) for row in plain]
    assert set(reaches) == {pair[0].account_id}
    assert reports.table_and_reaches(charlie, "all") == ([], {})
    nobody = reports.table(charlie, "all")
    assert (nobody.rows, nobody.reaches, nobody.ready, nobody.freshness.state) == ([], {}, {}, "none")
    for asked in (reports.table, reports.table_and_reaches):
        with pytest.raises(KeyError):
            asked(alice, "8")


def keys_of(user: User, period: str = "all") -> list[str]:
    (row,), reaches = reports.table_and_reaches(user, period)
    return [note.key for note in reports.notes(row, period, reaches.get(row.trader.account_id))]


@pytest.fixture
def trader(alice: User) -> Trader:
    return trader_of(account_of(alice))


@pytest.mark.django_db
def test_a_trader_with_many_copies_over_months_needs_no_word(alice: User, trader: Trader) -> None:
    closed_copies(trader, *STEADY)
    assert keys_of(alice) == []


@pytest.mark.django_db
def test_few_copies_and_a_short_time_are_said(alice: User, trader: Trader) -> None:
    closed_copy(trader, 1, "1", 9)
    closed_copy(trader, 2, "1", 3)
    assert keys_of(alice) == ["few", "short"]
    assert keys_of(alice, "30") == ["few"], (
        "a month is short for everybody: that is said once, under the table"
    )


@pytest.mark.django_db
def test_nothing_closed_is_said_and_is_no_short_time(alice: User, trader: Trader) -> None:
    closed_copy(trader, 1, "1", 200)
    assert keys_of(alice, "90") == ["none"]


@pytest.mark.django_db
def test_a_past_that_is_being_read_or_has_holes_is_said(alice: User, trader: Trader) -> None:
    closed_copies(trader, *STEADY)
    CoverageGap.objects.create(account=trader.account, start=None, end=timezone.now(), reason="refused")
    assert keys_of(alice) == ["gaps"]
    jobs = SyncJob.objects.filter(kind="history")
    jobs.update(complete_from=timezone.now() - timedelta(days=30))
    assert keys_of(alice) == ["incomplete"]
    jobs.update(cursor={"back": {"end": datetime(2026, 1, 1, tzinfo=UTC).isoformat()}})
    assert keys_of(alice) == ["reading"]


@pytest.mark.django_db
def test_results_of_today_are_provisional_and_new_ones_are_being_summed(alice: User, trader: Trader) -> None:
    closed_copies(trader, *STEADY)
    closed_copy(trader, 99, "1", 0)
    assert keys_of(alice) == ["provisional"]
    Trader.objects.update(summaries_stale_since=timezone.now())
    assert keys_of(alice) == ["provisional", "again"]
