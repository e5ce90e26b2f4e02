"""The affiliate pages, against the sandbox: each operation, its bounds and errors, as alice, charlie and nobody."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import connections
from copytrade.affiliate import KINDS, ask_standing, fetching, standing_of
from copytrade.models import Account, AffiliateReport, AffiliateRow, AffiliateStanding, AuditEntry, User
from dashboard import affiliate_charts
from tests.dashboard.test_overview import text
from tests.support.sandbox_process import Sandbox

AFFILIATE = {"key": "affiliate-key", "secret": "affiliate-secret", "passphrase": "sandbox"}
FOLLOWER = {"key": "follower-key", "secret": "follower-secret", "passphrase": "sandbox"}
QUESTIONS: dict[str, dict[str, str]] = {
    "commissions": {"product_type": "both"},
    "users": {},
    "trading": {},
    "withdrawals": {"from_account_type": "SPOT", "to_account_type": "SPOT"},
    "sub-affiliates": {"product_type": "FUTURES"},
    "deals": {},
}


@pytest.fixture
def account(alice: User, sandbox: Sandbox, redis_client: object) -> Account:
    made = connections.add(alice, label="Partner", venue="sandbox", **AFFILIATE)
    ask_standing(made)
    return made


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def day(back: int) -> str:
    return (timezone.now().astimezone(UTC).date() - timedelta(days=back)).isoformat()


def days(back: int, until: int = 0) -> dict[str, str]:
    return {"since": day(back), "until": day(until)}


def page_of(account: Account, slug: str) -> str:
    return f"/affiliate/{account.pk}/{slug}/"


def asked(client: Client, account: Account, slug: str, **more: str) -> str:
    """Ask by the form, let a worker read it, and give the page's address."""
    answer = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | more)
    assert answer.status_code == 302, text(answer.content.decode())
    for report in fetching.due():
        while fetching.read(report) == fetching.MORE:
            pass
    return answer["Location"]


def get(client: Client, url: str, status: int = 200, **headers: Any) -> str:
    answer = client.get(url, **headers)
    assert answer.status_code == status
    return answer.content.decode()


def listed(html: str) -> list[str]:
    """The headings of the rows of the report's table."""
    return re.findall(r'<th scope="row" class="[^"]*">(.*?)</th>', html.split('id="rows"')[1])


# --- each operation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", KINDS)
def test_a_question_is_asked_read_and_shown(client: Client, account: Account, slug: str) -> None:
    url = asked(client, account, slug, **days(20))
    html = get(client, url)
    report = AffiliateReport.objects.get()
    assert f"{report.rows} rows" in text(html) and report.rows
    assert len(listed(html)) == min(report.rows, 25)
    for column in KINDS[slug].columns:
        assert column.label in text(html)
    assert get(client, page_of(account, slug)).count('id="answer"') == 1, (
        "the latest is shown without its number"
    )


@pytest.mark.parametrize("slug", KINDS)
def test_a_stranger_and_nobody_get_nothing(
    account: Account, charlie: User, client_of: Callable[[User], Client], slug: str
) -> None:
    report = AffiliateReport.objects.create(
        account=account, kind=slug, state="done", finished_at=timezone.now()
    )
    url = page_of(account, slug)
    stranger, nobody = client_of(charlie), Client()
    for address in (url, f"{url}?report={report.pk}", f"{url}export.csv"):
        assert stranger.get(address).status_code == 404
        assert nobody.get(address)["Location"].startswith("/accounts/login/")
    for address in (f"{url}ask/", f"/affiliate/{account.pk}/standing/"):
        assert stranger.post(address, days(3)).status_code == 404
        assert nobody.post(address, days(3)).status_code == 302
    mine = connections.add(charlie, label="Hers", venue="sandbox", **AFFILIATE)
    assert stranger.get(f"{page_of(mine, slug)}?report={report.pk}").status_code == 404
    assert AffiliateReport.objects.count() == 1


