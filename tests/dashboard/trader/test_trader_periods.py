"""The period of a trader's page: chosen in the address, typed as a range, and made of the days of the owner's zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import reports
from copytrade.models import Trader, User
from tests.support.ledger_rows import account_of, closed_copy, summed_once, trader_of
from tests.support.page_text import text
from tests.support.trader_page import page_of, part_of, summed, without_definitions

pytestmark = pytest.mark.django_db


# --- periods ---


@pytest.mark.parametrize(
    "query", ["?period=7", "?period=30", "?period=365", "?period=all", "?period=nonsense"]
)
def test_the_period_is_in_the_address(client: Client, trader: Trader, query: str) -> None:
    html = page_of(client, trader, query)
    key = query.partition("=")[2]
    chosen = re.findall(r'id="period-(\w+)"[^>]*aria-current="true"', html)
    assert chosen == ["90" if key == "nonsense" else key]


def test_an_own_range_counts_both_of_its_days(client: Client, trader: Trader) -> None:
    first, last = (timezone.now() - timedelta(days=days) for days in (30, 20))
    page = without_definitions(
        page_of(client, trader, f"?period=range&from={first:%Y-%m-%d}&to={last:%Y-%m-%d}")
    )
    assert "Net result +5.00" in page
    assert "+5.00 against" not in page and "−5.00 against the 11 days before" in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=2026-05-02&to=2026-05-01", "The first day comes after the last."),
        ("from=2026-05-02", "An own range needs two days"),
        ("from=x&to=2026-05-01", "An own range needs two days"),
        ("from=2999-01-01&to=2999-01-02", "The range begins after today."),
        ("from=1999-01-01&to=2026-05-01", "The range begins before 3 Jan 2009"),
    ],
)
def test_a_range_that_makes_no_sense_is_said_and_kept(
    client: Client, trader: Trader, query: str, words: str
) -> None:
    html = page_of(client, trader, f"?period=range&{query}")
    assert words in text(html) and "The last 90 days are shown." in text(html)
    typed = query.partition("&")[0].partition("=")[2]
    assert f'name="from" value="{typed}"' in html and 'aria-invalid="true"' in html


def test_an_htmx_request_gets_the_part_alone_and_says_what_it_is(client: Client, trader: Trader) -> None:
    html = part_of(client, trader, "?period=30")
    assert "<html" not in html and 'id="notes"' not in html
    assert "Figures of the last 30 days." in html
    assert 'id="figures"' in html and 'id="equity-table"' in html


# --- days by the owner's zone ---

ZONES = ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns", "Europe/Berlin"]
NOW = datetime(2026, 4, 2, 12, tzinfo=UTC)
# Either side of midnight somewhere, of a month's end, and of the night in which Berlin's clocks go forward.
CLOSES = [
    datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
    datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
    datetime(2026, 3, 29, 22, 15, tzinfo=UTC),
    datetime(2026, 3, 31, 18, 29, tzinfo=UTC),
    datetime(2026, 3, 31, 18, 31, tzinfo=UTC),
    datetime(2026, 3, 31, 23, 59, tzinfo=UTC),
    datetime(2026, 4, 1, 0, 1, tzinfo=UTC),
]


@pytest.mark.parametrize("zone", ZONES)
def test_the_whole_is_the_same_in_every_zone_and_each_day_is_the_zones(
    client: Client, alice: User, zone: str
) -> None:
    alice.zone = zone
    alice.save()
    with time_machine.travel(NOW, tick=False):
        trader = trader_of(account_of(alice))
        with summed_once():
            for number, close in enumerate(CLOSES):
                closed_copy(
                    trader, number, str(number + 1), close_time=close, open_time=close - timedelta(hours=1)
                )
        summed(trader)
        page = reports.trader_page(trader, "all", NOW, reports.zone_of(alice))
        days: dict[date, Decimal] = {}
        for number, close in enumerate(CLOSES):
            day = close.astimezone(reports.zone_of(alice)).date()
            days[day] = days.get(day, Decimal(0)) + number + 1
        assert {day: net for day, net in page.daily if net} == days
        assert page.summary.net_profit == sum(net for _, net in page.daily) == 28
        ranged = reports.trader_range(trader, date(2026, 1, 1), date(2026, 4, 2), NOW, reports.zone_of(alice))
        assert ranged.summary.net_profit == 28 and ranged.daily[-1][0] == date(2026, 4, 2)


def test_half_an_hour_decides_the_day_and_the_month(client: Client, alice: User) -> None:
    alice.zone = "Asia/Kolkata"
    alice.save()
    with time_machine.travel(NOW, tick=False):
        trader = trader_of(account_of(alice))
        closed_copy(trader, 1, "1", close_time=CLOSES[3], open_time=CLOSES[0])
        closed_copy(trader, 2, "2", close_time=CLOSES[4], open_time=CLOSES[0])
        summed(trader)
        html = client.get(
            reverse("trader", args=[trader.pk]) + "?period=range&from=2026-04-01&to=2026-04-02"
        ).content.decode()
    page = without_definitions(html)
    assert "Net result +2.00" in page, "18:31 UTC is one minute past midnight in Kolkata"
    assert "+1.00 against the 2 days before" in page
