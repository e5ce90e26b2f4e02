"""Two to four traders side by side: the page, its sentences, and who may see whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from copytrade.models import Trader, User
from dashboard import side_by_side
from dashboard.templatetags import desk
from tests.dashboard.test_overview import FRAME, text
from tests.support.ledger_rows import account_of, closed_copies, closed_copy, trader_of
from tests.support.page_tables import read, words

pytestmark = pytest.mark.django_db
HOSTILE = ("<script>alert(1)</script>", '"><img src=x>', "\u202eevil", "{{ 7|add:7 }}", "A" * 200)


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def four(alice: User) -> list[Trader]:
    """Four traders with 25 copies each; the first earns most, the last loses."""
    account = account_of(alice)
    found = [trader_of(account, number, f"Trader {number}") for number in range(4)]
    for place, trader in enumerate(found):
        nets = [str((3 - place) * 2 - 1 - (number % 3)) for number in range(25)]
        closed_copies(
            trader,
            *(
                (1000 * place + n, net, 1 + n * 2, ("BTCUSDT", "ETHUSDT")[n % 2])
                for n, net in enumerate(nets)
            ),
        )
    return found


def page(client: Client, traders: list[Trader], query: str = "") -> str:
    address = reverse("compare") + "?" + "&".join(f"trader={trader.pk}" for trader in traders) + query
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def figure(html: str, label: str) -> str:
    """The row of a figure."""
    start = html.index(f'<th scope="row">{label}')
    return html[start : html.index("</tr>", start)]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_traders_stand_on_the_same_axes_and_in_one_table(client: Client, four: list[Trader], n: int) -> None:
    html = page(client, four[:n])
    drawn = re.findall(r'<path class="draw-trader-(\d)" d="M0 \d+h\d', html)
    assert drawn == [str(place) for place in range(1, n + 1)] * 3, "net, relative, drawdown"
    assert len(re.findall(r"<td", figure(html, "Closed copies"))) == n
    assert html.count('class="plot ') == 3


def test_the_better_one_is_marked_by_a_star_and_a_word(client: Client, four: list[Trader]) -> None:
    row = figure(page(client, four), "Net result, USDT")
    assert row.count("★") == 1 and row.count('sr-only"> best') == 1
    assert row.index("★") < row.index("</td>"), "the first trader earned most"
    assert "★" not in figure(page(client, four), "Closed copies"), "more copies are not better"


def test_rates_of_few_copies_are_not_called_better(client: Client, four: list[Trader], alice: User) -> None:
    young = trader_of(four[0].account, 9, "Young")
    closed_copy(young, 9999, "500")
    html = page(client, [four[0], young])
    assert "★" in figure(html, "Net result, USDT") and "★" not in figure(html, "Win rate")
    assert "because Young closed fewer than 20 copies" in text(html)


def test_percentages_on_different_bases_are_not_called_better(client: Client, four: list[Trader]) -> None:
    assert "★" in figure(page(client, four), "ROI")
    Trader.objects.filter(pk=four[1].pk).update(capital_base=Decimal(50))
    html = page(client, four)
    assert "★" not in figure(html, "ROI")
    assert "The bases are not the same" in text(html)


def test_pairs_and_shared_symbols_are_told_with_their_n(client: Client, four: list[Trader]) -> None:
    said = text(page(client, four[:2]))
    assert re.search(r"Trader 0 and Trader 1 \+1\.00 together · n = 25 days", said)
    assert re.search(r"BTCUSDT \+\d+\.00 13 copies \+\d+\.00 13 copies", said)


def test_too_little_for_a_correlation_says_why(client: Client, alice: User) -> None:
    account = account_of(alice)
    pair = [trader_of(account, number, f"T{number}") for number in range(2)]
    closed_copy(pair[0], 1, "2")
    said = text(page(client, pair))
    assert "not told fewer than 20 days in common (n = 0)" in said
    assert "No symbol was traded by more than one of them" in said


def test_traders_without_a_copy_are_a_page_and_not_an_error(client: Client, alice: User) -> None:
    account = account_of(alice)
    pair = [trader_of(account, number, f"T{number}", total_investment=None) for number in range(2)]
    said = text(page(client, pair))
    assert "None of them closed a copy in the last 90 days." in said
    assert "there is no capital to measure T0 and T1 against" in said


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (0, "Choose two to four traders to see them side by side."),
        (1, "One trader is chosen. A comparison needs at least one more"),
        (5, "5 traders are chosen, and four fit side by side."),
    ],
)
def test_a_wrong_number_is_said_with_the_choice_again(
    client: Client, four: list[Trader], n: int, sentence: str
) -> None:
    chosen = [*four, trader_of(four[0].account, 8, "Fifth")][:n]
    html = page(client, chosen)
    assert sentence in text(html)
    assert html.count(' name="trader" ') >= 4 and html.count(" checked") == n


def test_naming_one_twice_is_naming_one(client: Client, four: list[Trader]) -> None:
    assert "One trader is chosen." in text(page(client, [four[0], four[0]]))


def test_an_empty_desk_and_one_with_one_trader_say_what_is_missing(client: Client, alice: User) -> None:
    assert "there are not two yet" in text(page(client, []))
    only = trader_of(account_of(alice))
    assert "there are not two yet" in text(page(client, [only]))


def test_somebody_elses_trader_does_not_exist(
    four: list[Trader], client: Client, charlie: User, client_of: Callable[[User], Client]
) -> None:
    theirs = trader_of(account_of(charlie), 50, "Theirs")
    address = reverse("compare")
    for query in (f"?trader={four[0].pk}&trader={theirs.pk}", f"?trader={theirs.pk}", "?trader=99999999"):
        assert client.get(address + query).status_code == 404, query
    assert client_of(charlie).get(f"{address}?trader={four[0].pk}&trader={four[1].pk}").status_code == 404
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize("query", ["?trader=", "?trader=abc", "?trader=-1", "?trader=1%00", "?period=<x>"])
def test_an_address_that_makes_no_sense_is_the_choice_again(
    client: Client, four: list[Trader], query: str
) -> None:
    answer = client.get(reverse("compare") + query)
    assert answer.status_code == 200 and "Choose two to four" in answer.content.decode()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(client: Client, four: list[Trader], name: str) -> None:
    Trader.objects.filter(pk=four[0].pk).update(name=name)
    html = page(client, four[:2])
    assert (
        "<script>alert" not in html
        and "<img src=x" not in html
        and "\u202e" not in html
        and ">14<" not in html
    )


def test_the_same_name_in_two_accounts_is_told_apart(client: Client, four: list[Trader], alice: User) -> None:
    twin = trader_of(account_of(alice, "Second"), 0, "Trader 0")
    said = text(page(client, [four[0], twin]))
    assert "Trader 0 Main" in said and "Trader 0 Second" in said


def test_more_copies_and_more_traders_cost_no_more_queries(client: Client, four: list[Trader]) -> None:
    def queries(traders: list[Trader]) -> int:
        with CaptureQueriesContext(connection) as caught:
            page(client, traders)
        return len(caught)

    page(client, four)
    few = queries(four[:2])
    closed_copies(four[0], *((number, "1", number % 60, "BTCUSDT") for number in range(5000, 5040)))
    assert queries(four) == few <= FRAME + 2


def test_only_reading_is_answered(client: Client) -> None:
    assert client.post(reverse("compare")).status_code == 405


def test_no_style_attribute_and_no_script_of_its_own(client: Client, four: list[Trader]) -> None:
    html = page(client, four)
    assert " style=" not in html and "uPlot" not in html


def test_the_table_says_what_the_lines_say(client: Client, four: list[Trader]) -> None:
    html = page(client, four[:2])
    assert "<table" not in html[html.index('id="net-table"') : html.index('id="relative-title"')]
    rows = page(client, four[:2], "&show=net")
    rows = rows[rows.index('id="net-table"') :]
    address = reverse("compare") + "?" + "&".join(f"trader={trader.pk}" for trader in four[:2]) + "&show=net"
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and text(part[part.index("<tbody>") :]) in text(rows)
    last = text(rows[rows.index("<tbody>") : rows.index("</tr>", rows.index("<tbody>"))])
    for trader in four[:2]:
        whole = sum(order.net_profit for order in trader.orders.all())
        assert f"+{whole:.2f}" in last
        assert re.search(
            rf"\+{whole:.2f} .{{1,12}} in it \+{whole / 10:.1f} % of capital \d+\.\d\d below the peak", last
        )
    assert side_by_side.rows_of([]) == []


def test_the_table_tells_how_far_below_the_peak_each_one_stands(client: Client, alice: User) -> None:
    account = account_of(alice)
    pair = [trader_of(account, number, f"T{number}", total_investment=None) for number in range(2)]
    closed_copies(pair[0], (1, "10", 5, "BTCUSDT"), (2, "-4", 3, "BTCUSDT"), (3, "1", 2, "BTCUSDT"))
    Trader.objects.filter(pk=pair[0].pk).update(capital_base=Decimal(200))
    html = page(client, pair, "&show=net")
    said = re.findall(r"([+−]\S+) \S+ in it (\S+ %) of capital (\S+) below the peak –", text(html))
    assert list(dict.fromkeys(said)) == [
        ("+7.00", "+3.5 %", "3.00"),
        ("+6.00", "+3.0 %", "4.00"),
        ("+10.00", "+5.0 %", "0.00"),
    ], "the newest first"


def test_the_table_has_every_day_on_which_one_of_them_closed_a_copy(client: Client, alice: User) -> None:
    """Also where more than three months are shown, and where a day came out even."""
    account = account_of(alice)
    pair = [trader_of(account, number, f"T{number}", total_investment=None) for number in range(2)]
    nets = ("4", "-1", "0", "2.5000000000000000055")
    closed_copies(pair[0], *((n, nets[n % 4], 1.0 + 2 * n, "BTCUSDT") for n in range(120)))
    closed_copies(pair[1], *((500 + n, nets[n % 4], 3.0 + 3 * n, "ETHUSDT") for n in range(20)))
    expected = []
    days = {order.close_time.date() for trader in pair for order in trader.orders.all()}
    for day in sorted(days, reverse=True):
        row = [desk.day(day)]
        for trader in pair:
            until = trader.orders.filter(close_time__date__lte=day)
            so_far = sum((order.net_profit for order in until), Decimal(0))
            row.append(words(desk.signed(so_far)) if until else "–")
        expected.append(row)
    rows = read(
        page(client, pair, "&period=all&show=net").partition('id="net-table"')[2].partition("</details>")[0]
    )
    assert [[first, *(cell.split()[0] for cell in more)] for first, *more in rows] == expected
    assert len(rows) > 120


@pytest.mark.parametrize("name", ["compare", "trader"])
def test_every_picture_has_words_and_a_table_after_it(client: Client, four: list[Trader], name: str) -> None:
    if name == "compare":
        html = page(client, four)
    else:
        html = client.get(reverse("trader", args=[four[0].pk])).content.decode()
    pictures = re.findall(r'<[^>]+ role="img"[^>]*>', html)
    assert len(pictures) == {"compare": 3, "trader": 4}[name]
    for picture in pictures:
        assert re.search(r' aria-label="[^"]{20,}"', picture), picture
        table = re.search(r' data-table="([^"]+)"', picture)
        assert table and re.search(rf'class="fold small" id="{table[1]}"', html), picture
