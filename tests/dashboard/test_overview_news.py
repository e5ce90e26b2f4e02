"""The overview's four answers, what overlaps, and what is new since the last visit."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade.models import Alert, OrderRevision, Trader, User
from tests.dashboard.test_overview import FRAME, text
from tests.support.ledger_rows import account_of, closed_copies, closed_copy, open_copy, trader_of, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    """alice, whose last visit ended three hours ago."""
    left = timezone.now() - timedelta(hours=3)
    User.objects.filter(pk=alice.pk).update(here_since=left, last_here_at=left)
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    return trader_of(account_of(alice), first_seen_at=timezone.now() - timedelta(days=90))


def part(client: Client, title: str) -> str:
    """What a person reads in the card whose heading has this id."""
    html = client.get("/").content.decode()
    start = html.index(f'id="{title}"')
    return text(html[start : html.index("</section>", start)].partition(">")[2])


# --- since the last visit ---


def test_closed_and_opened_copies_since_the_last_visit_are_told_with_their_net(
    client: Client, trader: Trader
) -> None:
    closed_copy(trader, 1, "3", 1 / 24)
    closed_copy(trader, 2, "-1", 2 / 24)
    closed_copy(trader, 3, "100", 2)
    open_copy(trader, 4)
    open_copy(trader, 5, open_time=timezone.now() - timedelta(hours=9))
    said = part(client, "since-title")
    assert "Since you were here, 3 h ago" in said
    assert "2 copies closed : +2.00 USDT" in said
    assert "1 copy opened , and is open still" in said


def test_settings_are_told_with_who_changed_them(client: Client, trader: Trader) -> None:
    version_of(trader)
    for author in ("me", "outside"):
        version = version_of(trader)
        trader.versions.filter(pk=version.pk).update(author=author)
    said = part(client, "since-title")
    assert "Settings of Northwind Steady : set from this desk" in said
    assert "Settings of Northwind Steady : changed outside the desk" in said
    assert "first reading" not in said
    assert "Settings changed, see beside" in part(client, "short-title")


def test_traders_who_came_and_went_are_named(client: Client, trader: Trader) -> None:
    trader_of(trader.account, 1, "Newcomer")
    trader_of(trader.account, 2, "Gone", copied=False, left_at=timezone.now(),
              first_seen_at=timezone.now() - timedelta(days=9))  # fmt: skip
    trader_of(trader.account, 3, "Long gone", copied=False, left_at=timezone.now() - timedelta(days=8),
              first_seen_at=timezone.now() - timedelta(days=9))  # fmt: skip
    said = part(client, "since-title")
    assert "Copied for the first time: Newcomer" in said
    assert "Gone is not copied any more" in said and "Long gone" not in said


def test_results_that_were_trued_up_are_told_and_a_close_is_none(client: Client, trader: Trader) -> None:
    order = closed_copy(trader, 1, "3", 2)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["3.5", "3"]})
    OrderRevision.objects.create(
        order=order, changed={"net_profit": [None, "3.5"], "close_time": [None, "x"]}
    )
    OrderRevision.objects.create(
        order=order, changed={"net_profit": ["4", "3.5"]}, seen_at=timezone.now() - timedelta(days=1)
    )
    assert "1 result was trued up by the exchange: −0.50 USDT" in part(client, "since-title")


def test_new_alerts_are_counted(client: Client, trader: Trader, alice: User) -> None:
    for hours in (1, 2, 9):
        Alert.objects.create(owner=alice, account=trader.account, kind="data_stale", key=f"k{hours}", sentence="S.",
                             created_at=timezone.now() - timedelta(hours=hours))  # fmt: skip
    assert "2 new alerts" in part(client, "since-title")


def test_when_nothing_happened_it_says_so(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1, "3", 2)
    assert "Nothing happened: no copy opened or closed, and nobody changed any settings." in part(
        client, "since-title"
    )


def test_news_stay_for_the_whole_visit(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1, "3", 1 / 24)
    assert "1 copy closed" in part(client, "since-title")
    assert "1 copy closed" in part(client, "since-title"), "also at the second look"


def test_at_the_first_visit_the_last_day_is_told(
    alice: User, trader: Trader, client_of: Callable[[User], Client]
) -> None:
    closed_copy(trader, 1, "3", 1 / 24)
    closed_copy(trader, 2, "3", 2)
    said = part(client_of(alice), "since-title")
    assert said.strip().startswith("In the last 24 hours") and "1 copy closed" in said


def test_after_months_away_everything_since_is_summed(client: Client, trader: Trader, alice: User) -> None:
    User.objects.update(last_here_at=timezone.now() - timedelta(days=80))
    closed_copies(trader, *((number, "1", number * 3 + 1, "BTCUSDT") for number in range(25)))
    assert "25 copies closed : +25.00 USDT" in part(client, "since-title")


def test_what_happens_to_somebody_else_is_no_news(client: Client, trader: Trader, charlie: User) -> None:
    theirs = trader_of(account_of(charlie), 7, "Theirs")
    closed_copy(theirs, 1, "3", 1 / 24)
    order = closed_copy(theirs, 2, "3", 2)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["3.5", "3"]})
    version_of(theirs)
    theirs.versions.update(author="outside")
    assert "Nothing happened" in part(client, "since-title")
    assert "Theirs" not in client.get("/").content.decode()


# --- overlap and exposure ---


def test_the_same_symbol_and_side_through_two_traders_is_said_plainly(client: Client, trader: Trader) -> None:
    other = trader_of(trader.account, 1, "Other")
    open_copy(trader, 1, open_margin_amount=Decimal(400))
    open_copy(other, 2, open_margin_amount=Decimal(80))
    open_copy(other, 3, position_side="SHORT")
    said = part(client, "short-title")
    assert "BTCUSDT long is open through 2 traders: 480.00 USDT margin together." in said
    listed = part(client, "overlap-title")
    assert "Northwind Steady 400.00 , Other 80.00" in listed


def test_opposite_sides_and_one_trader_alone_are_no_overlap(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    open_copy(trader, 2)
    open_copy(trader_of(trader.account, 1, "Other"), 3, position_side="SHORT")
    assert "No symbol is open the same way through two traders." in part(client, "short-title")
    assert 'id="overlap-title"' not in client.get("/").content.decode()


def test_one_trader_followed_by_two_accounts_is_told_apart(
    client: Client, trader: Trader, alice: User
) -> None:
    open_copy(trader, 1)
    open_copy(trader_of(account_of(alice, "Second"), 0), 2)
    said = part(client, "overlap-title")
    assert "Northwind Steady (Main) 40.00" in said and "Northwind Steady (Second) 40.00" in said


def test_what_is_open_adds_up_by_symbol_and_by_bet(client: Client, trader: Trader) -> None:
    """Three traders; two of them long in BTCUSDT and in SOLUSDT, and nothing else is held twice the same way."""
    second, third = (
        trader_of(trader.account, number, name) for number, name in ((1, "Second"), (2, "Third"))
    )
    bets = [
        (trader, "BTCUSDT", "LONG", "100", "2", "250"),
        (trader, "BTCUSDT", "LONG", "20.5", "1", "250"),
        (second, "BTCUSDT", "LONG", "79.5", "4", "250"),
        (third, "BTCUSDT", "SHORT", "100", "0.4", "250"),
        (trader, "ETHUSDT", "SHORT", "60", "3", "100"),
        (second, "SOLUSDT", "LONG", "10", "1", "40"),
        (third, "SOLUSDT", "LONG", "30", "2", "40"),
    ]
    for number, (who, symbol, side, margin, size, price) in enumerate(bets):
        open_copy(
            who, number, symbol=symbol, position_side=side, open_margin_amount=Decimal(margin),
            open_fill_size=Decimal(size), open_price_avg=Decimal(price),
        )  # fmt: skip
    open_copy(third, 90, open_margin_amount=Decimal(5000), missing_since=timezone.now())
    closed_copy(third, 91, "1", open_margin_amount=Decimal(5000))
    page = text(client.get("/").content.decode())
    assert re.search(r"Margin at risk.{,300}? 400\.00 7 open copies , 3 symbols", page)
    assert "7 open copies, 400.00 USDT , 75 % of it in BTCUSDT" in part(client, "short-title")
    # How many, margin, notional (price times filled size: 1,850 of 7.4 at 250), share of the margin.
    exposure = part(client, "exposure-title")
    assert (
        "BTCUSDT 4 300.00 1 850.00 75 % ETHUSDT 1 60.00 300.00 15 % SOLUSDT 2 40.00 120.00 10 %" in exposure
    )
    overlap = part(client, "overlap-title")
    assert (
        "BTCUSDT long is open through 2 traders: 200.00 USDT margin together, 50 % of all at risk." in overlap
    )
    assert "Northwind Steady 120.50 , Second 79.50" in overlap
    assert (
        "SOLUSDT long is open through 2 traders: 40.00 USDT margin together, 10 % of all at risk." in overlap
    )
    assert "Third 30.00 , Second 10.00" in overlap
    assert "short" not in overlap and "ETHUSDT" not in overlap


# --- the four answers ---


def test_who_earned_most_and_who_lost_most_are_named(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1, "9")
    closed_copy(trader_of(trader.account, 1, "Loser"), 2, "-4")
    said = part(client, "short-title")
    assert "Northwind Steady most, +9.00 ; Loser lost most, −4.00 , in the last 90 days." in said


def test_results_that_are_not_summed_yet_are_not_called_nothing(client: Client, trader: Trader) -> None:
    Trader.objects.update(summaries_stale_since=timezone.now())
    assert "The results are being summed" in part(client, "short-title")
    assert "being summed" in part(client, "traders-title")


def test_an_empty_desk_has_no_tiles_and_one_next_step(client: Client) -> None:
    html = client.get("/").content.decode()
    assert "tiles" not in html and 'href="/connections/add/"' in html


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "\u202eevil"])
def test_hostile_names_stay_text_everywhere(client: Client, trader: Trader, name: str) -> None:
    Trader.objects.update(name=name, copied=True, first_seen_at=timezone.now())
    open_copy(trader, 1)
    open_copy(trader_of(trader.account, 1, name), 2)
    closed_copy(trader, 3, "4", 1 / 24)
    version_of(trader)
    trader.versions.update(author="outside")
    html = client.get("/").content.decode()
    assert "<script>alert" not in html and "<img src=x" not in html and "\u202e" not in html


def test_it_costs_six_queries_beside_the_frame_however_much_there_is(client: Client, trader: Trader) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            client.get("/")
        return len(caught)

    client.get("/")
    few = queries()
    for number in range(1, 12):
        closed_copies(trader_of(trader.account, number, f"T{number}"), (number, "1", 1, "BTCUSDT"))
    for number in range(100, 130):
        open_copy(trader, number)
    assert queries() == few <= FRAME + 5
