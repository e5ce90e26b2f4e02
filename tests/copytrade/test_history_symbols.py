"""The totals of a symbol are those of its closed copies at any moment, whether they were kept with a trader's summary,
are behind the ledger, or were never kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from copytrade import connections, reports, rollups
from copytrade.models import DayResult, PeriodDetail, TrackingOrder, Trader, User
from copytrade.rollups.read import of_symbol, symbols_of
from copytrade.statistics.exact import total
from tests.support.ledger_rows import account_of, trader_of
from tests.support.rollup_truth import NOW, put, told

pytestmark = pytest.mark.django_db
NETS = ("0.00000001", "12.34567891", "-3.1", "0", "1000000000.00000001", "-0.00000001")
# Quotes, per cent signs and places of values; what means something to a path in JSON; the longest name that there is.
HOSTILE = [
    "'; DROP TABLE x; --",
    '"',
    "100%s",
    "%(symbol)s",
    "%%",
    "{0}",
    "a.b[0]",
    "$1",
    "\\",
    "1",
    "Ω" * 64,
]


@pytest.fixture
def desk(alice: User) -> list[Trader]:
    """Four traders through two connections, each with copies in three symbols over forty days."""
    accounts = account_of(alice, "Main"), account_of(alice, "Family")
    traders = [trader_of(accounts[place % 2], place, f"T{place}") for place in range(4)]
    for place, trader in enumerate(traders):
        told([close(trader, day, ("BTCUSDT", "ETHUSDT", f"ONLY{place}")[day % 3]) for day in range(40)])
    return traders


def close(trader: Trader, day: int, symbol: str = "BTCUSDT", **changed: Any) -> TrackingOrder:
    at = NOW - timedelta(days=day * 11, minutes=7 * trader.pk)
    return put(trader, NETS[(day + trader.pk) % len(NETS)], at, symbol=symbol, **changed)


def kept(traders: Iterable[Trader]) -> None:
    keys = [trader.pk for trader in traders]
    assert rollups.summarise(keys, NOW) == len(keys)
    assert not Trader.objects.filter(pk__in=keys).exclude(summaries_stale_since=None).exists()


def truth(owner: User, symbol: str, **of: Any) -> tuple:
    rows = list(
        TrackingOrder.objects.filter(account__owner=owner, closed=True, symbol=symbol, **of).exclude(
            close_time=None
        )
    )
    nets = [row.net_profit for row in rows]
    return (
        len(rows), total(nets), total(row.realized_pnl for row in rows),
        sum(net > 0 for net in nets), sum(net < 0 for net in nets),
    )  # fmt: skip


def shown(owner: User, symbol: str, **filters: Any) -> tuple:
    totals = reports.history_page(owner, reports.Filters(symbol=symbol, **filters)).totals
    assert not totals.newest
    return totals.n, totals.net, totals.gross, totals.wins, totals.losses


def assert_true(owner: User, symbols: Sequence[str] = ("BTCUSDT", "ETHUSDT", "ONLY1", "NONE")) -> None:
    for symbol in symbols:
        assert shown(owner, symbol) == truth(owner, symbol), symbol


def spoil_days() -> None:
    """So that whoever adds up days is seen to."""
    DayResult.objects.update(net=Decimal(777), n=7)


def spoil_kept() -> None:
    """So that whoever reads what was kept is seen to."""
    PeriodDetail.objects.filter(symbols__isnull=False).update(
        symbols={symbol: [7, 7, 7, "777", "777"] for symbol in ("BTCUSDT", "ETHUSDT", "ONLY1", "NONE")}
    )


def test_what_was_kept_is_told_without_a_look_at_any_day(desk: list[Trader], alice: User) -> None:
    kept(desk)
    spoil_days()
    assert truth(alice, "BTCUSDT")[0] == 56 and truth(alice, "NONE") == (0, 0, 0, 0, 0)
    assert_true(alice)


def test_days_are_added_up_where_the_kept_is_behind_the_ledger(desk: list[Trader], alice: User) -> None:
    kept(desk)
    spoil_kept()
    Trader.objects.update(summaries_stale_since=NOW)
    assert_true(alice)


def test_days_are_added_up_where_nothing_was_ever_kept(desk: list[Trader], alice: User) -> None:
    assert not PeriodDetail.objects.exists()
    Trader.objects.update(summaries_stale_since=None)
    assert_true(alice)
    kept(desk)
    PeriodDetail.objects.update(symbols=None)  # as those of the release before are
    assert_true(alice)


def test_one_trader_each_way_makes_the_same_totals(desk: list[Trader], alice: User) -> None:
    fresh, stale, never, _ = desk
    kept([fresh, stale])
    told([close(stale, day) for day in (1, 2, 99)])
    assert_true(alice)
    Trader.objects.filter(pk=never.pk).update(summaries_stale_since=None)
    assert_true(alice)
    kept(desk)
    assert_true(alice)
    assert not PeriodDetail.objects.exclude(period="all").exclude(symbols=None).exists()


def test_a_page_counts_as_soon_as_it_is_merged(desk: list[Trader], alice: User) -> None:
    """New copies, one that changed, a symbol that is new, one that is gone: before any summary is made."""
    kept(desk)
    trader = desk[0]
    only = list(TrackingOrder.objects.filter(trader=trader, symbol="ONLY0"))
    changed = TrackingOrder.objects.filter(trader=trader, symbol="BTCUSDT")[0]
    changed.net_profit, changed.realized_pnl = Decimal("-5.5"), Decimal("-4.25")
    changed.save()
    for row in only:
        TrackingOrder.objects.filter(pk=row.pk).update(closed=False)
    told([changed, *only, close(trader, 3), close(trader, 4, "NEWUSDT")])
    assert truth(alice, "NEWUSDT")[0] == 1 and truth(alice, "ONLY0")[0] == 0
    assert_true(alice, ["BTCUSDT", "ETHUSDT", "NEWUSDT", "ONLY0"])
    kept([trader])
    assert_true(alice, ["BTCUSDT", "ETHUSDT", "NEWUSDT", "ONLY0"])


def test_a_summary_that_a_page_overtook_is_not_told(
    desk: list[Trader], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its totals are written, and are those of the moment before."""
    made = rollups.summaries._write

    def overtaken(rows: dict) -> int:
        told([close(desk[0], 5)])
        return made(rows)

    monkeypatch.setattr(rollups.summaries, "_write", overtaken)
    rollups.summarise([trader.pk for trader in desk], NOW)
    before = PeriodDetail.objects.get(trader=desk[0], period="all").symbols
    assert before["BTCUSDT"][0] == truth(alice, "BTCUSDT", trader=desk[0])[0] - 1
    assert_true(alice)


