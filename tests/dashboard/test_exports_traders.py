"""Files of the traders' table, and of a trader's days and breakdowns: what the page shows, in its order."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade import reports
from copytrade.models import AuditEntry, Trader, User
from dashboard.views.exports import (
    BREAKDOWN_COLUMNS,
    DAILY_COLUMNS,
    MONEY_FIGURES,
    OTHER_FIGURES,
    TRADER_COLUMNS,
)
from tests.dashboard.test_exports import body, lines, objects
from tests.dashboard.test_traders import names
from tests.support.ledger_rows import BIG, account_of, closed_copies, closed_copy, trader_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    trader = trader_of(account_of(alice))
    nets = ["1.5", "-2", "0", "3.000000000000000001"]
    closed_copies(trader, *((n, net, 1 + 9 * n, ("BTCUSDT", "ETHUSDT")[n % 2]) for n, net in enumerate(nets)))
    return trader


def of_trader(client: Client, trader: Trader, what: str, form: str = "csv", query: str = "") -> str:
    answer = client.get(reverse("trader_export", args=[trader.pk, what, form]) + query)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode("utf-8-sig")


# --- the table ---


@pytest.mark.parametrize("query", ["", "?sort=name", "?sort=win-up", "?sort=factor", "?period=30&sort=n"])
def test_the_file_has_the_traders_of_the_page_in_its_order(
    client: Client, trader: Trader, query: str
) -> None:
    closed_copy(trader_of(trader.account, 1, "Second", copied=False), 50, "8", 40)
    trader_of(trader.account, 2, "Third")
    shown = names(client.get("/traders/" + query).content.decode())
    assert len(shown) == 3, "former traders too"
    assert [row["trader"] for row in lines(client, "traders_export", query)] == shown
    assert [row["trader"] for row in objects(client, "traders_export", query)] == shown


def test_every_figure_of_the_period_is_in_it_with_every_digit(
    client: Client, trader: Trader, alice: User
) -> None:
    (row,) = lines(client, "traders_export", "?period=90")
    (kept,) = reports.traders_table(alice, "90")
    for name in set(MONEY_FIGURES) | set(OTHER_FIGURES) - {"days_under_water"}:  # that one grows meanwhile
        value, cell = getattr(kept.summary, name), row[f"{name}_usdt" if name in MONEY_FIGURES else name]
        assert (cell == "") if value is None else (Decimal(cell) == value), name
    assert row["net_profit_usdt"] == "2.500000000000000001" and row["period"] == "90"
    assert int(row["trader_id"]) >= BIG and row["note"] == "few copies, short time"


def test_columns_have_names_of_their_own() -> None:
    for columns in (TRADER_COLUMNS, DAILY_COLUMNS, BREAKDOWN_COLUMNS):
        found = [column.name for column in columns]
        assert len(set(found)) == len(found)


def test_names_are_no_formulas(client: Client, trader: Trader) -> None:
    Trader.objects.update(name='=HYPERLINK("http://evil")')
    (row,) = lines(client, "traders_export")
    assert row["trader"] == '\'=HYPERLINK("http://evil")'


def test_ten_traders_cost_as_many_queries_as_one(client: Client, trader: Trader) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            lines(client, "traders_export")
        return len(caught)

    lines(client, "traders_export")
    few = queries()
    for number in range(1, 10):
        trader_of(trader.account, number, f"T{number}")
    assert queries() == few


# --- one trader ---


@pytest.mark.parametrize(
    "query", ["", "?period=7", "?period=all", "?period=range&from=2020-01-01&to=2020-02-01"]
)
def test_days_are_those_of_the_page_and_add_up(client: Client, trader: Trader, query: str) -> None:
    text = of_trader(client, trader, "daily", query=query)
    rows = [line.split(",") for line in text.splitlines()[1:]]
    page = reports.trader_page(trader, {"": "90", "?period=7": "7", "?period=all": "all"}.get(query, "7"))
    if "range" in query:
        assert all(Decimal(net) == 0 for _, net, _ in rows)
        return
    assert [(day, Decimal(net)) for day, net, _ in rows] == [(str(day), net) for day, net in page.daily]
    assert Decimal(rows[-1][2]) == page.summary.net_profit


def test_breakdowns_are_in_one_file_told_apart_by_what_they_are_by(client: Client, trader: Trader) -> None:
    rows = [
        line.split(",")
        for line in of_trader(client, trader, "breakdowns", query="?period=all").splitlines()[1:]
    ]
    assert {row[0] for row in rows} == {"symbol", "side", "weekday", "leverage", "holding"}
    for by in ("symbol", "side", "weekday"):
        assert sum(int(row[2]) for row in rows if row[0] == by) == 4
        assert sum(Decimal(row[3]) for row in rows if row[0] == by) == Decimal("2.500000000000000001")
    written = of_trader(client, trader, "breakdowns", "jsonl", "?period=all")
    assert len(written.splitlines()) == len(rows)


def test_what_was_saved_is_written_down(client: Client, trader: Trader) -> None:
    of_trader(client, trader, "daily", query="?period=30")
    entry = AuditEntry.objects.get(action="exported")
    rows = entry.details["rows"]
    assert entry.subject == f"Northwind Steady days as CSV, {rows} rows" and rows > 0
    assert entry.details == {"filters": "period=30", "rows": rows}


def test_a_stranger_and_nobody_get_nothing(
    trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    address = reverse("trader_export", args=[trader.pk, "daily", "csv"])
    stranger = client_of(charlie)
    assert stranger.get(address).status_code == 404
    assert lines(stranger, "traders_export") == []
    for one in (address, reverse("traders_export", args=["csv"])):
        answer = Client().get(one)
        assert answer.status_code == 302 and "login" in answer.url


@pytest.mark.parametrize(("what", "form"), [("daily", "xlsx"), ("secrets", "csv"), ("breakdowns", "json")])
def test_other_files_are_not_there(client: Client, trader: Trader, what: str, form: str) -> None:
    assert client.get(reverse("trader_export", args=[trader.pk, what, form])).status_code == 404
    assert client.get(reverse("traders_export", args=["xml"])).status_code == 404


def test_only_reading_is_answered(client: Client, trader: Trader) -> None:
    assert client.post(reverse("traders_export", args=["csv"])).status_code == 405
    assert client.post(reverse("trader_export", args=[trader.pk, "daily", "csv"])).status_code == 405


# --- the way to them ---


@pytest.mark.parametrize(
    ("page", "query", "name"),
    [
        ("traders", "?period=30&sort=n", "traders_export"),
        ("history", "?result=gain", "history_export"),
    ],
)
def test_the_pages_link_to_their_files_with_the_address_of_what_is_shown(
    client: Client, trader: Trader, page: str, query: str, name: str
) -> None:
    html = client.get(reverse(page) + query).content.decode()
    for form in ("csv", "jsonl"):
        address = reverse(name, args=[form]) + query.replace("&", "&amp;")
        assert re.search(rf'<a href="{re.escape(address)}" download>', html), address


def test_an_empty_table_is_a_heading(client: Client) -> None:
    assert body(client, "traders_export", "csv").startswith("account,trader_id,trader,")
