"""What pages read of sums and summaries: one query each, however many traders, and traders that are whole."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from copytrade import rollups
from copytrade.models import Account, Trader, User
from copytrade.rollups import read
from copytrade.statistics import Brief, Summary
from copytrade.together import Prepared
from tests.support.ledger_rows import account_of, trader_of
from tests.support.rollup_truth import NOW, assert_brief_is_of_the_summary, put, rows, told


def test_pages_read_sums_in_one_query_each(trader: Trader, charlie: User) -> None:
    told([put(trader, "3", NOW), put(trader, "-4", NOW - timedelta(days=2), symbol="ETHUSDT")])
    today = date(2026, 3, 29)
    with CaptureQueriesContext(connection) as queries:
        found = read.totals([trader.account_id], {"today": today, "week": date(2026, 3, 23), "all": None})
        series = read.day_series([trader.pk], date(2026, 3, 27), today)
        parted = read.symbols([trader.pk])
        together = read.account_series([trader.account_id])
    assert len(queries) == 4
    assert [(day, row.net) for day, row in together] == [(date(2026, 3, 27), -4), (today, 3)]
    assert {name: (row.n, row.net) for name, row in found.items()} == {
        "today": (1, 3), "week": (2, -1), "all": (2, -1),
    }  # fmt: skip
    assert [(row.day, row.net, row.trader) for row in series] == [
        (date(2026, 3, 27), -4, trader.pk), (today, 3, trader.pk),
    ]  # fmt: skip
    assert {symbol: (row.wins, row.losses) for symbol, row in parted.items()} == {
        "BTCUSDT": (1, 0), "ETHUSDT": (0, 1),
    }  # fmt: skip
    assert read.totals(read.accounts_of(charlie), {"all": None})["all"].n == 0
    assert read.period_rows(charlie, "all", NOW) == []
    with pytest.raises(KeyError):
        read.period_rows(charlie, "8", NOW)


def test_the_rows_of_a_period_cost_the_same_however_many(alice: User, account: Account) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert all(row.summary.closed_copies == 0 for row in read.period_rows(alice, "30"))
        return len(queries)

    Trader.objects.create(account=account, trader_id=1)
    rollups.summarise_stale()
    few = cost()
    Trader.objects.bulk_create(Trader(account=account, trader_id=uid) for uid in range(2, 300))
    rollups.summarise_stale(limit=1000)
    assert cost() == few == 1


def test_traders_of_a_period_are_whole_and_in_their_order(alice: User, account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(permissions=["read"])
    whole = {"copied": True, "capital_base": Decimal("10.50"), "extras": {"bonus": [1]}}
    for uid, fields in enumerate([{"name": "B"}, {"name": "A"}, {"name": "C", **whole}], start=1):
        Trader.objects.create(account=account, trader_id=uid, **fields)
    wanted = list(Trader.objects.select_related("account").order_by("-copied", "name", "pk"))
    with CaptureQueriesContext(connection) as queries:
        found = [row.trader for row in read.period_rows(alice, "all")]
        for trader, other in zip(found, wanted, strict=True):
            for mine, theirs in ((trader, other), (trader.account, other.account)):
                for column in mine._meta.concrete_fields:
                    assert getattr(mine, column.attname) == getattr(theirs, column.attname), column
    assert len(queries) == 1 and str(found[0].capital_base) == "10.50"


def test_the_brief_of_a_line_is_what_its_summary_says(trader: Trader) -> None:
    (never,) = rows(trader, "all")
    assert never.kept is None and never.brief == never.summary, "a trader that was found a moment ago"
    told(put(trader, str(number % 5 - 2), NOW - timedelta(hours=7 * number)) for number in range(60))
    rollups.summarise_stale(now=NOW)
    for period in rollups.PERIODS:
        for now in (NOW, NOW + timedelta(days=1)):
            (row,) = rows(trader, period, now)
            assert type(row.brief) is Brief and type(row.summary) is Summary
            assert_brief_is_of_the_summary(row)
            recent = row.brief.provisional_copies, row.brief.provisional_net
            assert recent == ((2, -3) if now == NOW else (0, 0)), "nothing closed since the next true-up"
    for base in ("0.00000001", "250", "9" * 40):
        Trader.objects.filter(pk=trader.pk).update(capital_base=Decimal(base))
        (row,) = rows(trader, "90")
        assert_brief_is_of_the_summary(row)
        assert row.brief.capital_label == "on the capital you entered"


@pytest.mark.parametrize("nets", [[], ["0"], ["-0.00", "0.10", "-7"], ["9" * 40 + "." + "1" * 40, "-1e-30"]])
def test_days_by_columns_are_what_rows_would_tell(alice: User, charlie: User, nets: list[str]) -> None:
    labels = ((alice, "A"), (alice, "B"), (charlie, "A"))
    his, hers, others = (trader_of(account_of(user, label)) for user, label in labels)
    for who in (his, hers, others):
        copies = [put(who, net, NOW - timedelta(days=3 * place)) for place, net in enumerate(nets)]
        if copies:
            told(copies)
    days = day_nets(alice)
    wanted = read.account_series([his.account_id, hers.account_id])
    assert list(zip(days.days, days.n, days.net, strict=True)) == [
        (day, row.n, row.net) for day, row in wanted
    ]
    assert list(map(str, days.net)) == [str(row.net) for _, row in wanted], "to the last zero"
    assert len(days.days) == len(nets) and set(days.n) <= {2}


def test_a_part_of_days_has_both_its_ends_and_one_without_bounds_has_all() -> None:
    first = date(2026, 3, 1)
    every = [first + timedelta(days=step) for step in (0, 1, 5, 6)]
    days = read.DayNets(every, [1, 2, 3, 4], list(map(Decimal, "1234")))
    assert days.part(None) == days and days.part(first, every[-1]) == days
    assert days.part(every[1], every[2]) == read.DayNets(every[1:3], [2, 3], [Decimal(2), Decimal(3)])
    assert days.part(first + timedelta(days=2), first + timedelta(days=4)).days == []
    assert read.DayNets().part(first, first).days == ()


def day_nets(user: User) -> read.DayNets:
    with CaptureQueriesContext(connection) as queries:
        (found,) = Prepared(lambda owner: (read.days_asked(owner),))(owner=user.pk)
    assert len(queries) == 1
    return read.day_nets(found)