@pytest.mark.parametrize(
    ("slug", "chosen", "sentence"),
    [
        ("users", {"since": day(400)}, "The exchange tells of the last 365 days only."),
        ("trading", {"since": day(366)}, "The exchange tells of the last 365 days only."),
        ("withdrawals", {"since": day(31)}, "The exchange tells of the past month only (31 days)."),
        ("commissions", {"since": "2001-01-01"}, "The desk asks for at most 10 years at once."),
        ("commissions", {"until": "2100-01-01"}, "(UTC). Choose that day or an earlier one."),
        ("users", {"since": day(2), "until": day(3)}, "The last day must not be before the first."),
        ("users", {"since": day(3), "until": day(3), "uid": "x7"}, "x7 is not a user"),
        ("users", {"since": ""}, "Choose a day."),
        ("users", {"since": "soon"}, "Write the day as year-month-day"),
        ("commissions", {"coin": "DOGE"}, "Choose one of the list."),
        ("commissions", {"product_type": ""}, "This field is required."),
        ("sub-affiliates", {"product_type": "MARGIN"}, "Choose one of the list."),
        ("sub-affiliates", {"sub_uid": "1" * 20}, "it has digits only, at most 19"),
        ("withdrawals", {"from_account_type": "CARD"}, "Choose one of the list."),
        ("withdrawals", {"withdraw_id": "a\x07b"}, "Copy the withdrawal"),
        ("deals", {"user_ids": "12, twelve"}, "twelve is not a user"),
        (
            "deals",
            {"user_ids": " ".join(map(str, range(201)))},
            "at most 200 customers at once; these are 201",
        ),
        ("deals", {"since": day(1), "until": day(2)}, "The last day must not be before the first."),
    ],
)
def test_each_bound_is_said_beside_its_field_and_nothing_is_asked(
    client: Client, account: Account, sandbox: Sandbox, slug: str, chosen: dict[str, str], sentence: str
) -> None:
    before = len(sandbox.calls()["calls"])
    answer = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | days(3) | chosen)
    assert answer.status_code == 400
    assert sentence in text(answer.content.decode()).replace("&#x27;", "'")
    assert "field-bad" in answer.content.decode()
    assert not AffiliateReport.objects.exists() and len(sandbox.calls()["calls"]) == before


@pytest.mark.parametrize(("slug", "back"), [("users", 364), ("trading", 364), ("withdrawals", 30)])
def test_the_date_pickers_cannot_leave_the_bounds(
    client: Client, account: Account, slug: str, back: int
) -> None:
    html = get(client, page_of(account, slug))
    for name in ("since", "until"):
        [field] = re.findall(rf'<input type="date" name="{name}"[^>]*>', html)
        assert f'min="{day(back)}"' in field and f'max="{day(0)}"' in field
    report = client.post(page_of(account, slug) + "ask/", QUESTIONS[slug] | days(back))
    assert report.status_code == 302, "the earliest day that can be picked can be asked for"


# --- what the answer shows ----------------------------------------------------------------------------------


def test_totals_by_coin_and_product_are_exact(client: Client, account: Account) -> None:
    html = get(client, asked(client, account, "commissions", **days(30)))
    rows = list(AffiliateRow.objects.values_list("coin", "product", "record"))
    groups = {(coin, product) for coin, product, _ in rows}
    assert len(groups) == 4
    for coin, product in groups:
        whole = sum(Decimal(r["commission"]) for c, p, r in rows if (c, p) == (coin, product))
        assert f'title="{whole:f}"' in html, (coin, product)


def test_commission_is_drawn_over_time_and_by_user_with_its_tables(client: Client, account: Account) -> None:
    html = get(client, asked(client, account, "commissions", **days(30)))
    assert html.count("draw-columns") == 2, "a picture for each coin"
    assert "Commission in USDT per day" in text(html) and "By user, in BTC" in text(html)
    charts = affiliate_charts.charts(AffiliateReport.objects.get())
    for chart in charts:
        of_coin = AffiliateRow.objects.filter(coin=chart.coin)
        whole = sum(row.n1 for row in of_coin)
        assert sum(value for _, value in chart.times) == whole
        assert [bar.sum for bar in chart.bars] == sorted((bar.sum for bar in chart.bars), reverse=True)
    year = get(client, asked(client, account, "commissions", **days(300)))
    assert "Commission in USDT per week" in text(year)


def test_weeks_and_months_hold_what_their_days_do() -> None:
    found = [
        (date(2026, 1, 31), Decimal("1.1")),
        (date(2026, 2, 1), Decimal("2")),
        (date(2026, 2, 2), Decimal("-3")),
    ]
    assert affiliate_charts.gathered(found, "week") == [
        (date(2026, 1, 26), Decimal("3.1")),
        (date(2026, 2, 2), Decimal("-3")),
    ]
    assert affiliate_charts.gathered(found, "month") == [
        (date(2026, 1, 1), Decimal("1.1")),
        (date(2026, 2, 1), Decimal("-1")),
    ]
    plot = affiliate_charts.columns(found, "day", date(2026, 1, 31), date(2026, 2, 2))
    assert plot is not None and plot.shapes[0].path.count("M") == 3