def test_another_zone_and_sums_made_again_change_no_total(desk: list[Trader], alice: User) -> None:
    kept(desk)
    alice.zone = "Pacific/Chatham"
    alice.save()
    rollups.rebuild_all_of(alice)
    assert not Trader.objects.filter(summaries_stale_since=None).exists(), "marked as one"
    assert_true(alice)


def test_a_trader_and_a_connection_narrow_the_totals(desk: list[Trader], alice: User, charlie: User) -> None:
    kept(desk[:3])
    told([close(desk[1], 2)])
    for trader in desk:
        of = {"trader": trader.pk}
        assert shown(alice, "BTCUSDT", **of) == truth(alice, "BTCUSDT", **of) != (0, 0, 0, 0, 0)
        assert shown(charlie, "BTCUSDT", **of) == (0, 0, 0, 0, 0)
        of = {"account": trader.account_id}
        assert shown(alice, "BTCUSDT", **of) == truth(alice, "BTCUSDT", **of)
        assert shown(charlie, "BTCUSDT", **of) == (0, 0, 0, 0, 0)
        both = {"trader": trader.pk, "account": desk[0].account_id}
        assert shown(alice, "BTCUSDT", **both) == truth(alice, "BTCUSDT", **both)


def test_between_two_days_it_is_days_that_are_added_up(desk: list[Trader], alice: User) -> None:
    kept(desk)
    spoil_kept()
    zone = reports.zone_of(alice)
    since, until = (rollups.summaries.first_moment(day, zone) for day in (date(2025, 6, 1), date(2026, 1, 1)))
    for filters, of in (
        ({"since": since}, {"close_time__gte": since}),
        ({"until": until}, {"close_time__lt": until}),
        ({"since": since, "until": until}, {"close_time__gte": since, "close_time__lt": until}),
    ):
        expected = truth(alice, "BTCUSDT", **of)
        assert shown(alice, "BTCUSDT", **filters) == expected and 0 < expected[0] < 56


