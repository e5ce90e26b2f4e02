"""Files of what a page shows: the same rows and filters, exact numbers, and no formula."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade.models import AuditEntry, TrackingOrder, Trader, User
from dashboard import exports
from dashboard.exports import Column
from dashboard.views.exports import ORDER_COLUMNS
from tests.support.ledger_rows import BIG, account_of, closed_copy, open_copy, summed_once, trader_of

pytestmark = pytest.mark.django_db
COLUMNS = [Column(name, kind) for name, kind, _ in ORDER_COLUMNS]
FIELDS = [field for _, _, field in ORDER_COLUMNS]
HOSTILE = (
    '=HYPERLINK("http://evil")', "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1", " =1", "\uff1d1+1", "%0A=1", "|calc",
    "\x07=1", "\u202e=1", "a,b", 'say "hi"', "two\nlines", "back\\slash", "\u00e9\u4e2d\U0001f600",
    "'quoted", "", "<b>",
)  # fmt: skip


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    trader = trader_of(account_of(alice))
    with summed_once():
        for number, net in enumerate(["1.5", "-2", "0", "3.000000000000000001"]):
            closed_copy(trader, number, net, symbol="ETHUSDT" if number % 2 else "BTCUSDT")
    open_copy(trader, 10)
    return trader


def body(client: Client, name: str, form: str, query: str = "") -> str:
    answer = client.get(reverse(name, args=[form]) + query)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode("utf-8-sig")


def lines(client: Client, name: str, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body(client, name, "csv", query))))


def objects(client: Client, name: str, query: str = "") -> list[dict]:
    found = body(client, name, "jsonl", query).splitlines()
    return [json.loads(line, parse_float=Decimal) for line in found]


def shown_on_page(client: Client, query: str) -> list[str]:
    """The keys of the orders that the history page lists, in its order."""
    html = client.get(reverse("history") + query).content.decode()
    return re.findall(r'<th scope="row"><a href="/orders/(\d+)/"', html)


@pytest.mark.parametrize(
    "query", ["", "?symbol=ETHUSDT", "?result=gain", "?side=SHORT", "?since=2020-01-01", "?until=2020-01-01"]
)
def test_the_file_holds_exactly_what_the_page_shows(client: Client, trader: Trader, query: str) -> None:
    numbers = {str(order.pk): str(order.tracking_no) for order in TrackingOrder.objects.all()}
    shown = [numbers[key] for key in shown_on_page(client, query)]
    assert [row["tracking_no"] for row in lines(client, "history_export", query)] == shown
    assert [row["tracking_no"] for row in objects(client, "history_export", query)] == shown


def test_all_pages_are_in_one_file(client: Client, trader: Trader) -> None:
    with summed_once():
        for number in range(100, 180):
            closed_copy(trader, number, "1")
    assert len(lines(client, "history_export")) == 84
    assert len(shown_on_page(client, "")) == 50


def test_numbers_stay_numbers_with_every_digit_and_ids_stay_exact(client: Client, trader: Trader) -> None:
    exact = next(row for row in lines(client, "history_export") if row["net_usdt"].startswith("3."))
    assert exact["net_usdt"] == "3.000000000000000001"
    same = next(row for row in objects(client, "history_export") if row["net_usdt"] > 3)
    assert same["net_usdt"] == Decimal("3.000000000000000001")
    assert same["trader_id"] == str(trader.trader_id) and int(same["trader_id"]) >= BIG
    assert next(row for row in lines(client, "history_export") if row["net_usdt"] == "-2")


def test_open_copies_have_a_file_too(client: Client, trader: Trader) -> None:
    (row,) = lines(client, "open_orders_export")
    assert row["symbol"] and row["close_time"] == ""
    (same,) = objects(client, "open_orders_export")
    assert same["close_time"] is None
    assert lines(client, "open_orders_export", f"?trader={trader.pk + 1}") == []


@pytest.mark.parametrize("text", HOSTILE)
def test_text_never_becomes_a_formula(client: Client, trader: Trader, text: str) -> None:
    Trader.objects.update(name=text)
    row = lines(client, "history_export")[0]
    assert not re.match(r"[\s=+\-@|%\uff1d\uff0b\uff0d\uff20]", row["trader"]), row["trader"]
    assert row["trader"].lstrip("'") in (exports.safe_text(text).lstrip("'"),)
    assert objects(client, "history_export")[0]["trader"] == text


def test_both_ways_to_a_file_write_the_same(trader: Trader) -> None:
    for number, text in enumerate(HOSTILE):
        order = closed_copy(trader, 500 + number, "1")
        TrackingOrder.objects.filter(pk=order.pk).update(symbol=text, status=text)
    rows = TrackingOrder.objects.order_by("pk").values_list(*FIELDS)
    sql = rows.query.sql_with_params()
    kept = exports.new_file()
    exports.copy_csv(kept, COLUMNS, *sql)
    kept.seek(0)
    by_rows = "".join(exports.csv_lines(COLUMNS, rows))
    table = [
        list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline="")))
        for text in (kept.read().decode(), by_rows)
    ]
    assert table[0] == table[1]
    kept = exports.new_file()
    exports.fetch_json(kept, COLUMNS, *sql)
    kept.seek(0)
    written = [json.loads(line, parse_float=Decimal) for line in kept.read().decode().splitlines()]
    assert written == [json.loads(line, parse_float=Decimal) for line in exports.json_lines(COLUMNS, rows)]


def test_the_number_of_queries_hangs_not_on_the_rows(client: Client, trader: Trader) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            lines(client, "history_export")
        return len(caught)

    lines(client, "history_export")  # the first page of a sign-in writes its session
    few = queries()
    with summed_once():
        for number in range(200, 400):
            closed_copy(trader, number, "1")
    assert queries() == few


def test_a_file_of_an_empty_ledger_has_its_heading(client: Client) -> None:
    assert body(client, "history_export", "csv").startswith("account,trader_id,trader,")
    assert body(client, "history_export", "jsonl") == ""


def test_exports_are_written_down(client: Client, trader: Trader) -> None:
    body(client, "history_export", "csv", "?symbol=ETHUSDT")
    entry = AuditEntry.objects.get(action="exported")
    assert entry.subject.startswith("History as CSV, ") and entry.details["filters"] == "symbol=ETHUSDT"
    assert (
        entry.details["rows"]
        == len(body(client, "history_export", "csv", "?symbol=ETHUSDT").splitlines()) - 1
    )


def test_strangers_get_their_own_and_nobody_gets_nothing(
    client_of: Callable[[User], Client], charlie: User, trader: Trader
) -> None:
    assert lines(client_of(charlie), "history_export") == []
    answer = Client().get(reverse("history_export", args=["csv"]))
    assert answer.status_code == 302 and "login" in answer.url


@pytest.mark.parametrize("form", ["xlsx", "CSV", "json"])
def test_other_forms_are_not_there(client: Client, form: str) -> None:
    assert client.get(reverse("history_export", args=[form])).status_code == 404


def test_only_reading_is_answered(client: Client) -> None:
    assert client.post(reverse("history_export", args=["csv"])).status_code == 405
