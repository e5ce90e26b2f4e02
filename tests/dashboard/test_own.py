"""Account: what it holds, pays and may do; for its owner, for a stranger and for nobody."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import connections, own
from copytrade.exchange import records as wire
from copytrade.exchange.decoding import decode_one
from copytrade.models import Account, Balance, BalanceDay, SyncJob, User
from copytrade.sync import run
from tests.dashboard.test_overview import text
from tests.support.ledger_rows import account_of
from tests.support.page_tables import read as table
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


def told(account: Account, **fields: object) -> None:
    own.store_account(account, decode_one(wire.AccountInfo, fields), NOW)


def page(client: Client, account: Account, **query: str) -> str:
    answer = client.get(reverse("exchange_account", args=[account.pk]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_everything_that_the_sandbox_tells_is_on_the_page(
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
    assert "are read for the first time" in page(client, account)
    assert run.sync_account(account.pk, ["account"]) == {"account": ""}
    html = page(client, account)
    words = text(html)
    for row in Balance.objects.filter(account=account):
        assert f">{row.asset}<" in html
    assert "Taker an order that trades at once 0.100" in words
    assert "Trading Orders can be placed on this account. Yes" in words
    assert "Withdrawals Money can be sent away from this account. Copydesk never does. No" in words
    assert (
        "Place and cancel orders on the spot market (SPOT_TRADING)" in words
        and "No symbol has an own rate." in words
    )
    assert str(account.facts.uid) in words


def test_what_is_absent_is_not_told_and_never_no_or_nothing(client: Client, account: Account) -> None:
    told(account, canTrade=False)
    words = text(page(client, account))
    assert "Trading Orders can be placed on this account. No" in words
    assert "Withdrawals Money can be sent away from this account. Copydesk never does. not told" in words
    assert "Broker managed The account is run through a broker. not told" in words
    assert "The exchange told no balances." in words
    assert "Type not told" in words and "Last changed not told" in words
    assert "By symbol Not told." in words
    assert "Taker an order that trades at once not told" in words


def test_own_rates_by_symbol_and_unknown_fields_stand_as_they_came(client: Client, account: Account) -> None:
    rates = {"BTCUSDT": {"maker": "0.0002", "tiers": [1, "<b>"]}, "ETHUSDT": "0.001"}
    told(
        account, symbolCommissions=rates, vipLevel={"level": 3}, permissions=["SPOT_TRADING", "MOON_WALKING"]
    )
    words = text(page(client, account))
    assert '{"maker": "0.0002", "tiers": [1, "<b>"]}' in words.replace("&quot;", '"').replace(
        "&lt;", "<"
    ).replace("&gt;", ">")
    assert "ETHUSDT 0.001" in words
    assert "vipLevel not documented" in words and "MOON_WALKING" in words and "Not known to Copydesk" in words


def test_rates_told_twice_and_not_the_same_are_both_shown(client: Client, account: Account) -> None:
    told(
        account, takerCommission=20, makerCommission=10, commissionRates={"maker": "0.001", "taker": "0.001"}
    )
    assert "they are 10 (maker) and 20 (taker)" in text(page(client, account))
    told(
        account, takerCommission=10, makerCommission=10, commissionRates={"maker": "0.001", "taker": "0.001"}
    )
    assert "tells these rates twice" not in page(client, account)


def balances(account: Account, number: int) -> None:
    rows = [
        Balance(account=account, asset=f"COIN{n:04}", free=Decimal(n % 3), locked=Decimal(0))
        for n in range(number)
    ]
    Balance.objects.bulk_create(rows)


def test_balances_are_searched_and_the_empty_ones_hidden_by_the_address(
    client: Client, account: Account
) -> None:
    balances(account, 9)
    Balance.objects.create(account=account, asset="ODD", free=None, locked=Decimal(0))
    url = reverse("exchange_account", args=[account.pk])
    assert client.get(url, {"q": "oin0003"}).context["page"].paginator.count == 1
    shown = {row.asset for row in client.get(url, {"zero": "hide"}).context["page"]}
    assert shown == {f"COIN{n:04}" for n in range(9) if n % 3} | {"ODD"}, "what was not told is not nothing"
    assert "No balance fits." in page(client, account, q="zzz")
    part = client.get(url, {"q": "ODD"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and "not told" in part


def test_an_asset_that_has_gone_is_not_among_the_balances(client: Client, account: Account) -> None:
    balances(account, 2)
    Balance.objects.filter(asset="COIN0001").update(gone_at=NOW)
    assert "COIN0001" not in page(client, account)


def test_the_past_of_an_asset_is_drawn_and_stands_in_a_table(client: Client, account: Account) -> None:
    for ago in range(5):
        BalanceDay.objects.create(
            account=account,
            asset="USDT",
            day=(NOW - timedelta(days=ago)).date(),
            free=Decimal(ago),
            locked=None if ago % 2 else Decimal("0.5"),
        )
    html = page(client, account, asset="USDT")
    assert "USDT over time" in html and 'class="plot plot-low"' in html
    rows = table(html[html.index('id="past-table"') :].partition("</details>")[0])
    assert [row[1:] for row in rows] == [
        ["0", "0.5", "0.5"], ["1", "–", "1"], ["2", "0.5", "2.5"], ["3", "–", "3"], ["4", "0.5", "4.5"],
    ], "what is drawn, too: both together"  # fmt: skip
    assert "No balance of this asset has been read." in page(client, account, asset="DOGE")


def test_the_file_is_what_the_page_shows(client: Client, account: Account) -> None:
    balances(account, 6)
    url = reverse("balances_export", args=[account.pk, "jsonl"])
    lines = b"".join(client.get(url, {"zero": "hide"}).streaming_content).decode().splitlines()
    assert [json.loads(line)["asset"] for line in lines] == ["COIN0001", "COIN0002", "COIN0004", "COIN0005"]
    assert client.get(reverse("balances_export", args=[account.pk, "xlsx"])).status_code == 404


def test_ten_balances_and_a_thousand_cost_the_same_questions(client: Client, account: Account) -> None:
    counts = []
    page(client, account)  # the first view writes down that somebody is there
    for more in (10, 1000):
        Balance.objects.all().delete()
        balances(account, more)
        with CaptureQueriesContext(connection) as asked:
            page(client, account)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_strangers_account_does_not_exist_and_nobody_signs_in_first(
    account: Account, charlie: User, client_of: Callable[[User], Client]
) -> None:
    stranger, nobody = client_of(charlie), Client()
    for name, extra in (
        ("exchange_account", []), ("bills", []), ("lead", []), ("balances_export", ["csv"]), ("bills_export", ["csv"]),
        ("lead_export", ["csv"]),
    ):  # fmt: skip
        url = reverse(name, args=[account.pk, *extra])
        assert stranger.get(url).status_code == 404, name
        assert nobody.get(url).status_code == 302 and "/accounts/login/" in nobody.get(url)["Location"], name


@pytest.mark.parametrize("name", ["exchange_account", "bills", "lead"])
def test_these_pages_are_read_only(client: Client, account: Account, name: str) -> None:
    assert client.post(reverse(name, args=[account.pk])).status_code == 405


def test_the_short_addresses_lead_to_the_first_account_or_say_what_to_do(
    client: Client, alice: User, charlie: User, client_of: Callable[[User], Client]
) -> None:
    for name in ("my_account", "my_bills", "my_funding_bills", "my_lead"):
        assert "No exchange account is connected yet." in client.get(reverse(name)).content.decode()
    account = account_of(alice)
    account_of(charlie, "Elsewhere")
    assert client.get(reverse("my_account"))["Location"] == reverse("exchange_account", args=[account.pk])
    assert (
        client.get(reverse("my_funding_bills"))["Location"]
        == reverse("bills", args=[account.pk]) + "?wallet=funding"
    )
    assert client.get(reverse("my_lead"))["Location"] == reverse("lead", args=[account.pk])


def test_several_accounts_can_be_chosen_among_and_none_of_a_stranger(
    client: Client, account: Account, alice: User, charlie: User
) -> None:
    other = account_of(alice, "Family")
    account_of(charlie, "Seaside")
    html = page(client, account)
    assert reverse("exchange_account", args=[other.pk]) in html and "Seaside" not in html


def test_a_reading_that_failed_says_so_and_what_is_kept_stays(client: Client, account: Account) -> None:
    told(account, canTrade=True)
    SyncJob.objects.filter(account=account, kind="account").update(
        failures=2, last_error="The key may not read."
    )
    html = page(client, account)
    assert "could not be read the last time.</strong> The key may not read." in html and "Trading" in html
    Account.objects.filter(pk=account.pk).update(state=Account.State.REFUSED, state_reason="It was refused.")
    assert "The key was refused.</strong> It was refused." in page(client, account)


@pytest.mark.parametrize(
    "query", ["q=%00", "page=x", "page=-3", "page=99999", "asset=%00", "zero=1", "q=" + "y" * 9999]
)
def test_a_nonsense_address_is_no_error(client: Client, account: Account, query: str) -> None:
    balances(account, 3)
    assert client.get(reverse("exchange_account", args=[account.pk]) + "?" + query).status_code == 200


@pytest.mark.parametrize("strange", [["BTCUSDT"], "all at 0.1 %", 7, None, {}])
def test_own_rates_of_any_shape_break_no_page(client: Client, account: Account, strange: object) -> None:
    told(account, symbolCommissions=strange)
    words = text(page(client, account))
    expected = {None: "Not told.", "{}": "No symbol has an own rate."}.get(
        strange if strange is None else str(strange)
    )
    assert (expected or "1 symbol has an own rate") in words
