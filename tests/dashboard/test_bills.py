"""Bills of both wallets: filters, sums, pages, the line, the check and the file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import connections
from copytrade.models import Account, AccountFacts, Balance, Bill, SyncJob, User
from copytrade.reports import bills as figures
from copytrade.sync import run
from dashboard.templatetags import desk
from tests.dashboard.test_overview import text
from tests.support.ledger_rows import account_of
from tests.support.page_tables import read as table
from tests.support.sandbox_process import Sandbox

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(microsecond=0)


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


def bill(
    account: Account, number: int, delta: str, after: str | None, minutes: float = 0, **more: object
) -> Bill:
    """A bill so many minutes before now."""
    values = {"wallet": "spot", "coin": "USDT", "biz_type": "deposit", "fees": Decimal(0)} | more
    return Bill.objects.create(
        account=account, bill_id=str(number), place=str(number).zfill(40), delta=Decimal(delta),
        after=None if after is None else Decimal(after), at=NOW - timedelta(minutes=minutes), **values,
    )  # fmt: skip


def page(client: Client, account: Account, **query: str):
    answer = client.get(reverse("bills", args=[account.pk]), query)
    assert answer.status_code == 200
    return answer


def test_the_sandboxs_bills_of_both_wallets_are_shown_and_add_up(
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
    assert "No bill has been read yet." in page(client, account).content.decode()
    run.sync_account(account.pk, ["account", "bills", "funding"])
    SyncJob.objects.filter(account=account, kind="bills").update(
        last_success_at=timezone.now() + timedelta(minutes=5)
    )
    spot = page(client, account)
    assert spot.context["check"].differences == [] and spot.context["check"].compared == 6
    words = text(spot.content.decode())
    assert "Complete: the exchange has none before" in words and "Every change explains its balance." in words
    assert "Trade, received" in words and spot.context["curve"]["plot"] is not None
    funding = page(client, account, wallet="funding")
    assert {bill.wallet for bill in funding.context["page"].bills} == {"funding"}
    assert "tells no balance of the funding wallet" in text(funding.content.decode())


def test_the_address_filters_by_asset_type_and_days(client: Client, account: Account) -> None:
    bill(account, 1, "1", "1", 60 * 24 * 10)
    bill(account, 2, "2", "3", 60 * 24 * 5, biz_type="trade_out")
    bill(account, 3, "4", "4", 0, coin="BTC", biz_type="airdrop_v2")
    bill(account, 4, "5", "5", 0, wallet="funding")

    def found(**query: str) -> set[str]:
        return {one.bill_id for one in page(client, account, **query).context["page"].bills}

    assert found() == {"1", "2", "3"}
    assert found(coin="BTC") == {"3"}
    assert found(type="trade_out") == {"2"}
    assert found(type="airdrop_v2") == {"3"}
    assert found(since=(NOW - timedelta(days=6)).date().isoformat()) == {"2", "3"}
    assert found(until=(NOW - timedelta(days=6)).date().isoformat()) == {"1"}
    assert found(wallet="funding") == {"4"}
    assert found(coin="DOGE") == set()


def test_the_types_offered_are_those_met_and_those_that_the_interface_names(
    client: Client, account: Account
) -> None:
    bill(account, 1, "1", "1", biz_type="airdrop_v2")
    offered = [value for value, _ in page(client, account).context["types"]]
    assert offered == sorted([*figures.TYPES, "airdrop_v2"])


def test_an_unknown_type_and_what_was_not_told_are_shown_as_they_are(
    client: Client, account: Account
) -> None:
    bill(account, 1, "1", None, biz_type="airdrop_v2", coin="", coin_id=77, fees=None)
    Bill.objects.create(account=account, wallet="spot", bill_id="9", place="9", coin="USDT")
    words = text(page(client, account).content.decode())
    assert "airdrop_v2" in words and "asset 77" in words and "not told" in words
    assert "Without a time, and so on no page: USDT" in words
    assert page(client, account).context["check"].unchecked == 2


def test_pages_lead_to_every_bill_once_and_back(client: Client, account: Account) -> None:
    for number in range(120):
        bill(account, number, "1", str(number), minutes=60 - number // 40)  # forty in each moment
    seen, query = [], {}
    while True:
        shown = page(client, account, **query).context["page"]
        seen += [one.bill_id for one in shown.bills]
        if not shown.next:
            break
        query = {"after": shown.next}
    assert seen == [str(number) for number in reversed(range(120))]
    assert [
        one.bill_id for one in page(client, account, before=shown.previous).context["page"].bills
    ] == seen[40:80]


@pytest.mark.parametrize(
    "query", ["after=x", "after=2026-01-01_1", "before=__", "after=2026-01-01T00:00:00%2B00:00_99999999999999999999",
              "coin=%00", "wallet=zzz", "since=x", "until=9999-12-31", "type=%00%00", "coin=" + "x" * 5000],
)  # fmt: skip
def test_a_nonsense_address_is_no_error(client: Client, account: Account, query: str) -> None:
    bill(account, 1, "1", "1")
    assert client.get(reverse("bills", args=[account.pk]) + "?" + query).status_code == 200


def test_sums_are_those_of_what_is_shown(client: Client, account: Account) -> None:
    bill(account, 1, "0.1", "1", 3)
    bill(account, 2, "0.2", "1", 2, fees=Decimal("0.01"))
    bill(account, 3, "-0.05", "1", 1)
    (row,) = page(client, account, coin="USDT").context["sums"]
    assert (row["came"], row["went"], row["change"]) == (Decimal("0.3"), Decimal("-0.05"), Decimal("0.25"))
    assert row["fee"] == Decimal("0.01")


# --- do they add up? ----------------------------------------------------------------------------------------


def check(account: Account, wallet: str = "spot") -> figures.Check:
    job = SyncJob.objects.get(account=account, kind="bills" if wallet == "spot" else "funding")
    return figures.check(account, wallet, job, AccountFacts.objects.filter(account=account).first())


def test_a_change_that_does_not_explain_its_balance_is_a_difference_with_its_sentence(
    client: Client, account: Account
) -> None:
    bill(account, 1, "10", "10", 3)
    bill(account, 2, "5", "15", 2)
    bill(account, 3, "1", "20", 1)
    (one,) = check(account).differences
    assert one.amount == Decimal(4) and "Bill 3 leaves 20 USDT" in one.sentence
    assert "A bill between them may be missing" in one.sentence
    assert "1 difference" in text(page(client, account).content.decode())


def test_a_fee_beside_the_change_is_named_as_such(account: Account) -> None:
    bill(account, 1, "10", "10", 3)
    bill(account, 2, "-5", "4", 2, fees=Decimal(1))
    (one,) = check(account).differences
    assert "The difference is its fee" in one.sentence


def test_bills_of_one_moment_add_up_in_some_order(account: Account) -> None:
    bill(account, 1, "10", "10", 3)
    bill(account, 2, "3", "8", 1)  # the second of that moment, though its number is less
    bill(account, 3, "-5", "5", 1)
    bill(account, 4, "1", "9", 0)
    assert check(account).differences == []


def test_assets_and_wallets_are_chains_of_their_own(account: Account) -> None:
    bill(account, 1, "10", "10", 5)
    bill(account, 2, "1", "1", 4, coin="BTC")
    bill(account, 3, "7", "7", 3, wallet="funding")
    bill(account, 4, "5", "15", 2)
    assert check(account).differences == [] and check(account, "funding").differences == []


def held(account: Account, free: str, locked: str = "0", asset: str = "USDT", minutes: float = 30) -> None:
    Balance.objects.create(account=account, asset=asset, free=Decimal(free), locked=Decimal(locked))
    AccountFacts.objects.update_or_create(
        account=account, defaults={"read_at": NOW - timedelta(minutes=minutes), "balances_told": True}
    )
    SyncJob.objects.filter(account=account, kind="bills").update(
        last_success_at=NOW, cursor={"mark": 1, "reach": 1, "gaps": [], "ended": "empty"}
    )


def test_the_last_bill_is_held_against_free_and_locked_together(account: Account) -> None:
    bill(account, 1, "10", "10", 60)
    held(account, "7", "3")
    assert (check(account).compared, check(account).differences) == (1, [])
    Balance.objects.update(locked=Decimal(2))
    (one,) = check(account).differences
    assert one.amount == Decimal(-1) and "The last bill leaves 10 USDT" in one.sentence


def test_a_bill_after_the_balance_was_read_is_not_held_against_it(account: Account) -> None:
    bill(account, 1, "10", "10", 60)
    bill(account, 2, "5", "15", 10)
    held(account, "10")
    assert (check(account).compared, check(account).differences) == (1, [])


def test_what_moved_at_the_moment_of_reading_is_not_judged(account: Account) -> None:
    bill(account, 1, "10", "10", 30)
    held(account, "3")
    assert (check(account).compared, check(account).differences) == (0, [])


def test_balances_newer_than_the_bills_wait_for_them(account: Account) -> None:
    bill(account, 1, "10", "10", 60)
    held(account, "3", minutes=0)
    assert "they are compared after the next reading" in check(account).why_not


def test_an_asset_with_bills_that_the_account_does_not_name_is_held_against_nothing(account: Account) -> None:
    bill(account, 1, "10", "10", 60, coin="DOGE")
    bill(account, 2, "10", "10", 60, coin="PEPE")
    bill(account, 3, "-10", "0", 50, coin="PEPE")
    held(account, "0", asset="USDT")
    (one,) = check(account).differences
    assert one.coin == "DOGE" and one.amount == Decimal(-10)


# --- reach, line, file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cursor", "words"),
    [
        ({}, "Not read yet."),
        ({"mark": 2, "back": {"days": 90}}, "The past is still being read: back to"),
        ({"mark": 2, "ended": "refused"}, "as far back as the exchange goes"),
        ({"mark": 2, "ended": "empty"}, "Complete: the exchange has none before"),
    ],
)
def test_the_page_says_how_far_back_it_goes(
    client: Client, account: Account, cursor: dict, words: str
) -> None:
    SyncJob.objects.filter(account=account, kind="bills").update(
        cursor=cursor, complete_from=NOW - timedelta(days=90)
    )
    assert words in text(page(client, account).content.decode())


def test_what_cannot_be_read_is_named(client: Client, account: Account) -> None:
    moment = int(datetime(2026, 5, 4, 12, tzinfo=UTC).timestamp() * 1000)
    cursor = {"mark": 1, "ended": "empty", "gaps": [[moment, moment, "More bills in one millisecond"]]}
    SyncJob.objects.filter(account=account, kind="bills").update(cursor=cursor, complete_from=NOW)
    words = text(page(client, account).content.decode())
    assert "Some bills could not be read: 4 May 12:00" in words and "More bills in one millisecond" in words


def test_the_line_is_of_the_asset_asked_for_and_else_of_the_busiest(client: Client, account: Account) -> None:
    for number in range(4):
        bill(account, number, "1", str(number), number)
    bill(account, 9, "1", "1", coin="BTC")
    assert page(client, account).context["curve"]["coin"] == "USDT"
    assert page(client, account, coin="BTC").context["curve"]["plot"] is None
    assert page(client, account, coin="BTC", draw="USDT").context["curve"]["plot"] is not None


def test_the_table_of_the_line_has_every_bill_that_it_goes_through(client: Client, account: Account) -> None:
    """Each wallet's and each asset's own, newest first, to the last digit."""
    for number in range(150):  # more than the picture has points
        bill(account, number, "1", f"{number}.0000000000000000055", number * 400)
        bill(account, 1000 + number, "1", f"{number}.25", number * 700, coin="BTC<b>")
        bill(account, 2000 + number, "1", str(number), number * 900, wallet="funding")
    bill(account, 5000, "1", None, 1)
    for query in ({}, {"draw": "BTC<b>"}, {"wallet": "funding"}):
        whole = page(client, account, **query)
        html = whole.content.decode()
        assert "<tbody>" not in html[html.index('id="curve-title"') : html.index('id="check-title"')]
        assert "after each of 150 bills" in html and "The table below has each of them." in html
        (link,) = re.findall(r'id="curve-table"><a [^>]*hx-get="([^"]+)"', html)
        part = client.get(
            reverse("bills", args=[account.pk]) + unescape(link), headers={"HX-Request": "true"}
        )
        points = figures.curve(account, query.get("wallet", "spot"), whole.context["curve"]["coin"])
        expected = [[desk.when_text(at), desk.quantity(after)] for at, after in reversed(points)]
        assert table(part.content.decode()) == expected and len(expected) == 150
        assert "BTC<b>" not in part.content.decode()
        opened = page(client, account, **query, show="curve").content.decode()
        assert text(part.content.decode()).strip() in text(opened), "without a script, too"


def test_where_there_is_no_bill_the_table_of_the_line_is_empty(client: Client, account: Account) -> None:
    address = reverse("bills", args=[account.pk])
    part = client.get(address, {"show": "curve"}, headers={"HX-Request": "true"})
    assert part.status_code == 200 and table(part.content.decode()) == []
    assert 'id="curve-table"' not in page(client, account).content.decode()


def test_the_file_is_exactly_what_the_page_shows(client: Client, account: Account) -> None:
    for number in range(130):
        bill(account, number, "0.10", "1.50", number, biz_type="=cmd()" if number == 3 else "deposit")
    bill(account, 500, "1", "1", coin="BTC")
    url = reverse("bills_export", args=[account.pk, "csv"])
    rows = list(csv.DictReader(io.StringIO(read(client, url, coin="USDT").removeprefix("\ufeff"))))
    assert [row["bill_id"] for row in rows] == [str(number) for number in range(130)]
    assert rows[0]["change"] == "0.10" and rows[3]["type"] == "'=cmd()"
    lines = read(client, reverse("bills_export", args=[account.pk, "jsonl"]), coin="BTC").splitlines()
    assert [json.loads(line)["bill_id"] for line in lines] == ["500"]
    assert client.get(reverse("bills_export", args=[account.pk, "pdf"])).status_code == 404


def read(client: Client, url: str, **query: str) -> str:
    return b"".join(client.get(url, query).streaming_content).decode()


def test_ten_bills_and_a_thousand_cost_the_same_questions(client: Client, account: Account) -> None:
    held(account, "0")
    counts = []
    page(client, account)  # the first view writes down that somebody is there
    for number in (10, 1000):
        Bill.objects.all().delete()
        Bill.objects.bulk_create(
            Bill(
                account=account, wallet="spot", bill_id=str(n), place=str(n).zfill(40), coin="USDT", biz_type="deposit",
                delta=Decimal(1), after=Decimal(n), fees=Decimal(0), at=NOW - timedelta(days=3, minutes=-n),
            )
            for n in range(number)
        )  # fmt: skip
        with CaptureQueriesContext(connection) as asked:
            page(client, account)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_htmx_gets_the_list_alone(client: Client, account: Account) -> None:
    bill(account, 1, "1", "1")
    url = reverse("bills", args=[account.pk])
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<section id="ledger"') and "<html" not in part