def row_of(report: AffiliateReport, position: int = 0, **record: Any) -> AffiliateRow:
    """A row of commissions as it would have been stored."""
    amount = record.get("commission")
    return AffiliateRow(
        report=report, step=0, page=1, position=position, record=record, coin=record.get("coin"),
        n1=Decimal(amount) if amount else None, uid=record.get("uid"), at=report.finished_at,
    )  # fmt: skip


def made(account: Account, *rows: dict[str, Any], slug: str = "commissions", **more: Any) -> AffiliateReport:
    report = AffiliateReport.objects.create(
        account=account, kind=slug, state="done", rows=len(rows), finished_at=timezone.now(), **more
    )
    AffiliateRow.objects.bulk_create(row_of(report, place, **one) for place, one in enumerate(rows))
    return report


def test_what_is_not_told_is_said_and_what_is_unknown_is_shown_as_it_came(
    client: Client, account: Account
) -> None:
    unknown = {
        "source_type": 3,
        "coin": "NEWCOIN",
        "commission": "1.5",
        "extras": {"tier": "gold", "n": [1, None]},
    }
    made(account, unknown, {}, {"source_type": 1}, {"source_type": 2})
    page = text(get(client, page_of(account, "commissions")))
    assert "also told: n: [1, null], tier: gold" in page
    assert re.search(r"NEWCOIN .* 3 ", page) and "Direct" in page and "Sub-agent" in page
    assert "not told by 3" not in page, "groups have their own counts"
    assert page.count("not told") > 10 and "None" not in page
    made(account, {"status": "NEW_ONE"}, {"status": None}, slug="withdrawals")
    report = AffiliateReport.objects.get(kind="withdrawals")
    AffiliateRow.objects.filter(report=report).update(product=None)
    AffiliateRow.objects.filter(report=report, record__status="NEW_ONE").update(product="NEW_ONE")
    assert "NEW_ONE" in text(get(client, page_of(account, "withdrawals")))
    made(account, {"kyc_result": None, "uid": 7310000000000000001}, {"kyc_result": False}, slug="users")
    users = text(get(client, page_of(account, "users")))
    assert "7310000000000000001" in users and "not told by 1" in users and re.search(r"\bNo\b", users)


def test_states_are_shown_as_they_came_and_a_time_that_is_not_told_is_said(
    client: Client, account: Account
) -> None:
    report = made(account, *[{"uid": number} for number in range(4)], slug="withdrawals")
    for number, status in enumerate(["PROGRESSING", "SUCCESS", "HELD_BACK", None]):
        AffiliateRow.objects.filter(report=report, uid=number).update(product=status, at=None)
    page = get(client, page_of(account, "withdrawals"))
    rows = page.split('id="rows"')[1]
    for status in ("PROGRESSING", "SUCCESS", "HELD_BACK"):
        assert re.search(rf'<span class="pill [^"]*">{status}</span>', rows)
    assert [re.sub("<[^>]+>", "", one) for one in listed(page)] == ["not told"] * 4
    report = made(account, {"uid": 5, "commission": "1"})
    AffiliateRow.objects.filter(report=report).update(at=None)
    assert "1 row" in text(get(client, page_of(account, "commissions"))), "in the totals, and in no picture"


def test_the_days_that_the_exchange_took_are_shown_beside_those_asked_for(
    client: Client, account: Account
) -> None:
    asked_for = {"since": "2026-01-01", "until": "2026-03-31"}
    made(
        account,
        {"uid": 5},
        slug="deals",
        asked=asked_for,
        told={"since": "2026-02-01", "until": "2026-03-31"},
    )
    page = text(get(client, page_of(account, "deals")))
    assert "1 Jan 2026 to 31 Mar 2026 . The exchange took 2026-02-01 to 2026-03-31" in page.replace(
        "2026.", "2026 ."
    )


def test_a_sum_that_some_window_did_not_tell_is_at_least(client: Client, account: Account) -> None:
    report = made(account, {"uid": 5, "partly": ["deposit_amount"]}, slug="trading")
    AffiliateRow.objects.filter(report=report).update(n1=Decimal(10), n2=Decimal(3))
    page = text(get(client, page_of(account, "trading")))
    assert "at least 10.00" in page and "at least 3.00" not in page


def test_what_was_not_understood_or_is_missing_is_said(client: Client, account: Account) -> None:
    bad = [{"reason": "uid: missing", "raw": '{"uid": <b>}'}]
    made(
        account, {"uid": 1}, bad=1, bad_records=bad, told={"short": 2, "begins": "2026-05-04T00:01:00+00:00"}
    )
    html = get(client, page_of(account, "commissions"))
    page = text(html)
    assert "1 record could not be understood and is in no total." in page and "&lt;b&gt;" in html
    assert "The exchange counts 2 more records than it gave" in page
    assert "begins at 2026-05-04T00:01:00+00:00" in page


