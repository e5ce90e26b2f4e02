"""The first page: results by period, what is at risk, who earns money, and what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from urllib.parse import urljoin

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import alerts
from copytrade.models import Account, Alert, SyncJob, User
from copytrade.reports.overview import overview_line
from dashboard.templatetags import desk
from tests.support.ledger_rows import (
    account_of,
    closed_copies,
    closed_copy,
    open_copy,
    summed_once,
    trader_of,
    version_of,
)
from tests.support.page_tables import read, words
from tests.support.page_text import text
from tests.support.trader_page import without_definitions

pytestmark = pytest.mark.django_db
# Queries of every part, and of every page: the session with its user, and how many alerts and data issues wait. The
# list of sessions is kept up to date once a minute.
SIGNED_IN, FRAME = 1, 1


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def test_the_tiles_add_up_by_period_after_costs(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    with summed_once():
        for number, (net, days) in enumerate([("10", 3), ("-4", 20), ("7.5", 60)]):
            closed_copy(trader, number, net, days)
    open_copy(trader, 50)
    page = text(client.get("/").content.decode())
    assert re.search(r"7 days.*? \+10\.00 1 closed copy", page)
    assert re.search(r"30 days.*? \+6\.00 2 closed copies", page)
    assert re.search(r"All, after costs.*? \+13\.50 3 closed copies", page)
    assert re.search(r"Margin at risk.*? 40\.00 1 open copy", page)


@pytest.mark.parametrize(
    ("zone", "later", "today", "week"),
    [
        # 04:00 UTC is half past nine there: the day began before the true-up.
        ("Asia/Kolkata", "", "+5.00 1 closed copy", "+5.00 1 closed copy"),
        (
            "Asia/Kolkata",
            "2",
            "+7.00 2 closed copies, +2.00 provisional",
            "+7.00 2 closed copies, +2.00 provisional",
        ),
        ("UTC", "2", "+2.00 1 closed copy, provisional", "+7.00 2 closed copies, +2.00 provisional"),
    ],
)
def test_each_tile_says_which_part_may_still_change(
    client: Client, alice: User, zone: str, later: str, today: str, week: str
) -> None:
    User.objects.filter(pk=alice.pk).update(zone=zone)
    night = datetime.combine(timezone.now().date(), datetime.min.time(), UTC) + timedelta(hours=4)
    with time_machine.travel(night, tick=False):
        trader = trader_of(account_of(alice))
        closed_copy(trader, 1, "5", 9 / 24)
        if later:
            closed_copy(trader, 2, later, 1 / 24)
        page = client.get("/").content.decode()
    tiles = [without_definitions(tile) for tile in page.split('<div class="tile">')[1:5]]
    assert [("provisional" in tile) for tile in tiles] == [bool(later)] * 4
    assert today.removesuffix("") in tiles[0] and week.removesuffix("") in tiles[1]


@pytest.mark.parametrize(
    ("zone", "today", "week"),
    [
        ("UTC", "2 closed copies, provisional", "+7.00 3 closed copies, 0.00 provisional"),
        # There the day began before the true-up, and the seven were of it.
        (
            "Asia/Kolkata",
            "+7.00 3 closed copies, 0.00 provisional",
            "+7.00 3 closed copies, 0.00 provisional",
        ),
        # There it is still the day before, when the true-up had not been.
        (
            "America/New_York",
            "+7.00 3 closed copies, 0.00 provisional",
            "+7.00 3 closed copies, 0.00 provisional",
        ),
    ],
)
def test_results_that_cancel_out_may_still_change(
    client: Client, alice: User, zone: str, today: str, week: str
) -> None:
    User.objects.filter(pk=alice.pk).update(zone=zone)
    night = datetime.combine(timezone.now().date(), datetime.min.time(), UTC) + timedelta(hours=4)
    with time_machine.travel(night, tick=False):
        trader = trader_of(account_of(alice))
        with summed_once():
            for number, (net, hours) in enumerate([("5", 1), ("-5", 2), ("7", 9)]):
                closed_copy(trader, number, net, hours / 24)
        page = client.get("/").content.decode()
    tiles = [without_definitions(tile) for tile in page.split('<div class="tile">')[1:5]]
    assert today in tiles[0] and week in tiles[1]
    assert all("provisional" in tile for tile in tiles)


def test_a_figure_that_is_not_known_says_why(client: Client, alice: User) -> None:
    closed_copy(trader_of(account_of(alice), total_investment=None), 1, "0", open_margin_amount=None)
    html = client.get("/").content.decode()
    row = html[html.index('class="trader-name"') :].partition("</tr>")[0]
    assert len(re.findall(r'aria-hidden="true">–</span><small>[^<]{5,}</small>', row)) == 3, (
        "ROI, win rate, drawdown"
    )


def test_without_a_connection_it_says_what_to_do_first(client: Client) -> None:
    page = client.get("/").content.decode()
    assert "No exchange account is connected yet." in page
    assert 'href="/connections/add/"' in page


def test_a_refused_key_is_told_with_the_way_to_its_cure(client: Client, alice: User) -> None:
    account = account_of(alice)
    Account.objects.filter(pk=account.pk).update(
        state=Account.State.REFUSED, state_reason="The passphrase is wrong."
    )
    page = client.get("/").content.decode()
    assert "A key was refused." in page and "The passphrase is wrong." in page
    assert 'href="/connections/"' in page


def test_settings_changed_outside_are_told(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    version_of(trader)
    trader.versions.update(author="outside")
    alerts.watch()
    html = client.get("/").content.decode()
    assert html.count("changed outside the desk.") == 1, "the alert"
    assert "Settings of Northwind Steady : changed outside the desk, " in text(html), "and what is new"
    assert "Northwind Steady: changed outside the desk." in text(html)
    assert reverse("copy_settings_timeline", args=[trader.pk]) in html


def test_of_several_alerts_the_newest_is_told_and_the_others_counted(client: Client, alice: User) -> None:
    for number in range(3):
        Alert.objects.create(owner=alice, kind="data_stale", key=str(number), sentence=f"Sentence {number}.",
                             account=account_of(alice, f"A{number}"),
                             created_at=timezone.now() - timedelta(minutes=number))  # fmt: skip
    page = text(client.get("/").content.decode())
    assert "Sentence 0." in page and "Sentence 1." not in page
    assert "3 alerts wait for you in all" in page
    Alert.objects.update(read_at=timezone.now())
    assert "Sentence" not in client.get("/").content.decode()


def test_what_the_banner_about_the_data_says_is_not_said_twice(client: Client, alice: User) -> None:
    account = account_of(alice)
    Alert.objects.create(owner=alice, account=account, kind="key_refused", key="k", sentence="Twice.")
    assert "Twice." in client.get("/").content.decode()
    Account.objects.update(state="refused", state_reason="The key is not known.")
    page = client.get("/").content.decode()
    assert "Twice." not in page and page.count("A key was refused.") == 1


def test_old_data_is_called_old(client: Client, alice: User) -> None:
    account_of(alice)
    SyncJob.objects.filter(kind="open").update(last_success_at=timezone.now() - timedelta(hours=3))
    page = text(client.get("/").content.decode())
    assert "Not read for a while: open orders." in page
    assert "Orders 3 h ago , stale" in page


def test_the_first_walk_through_the_past_shows_how_far_it_got(client: Client, alice: User) -> None:
    account_of(alice)
    cursor = {"back": {"end": "2026-03-05T00:00:00+00:00", "seen": 321}}
    SyncJob.objects.filter(kind="history").update(cursor=cursor, complete_from=None)
    page = text(client.get("/").content.decode())
    assert "Reading your past: back to 5 Mar 2026 so far, 321 closed copies found." in page


def test_traders_stand_by_what_they_earned_also_those_who_were_left(client: Client, alice: User) -> None:
    account = account_of(alice)
    good, former, bad = (
        trader_of(account, 1, "Good"),
        trader_of(account, 2, "Former", copied=False, left_at=timezone.now()),
        trader_of(account, 3, "Bad"),
    )
    with summed_once():
        for number, (trader, net) in enumerate([(bad, "-9"), (former, "1"), (good, "5")]):
            closed_copy(trader, number, net)
    page = client.get("/").content.decode()
    table = page[page.index('class="traders"') :]
    assert table.index(">Good<") < table.index(">Former<") < table.index(">Bad<")
    assert "left " in text(table)


def chart_of(client: Client, html: str, page: str = "/") -> dict:
    """The points of the page's chart, asked for where the page says, as the script asks."""
    found = re.search(r'data-chart="([^"]+)"', html)
    assert found
    answer = client.get(urljoin(page, unescape(found[1])), headers={"HX-Request": "true"})
    assert answer.status_code == 200 and answer["Content-Type"] == "application/json"
    return json.loads(answer.content)


