"""Whether a trader's figures add up: the exchange's own total, costs in parts, and results that may still change."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import reconcile, reports
from copytrade.models import CoverageGap, OrderRevision, PeriodSummary, SyncJob, Trader
from copytrade.reports.traders import open_totals
from tests.support.ledger_rows import closed_copy, open_copy
from tests.support.page_text import text
from tests.support.trader_page import page_of, section, summed, without_definitions

pytestmark = pytest.mark.django_db


# --- does it add up ---


def test_it_adds_up_with_the_exchanges_own_total(client: Client, trader: Trader) -> None:
    page = section(page_of(client, trader), "adds-title")
    assert "Own ledger, all of it 18.00 Exchange says 18.00 Difference 0.00 ✓" in page
    assert "Up to 0.01 USDT counts as rounding." in page and "The ledger is complete from" in page


def test_a_difference_is_explained_or_said_to_be_unexplained(client: Client, trader: Trader) -> None:
    Trader.objects.filter(pk=trader.pk).update(
        trace_total_profit=Decimal("20.5"), balances_at=timezone.now() - timedelta(minutes=1)
    )
    html = page_of(client, trader)
    page = section(html, "adds-title")
    assert "Exchange says 20.50 Difference −2.50 unexplained" in page and "✓" not in page
    assert "/issues/?kind=reconciliation" in html
    CoverageGap.objects.create(
        account=trader.account, end=timezone.now() - timedelta(days=300), reason="Too far"
    )
    page = section(page_of(client, trader), "adds-title")
    assert "−2.50 explained" in page and "with 1 gap" in page


@pytest.mark.parametrize(("total", "gap", "shown"), [("20.5", "-2.5", "−2.50"), ("15.5", "2.5", "+2.50")])
def test_the_page_the_summary_and_the_export_give_a_difference_the_same_sign(
    client: Client, trader: Trader, total: str, gap: str, shown: str
) -> None:
    Trader.objects.filter(pk=trader.pk).update(trace_total_profit=Decimal(total))
    trader.refresh_from_db()
    assert f"Difference {shown} " in section(page_of(client, trader), "adds-title")
    assert reports.trader_summary(trader).reconciliation_gap == Decimal(gap)
    assert reports.trader_page(trader).reconciliation.difference == Decimal(gap)
    file = client.get(reverse("traders_export", args=["csv"]) + "?period=all")
    (row,) = csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode("utf-8-sig")))
    assert Decimal(row["reconciliation_gap_usdt"]) == Decimal(gap)


def own_range() -> str:
    """Days of one's own choice that ended before today."""
    first, last = (timezone.now() - timedelta(days=days) for days in (60, 3))
    return f"?period=range&from={first:%Y-%m-%d}&to={last:%Y-%m-%d}"


def judged_by_page(client: Client, trader: Trader) -> list[str]:
    """What the page says of the sums, at two periods and at an own range that ended before today."""
    found = []
    for query in ("?period=90", "?period=all", own_range()):
        page = section(page_of(client, trader, query), "adds-title")
        found.append(page[page.index("Difference", page.index("Exchange says")) : page.index("Total read")])
    return found


def judged_by_chore(trader: Trader) -> reconcile.Verdict:
    kept = PeriodSummary.objects.get(trader=trader, period="all")
    return reconcile.verdict(reconcile.facts_of(trader, kept, timezone.now()))


def test_a_provisional_difference_is_explained_whatever_period_is_shown(
    client: Client, trader: Trader
) -> None:
    midnight = datetime.combine(timezone.now().date(), datetime.min.time(), UTC)
    with time_machine.travel(midnight + timedelta(hours=20), tick=False):
        closed_copy(trader, 70, "3.25", 0.1)
        read_both_sides(trader, "21")
        pages, chore = judged_by_page(client, trader), judged_by_chore(trader)
    assert set(pages) == {pages[0]} and "+0.25 explained" in pages[0]
    assert "It is no larger than what is provisional" in pages[0] and chore.sentence in pages[0]


