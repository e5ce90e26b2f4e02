"""Open copies with what is at risk, and one order in full."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade.models import OrderRevision, SyncJob, TrackingOrder, Trader, User
from tests.dashboard.test_overview import FRAME, text
from tests.support.ledger_rows import BIG, account_of, closed_copy, open_copy, trader_of
from tests.support.trader_page import without_definitions

pytestmark = pytest.mark.django_db
URL = "/orders/open/"
SIGNED_IN = 1  # the session with its user: all that a part asks beside its own


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    return trader_of(account_of(alice))


def rows(html: str) -> list[str]:
    return [text(row) for row in re.findall(r'<tr id="order-\d+">.*?</tr>', html, flags=re.DOTALL)]


def test_margin_and_notional_are_totalled(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    open_copy(trader, 2, open_margin_amount=Decimal("60.5"), open_fill_size=Decimal(5), symbol="ETHUSDT")
    page = without_definitions(client.get(URL).content.decode())
    assert "Margin at risk 100.50 USDT" in page
    assert "Notional 300.00" in page
    assert "Open copies 2 1 trader, 2 symbols" in page


def test_a_row_tells_age_leverage_margin_and_how_far_the_exits_are(client: Client, trader: Trader) -> None:
    open_copy(trader, 1, tp_trigger_price=Decimal("21.5"), sl_trigger_price=Decimal(19))
    (row,) = rows(client.get(URL).content.decode())
    for part in ("BTCUSDT", "↑ Long", "5x", "2 h", "40.00", "200.00", "+7.50 %", "−5.00 %"):
        assert part in row.replace("+ ", "+"), part


def test_exits_that_are_not_set_are_none_also_when_sent_as_zero(client: Client, trader: Trader) -> None:
    open_copy(trader, 1, tp_trigger_price=Decimal(0), sl_trigger_price=None)
    (row,) = rows(client.get(URL).content.decode())
    assert row.count("none") == 2


def test_a_partial_fill_is_marked(client: Client, trader: Trader) -> None:
    open_copy(trader, 1, open_fill_size=Decimal("2.5"))
    (row,) = rows(client.get(URL).content.decode())
    assert "25 % filled" in row and "50.00" in row


def test_a_status_and_a_side_that_nobody_knows_are_shown_as_they_came(client: Client, trader: Trader) -> None:
    open_copy(trader, 1, status="PART_<b>", position_side="SIDEWAYS", open_leverage=None, open_price_avg=None)
    html = client.get(URL).content.decode()
    assert "PART_&lt;b&gt;" in html and "SIDEWAYS" in html


def test_filters_are_in_the_address(client: Client, trader: Trader) -> None:
    other = trader_of(trader.account, 5, "Other")
    open_copy(trader, 1)
    open_copy(trader, 2, symbol="ETHUSDT")
    open_copy(other, 3, symbol="ETHUSDT")
    assert len(rows(client.get(URL).content.decode())) == 3
    assert len(rows(client.get(f"{URL}?symbol=ETHUSDT").content.decode())) == 2
    assert len(rows(client.get(f"{URL}?trader={other.pk}").content.decode())) == 1
    assert len(rows(client.get(f"{URL}?trader={other.pk}&symbol=BTCUSDT").content.decode())) == 0
    assert len(rows(client.get(f"{URL}?trader=9e9&symbol=").content.decode())) == 3


def test_nothing_for_these_filters_has_a_way_back(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    html = client.get(f"{URL}?symbol=DOGEUSDT").content.decode()
    assert "No open copy fits these filters." in html and f'href="{URL}">Show all' in html


def test_the_part_that_refreshes_itself_keeps_its_filters(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    address = f"{URL}?symbol=BTCUSDT"
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and f'hx-get="{address}" hx-trigger="every 5s"' in part


def test_links_in_rows_have_ids_so_that_a_refresh_keeps_the_focus(client: Client, trader: Trader) -> None:
    order = open_copy(trader, 1)
    assert f'id="order-link-{order.pk}"' in client.get(URL).content.decode()


def test_it_says_once_that_there_is_no_unrealised_result(client: Client, trader: Trader) -> None:
    for number in range(3):
        open_copy(trader, number)
    assert client.get(URL).content.decode().count("no result while a copy is open") == 1


def test_what_left_the_open_list_is_counted_but_not_shown_as_open(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    open_copy(trader, 2, missing_since=timezone.now())
    page = client.get(URL).content.decode()
    assert len(rows(page)) == 1
    page = text(page).replace("&#x27;", "'")
    assert "1 has left the exchange's open list" in page and "it is being looked up" in page
    assert re.search(r"Being looked up, gone \d+ s ago", page)


def test_what_closed_beyond_the_history_is_said_plainly(client: Client, trader: Trader) -> None:
    now = timezone.now()
    order = open_copy(trader, 1, missing_since=now - timedelta(days=100), lost_since=now)
    page = text(client.get(URL).content.decode())
    assert "Open copies 0" in page
    assert "1 closed beyond the history that the exchange gives: its result is not known" in page
    assert "Being looked up" not in page
    page = text(page_of(client, order))
    assert "Closed beyond the history the exchange gives: its result is not known" in page
    assert "It is in no total." in page


def test_of_many_that_left_the_last_twenty_are_listed_and_all_are_counted(
    client: Client, trader: Trader
) -> None:
    for number in range(23):
        open_copy(trader, number, missing_since=timezone.now() - timedelta(minutes=number))
    html = client.get(URL).content.decode()
    assert html.count('<tr id="gone-') == 20
    assert "23 have left" in text(html) and "The last 20 of them." in text(html)
    for number in range(23, 25):
        open_copy(trader, number, missing_since=timezone.now(), lost_since=timezone.now())
    html = text(client.get(URL).content.decode())
    assert "23 have left" in html and "2 closed beyond the history" in html


def test_those_being_looked_up_stand_before_those_that_are_lost(client: Client, trader: Trader) -> None:
    now = timezone.now()
    lost = open_copy(trader, 1, missing_since=now, lost_since=now)
    missing = open_copy(trader, 2, missing_since=now - timedelta(hours=1))
    html = client.get(URL).content.decode()
    assert html.index(f"gone-{missing.pk}") < html.index(f"gone-{lost.pk}")


def test_a_list_that_may_not_be_whole_says_so_until_it_is(client: Client, trader: Trader) -> None:
    open_copy(trader, 1)
    job = SyncJob.objects.filter(account=trader.account, kind="open")
    assert "may not be whole" not in client.get(URL).content.decode()
    job.update(partial_since=timezone.now() - timedelta(minutes=4))
    for headers in ({}, {"HX-Request": "true"}):
        page = text(client.get(URL, headers=headers).content.decode())
        assert "Main: this list may not be whole." in page
        assert "two passes have not agreed since" in page
    job.update(partial_since=None)
    assert "may not be whole" not in client.get(URL).content.decode()


def test_of_several_lists_that_may_not_be_whole_the_longest_in_doubt_stands_first(
    client: Client, trader: Trader
) -> None:
    now = timezone.now()
    for label, minutes in (("Later", 2), ("Earlier", 9)):
        jobs = SyncJob.objects.filter(account=account_of(trader.account.owner, label), kind="open")
        jobs.update(partial_since=now - timedelta(minutes=minutes))
    SyncJob.objects.filter(account=trader.account, kind="history").update(partial_since=now)
    page = text(client.get(URL).content.decode())
    assert page.index("Earlier: this list may") < page.index("Later: this list may")
    assert "Main: this list" not in page


def test_a_strangers_partial_list_and_lost_orders_are_not_mine(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    SyncJob.objects.filter(account=trader.account).update(partial_since=timezone.now())
    open_copy(trader, 1, missing_since=timezone.now(), lost_since=timezone.now())
    page = client_of(charlie).get(URL).content.decode()
    assert "may not be whole" not in page and "gone-title" not in page
    assert "Not among them" not in client_of(charlie).get("/orders/history/").content.decode()


def test_closed_copies_are_not_open(client: Client, trader: Trader) -> None:
    closed_copy(trader, 1)
    assert "No copy is open now." in client.get(URL).content.decode()


@pytest.mark.parametrize(("headers", "most"), [({}, FRAME + 5), ({"HX-Request": "true"}, SIGNED_IN + 3)])
def test_twenty_copies_cost_as_many_queries_as_ten_also_when_some_have_left(
    client: Client, trader: Trader, headers: dict[str, str], most: int
) -> None:
    counts = []
    for round_ in range(2):
        for number in range(10):
            other = trader_of(trader.account, 100 * round_ + number + 1, f"T{round_}{number}")
            open_copy(other, 100 * round_ + number, symbol=f"S{number}USDT")
            open_copy(other, 100 * round_ + number + 50, missing_since=timezone.now())
        client.get(URL, headers=headers)
        with CaptureQueriesContext(connection) as captured:
            client.get(URL, headers=headers)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= most


# --- one order ---


def page_of(client: Client, order: TrackingOrder) -> str:
    return client.get(reverse("order", args=[order.pk])).content.decode()


def test_an_order_is_shown_in_full_with_exact_ids(client: Client, trader: Trader) -> None:
    order = closed_copy(trader, 1, "3.25")
    page = text(page_of(client, order))
    for part in (
        str(BIG + 1),
        str(BIG + 10_001),
        str(BIG + 20_001),
        "+3.25 USDT",
        "+4.45 USDT",
        "8.13 %",
        "20.6",
    ):
        assert part in page, part


def test_fields_that_the_interface_does_not_name_are_shown_as_they_came(
    client: Client, trader: Trader
) -> None:
    order = open_copy(trader, 1, extras={"bonus<i>": 702345678901234569})
    html = page_of(client, order)
    assert "bonus&lt;i&gt;" in html and "702345678901234569" in html


def test_revisions_tell_what_changed(client: Client, trader: Trader) -> None:
    order = closed_copy(trader, 1)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["4.9", "5"], "close_time": [None, "x"]})
    page = text(page_of(client, order))
    assert "net_profit 4.9 5" in page and "close_time none x" in page


def test_an_order_with_nothing_in_it_is_still_a_page(client: Client, trader: Trader) -> None:
    order = TrackingOrder.objects.create(
        account=trader.account, trader=trader, tracking_no=BIG, symbol="X", position_side="", status=""
    )
    assert client.get(reverse("order", args=[order.pk])).status_code == 200
    assert "Updated at the exchange never" in text(page_of(client, order))


def test_an_order_says_how_old_what_is_shown_is(client: Client, trader: Trader) -> None:
    read = timezone.now() - timedelta(minutes=3)
    SyncJob.objects.filter(account=trader.account, kind="open").update(last_success_at=read)
    SyncJob.objects.filter(account=trader.account, kind="history").update(last_success_at=None)
    assert "Read 3 min ago" in text(page_of(client, open_copy(trader, 1)))
    assert "Read: not yet" in text(page_of(client, closed_copy(trader, 2)))


def test_one_that_left_the_open_list_says_so(client: Client, trader: Trader) -> None:
    order = open_copy(trader, 1, missing_since=timezone.now() - timedelta(minutes=3))
    assert "Gone from the open list 3 min ago" in text(page_of(client, order))


def test_a_stranger_gets_404_and_an_empty_list(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    order = open_copy(trader, 1)
    stranger = client_of(charlie)
    assert stranger.get(reverse("order", args=[order.pk])).status_code == 404
    assert rows(stranger.get(f"{URL}?trader={trader.pk}").content.decode()) == []
    assert "Northwind" not in stranger.get(URL).content.decode()


def test_two_orders_under_one_number_lead_to_each_other(client: Client, trader: Trader) -> None:
    first = closed_copy(trader, 1)
    second = open_copy(trader, 1, generation=77, symbol="ETHUSDT")
    for here, other in ((first, second), (second, first)):
        html = page_of(client, here)
        assert "used this order's number more than once" in html
        assert f'href="{reverse("order", args=[other.pk])}"' in html
    assert "more than once" not in page_of(client, closed_copy(trader, 2))


def test_the_same_number_at_another_account_is_another_matter(client: Client, trader: Trader) -> None:
    closed_copy(trader_of(account_of(trader.account.owner, "Other")), 1)
    assert "more than once" not in page_of(client, closed_copy(trader, 1))


def test_an_order_belongs_to_the_list_that_it_stands_in(client: Client, trader: Trader) -> None:
    here = re.compile(r'<a href="([^"]+)" aria-current="true">')
    assert set(here.findall(page_of(client, closed_copy(trader, 1)))) == {"/orders/history/"}
    assert set(here.findall(page_of(client, open_copy(trader, 2)))) == {URL}