def test_progress_is_shown_and_follows_by_itself_until_it_is_done(client: Client, account: Account) -> None:
    answer = client.post(page_of(account, "users") + "ask/", days(364))
    html = get(client, answer["Location"])
    assert "Waiting for its turn." in text(html) and 'hx-trigger="every 2s"' in html
    AffiliateReport.objects.update(
        state="running", done=2, rows=17, error="The exchange could not be reached."
    )
    part = get(client, answer["Location"], headers={"HX-Request": "true"})
    assert "<html" not in part and "2 of 5 parts read, 17 rows so far." in text(part)
    assert "It is tried again by itself." in text(part)
    AffiliateReport.objects.update(state="failed", error="It was refused.")
    html = get(client, answer["Location"])
    assert "It was refused." in text(html) and "hx-trigger" not in html.split('id="answer"')[1]
    AffiliateReport.objects.update(state="done", finished_at=timezone.now(), rows=0)
    assert "The exchange has nothing for this question." in text(get(client, answer["Location"]))


def test_reading_again_asks_the_same_question_anew(client: Client, account: Account) -> None:
    html = get(
        client,
        asked(client, account, "deals", user_ids="7310000000000000001, 7310000000000007920", **days(9)),
    )
    form = html.split('id="answer-title"')[1].split("</form>")[0]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    fields.pop("csrfmiddlewaretoken")
    first = AffiliateReport.objects.get()
    client.post(page_of(account, "deals") + "ask/", fields)
    assert AffiliateReport.objects.count() == 1, "it was read a moment ago"
    client.post(page_of(account, "deals") + "ask/", fields | {"again": "1"})
    second = AffiliateReport.objects.first()
    assert second != first and second is not None and second.asked == first.asked
    assert len(re.findall(r"asked <time", get(client, page_of(account, "deals")))) == 2


def test_sorting_puts_what_is_not_told_last_either_way(client: Client, account: Account) -> None:
    made(
        account,
        {"commission": "2", "uid": 2},
        {"uid": 0},
        {"commission": "10", "uid": 10},
        {"commission": "1", "uid": 1},
    )
    url = page_of(account, "commissions")

    def uids(query: str) -> list[str]:
        return re.findall(r'data-label="User"><span class="mono">(\d+)<', get(client, url + query))

    assert uids("?sort=-commission") == ["10", "2", "1", "0"]
    assert uids("?sort=commission") == ["1", "2", "10", "0"]
    assert uids("?sort=uid") == ["0", "1", "2", "10"], "as numbers"
    assert uids("?sort=nonsense") == uids("") == ["2", "0", "10", "1"], (
        "the usual order: all were paid at once"
    )
    assert 'aria-sort="descending"' in get(client, url + "?sort=-commission")
    assert get(client, url + "?sort=symbol") and get(client, url + "?sort=-record__x")


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", KINDS)
def test_files_hold_exactly_the_rows_that_the_page_shows_in_its_order(
    client: Client, account: Account, slug: str
) -> None:
    url = asked(client, account, slug, **days(25))
    column = KINDS[slug].columns[-1].name
    where = f"{page_of(account, slug)}export.%s?sort=-{column}"
    lines = [json.loads(one) for one in _file(client, where % "jsonl").splitlines()]
    table = list(csv.DictReader(io.StringIO(_file(client, where % "csv").removeprefix("\ufeff"), newline="")))
    report = AffiliateReport.objects.get()
    assert len(lines) == len(table) == report.rows
    assert [list(one) for one in table[:1]] == [list(one) for one in lines[:1]]
    html = get(client, url + f"&sort=-{column}")
    shown = re.findall(r"<tr><th scope=\"row\" class=.*?</tr>", html.split('id="rows"')[1])
    for line, row, html_row in zip(lines, table, shown, strict=False):
        for name in ("uid", "user_id", "withdraw_id", "sub_affiliate_uid"):
            if name in line:
                assert line[name] == row[name] and f">{line[name]}<" in html_row
    stored = {
        json.dumps(one, sort_keys=True) for one in AffiliateRow.objects.values_list("record", flat=True)
    }
    for line in lines:
        record = {name: line[name] for name in line if name not in ("also_told", "sums_not_told_in_full")}
        assert any(_same(json.loads(one), record) for one in stored)
    assert AuditEntry.objects.filter(action="exported").count() == 2


