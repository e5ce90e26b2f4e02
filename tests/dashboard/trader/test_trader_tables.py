"""The tables beside a trader's pictures: each holds all that its picture was drawn from, not a choice of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, timedelta
from decimal import Decimal
from itertools import groupby

import pytest
from django.test import Client
from django.utils import timezone

from copytrade import reports
from copytrade.models import TrackingOrder, Trader, TraderNote, User
from dashboard.templatetags import desk
from tests.support.ledger_rows import account_of, closed_copies, trader_of, version_of
from tests.support.page_tables import read, words
from tests.support.trader_page import page_of, part_of

pytestmark = pytest.mark.django_db

COPIES = 210  # more than there are dots, in more than 92 days
SYMBOLS = ("BTCUSDT", "ETHUSDT", "<b>USDT")
NETS = ("3.10", "-2.4000000000000000055", "0", "7", "-1")


@pytest.fixture
def trader(alice: User) -> Trader:
    """Ten months of copies: gains, losses, days that came out even, some of them with two copies."""
    trader = trader_of(account_of(alice))
    copies = [(n, NETS[n % 5], 1 + 1.5 * n, SYMBOLS[n % 3]) for n in range(COPIES)]
    even = [(COPIES, "5", 200.0, "BTCUSDT"), (COPIES + 1, "-5", 200.0, "ETHUSDT")]
    closed_copies(trader, *copies, *even)
    return trader


@pytest.fixture
def idle(alice: User) -> Trader:
    return trader_of(account_of(alice, "Idle"), 99, "Idle")


def own_range() -> tuple[date, date]:
    today = timezone.now().date()
    return today - timedelta(days=250), today - timedelta(days=100)


PERIODS = ("all", "90", "range")


def asked(period: str) -> str:
    first, last = own_range()
    return f"?period=range&from={first}&to={last}" if period == "range" else f"?period={period}"


def page_for(trader: Trader, period: str) -> reports.TraderPage:
    """What the page is made of."""
    if period == "range":
        return reports.trader_range(trader, *own_range(), zone=UTC)
    return reports.trader_page(trader, period, zone=UTC)


def table(client: Client, trader: Trader, period: str, name: str) -> str:
    return part_of(client, trader, f"{asked(period)}&show={name}")


def closed_in(trader: Trader, period: str) -> list[TrackingOrder]:
    first, last = own_range() if period == "range" else (date.min, date.max)
    if period == "90":
        first = timezone.now().date() - timedelta(days=89)
    found = trader.orders.filter(closed=True).order_by("close_time")
    return [order for order in found if first <= order.close_time.date() <= last]


def by_day(orders: Sequence[TrackingOrder]) -> list[tuple[date, Decimal]]:
    return [
        (day, sum((order.net_profit for order in own), Decimal(0)))
        for day, own in groupby(orders, key=lambda order: order.close_time.date())
    ]


# --- the line ---


@pytest.mark.parametrize("period", PERIODS)
def test_the_table_of_the_line_has_every_day_on_which_a_copy_closed(
    client: Client, trader: Trader, period: str
) -> None:
    expected, together, peak = [], Decimal(0), Decimal(0)
    for day, net in by_day(closed_in(trader, period)):
        together += net
        peak = max(peak, together)
        figures = desk.signed(net), desk.signed(together), desk.money(peak - together)
        expected.append([desk.day(day), *(words(figure) for figure in figures)])
    html = table(client, trader, period, "equity")
    assert read(html) == expected[::-1]
    assert len(expected) > {"all": 200, "90": 50, "range": 92}[period]
    assert any(net == "0.00" for _, net, *_ in expected), "days that came out even are there, too"
    assert "as it stood at the end of the day" in words(html)


def test_what_is_marked_on_the_line_stands_below_its_table(client: Client, trader: Trader) -> None:
    version = version_of(trader)
    seen = timezone.now() - timedelta(days=15)
    trader.versions.filter(pk=version.pk).update(author="outside", first_seen_at=seen)
    noted = (timezone.now() - timedelta(days=12)).date()
    TraderNote.objects.create(trader=trader, day=noted, text="Doubled <b>it</b>")
    TraderNote.objects.create(trader=trader, day=date(2020, 1, 1), text="Before all of it")
    html = table(client, trader, "all", "equity")
    marks = [words(item) for item in re.findall(r"<li>(.*?)</li>", html)]
    assert marks == [
        f"{desk.day(noted)} Note: Doubled &lt;b&gt;it&lt;/b&gt;",
        f"{desk.when_text(seen)} Settings changed outside the desk",
    ]


# --- of all of them ---


@pytest.mark.parametrize("name", ["equity"])
def test_each_table_scrolls_in_a_named_region_that_keys_reach(
    client: Client, trader: Trader, name: str
) -> None:
    html = table(client, trader, "all", name)
    assert re.search(
        r'<div class="table-scroll tall" tabindex="0" role="region" aria-label="[^"]{8,}">', html
    )
    assert "<b>USDT" not in html
    for cell in re.findall(r"<th[ >][^>]*", html):
        assert "scope=" in cell, cell


@pytest.mark.parametrize("name", ["equity"])
@pytest.mark.parametrize("period", PERIODS)
def test_a_trader_without_copies_has_empty_tables(
    client: Client, idle: Trader, name: str, period: str
) -> None:
    assert read(table(client, idle, period, name)) == []
    assert f'id="{name}-table"' not in page_of(client, idle, asked(period))