def test_a_lost_copy_explains_a_difference_to_the_page_and_to_the_chore(
    client: Client, trader: Trader
) -> None:
    lost = open_copy(trader, 72, missing_since=timezone.now(), lost_since=timezone.now())
    read_both_sides(trader, "20.5")
    pages, chore = judged_by_page(client, trader), judged_by_chore(trader)
    assert open_totals([trader.pk])[trader.pk] == (0, 0, 0), "neither open nor looked up any more"
    assert chore.state == "explained" and "1 copy closed beyond the exchange's history" in chore.sentence
    assert set(pages) == {pages[0]} and "−2.50 explained" in pages[0]
    assert "It opened a position of 200.00 USDT, and the difference is no larger than that." in pages[0]
    assert chore.sentence in pages[0].replace("&#x27;", "'").replace("&#39;", "'")
    lost.delete()
    pages, chore = judged_by_page(client, trader), judged_by_chore(trader)
    assert chore.state == "unexplained" and all("unexplained" in page for page in pages)


def test_a_difference_beyond_a_lost_copy_is_unexplained_to_the_page_and_to_the_chore(
    client: Client, trader: Trader
) -> None:
    open_copy(trader, 72, missing_since=timezone.now(), lost_since=timezone.now())
    read_both_sides(trader, "10018")
    pages, chore = judged_by_page(client, trader), judged_by_chore(trader)
    assert chore.state == "unexplained" and "it opened a position of 200.00 USDT" in chore.sentence
    assert set(pages) == {pages[0]} and "−10 000.00 unexplained" in pages[0]
    assert chore.sentence in pages[0].replace("&#x27;", "'").replace("&#39;", "'")
    CoverageGap.objects.create(
        account=trader.account, end=timezone.now() - timedelta(days=300), reason="Too far"
    )
    pages, chore = judged_by_page(client, trader), judged_by_chore(trader)
    assert chore.state == "explained" and "they explain a difference of any size" in chore.sentence
    assert set(pages) == {pages[0]} and chore.sentence in pages[0]


def read_both_sides(trader: Trader, total: str) -> None:
    """The exchange's total is read, the history a minute later, and the sums are made."""
    now = timezone.now()
    Trader.objects.filter(pk=trader.pk).update(
        trace_total_profit=Decimal(total), balances_at=now - timedelta(minutes=1)
    )
    SyncJob.objects.filter(account=trader.account).update(last_success_at=now)
    summed(trader)


def test_costs_are_split_into_reported_estimated_and_unexplained(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    page = without_definitions(html)
    page = page[page.index("Where profit went") : page.index("By month")]
    assert "Realized by the copies 26.00" in page
    assert re.search(r"Opening fees reported −\s?0\.600", page)
    assert re.search(r"Closing fees estimated −\s?0\.\d+", page)
    assert "Unexplained profit share, funding" in page
    said = section(html, "costs-title")
    assert "Estimated at the rate of the opening fee of each copy." in said
    assert "not itemised by the exchange" in said
    assert "Net +20.00" in page
    assert "cannot be told from these copies yet" in page, "what realizedPnl contains, with its support"


def test_recent_results_are_marked_provisional_until_the_true_up(client: Client, trader: Trader) -> None:
    with time_machine.travel(
        datetime.combine(timezone.now().date(), datetime.min.time(), UTC) + timedelta(hours=20)
    ):
        closed_copy(trader, 70, "3.25", 0.1)
        summed(trader)
        html = page_of(client, trader)
    assert "+3.25 of it provisional until 00:00 UTC" in without_definitions(html)
    assert re.search(r"\+3\.25 USDT of 1 copy may still change: .* at 00:00 UTC, in (?:3|4) h\b", text(html))


def test_what_was_trued_up_is_listed_with_before_and_after(client: Client, trader: Trader) -> None:
    order = closed_copy(trader, 71, "4", 1)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["4.5", "4"]}, seen_at=timezone.now())
    page = section(page_of(client, summed(trader)), "true-up-title")
    assert "BTCUSDT +4.50 → +4.00" in page and "−0.50" in page
