"""Lead trader: own orders by a copy-trade key, with the figures that followers get; others are told why not."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import connections, statistics
from copytrade.models import Account, LeadOrder, SyncJob, User
from copytrade.reports import lead as figures
from copytrade.sync import run
from dashboard.templatetags import desk
from tests.dashboard.test_overview import text
from tests.support.ledger_rows import BIG, account_of
from tests.support.page_tables import read, words
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


def order(account: Account, number: int, net: str | None = "5", days: float = 1, **more: object) -> LeadOrder:
    closed = NOW - timedelta(days=days)
    values = {
        "symbol": "BTCUSDT", "position_side": "LONG", "status": "CLOSED", "open_leverage": 5,
        "open_time": closed - timedelta(hours=1), "update_time": closed, "open_fee": Decimal("0.1"),
        "open_margin_amount": Decimal(40), "realized_pnl": None if net is None else Decimal(net) + 1,
        "net_profit": None if net is None else Decimal(net), "follow_count": number,
    }  # fmt: skip
    return LeadOrder.objects.create(account=account, tracking_no=BIG + number, **values | more)


def page(client: Client, account: Account, **query: str):
    answer = client.get(reverse("lead", args=[account.pk]), query)
    assert answer.status_code == 200
    return answer


def test_a_lead_traders_own_history_is_shown_with_its_figures(
    alice: User, client: Client, sandbox: Sandbox, redis_client: object
) -> None:
    account = connections.add(
        alice, label="Lead", venue="sandbox", key="lead-key", secret="lead-secret", passphrase="sandbox"
    )
    assert "are read for the first time" in page(client, account).content.decode()
    assert run.sync_account(account.pk, ["lead"]) == {"lead": ""}
    answer = page(client, account, period="all")
    closed = LeadOrder.objects.filter(status="CLOSED")
    assert answer.context["summary"].closed_copies == closed.count() > 20
    assert answer.context["summary"].net_profit == sum(closed.values_list("net_profit", flat=True))
    words = text(answer.content.decode())
    assert "own orders, complete since" in words and "Followers per order" in words


@pytest.mark.parametrize("period", ["all", "90"])
def test_the_table_of_the_line_has_every_day_on_which_an_order_closed(
    client: Client, account: Account, period: str
) -> None:
    """However many there are, and those that came out even, too."""
    nets = ("5", "-3.0000000000000000055", "0")
    orders = [order(account, n, nets[n % 3], 1 + 1.5 * n) for n in range(90)]
    assert (
        "<table"
        not in page(client, account, period=period).content.decode().partition('id="symbol-title"')[0]
    )
    first = (timezone.now() - timedelta(days=89)).date() if period == "90" else date.min
    expected, together, peak = [], Decimal(0), Decimal(0)
    for one in reversed([one for one in orders if one.update_time.date() >= first]):
        together += one.net_profit
        peak = max(peak, together)
        shown = desk.signed(one.net_profit), desk.signed(together), desk.money(peak - together)
        expected.append([desk.day(one.update_time), *map(words, shown)])
    asked = {"period": period, "show": "equity"}
    part = client.get(
        reverse("lead", args=[account.pk]), asked, headers={"HX-Request": "true"}
    ).content.decode()
    assert read(part) == expected[::-1] and len(expected) > 50
    assert "<html" not in part
    assert text(part).strip() in text(page(client, account, **asked).content.decode()), (
        "without a script, too"
    )


def test_where_nothing_closed_the_table_of_the_line_is_empty(client: Client, account: Account) -> None:
    address = reverse("lead", args=[account.pk])
    part = client.get(address, {"show": "equity"}, headers={"HX-Request": "true"}).content.decode()
    assert read(part) == [] and 'id="equity-table"' not in page(client, account).content.decode()


def test_another_key_gets_the_reason_and_what_to_do(
    alice: User, client: Client, sandbox: Sandbox, redis_client: object
) -> None:
    account = connections.add(
        alice,
        label="Main",
        venue="sandbox",
        key="follower-key",
        secret="follower-secret",
        passphrase="sandbox",
    )
    run.sync_account(account.pk, ["lead"])
    words = text(page(client, account).content.decode())
    assert (
        "This key cannot read a lead trader's orders" in words.replace("&#x27;", "'") and "(-3236)" in words
    )
    assert "Connect a copy-trade key" in words


def test_the_figures_are_those_that_a_followers_copies_get(client: Client, account: Account) -> None:
    orders = [order(account, n, net, days) for n, (net, days) in enumerate([("5", 1), ("-3", 2), ("7.5", 4)])]
    summary = page(client, account, period="all").context["summary"]
    expected = statistics.summarise([figures.copy_of(one) for one in orders], capital=None, now=NOW)
    names = (
        "net_profit",
        "gross",
        "wins",
        "losses",
        "profit_factor",
        "max_drawdown",
        "open_fees",
        "peak_margin",
    )
    assert [getattr(summary, name) for name in names] == [getattr(expected, name) for name in names]
    assert "at most 2" in text(page(client, account).content.decode())
    assert page(client, account).context["told_page"].followers == (Decimal(1), 2)
    assert summary.net_profit == Decimal("9.5") and summary.max_drawdown == Decimal(3)


def test_open_orders_unknown_states_and_those_without_a_result_are_in_no_figure(
    client: Client, account: Account
) -> None:
    order(account, 1)
    order(account, 2, status="HAVE_OPEN")
    order(account, 3, status="PARTLY_MELTED")
    order(account, 4, net=None)
    order(account, 5, update_time=None)
    answer = page(client, account, period="all")
    assert answer.context["summary"].closed_copies == 1
    words = text(answer.content.decode())
    assert "1 open; 1 with a status that is not documented" in words and "PARTLY_MELTED" in words
    assert "2 closed orders tell no result or no time, and are in no figure." in words


def test_the_period_and_the_filters_are_in_the_address(client: Client, account: Account) -> None:
    order(account, 1, days=3)
    order(account, 2, days=20, symbol="ETHUSDT")
    order(account, 3, days=200, status="HAVE_OPEN")

    def found(**query: str) -> set[int]:
        return {row.tracking_no - BIG for row in page(client, account, **query).context["page"]}

    assert found(period="all") == {1, 2, 3} and found() == {1, 2} and found(period="7") == {1}
    assert found(symbol="ETHUSDT") == {2} and found(period="all", status="HAVE_OPEN") == {3}
    assert page(client, account, period="7").context["summary"].closed_copies == 1


def test_the_file_is_what_the_page_shows_and_ids_are_exact(client: Client, account: Account) -> None:
    order(account, 1, symbol="=1+1")
    order(account, 2, days=200)
    url = reverse("lead_export", args=[account.pk, "csv"])
    body = b"".join(client.get(url, {"period": "30"}).streaming_content).decode().removeprefix("\ufeff")
    (row,) = csv.DictReader(io.StringIO(body))
    assert row["tracking_no"] == str(BIG + 1) and row["symbol"] == "'=1+1" and row["follow_count"] == "1"
    assert client.get(reverse("lead_export", args=[account.pk, "xls"])).status_code == 404


def test_orders_read_with_an_earlier_key_stay_and_it_is_said(client: Client, account: Account) -> None:
    order(account, 1)
    SyncJob.objects.filter(account=account, kind="lead").update(
        cursor={"not_lead": account.key_set_at.isoformat()}
    )
    words = text(page(client, account).content.decode())
    assert "The key in use now is no copy-trade key" in words and "BTCUSDT" in words


def test_what_could_not_be_read_is_named(client: Client, account: Account) -> None:
    gap = [
        None,
        (NOW - timedelta(days=90)).isoformat(),
        "The exchange sent the same orders for every range of time.",
    ]
    SyncJob.objects.filter(account=account, kind="lead").update(
        cursor={"until": NOW.isoformat(), "gaps": [gap]}
    )
    assert "everything before" in page(client, account).content.decode()


@pytest.mark.parametrize("query", ["page=x", "period=zzz", "symbol=%00", "status=" + "x" * 900, "page=99999"])
def test_a_nonsense_address_is_no_error(client: Client, account: Account, query: str) -> None:
    order(account, 1)
    assert client.get(reverse("lead", args=[account.pk]) + "?" + query).status_code == 200


def test_ten_orders_and_a_thousand_cost_the_same_questions(client: Client, account: Account) -> None:
    page(client, account)  # the first view writes down that somebody is there
    counts = []
    for number in (10, 1000):
        LeadOrder.objects.all().delete()
        LeadOrder.objects.bulk_create(
            LeadOrder(
                account=account, tracking_no=n, symbol=f"S{n % 40}", position_side="LONG", status="CLOSED",
                open_time=NOW - timedelta(days=5), update_time=NOW - timedelta(hours=n % 90),
                net_profit=Decimal(n - 400),
            )
            for n in range(number)
        )  # fmt: skip
        with CaptureQueriesContext(connection) as asked:
            page(client, account)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_more_than_the_figures_take_is_said(
    client: Client, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MOST_COPIES", 2)
    for number in range(5):
        order(account, number, days=number + 1)
    assert "The figures are those of the newest 2; 3 older ones" in text(
        page(client, account).content.decode()
    )


def test_followers_that_were_not_told_are_not_none(client: Client, account: Account) -> None:
    order(account, 1, follow_count=None)
    answer = page(client, account)
    assert answer.context["told_page"].followers == (None, None)
    assert text(answer.content.decode()).count("not told") == 2
