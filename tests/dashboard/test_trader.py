"""A trader's page: the period in figures and pictures, what was before, whether it adds up, notes, one's own base."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from copytrade import reports, rollups
from copytrade.models import CoverageGap, OrderRevision, SyncJob, Trader, TraderNote, User
from copytrade.statistics import DEFINITIONS
from dashboard import watching
from tests.dashboard.test_overview import FRAME, chart_of, text
from tests.support.ledger_rows import (
    account_of,
    closed_copies,
    closed_copy,
    open_copy,
    trader_of,
    version_of,
)

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\"'&\u202egnp"


@pytest.fixture
def client(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


@pytest.fixture
def trader(alice: User) -> Trader:
    """Six closed copies in the last three months: +10, +10, -5, 0, +5, and one of -2 long ago."""
    trader = trader_of(account_of(alice), trace_total_profit=Decimal(18))
    for number, (net, days) in enumerate(
        [("10", 40), ("10", 30), ("-5", 20), ("0", 10), ("5", 5), ("-2", 200)]
    ):
        closed_copy(trader, number, net, days, symbol="ETHUSDT" if number % 2 else "BTCUSDT")
    return summed(trader)


def summed(trader: Trader) -> Trader:
    """What the desk does within seconds of a reading: the sums and summaries that the page reads."""
    rollups.rebuild(trader.account)
    rollups.summarise(Trader.objects.filter(account=trader.account).values_list("pk", flat=True))
    trader.refresh_from_db()
    return trader


def page_of(client: Client, trader: Trader, query: str = "", **more: Any) -> str:
    response = client.get(reverse("trader", args=[trader.pk]) + query, **more)
    assert response.status_code == 200
    return response.content.decode()


def part_of(client: Client, trader: Trader, query: str = "") -> str:
    return page_of(client, trader, query, headers={"HX-Request": "true", "HX-Target": "figures"})


def section(html: str, identity: str) -> str:
    """What a person reads of one section, by the id of its heading."""
    start = html.index(f'aria-labelledby="{identity}"')
    return text("<" + html[start : html.index("</section>", start)])


def without_definitions(html: str) -> str:
    """The page's text without the sentences that open by a press."""
    html = re.sub(r'<button type="button" class="what".*?</button>', "", html, flags=re.DOTALL)
    html = re.sub(r'<span class="what-says".*?</span>', "", html, flags=re.DOTALL).replace("&nbsp;", "")
    return re.sub(r" ([,;:])", r"\1", text(html))


# --- whose it is ---