def _file(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def _same(stored: dict[str, Any], line: dict[str, Any]) -> bool:
    return all(_plain(stored.get(name)) == _plain(value) for name, value in line.items())


def _plain(value: Any) -> str:
    text_of = str(value).replace("+00:00", "Z").removesuffix("T00:00:00.000Z")
    try:
        return str(Decimal(text_of).normalize())
    except ArithmeticError:
        return text_of.lower()


def test_a_formula_stays_text_in_a_file(client: Client, account: Account) -> None:
    made(account, {"symbol": "=cmd()", "extras": {"x": "=1"}})
    [row] = csv.DictReader(
        io.StringIO(_file(client, page_of(account, "commissions") + "export.csv").removeprefix("\ufeff"))
    )
    assert row["symbol"] == "'=cmd()" and row["also_told"] == '{"x": "=1"}'


def test_what_is_not_complete_is_no_file(client: Client, account: Account) -> None:
    assert client.get(page_of(account, "users") + "export.csv").status_code == 404
    client.post(page_of(account, "users") + "ask/", days(3))
    assert client.get(page_of(account, "users") + "export.csv").status_code == 404
    assert client.get(page_of(account, "users") + "export.xlsx").status_code == 404
    assert client.get(page_of(account, "nothing")).status_code == 404


# --- who may ------------------------------------------------------------------------------------------------


def in_the_menu(client: Client) -> bool:
    return 'href="/affiliate/"' in get(client, "/activity/")


def test_a_key_that_is_no_affiliates_gets_the_reason_and_no_menu(
    client: Client, alice: User, sandbox: Sandbox
) -> None:
    assert not in_the_menu(client), "there is no connection"
    assert client.get("/affiliate/")["Location"] == "/connections/add/"
    account = connections.add(alice, label="Main", venue="sandbox", **FOLLOWER)
    assert in_the_menu(client), "nobody asked yet"
    assert "Nobody has asked the exchange yet" in text(get(client, page_of(account, "users")))
    client.post(f"/affiliate/{account.pk}/standing/")
    page = text(get(client, page_of(account, "users")))
    assert "Main is no affiliate" in page and "Only the key of an affiliate account may ask for this." in page
    assert "Add a connection" in page and "Ask the exchange again" in page
    assert not in_the_menu(client)
    answer = client.post(page_of(account, "users") + "ask/", days(3))
    assert answer.status_code == 400 and not AffiliateReport.objects.exists()


def test_the_menu_shows_it_while_one_of_several_may(client: Client, alice: User, account: Account) -> None:
    other = connections.add(alice, label="A follower", venue="sandbox", **FOLLOWER)
    ask_standing(other)
    assert in_the_menu(client)
    assert client.get("/affiliate/")["Location"] == page_of(account, "commissions"), (
        "the one that may, not the first"
    )
    assert 'aria-label="Connection"' in get(client, page_of(account, "users"))
    connections.remove(account)
    assert not in_the_menu(client)


def test_another_key_is_asked_anew(client: Client, account: Account) -> None:
    connections.replace_key(account, **FOLLOWER)
    assert standing_of(account).may is None
    assert "Nobody has asked" in text(get(client, page_of(account, "users")))
    connections.replace_key(account, **AFFILIATE)
    assert connections.test(account).details[-1] == "It is an affiliate's key."
    assert standing_of(account).may is True, "the test learns it by the way"


def test_an_exchange_that_does_not_answer_leaves_it_open(
    client: Client, alice: User, sandbox: Sandbox
) -> None:
    account = connections.add(alice, label="Main", venue="sandbox", **AFFILIATE)
    sandbox.fault("sub_affiliates", "html_200", times=9)
    answer = client.post(f"/affiliate/{account.pk}/standing/", follow=True)
    page = answer.content.decode()
    assert "banner-error" in page and "Nobody has asked the exchange yet" in text(page)
    assert not AffiliateStanding.objects.exists()


def test_the_menu_costs_no_query(client: Client, account: Account) -> None:
    client.get("/activity/")
    with CaptureQueriesContext(connection) as shown:
        assert in_the_menu(client)
    User.objects.update(affiliate_shown=False)
    with CaptureQueriesContext(connection) as hidden:
        assert not in_the_menu(client)
    assert len(shown) == len(hidden)


@pytest.mark.parametrize("slug", KINDS)
def test_ten_rows_and_a_thousand_cost_the_same_queries(client: Client, account: Account, slug: str) -> None:
    few = made(account, *[{"uid": number} for number in range(10)], slug=slug)
    many = made(account, *[{"uid": number, "commission": "1"} for number in range(1000)], slug=slug)
    url = page_of(account, slug) + "?report="
    client.get(f"{url}{few.pk}")
    counts = []
    for report in (few, many):
        with CaptureQueriesContext(connection) as queries:
            get(client, f"{url}{report.pk}&page=1")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 22
