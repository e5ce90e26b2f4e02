"""The file of the history holds what its page shows of every copy, those without a closing time included.

One rule for these, of page, totals and file: filters of account, trader, symbol, side and result hold for them as for
all others; a span of time lets none of them through, since they are in no period. They come last, by tracking number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import reports
from copytrade.models import TrackingOrder, Trader, User
from copytrade.reports.history import MOST_UNDATED
from copytrade.statistics.exact import total
from dashboard.filters import history_filters
from dashboard.templatetags import desk
from dashboard.views.exports import ORDER_COLUMNS
from tests.dashboard.test_exports import lines, objects
from tests.support.ledger_rows import account_of, closed_copy, open_copy, summed_once, trader_of

pytestmark = pytest.mark.django_db
KINDS = {name: kind for name, kind, _ in ORDER_COLUMNS}
ZONE = ZoneInfo("Asia/Kolkata")  # the page shows times of the person's zone, the file UTC
FIRST = datetime(2026, 3, 1, 20, 15, 3, 125_000, tzinfo=UTC)
DATED, UNDATED = 124, 26
SIDES = ("LONG", "SHORT", "BOTH", "SIDEWAYS")
NETS = ("12.5", "-3.000000000000000001", "0", "1234567.891234567891234567", "-0.0000004")
# Whether a copy without a closing time fits, by the address.
QUERIES: dict[str, Callable[[TrackingOrder], bool]] = {
    "": lambda order: True,
    "?side=LONG": lambda order: order.position_side == "LONG",
    "?symbol=ETHUSDT": lambda order: order.symbol == "ETHUSDT",
    "?result=gain": lambda order: order.net_profit is not None and order.net_profit > 0,
    "?result=loss": lambda order: order.net_profit is not None and order.net_profit < 0,
    "?result=even": lambda order: order.net_profit == 0,
    "?symbol=BTCUSDT&result=gain": lambda order: (
        order.symbol == "BTCUSDT" and order.net_profit is not None and order.net_profit > 0
    ),
    "?since=2026-03-04": lambda order: False,
    "?until=2026-03-06": lambda order: False,
    "?since=2026-03-03&until=2026-03-05&result=loss": lambda order: False,
    "?symbol=NONE": lambda order: False,
}


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    User.objects.filter(pk=alice.pk).update(zone=ZONE.key)
    return client_of(alice)


@pytest.fixture
def traders(alice: User) -> list[Trader]:
    account = account_of(alice)
    return [trader_of(account, 0), trader_of(account_of(alice, "Second"), 1, "O'Neill & <Sons>")]


def varied(number: int) -> dict[str, Any]:
    """Values of a copy, now and then one that the exchange did not tell."""
    net = None if number % 11 == 7 else Decimal(NETS[number % 5])
    return {
        "symbol": "ETHUSDT" if number % 3 else "BTCUSDT",
        "position_side": SIDES[number % 4],
        "open_leverage": None if number % 9 == 4 else number,
        "open_margin_amount": None if number % 8 == 3 else Decimal(f"{number}.123456789"),
        "open_price_avg": None if number % 7 == 2 else Decimal(f"6{number}000.000000012"),
        "close_avg_price": None if number % 10 == 6 else Decimal(f"0.0{number}"),
        "realized_pnl": None if net is None or number % 6 == 5 else net + Decimal("0.37"),
        "net_profit": net,
    }


def ledger(traders: list[Trader]) -> None:
    """More dated copies than two pages hold, five at a time closed in the same moment, and undated ones."""
    with summed_once():
        for number in range(DATED):
            closed = FIRST + timedelta(hours=number // 5 * 5, milliseconds=number // 5)
            opened = None if number % 13 == 12 else closed - timedelta(minutes=7 * number, milliseconds=431)
            times = {"open_time": opened, "close_time": closed}
            closed_copy(traders[number % 2], number, **varied(number), **times)
    for number in range(500, 500 + UNDATED):
        open_copy(traders[number % 2], number, closed=True, status="CLOSED", **varied(number))
    open_copy(traders[0], 900)


def pages_of(client: Client, query: str) -> list[str]:
    """Every page of the list, from the newest to the oldest."""
    found = [client.get(reverse("history") + query).content.decode()]
    while older := re.search(r'rel="next" href="([^"]+)"', found[-1]):
        found.append(client.get(reverse("history") + unescape(older[1])).content.decode())
    return found


def told(cell: str) -> str:
    """A cell without its links, with its colour and what stands on hover."""
    return unescape(re.sub(r"</?a\b[^>]*>", "", cell)).strip()


def shown(page: str) -> list[list[str]]:
    """What the list of a page tells of each copy, cell by cell, and the number that its link leads to."""
    numbers = dict(TrackingOrder.objects.values_list("pk", "tracking_no"))
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.S):
        cells = re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.S)
        assert len(cells) == 9
        key = re.search(r'href="/orders/(\d+)/"', cells[2])
        assert key
        copy = unescape(re.sub(r"<[^>]+>", "", cells[2]))
        found.append([str(numbers[int(key[1])]), copy, *(told(cell) for cell in cells[:2] + cells[3:])])
    return found


def as_shown(line: dict[str, Any]) -> list[str]:
    """The same, made of a line of the file."""
    opened, closed = (
        time and datetime.fromisoformat(time) for time in (line["open_time"], line["close_time"])
    )
    side = {"LONG": "↑ Long", "SHORT": "↓ Short"}.get(line["side"], line["side"])
    leverage = desk.NONE if line["leverage"] is None else f"{line['leverage']}x"
    cells = [
        desk.when(closed),
        line["trader"],
        desk.money(line["margin_usdt"]),
        desk.quantity(line["open_price"]),
        desk.quantity(line["close_price"]),
        desk.length_of(opened, closed) if opened else desk.NONE,
        desk.signed(line["realized_usdt"]),
        desk.signed(line["net_usdt"]),
    ]
    return [line["tracking_no"], f"{line['symbol']} {side} {leverage}", *(unescape(cell) for cell in cells)]


def named(page: str) -> list[str]:
    """The copies that a page names as without a closing time: symbol and tracking number."""
    found = re.search(r"Without a closing time[^:]*:(.*?)</p>", page, re.S)
    return re.findall(r">([^<]+ \d+)</a>", found[1]) if found else []


def values(row: dict[str, str]) -> dict[str, Any]:
    """A line of the CSV file, with its values as JSON Lines has them."""
    return {
        name: None
        if text == "" and KINDS[name] != "text"
        else Decimal(text)
        if KINDS[name] == "number"
        else text
        for name, text in row.items()
    }


@pytest.mark.parametrize("query", QUERIES)
def test_the_file_tells_of_every_copy_what_the_page_shows(
    client: Client, alice: User, traders: list[Trader], query: str
) -> None:
    ledger(traders)
    alice.refresh_from_db()
    pages = pages_of(client, query)
    file = objects(client, "history_export", query)
    assert [values(row) for row in lines(client, "history_export", query)] == file

    dated = [line for line in file if line["close_time"]]
    undated = file[len(dated) :]
    assert not any(line["close_time"] for line in undated)  # they are the last
    with timezone.override(ZONE):
        assert [as_shown(line) for line in dated] == [row for page in pages for row in shown(page)]

    fits = QUERIES[query]
    rows = TrackingOrder.objects.filter(closed=True, close_time=None).order_by("-tracking_no")
    assert [line["tracking_no"] for line in undated] == [str(row.tracking_no) for row in rows if fits(row)]
    names = [f"{line['symbol']} {line['tracking_no']}" for line in undated]
    left = len(names) - MOST_UNDATED
    for page in pages:
        assert named(page) == names[:MOST_UNDATED]
        assert ("more, in the file below" in page) == (left > 0)
        assert left <= 0 or f" and {left} more, in the file below" in page

    asked = client.get(reverse("history") + query).wsgi_request.GET
    totals = reports.history_page(alice, history_filters(asked, ZONE)).totals
    assert (totals.n, totals.undated) == (len(dated), len(undated))
    assert totals.net == total(line["net_usdt"] for line in dated if line["net_usdt"] is not None)


def test_the_ledger_of_that_test_has_several_pages_and_more_undated_copies_than_one_names(
    client: Client, traders: list[Trader]
) -> None:
    ledger(traders)
    assert [len(shown(page)) for page in pages_of(client, "")] == [50, 50, 24]
    assert [len(pages_of(client, query)) for query in ("?symbol=ETHUSDT", "?since=2026-03-04")] == [2, 2]
    assert UNDATED > MOST_UNDATED


def test_copies_without_a_closing_time_alone_have_a_file(client: Client, traders: list[Trader]) -> None:
    export = reverse("history_export", args=["csv"])
    assert export not in client.get(reverse("history")).content.decode()
    open_copy(traders[0], 1, closed=True, status="CLOSED", net_profit=Decimal(4))
    page = client.get(reverse("history")).content.decode()
    assert export in page and len(named(page)) == 1
    assert "No closed copy" not in page
    (row,) = lines(client, "history_export")
    assert row["close_time"] == "" and row["net_usdt"] == "4"
    gone = client.get(reverse("history") + "?result=loss").content.decode()
    assert "No closed copy fits these filters." in gone and named(gone) == []
