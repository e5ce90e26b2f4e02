"""A trader's page draws its lines from few points; those who ask for more of a line are sent all that it has."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from copytrade import reports
from copytrade.models import PeriodDetail, TrackingOrder, Trader, User
from tests.copytrade.rollups.test_ranges import closed
from tests.dashboard.test_overview import chart_of
from tests.support.ledger_rows import account_of, trader_of
from tests.support.page_tables import read
from tests.support.trader_page import page_of, part_of, section, summed

pytestmark = pytest.mark.django_db
COPIES = 900  # more than any line shows
PERIODS = ("all", "range")


@pytest.fixture
def trader(alice: User) -> Trader:
    trader, now, rng = trader_of(account_of(alice)), timezone.now(), random.Random(3)
    TrackingOrder.objects.bulk_create(
        closed(
            trader, n, now - timedelta(hours=n + 1), rng.randrange(1, 600),
            net_profit=Decimal(rng.randrange(-900, 1_000)) / 100,
        )
        for n in range(COPIES)
    )  # fmt: skip
    return summed(trader)


def asked(period: str) -> str:
    today = timezone.now().date()
    return (
        f"?period=range&from={today - timedelta(days=60)}&to={today}" if period == "range" else "?period=all"
    )


@pytest.mark.parametrize("period", PERIODS)
def test_those_who_ask_for_more_of_a_line_are_sent_all_that_it_has(
    client: Client, trader: Trader, period: str
) -> None:
    whole = reports.trader_page(trader, "all", whole=("curve", "margin"))
    html = page_of(client, trader, asked(period))
    assert (
        600 < len(chart_of(client, html, reverse("trader", args=[trader.pk]))["equity"]) == len(whole.curve)
    )
    rows = read(part_of(client, trader, f"{asked(period)}&show=margin"))
    assert 600 < len(rows) == len(whole.margin) <= 800
    assert f"each of its {len(rows)} steps" in html
    opened = page_of(client, trader, f"{asked(period)}&show=margin")
    assert opened.count("<tr><th") - html.count("<tr><th") >= len(rows), "without a script, too"


def test_what_is_drawn_and_told_at_once_needs_no_whole_line(client: Client, trader: Trader) -> None:
    before = [page_of(client, trader, query) for query in ("?period=all", "?period=all&show=equity")]
    PeriodDetail.objects.update(curve=["not to be read"], margin=["not to be read"])
    after = [page_of(client, trader, query) for query in ("?period=all", "?period=all&show=equity")]
    for then, now in zip(before, after, strict=True):
        for card in ("equity-title", "margin-title", "holding-title"):
            assert section(now, card) == section(then, card)
            assert pictures(now) == pictures(then) != []


def test_a_summary_from_before_there_were_stills_is_drawn_from_its_whole_lines(
    client: Client, trader: Trader
) -> None:
    now = page_of(client, trader, "?period=all")
    PeriodDetail.objects.update(still=None, margin_still=None, margin_steps=None)
    then = page_of(client, trader, "?period=all")
    for card in ("equity-title", "margin-title"):
        assert section(now, card) == section(then, card)
    assert len(pictures(then)) == len(pictures(now))
    assert len(then) < len(now) * 1.05, "no more points than ever"


def pictures(html: str) -> list[str]:
    return [part.partition("</svg>")[0] for part in html.split('<svg class="plot')[1:]]
