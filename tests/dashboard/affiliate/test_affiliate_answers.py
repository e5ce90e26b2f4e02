"""What the answer to an affiliate's question shows: exact totals, pictures, progress, order, and what is not told."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade.affiliate import KINDS
from copytrade.models import Account, AffiliateReport, AffiliateRow
from dashboard import affiliate_charts
from dashboard.templatetags import desk
from tests.support.affiliate_pages import asked, days, get, listed, made, page_of
from tests.support.page_tables import read, words
from tests.support.page_text import text

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


@pytest.mark.parametrize("back", [30, 300])
def test_each_picture_of_commission_has_words_and_a_table_with_all_its_columns(
    client: Client, account: Account, back: int
) -> None:
    html = get(client, asked(client, account, "commissions", **days(back)))
    charts = affiliate_charts.charts(AffiliateReport.objects.get())
    pictures = re.findall(r'role="img" data-table="([^"]+)" aria-label="([^"]+)"', html)
    assert len(pictures) == len(charts) == html.count("draw-columns") == 2
    for (identity, label), chart in zip(pictures, charts, strict=True):
        assert f"each {chart.per} in {chart.coin}: {len(chart.times)} {chart.per}" in label
        part = html[html.index(f'<details class="fold small" id="{identity}">') :].partition("</details>")[0]
        assert read(part) == [[desk.day(at), words(desk.quantity(one))] for at, one in chart.times]


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