def test_the_chart_starts_again_from_nothing_in_the_chosen_period(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    with summed_once():
        for number, (net, days) in enumerate([("100", 40), ("10", 5), ("-4", 4), ("1", 3)]):
            closed_copy(trader, number, net, days)
    week = chart_of(client, client.get("/?period=7").content.decode())
    assert week["equity"] == [10, 6, 7]
    assert week["drawdown"] == [0, -4, -3]
    whole = client.get("/?period=all").content.decode()
    assert chart_of(client, whole)["equity"] == [100, 110, 106, 107]
    assert "107.00 USDT, 3.00 below the peak" in whole, "the end of the line, as it is read off"


def test_a_period_that_is_none_gives_the_usual_one(client: Client, alice: User) -> None:
    account_of(alice)
    page = client.get("/?period=<script>").content.decode()
    assert 'href="?period=90" aria-current="true"' in page


def test_a_stranger_sees_nothing_of_it(
    alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    closed_copy(trader_of(account_of(alice)), 1, "77.77")
    page = client_of(charlie).get("/").content.decode()
    assert "Northwind" not in page and "77.77" not in page


def test_twenty_copies_cost_as_many_queries_as_ten(client: Client, alice: User) -> None:
    account = account_of(alice)
    counts = []
    for round_ in range(2):
        for number in range(10):
            trader = trader_of(account, 100 * round_ + number, f"T{number}")
            closed_copy(trader, 100 * round_ + number, "3")
            open_copy(trader, 1000 + 100 * round_ + number)
            version_of(trader)
        client.get("/")
        with CaptureQueriesContext(connection) as captured:
            client.get("/")
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert counts[0] <= FRAME + 5


@pytest.mark.parametrize("show", ["equity", "chart"])
def test_what_the_line_is_made_of_is_asked_for_alone(client: Client, alice: User, show: str) -> None:
    trader = trader_of(account_of(alice))
    version_of(trader)
    for number in range(3):
        closed_copy(trader, number, "3", number)
    client.get("/?period=all")
    part = {"HX-Request": "true"}
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(f"/?period=all&show={show}", headers=part)
    assert len(captured) - SIGNED_IN <= 3
    assert "9.00" in text(answer.content.decode()) or answer.json()["equity"] == [3, 6, 9]


def test_the_table_of_the_line_has_every_day_of_it_and_what_is_marked_on_it(
    client: Client, alice: User
) -> None:
    account = account_of(alice)
    pair = [trader_of(account, number, f"T{number}") for number in range(2)]
    nets = ("3", "-1.5", "0")
    for place, one in enumerate(pair):
        closed_copies(one, *((place * 1000 + n, nets[n % 3], 2.0 + n * 2.5, "BTCUSDT") for n in range(80)))
    version_of(pair[0])
    version = version_of(pair[0])
    pair[0].versions.filter(pk=version.pk).update(
        author="outside", first_seen_at=timezone.now() - timedelta(9)
    )
    for period, least in (("all", 80), ("365", 80), ("30", 10)):
        html = client.get(f"/?period={period}&show=equity", headers={"HX-Request": "true"}).content.decode()
        line = overview_line(alice, period, UTC, timezone.now()).equity
        rows = [
            [desk.day(at - timedelta(seconds=1)), words(desk.signed(net)), words(desk.money(below))]
            for at, net, below in line
        ]
        assert [[day, net, below] for day, _, net, below in read(html)] == rows[::-1]
        assert len(rows) >= least
        assert "Settings of T0 changed outside the desk" in text(html)
        assert text(html).strip() in text(client.get(f"/?period={period}&show=equity").content.decode())


def test_the_table_of_a_line_that_is_not_there_is_empty(client: Client, alice: User) -> None:
    account_of(alice)
    answer = client.get("/?show=equity", headers={"HX-Request": "true"})
    assert answer.status_code == 200 and "<tbody></tbody>" in answer.content.decode()


def test_money_is_exact_to_the_last_digit_on_hover(client: Client, alice: User) -> None:
    closed_copy(trader_of(account_of(alice)), 1, "0.1000000000000000055", realized_pnl=Decimal(1))
    assert "+0.1000000000000000055" in client.get("/").content.decode()
