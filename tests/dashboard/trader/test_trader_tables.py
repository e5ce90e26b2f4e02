"""The tables beside a trader's pictures: each holds all that its picture was drawn from, not a choice of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, timedelta
from decimal import Decimal
from itertools import groupby

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import reports
from copytrade.models import TrackingOrder, Trader, TraderNote, User
from dashboard.templatetags import desk
from tests.support.ledger_rows import account_of, closed_copies, trader_of, version_of
from tests.support.page_tables import bodies, cells, lines, read, words
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
        return reports.trader_range(trader, *own_range(), zone=UTC, whole=("margin",))
    return reports.trader_page(trader, period, zone=UTC, whole=("margin",))


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


# --- the margin ---


@pytest.mark.parametrize("period", PERIODS)
def test_the_table_of_the_margin_has_every_step_newest_first(
    client: Client, trader: Trader, period: str
) -> None:
    steps = list(page_for(trader, period).margin)
    rows = read(table(client, trader, period, "margin"))
    assert rows == [[desk.when_text(at), words(desk.money(in_use))] for at, in_use in reversed(steps)]
    assert len(rows) == 2 * len(closed_in(trader, period)), "each copy was opened and closed"
    assert f"each of its {len(steps)} steps" in page_of(client, trader, asked(period))


# --- the dots ---


@pytest.mark.parametrize("period", PERIODS)
def test_the_table_of_the_dots_has_each_of_them_the_best_first(
    client: Client, trader: Trader, period: str
) -> None:
    dots = page_for(trader, period).scatter
    html = table(client, trader, period, "holding")
    named = {order.pk: order for order in trader.orders.all()}
    found = []
    for line in (line for body in bodies(html) for line in lines(body)):
        (key,) = re.findall(rf'href="{reverse("order", args=[0]).replace("0", "([0-9]+)")}"', line)
        order, (copy, held, net) = named[int(key)], cells(line)
        assert words(copy).startswith(order.symbol.replace("<", "&lt;").replace(">", "&gt;")), "as text"
        assert f"closed {desk.when_text(order.close_time)}" in words(copy)
        found.append((int(key), words(held), words(net)))
    expected = [(key, desk.duration(held * 3600), words(desk.signed(net))) for held, net, key in dots]
    assert sorted(found) == sorted(expected) and len(dots) > 50
    nets = [named[key].net_profit for key, *_ in found]
    assert nets == sorted(nets, reverse=True)
    assert f"each of the {len(dots)} dots" in page_of(client, trader, asked(period))


def test_copies_are_named_for_those_alone_who_open_the_table(client: Client, trader: Trader) -> None:
    html = page_of(client, trader, "?period=all")
    card = html[html.index('aria-labelledby="holding-title"') :].partition("</section>")[0]
    assert reverse("order", args=[1]).rstrip("/").rpartition("/")[0] + "/" not in card.partition("<figure")[2]
    assert reports.trader_around(trader).named == {}


def test_a_dot_whose_copy_is_gone_keeps_its_figures(client: Client, trader: Trader) -> None:
    gone = closed_in(trader, "90")[-1]
    TrackingOrder.objects.filter(pk=gone.pk).delete()
    rows = read(table(client, trader, "90", "holding"))
    assert len(rows) == len(page_for(trader, "90").scatter)
    assert ["no longer in the ledger", "1 h", words(desk.signed(gone.net_profit))] in rows


# --- the calendar ---


@pytest.mark.parametrize("period", PERIODS)
def test_the_table_of_the_calendar_has_each_day_under_its_month(
    client: Client, trader: Trader, period: str
) -> None:
    html = table(client, trader, period, "calendar")
    expected = []
    for month, own in groupby(by_day(closed_in(trader, period)), key=lambda row: row[0].replace(day=1)):
        days = list(own)
        nets = [net for _, net in days]
        gains, losses = [net for net in nets if net > 0], [net for net in nets if net < 0]
        ends = [f"best {words(desk.signed(max(nets)))}"] * bool(gains)
        ends += [f"worst {words(desk.signed(min(nets)))}"] * bool(losses)
        head = f"{month:%b %Y} {', '.join(ends)}".strip()
        total = [head, str(len(gains)), str(len(losses)), words(desk.signed(sum(nets, Decimal(0))))]
        expected.append([total, *([desk.day(day), words(desk.signed(net))] for day, net in days[::-1])])
    found = [
        [[words(cell).replace(" ,", ",") for cell in cells(line)] for line in lines(body)]
        for body in bodies(html)
    ]
    assert found == expected[::-1]
    assert len(found) >= 3 and any("0.00" in day for month in found for day in month[1:])


def test_each_day_of_the_calendars_table_leads_to_its_copies(client: Client, trader: Trader) -> None:
    html = table(client, trader, "all", "calendar")
    links = re.findall(r'href="([^"]+)"', html)
    days = [day for day, _ in by_day(closed_in(trader, "all"))]
    address = f"{reverse('history')}?trader={trader.pk}"
    assert links == [f"{address}&amp;since={day}&amp;until={day}" for day in days[::-1]]
    assert set(links) <= set(re.findall(r'href="([^"]+)"', part_of(client, trader, "?period=all&show=days")))


# --- of all of them ---


@pytest.mark.parametrize("name", ["equity", "margin", "holding", "calendar"])
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


@pytest.mark.parametrize("name", ["equity", "margin", "holding", "calendar"])
@pytest.mark.parametrize("period", PERIODS)
def test_a_trader_without_copies_has_empty_tables(
    client: Client, idle: Trader, name: str, period: str
) -> None:
    assert read(table(client, idle, period, name)) == []
    assert f'id="{name}-table"' not in page_of(client, idle, asked(period))


def test_the_tables_tell_time_by_the_persons_clock(client: Client, alice: User, trader: Trader) -> None:
    alice.zone = "Asia/Kathmandu"
    alice.save(update_fields=["zone"])
    (newest, _), *_ = read(table(client, trader, "all", "margin"))
    closed = max(order.close_time for order in trader.orders.all())
    assert newest.endswith(f"{closed + timedelta(hours=5, minutes=45):%H:%M}")