def test_a_connection_that_was_removed_takes_its_totals_along(desk: list[Trader], alice: User) -> None:
    kept(desk)
    connections.remove(desk[0].account)
    assert truth(alice, "BTCUSDT")[0] == 28
    assert_true(alice)


def test_copies_in_no_sum_are_told_beside_what_was_kept(desk: list[Trader], alice: User) -> None:
    kept(desk)
    at = NOW - timedelta(days=1)
    put(desk[0], None, at)
    put(desk[0], "2.5", at, open_time=None)
    put(desk[1], "9", at, close_time=None)
    put(desk[1], None, at, closed=False, close_time=None, lost_since=NOW)
    totals = reports.history_page(alice, reports.Filters(symbol="BTCUSDT")).totals
    assert (totals.n, totals.undated, totals.lost) == (56 + 2, 1, 1)
    summed = total(row.net_profit for row in TrackingOrder.objects.filter(symbol="BTCUSDT", closed=True)
                   if row.net_profit is not None and row.close_time)  # fmt: skip
    assert totals.net == summed


def test_a_symbol_may_be_any_text(desk: list[Trader], alice: User) -> None:
    told([close(desk[0], 3, symbol) for symbol in ["", *HOSTILE]])
    kept(desk)
    told([close(desk[1], 3, symbol) for symbol in ["", *HOSTILE]])
    for symbol in HOSTILE:
        assert shown(alice, symbol) == truth(alice, symbol) and truth(alice, symbol)[0] == 2
    assert shown(alice, "")[0] == TrackingOrder.objects.filter(closed=True).count(), "which asks for all"
    assert {*HOSTILE, "BTCUSDT"} <= set(symbols_of(alice)) and "" not in symbols_of(alice)


def test_totals_that_do_not_fit_the_days_are_made_again(desk: list[Trader], alice: User) -> None:
    """As a summary is: whatever is kept is held against the orders."""
    kept(desk)
    for account in alice.accounts.all():
        rollups.verify(account)
    assert not Trader.objects.exclude(summaries_stale_since=None).exists(), "nothing is wrong"
    wrong = PeriodDetail.objects.get(trader=desk[2], period="all")
    for spoiled in (
        {},
        wrong.symbols | {"NONE": [1, 1, 0, "1", "1"]},
        wrong.symbols | {"BTCUSDT": [1, 1, 0, "1", "1"]},
    ):
        PeriodDetail.objects.filter(pk=wrong.pk).update(symbols=spoiled)
        rollups.verify(desk[2].account)
        assert Trader.objects.exclude(summaries_stale_since=None).get() == desk[2]
        assert_true(alice)
        kept(desk)
    assert PeriodDetail.objects.get(pk=wrong.pk).symbols == wrong.symbols


def test_one_statement_tells_marks_totals_and_days(desk: list[Trader], alice: User) -> None:
    """Else a page that is merged between two would be counted by neither or by both."""
    kept(desk[:2])
    with CaptureQueriesContext(
        connection,
    ) as asked:
        reports.history_page(alice, reports.Filters(symbol="BTCUSDT"))
    assert len(asked) == 1
    assert "summaries_stale_since" in of_symbol() and "copytrade_dayresult" in of_symbol()


def test_the_column_is_added_without_a_look_at_any_row() -> None:
    """Neither a value for old rows nor a check of them: the table is locked for a moment, however large it is."""
    words = StringIO()
    call_command("sqlmigrate", "copytrade", "0020", stdout=words)
    sql = words.getvalue().upper()
    assert sql.count("ADD COLUMN") == 1
    assert not any(word in sql for word in ("DEFAULT", "CHECK", "NOT NULL", "UPDATE", "INDEX"))
