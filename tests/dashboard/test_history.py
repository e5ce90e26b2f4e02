"""The ledger: filters in the address, totals of what is shown, pages by key."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import rollups
from copytrade.models import SyncJob, TrackingOrder, Trader, User
from tests.dashboard.test_overview import FRAME, SIGNED_IN, text
from tests.support.ledger_rows import account_of, closed_copy, day, open_copy, summed_once, trader_of
from tests.support.trader_page import without_definitions

pytestmark = pytest.mark.django_db
URL = "/orders/history/"


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    return trader_of(account_of(alice))


def shown(html: str) -> list[int]:
    """Primary keys of the orders on the page, in order."""
    return [int(pk) for pk in re.findall(r'<th scope="row"><a href="/orders/(\d+)/"', html)]


def get(client: Client, query: str = "") -> str:
    return client.get(f"{URL}{query}").content.decode()


def href(html: str, rel: str) -> str:
    found = re.search(rf'rel="{rel}" href="([^"]+)"', html)
    assert found, f"no {rel}"
    return found[1].replace("&amp;", "&")


def test_totals_are_of_everything_that_the_filters_match(client: Client, trader: Trader) -> None:
    with summed_once():
        for number, net in enumerate(["10", "-4", "0"]):
            closed_copy(trader, number, net, number + 1)
    open_copy(trader, 50)
    page = without_definitions(get(client))
    assert "3 closed copies" in page
    assert "Net +6.00 USDT realized +9.60 1 gains, 1 losses" in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?symbol=ETHUSDT", {2}),
        ("?side=SHORT", {3}),
        ("?result=gain", {1, 2}),
        ("?result=loss", {3}),
        ("?result=even", {4}),
        ("?symbol=ETHUSDT&side=SHORT", set()),
        ("?side=sideways&result=luck&trader=x&account=-1", {1, 2, 3, 4}),
        ("?since=2026-06-03", {3, 4}),
        ("?until=2026-06-02", {1, 2}),
        ("?since=2026-06-02&until=2026-06-03", {2, 3}),
        ("?since=yesterday&until=9999-12-31", {1, 2, 3, 4}),
    ],
)
def test_filters(client: Client, trader: Trader, query: str, expected: set[int]) -> None:
    made = {
        1: closed_copy(trader, 1, "1", close_time=day("2026-06-01T12:00")),
        2: closed_copy(trader, 2, "1", close_time=day("2026-06-02T23:59:59"), symbol="ETHUSDT"),
        3: closed_copy(trader, 3, "-1", close_time=day("2026-06-03T00:00"), position_side="SHORT"),
        4: closed_copy(trader, 4, "0", close_time=day("2026-06-04T12:00")),
    }
    assert set(shown(get(client, query))) == {made[number].pk for number in expected}


def test_days_are_those_of_the_persons_zone(client: Client, alice: User, trader: Trader) -> None:
    order = closed_copy(trader, 1, close_time=day("2026-06-02T23:30"))  # in Kolkata it is the 3rd already
    assert shown(get(client, "?since=2026-06-03")) == []
    User.objects.filter(pk=alice.pk).update(zone="Asia/Kolkata")
    assert shown(get(client, "?since=2026-06-03")) == [order.pk]


def test_traders_and_accounts_filter_by_our_keys(client: Client, alice: User, trader: Trader) -> None:
    other = trader_of(account_of(alice, "Second"), 5, "Other")
    first, second = closed_copy(trader, 1), closed_copy(other, 2)
    assert shown(get(client, f"?trader={trader.pk}")) == [first.pk]
    assert shown(get(client, f"?account={other.account_id}")) == [second.pk]


def test_pages_go_back_and_forth_without_losing_or_repeating_a_copy(client: Client, trader: Trader) -> None:
    same = timezone.now() - timedelta(days=1)
    with summed_once():
        for number in range(120):
            closed_copy(trader, number, close_time=same if number < 70 else same - timedelta(minutes=number))
    first = get(client)
    second = get(client, href(first, "next"))
    third = get(client, href(second, "next"))
    pages = [shown(first), shown(second), shown(third)]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert len({pk for page in pages for pk in page}) == 120
    assert 'rel="next"' not in third and 'rel="prev"' not in first
    assert shown(get(client, href(third, "prev"))) == pages[1]
    assert shown(get(client, href(second, "prev"))) == pages[0]


def test_a_page_keeps_the_filters(client: Client, trader: Trader) -> None:
    with summed_once():
        for number in range(60):
            closed_copy(trader, number, "-1" if number % 10 else "1", number / 10)
    older = href(get(client, "?result=loss"), "next")
    assert "result=loss" in older
    assert len(shown(get(client, older))) == 4


@pytest.mark.parametrize("key", ["x", "2026-01-01_1", "2026-01-01T00:00:00+00:00_99999999999999999999", "_"])
def test_a_key_that_no_page_gave_out_shows_the_first_page(client: Client, trader: Trader, key: str) -> None:
    order = closed_copy(trader, 1)
    for name in ("after", "before"):
        answer = client.get(URL, {name: key})
        assert answer.status_code == 200 and shown(answer.content.decode()) == [order.pk]


def test_it_says_how_far_back_it_is_complete(client: Client, trader: Trader) -> None:
    SyncJob.objects.filter(kind="history").update(complete_from=day("2026-03-01T00:00"))
    assert "complete since 1 Mar 2026" in text(get(client))


def test_nothing_read_and_nothing_found_are_two_things(client: Client, trader: Trader) -> None:
    assert "No closed copy has been read yet." in get(client)
    assert "No closed copy fits these filters." in get(client, "?symbol=NONE")


def test_an_htmx_request_gets_the_ledger_alone(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1)
    html = client.get(URL, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in html and 'id="ledger"' in html


def test_a_stranger_sees_none_of_it(
    trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    closed_copy(trader, 1)
    for query in ("", f"?trader={trader.pk}", f"?account={trader.account_id}"):
        assert shown(get(client_of(charlie), query)) == []


def test_twenty_copies_cost_as_many_queries_as_ten(client: Client, trader: Trader) -> None:
    counts = []
    for round_ in range(2):
        for number in range(10):
            other = trader_of(trader.account, 100 * round_ + number + 1, f"T{round_}{number}")
            closed_copy(other, 100 * round_ + number, symbol=f"S{number}USDT")
        get(client)
        with CaptureQueriesContext(connection) as captured:
            get(client)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= FRAME + 5
    assert TrackingOrder.objects.count() == 20


@pytest.mark.parametrize("query", ["", "?before={key}", "?side=LONG"])
def test_undated_copies_and_pages_back_cost_no_more(client: Client, trader: Trader, query: str) -> None:
    for number in range(3):
        last = closed_copy(trader, number, "1", number)
    TrackingOrder.objects.filter(pk=last.pk).update(close_time=None)
    first = TrackingOrder.objects.filter(close_time__isnull=False).latest("close_time")
    assert first.close_time
    key = f"{first.close_time.isoformat()}_{first.tracking_no}_{first.pk}"
    address = URL + query.format(key=quote(key))
    for headers, most in (({}, FRAME + 4), ({"HX-Request": "true"}, SIGNED_IN + 2)):
        client.get(address, headers=headers)
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address, headers=headers).content.decode()
        assert len(captured) <= most
        assert "Without a closing time" in page and len(shown(page)) == 2


def test_a_closed_copy_without_a_closing_time_is_named_and_not_counted(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    closed_copy(trader, 1, "10", 1)
    odd = closed_copy(trader, 2, "99", 2)
    TrackingOrder.objects.filter(pk=odd.pk).update(close_time=None)
    rollups.rebuild(trader.account)
    page = get(client)
    assert f"{odd.symbol} {odd.tracking_no}</a>" in page
    assert "Without a closing time" in page and "1 closed copy" in text(page)
    assert "Without a closing time" not in get(client_of(charlie))


def test_copies_that_closed_beyond_the_history_are_counted_beside_it(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1, "5")
    assert "Not among them" not in get(client)
    for number in (2, 3):
        open_copy(trader, number, missing_since=timezone.now(), lost_since=timezone.now())
    page = text(get(client))
    assert "Not among them: 2 copies that closed beyond the history the exchange gives." in page
    assert "Their results are not known, and in no total. Show them" in page
    assert "1 closed copy" in page