def test_a_stranger_and_nobody_get_nothing(
    trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    assert client_of(charlie).get(reverse("trader", args=[trader.pk])).status_code == 404
    assert client_of(charlie).get(reverse("trader", args=[trader.pk + 99])).status_code == 404
    response = Client().get(reverse("trader", args=[trader.pk]))
    assert response.status_code == 302 and "/accounts/login/" in response["Location"]


def test_only_reading_is_done_by_its_address(client: Client, trader: Trader) -> None:
    assert client.post(reverse("trader", args=[trader.pk])).status_code == 405


# --- the first screen ---


def test_the_summary_of_the_last_ninety_days(client: Client, trader: Trader) -> None:
    page = without_definitions(page_of(client, trader))
    assert re.search(r"Net result \+20\.00 USDT after costs", page)
    assert re.search(r"ROI on invested \+2\.0 % of 998\.00, with what was earned before", page)
    assert "Win rate 75 % 3 gains, 1 loss, 1 even: few to judge by" in page
    assert re.search(r"Profit factor 5\.00 payoff 1\.67", page)
    assert re.search(r"Max drawdown − ?0\.5 % realized, 5\.00 USDT; now none", page)
    assert "Copies closed 5 in the last 90 days" in page


def test_all_of_it_counts_the_copy_of_long_ago_too_and_has_nothing_before_it(
    client: Client, trader: Trader
) -> None:
    page = without_definitions(page_of(client, trader, "?period=all"))
    assert "Net result +18.00" in page and "Copies closed 6 in all the time in the ledger" in page
    assert "against" not in section(page_of(client, trader, "?period=all"), "equity-title")
    assert "No comparison" not in page


def test_the_period_before_is_compared_with(client: Client, trader: Trader) -> None:
    page = without_definitions(page_of(client, trader, "?period=30"))
    assert "Net result 0.00 USDT after costs −20.00 against the 30 days before" in page
    assert "before: 100 %" in page, "the win rate"
    assert "before: 2" in page, "the copies"


def test_where_nothing_is_before_the_page_says_why(client: Client, trader: Trader, alice: User) -> None:
    assert "No comparison: no copy closed in the 7 days before" in without_definitions(
        page_of(client, summed(trader), "?period=7")
    ) or "against the 7 days before" in without_definitions(page_of(client, trader, "?period=7"))
    young = trader_of(trader.account, 9, "Young")
    closed_copy(young, 77, "4", 3)
    summed(young)
    assert "No comparison: there was no copy before" in text(page_of(client, young))
    SyncJob.objects.filter(kind="history").update(complete_from=timezone.now() - timedelta(days=1))
    assert "No comparison: the 90 days before are not all in the ledger" in text(page_of(client, young))
    SyncJob.objects.filter(kind="history").update(cursor={})
    assert "No comparison: the past is still being read" in text(page_of(client, young))


def test_a_comparison_with_days_that_the_ledger_does_not_hold_says_so(client: Client, trader: Trader) -> None:
    SyncJob.objects.filter(kind="history").update(complete_from=timezone.now() - timedelta(days=45))
    page = text(page_of(client, trader, "?period=30"))
    assert "against the 30 days before, which are not all in the ledger" in page


def test_figures_that_are_hidden_or_undefined_say_why(client: Client, trader: Trader, alice: User) -> None:
    one = trader_of(trader.account, 9, "One copy")
    closed_copy(one, 77, "4")
    page = without_definitions(page_of(client, summed(one)))
    assert "Profit factor – no losses" in page
    assert "One copy closed in the last 90 days. A line needs two." in page
    assert "Sharpe, a year needs 30 days and 20 closed copies; here are" in page
    assert "Net by max drawdown no drawdown" in page


def test_every_figure_has_its_definition_one_press_away(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    shown = set(re.findall(r'popovertarget="what-([a-z_]+)-', html))
    assert shown >= {"net_profit", "roi_on_capital", "max_drawdown", "win_rate", "profit_factor", "sharpe"}
    assert shown <= set(DEFINITIONS)
    identities = re.findall(r'\bid="([^"]+)"', html)
    assert len(identities) == len(set(identities)), "each id is there once"


def test_a_trader_who_only_won_has_no_losses_to_divide_by(client: Client, trader: Trader) -> None:
    winner = trader_of(trader.account, 9, "Winner")
    for number in range(5):
        closed_copy(winner, 50 + number, "3", 1 + number)
    page = without_definitions(page_of(client, summed(winner)))
    assert "Profit factor – no losses" in page and "Max drawdown 0 %" in page
    assert "inf" not in page.lower().replace("info", "").replace("infer", "")


def test_a_trader_without_copies_is_a_page_and_not_an_error(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    for query in ("", "?period=all", "?period=range&from=2026-01-01&to=2026-01-31"):
        page = text(page_of(client, trader, query))
        assert "No copy of this trader is open." in page
        assert "no closed copies" in page
    assert "No copy closed in the last 90 days." in text(page_of(client, trader))


def test_one_who_was_left_is_told_so(client: Client, alice: User) -> None:
    left = timezone.now() - timedelta(days=3)
    trader = trader_of(account_of(alice), copied=False, left_at=left)
    assert "Not copied now, left" in text(page_of(client, trader))


def test_hostile_names_and_notes_are_text(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice), name=HOSTILE)
    order = closed_copy(trader, 1, "5", 2, symbol="<b>X</b>", position_side="<i>")
    closed_copy(trader, 2, "-5", 1, symbol="</script><b>")
    TraderNote.objects.create(trader=trader, day=timezone.now().date(), text=HOSTILE)
    html = page_of(client, summed(trader))
    assert "<script>alert" not in html and "<b>" not in html and "\u202egnp" not in html.split("note-text")[0]
    assert "</script><b>" not in html
    assert reverse("order", args=[order.pk]) in html


# --- pictures ---


def test_the_chart_has_its_table_and_a_sentence_for_those_who_do_not_see_it(
    client: Client, trader: Trader
) -> None:
    html = page_of(client, trader)
    chart = chart_of(client, html)
    assert chart["equity"] == [10, 20, 15, 15, 20]
    assert chart["drawdown"] == [0, 0, -5, -5, 0]
    assert "+20.00 USDT, at its peak" in text(html), "the end of the line, as it is read off"
    assert "Line of the cumulative net result over 5 closed copies: it ends at 20.00" in html.replace(
        "\u202f", " "
    )
    assert html[html.index('id="equity-table"') :].partition("</p>")[0].endswith("Show as table</a>")
    assert "+10.00" in folded(client, trader, "equity")


FOLDS = ("equity", "calendar", "holding", "margin", "costs", "symbols")


def folded(client: Client, trader: Trader, name: str) -> str:
    """A table that is folded away, as a press on its link brings it: the same as the page with it open."""
    part = part_of(client, trader, f"?period=all&show={name}")
    assert part.lstrip().startswith(f'<details class="fold small" id="{name}-table" open>')
    assert "<html" not in part and part.rstrip().endswith("</details>")
    whole = page_of(client, trader, f"?period=all&show={name}")
    assert text(part).strip() in text(whole), "without a script, too"
    return text(part)


@pytest.mark.parametrize("name", FOLDS)
def test_what_is_folded_away_is_sent_when_it_is_opened(client: Client, alice: User, name: str) -> None:
    trader = trader_of(account_of(alice))
    for number in range(20):  # more symbols than are shown, in two months
        closed_copy(trader, number, "5", 1 + 2 * number, symbol=f"C{number}USDT")
    summed(trader)
    html = page_of(client, trader, "?period=all")
    link = re.search(
        rf'<p class="fold small" id="{name}-table"><a [^>]*href="([^"]+)"[^>]*hx-get="([^"]+)"', html
    )
    assert link and link[1] == f"{link[2]}#{name}-table"
    assert f"show={name}" in link[2] and "period=all" in link[2]
    assert "<table" in page_of(client, trader, f"?period=all&show={name}")
    assert folded(client, trader, name)


def test_what_nobody_folded_is_the_page(client: Client, trader: Trader) -> None:
    assert 'id="figures"' in part_of(client, trader, "?show=<script>")
    assert 'id="notes"' in page_of(client, trader, "?show=chart"), (
        "a person who follows the link sees the page"
    )


def test_every_picture_is_there_without_a_script_and_names_its_table(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    for kind in ("draw-line", "draw-fall", "draw-margin", "draw-gains", "draw-losses"):
        assert re.search(f'class="{kind}" d="[Mm]', html)
    for identity in re.findall(r'data-table="([^"]+)"', html):
        assert f'<p class="fold small" id="{identity}"><a ' in html
    assert len(re.findall(r"data-table=", html)) == 4
    assert "style=" not in html, "the policy forbids style attributes"
    assert "<script" not in html[html.index('id="figures"') :], "no script per row"


def test_the_calendar_names_each_day_and_leads_to_its_copies(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    assert 'class="day-loss level-' in html and "data-day=" not in html, (
        "a picture, until somebody goes there"
    )
    assert 'hx-get="' in html[html.index('id="calendar"') :][:500]
    html = part_of(client, trader, "?show=days")
    assert html.lstrip().startswith('<div class="months') and "days" in page_of(client, trader, "?show=days")
    day = (timezone.now() - timedelta(days=20)).date()
    assert re.search(rf'since={day}&amp;until={day}"[^>]*><title>{day.day} \S+ {day.year}: −5\.00', html)
    assert html.count('tabindex="0" data-day=') == 1, "one stop of the tab key"
    assert 'class="day-loss level-' in html and 'rx="7.5"' in html, "told by shape, too"


def test_results_are_broken_down_by_everything(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    assert text(html).index("BTCUSDT 3") < text(html).index("ETHUSDT 2")
    words = section(html, "break-title")
    for title in ("Side", "Weekday", "Leverage", "Holding time"):
        assert title in words
    assert "Long 5 75 %" in words and "4-5x 5" in words and "1 h to 4 h 5" in words


def test_the_extremes_beside_the_dots_lead_to_their_orders(client: Client, trader: Trader) -> None:
    html = page_of(client, trader)
    best = trader.orders.get(net_profit=5)
    words = section(html, "holding-title")
    assert "Gains were held 1 h at the median, losses 1 h." in words
    assert f'href="{reverse("order", args=[best.pk])}"' in part_of(client, trader, "?show=holding")


def test_settings_and_notes_are_marked_on_the_time_axis(client: Client, trader: Trader) -> None:
    version_of(trader)
    version = version_of(trader)
    seen = timezone.now() - timedelta(days=15)
    trader.versions.filter(pk=version.pk).update(author="outside", first_seen_at=seen)
    TraderNote.objects.create(trader=trader, day=(timezone.now() - timedelta(days=12)).date(), text="Doubled")
    TraderNote.objects.create(trader=trader, day=date(2020, 1, 1), text="Before all of it")
    html = page_of(client, trader)
    marks = [(mark["kind"], mark["label"]) for mark in chart_of(client, html)["marks"]]
    assert marks == [
        ("note", "Note: Before all of it"),
        ("settings", "Settings changed outside the desk"),
        ("note", "Note: Doubled"),
    ]
    still = html[html.index('class="plot plot-tall"') : html.index('data-plot="drawdown"')]
    assert "Settings changed outside the desk" in still and "Note: Doubled" in still
    assert "Before all of it" not in still


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
    assert "Exchange says 20.50 Difference +2.50 unexplained" in page and "✓" not in page
    assert "/issues/?kind=reconciliation" in html
    CoverageGap.objects.create(
        account=trader.account, end=timezone.now() - timedelta(days=300), reason="Too far"
    )
    page = section(page_of(client, trader), "adds-title")
    assert "+2.50 explained" in page and "with 1 gap" in page


def test_costs_are_split_into_reported_estimated_and_unexplained(client: Client, trader: Trader) -> None:
    page = section(page_of(client, trader), "costs-title")
    assert "Realized by the copies 26.00" in page
    assert re.search(r"Opening fees reported −\s?0\.600", page)
    assert re.search(
        r"Closing fees estimated at the rate of each copy's opening", page.replace("&#x27;", "'")
    )
    assert "Unexplained profit share, funding, and what the estimate misses" in page
    assert "Net +20.00" in page
    assert "cannot be told from these copies yet" in page, "what realizedPnl contains, with its support"
    assert "By month" in page


def test_recent_results_are_marked_provisional_until_the_true_up(client: Client, trader: Trader) -> None:
    with time_machine.travel(
        datetime.combine(timezone.now().date(), datetime.min.time(), UTC) + timedelta(hours=20)
    ):
        closed_copy(trader, 70, "3.25", 0.1)
        summed(trader)
        html = page_of(client, trader)
    assert "+3.25 of it provisional until 00:00 UTC" in without_definitions(html)
    assert re.search(r"\+3\.25 USDT of 1 copy may still change: .* at 00:00 UTC, in 3 h|in 4 h", text(html))


def test_what_was_trued_up_is_listed_with_before_and_after(client: Client, trader: Trader) -> None:
    order = closed_copy(trader, 71, "4", 1)
    OrderRevision.objects.create(order=order, changed={"net_profit": ["4.5", "4"]}, seen_at=timezone.now())
    page = section(page_of(client, summed(trader)), "true-up-title")
    assert "BTCUSDT +4.50 → +4.00" in page and "−0.50" in page


# --- around it ---


def test_settings_in_force_are_in_words_with_their_age(client: Client, trader: Trader) -> None:
    version_of(trader)
    page = text(page_of(client, trader))
    assert "Size of each copy 100 USDT" in page and "Stop loss 20 % of margin" in page
    assert "found at the first reading" in page


def test_settings_that_cannot_be_understood_do_not_break_the_page(client: Client, trader: Trader) -> None:
    version = version_of(trader)
    version.answer = [{"settingMode": "unified", "traceValue": "lots"}]
    version.save()
    assert "cannot be understood" in page_of(client, trader)


def test_open_copies_and_the_last_closed_ones_are_listed(client: Client, trader: Trader) -> None:
    order = open_copy(trader, 77, symbol="SOLUSDT")
    html = page_of(client, trader)
    assert reverse("order", args=[order.pk]) in html and "SOLUSDT" in html
    assert f'href="/orders/history/?trader={trader.pk}"' in html
    assert "1 open now, 40.00 USDT" in text(html)


# --- notes ---


def note(
    client: Client, trader: Trader, text_: str = "Doubled the size", day: str = "2026-11-02", query: str = ""
):
    address = reverse("trader_note_add", args=[trader.pk]) + query
    return client.post(address, {"new-day": day, "new-text": text_})


def test_a_note_is_written_and_found_on_the_page_of_the_same_period(client: Client, trader: Trader) -> None:
    response = note(client, trader, query="?period=30")
    assert response["Location"] == reverse("trader", args=[trader.pk]) + "?period=30#notes"
    page = client.get(response["Location"]).content.decode()
    assert "Doubled the size" in section(page, "notes-title") and "2 Nov 2026" in text(page)


@pytest.mark.parametrize(
    ("words", "day", "trouble"),
    [
        ("", "2026-11-02", "Write what you want to remember."),
        ("x" * 2001, "2026-11-02", "at most 2000 characters"),
        ("Kept as typed", "not a day", "Enter a valid date"),
        ("Kept as typed", "1900-01-01", "Choose a day between 2009 and 2100."),
    ],
)
def test_a_note_that_makes_no_sense_is_refused_with_what_was_typed(
    client: Client, trader: Trader, words: str, day: str, trouble: str
) -> None:
    response = note(client, trader, words, day)
    assert response.status_code == 422 and not TraderNote.objects.exists()
    page = response.content.decode()
    assert trouble in text(page) and (not words or words in page)


def test_a_note_is_changed_and_deleted_by_its_owner_alone(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    note(client, trader)
    row = TraderNote.objects.get()
    edit = reverse("trader_note_edit", args=[trader.pk, row.pk])
    delete = reverse("trader_note_delete", args=[trader.pk, row.pk])
    typed = {f"note{row.pk}-day": "2026-11-03", f"note{row.pk}-text": "Halved it"}
    for stranger, expected in ((client_of(charlie), 404), (Client(), 302)):
        assert stranger.post(edit, typed).status_code == expected
        assert stranger.post(delete).status_code == expected
        assert note(stranger, trader).status_code == expected
    assert client.get(edit).status_code == client.get(delete).status_code == 405
    assert client.post(edit, typed).status_code == 302
    assert TraderNote.objects.values_list("day", "text").get() == (date(2026, 11, 3), "Halved it")
    refused = client.post(edit, typed | {f"note{row.pk}-text": ""})
    assert refused.status_code == 422 and TraderNote.objects.get().text == "Halved it"
    assert client.post(delete).status_code == client.post(delete).status_code == 302
    assert not TraderNote.objects.exists()


def test_a_note_of_another_trader_is_not_changed_through_this_one(client: Client, trader: Trader) -> None:
    other = TraderNote.objects.create(
        trader=trader_of(trader.account, 9, "Other"), day=date(2026, 11, 1), text="Mine too"
    )
    edit = reverse("trader_note_edit", args=[trader.pk, other.pk])
    assert (
        client.post(edit, {f"note{other.pk}-day": "2026-11-03", f"note{other.pk}-text": "x"}).status_code
        == 404
    )
    client.post(reverse("trader_note_delete", args=[trader.pk, other.pk]))
    assert TraderNote.objects.get().text == "Mine too"


# --- one's own base ---


def test_an_own_base_is_what_roi_is_measured_on_and_its_label_says_so(client: Client, trader: Trader) -> None:
    address = reverse("trader_capital", args=[trader.pk])
    assert client.post(address, {"capital": "400"}).status_code == 302
    page = without_definitions(page_of(client, trader, "?period=all"))
    assert "ROI on your capital +4.5 % of 400.00" in page
    assert Trader.objects.get(pk=trader.pk).summaries_stale_since is None, "no figure waits for its base"
    client.post(address, {"capital": ""})
    assert Trader.objects.get(pk=trader.pk).capital_base is None
    assert "ROI on invested +1.8 % of 1 000.00" in without_definitions(page_of(client, trader, "?period=all"))


@pytest.mark.parametrize("typed", ["0", "-5", "1,5", "lots", "NaN", "1e99", "Infinity", "1_000"])
def test_a_base_that_is_no_amount_is_refused_with_what_was_typed(
    client: Client, trader: Trader, typed: str
) -> None:
    response = client.post(reverse("trader_capital", args=[trader.pk]), {"capital": typed})
    assert response.status_code == 422 and f'value="{typed}"' in response.content.decode()
    assert Trader.objects.get(pk=trader.pk).capital_base is None


def test_nobody_else_sets_the_base(
    client: Client, trader: Trader, charlie: User, client_of: Callable[[User], Client]
) -> None:
    address = reverse("trader_capital", args=[trader.pk])
    assert client_of(charlie).post(address, {"capital": "1"}).status_code == 404
    assert Client().post(address, {"capital": "1"}).status_code == 302
    assert client.get(address).status_code == 405
    assert Trader.objects.get(pk=trader.pk).capital_base is None


# --- what it costs ---


def queries(call: Callable[[], Any]) -> int:
    watching.remembered.forget()
    call()  # the first look asks for quicker readings; the next ones within a while do not
    with CaptureQueriesContext(connection) as captured:
        call()
    return len(captured)


def test_a_thousand_copies_cost_as_many_queries_as_ten(client: Client, alice: User) -> None:
    trader = trader_of(account_of(alice))
    pages, parts = [], []
    for round_, n in enumerate((10, 990)):
        closed_copies(
            trader,
            *((2000 * round_ + i, "3" if i % 3 else "-2", 1.0 + i % 80, "BTCUSDT") for i in range(n)),
        )
        for number in range(10):
            open_copy(trader, 10_000 + 100 * round_ + number)
            TraderNote.objects.create(trader=trader, day=timezone.now().date(), text="A note")
        version_of(trader)
        summed(trader)
        pages.append(queries(lambda: page_of(client, trader)))
        parts.append(queries(lambda: part_of(client, trader)))
    assert pages[0] == pages[1] <= FRAME + 6
    assert parts[0] == parts[1] <= 2 + 3, "the session and its user besides"
