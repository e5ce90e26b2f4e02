"""The ledger against the exchange's own total: a cent is rounding, reasons are said, and the rest is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from copytrade import issues, reconcile, rollups, tasks
from copytrade.models import Account, DataIssue, PeriodSummary, SyncJob, TrackingOrder, Trader, User
from copytrade.reports.trader_around import trader_around
from copytrade.statistics.parts import true_up_before
from copytrade.sync import run
from tests.support.ledger_rows import account_of, closed_copy, open_copy, summed_once, trader_of
from tests.support.sandbox_process import Sandbox

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FACTS = reconcile.Facts(
    ledger=Decimal("100"),
    exchange=Decimal("90"),
    copied=True,
    walking=False,
    gaps=0,
    missing=0,
    lost=0,
    lost_value=Decimal(0),
    provisional=Decimal(0),
    total_read=NOON,
    history_read=NOON + timedelta(minutes=5),
    last_close=NOON - timedelta(hours=1),
)


@pytest.mark.parametrize(
    ("exchange", "state"),
    [
        ("100", "agrees"),
        ("100.0000", "agrees"),
        ("100.01", "agrees"),
        ("99.99", "agrees"),
        ("100.0100001", "unexplained"),
        ("99.98", "unexplained"),
        (None, "unknown"),
    ],
)
def test_a_cent_is_rounding_and_more_is_a_difference(exchange: str | None, state: str) -> None:
    found = reconcile.verdict(replace(FACTS, exchange=None if exchange is None else Decimal(exchange)))
    assert found.state == state
    assert found.difference == (None if exchange is None else 100 - Decimal(exchange))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"walking": True}, "still being read"),
        ({"copied": False}, "last in your list"),
        ({"missing": 1}, "1 copy has left the open list"),
        ({"missing": 3}, "3 copies have left the open list"),
        ({"history_read": None}, "after the history"),
        ({"history_read": NOON - timedelta(seconds=1)}, "after the history"),
        ({"total_read": None}, "after the history"),
        ({"last_close": NOON + timedelta(seconds=1)}, "closed after the total was read"),
        ({"total_read": NOON - timedelta(hours=13), "last_close": None}, "trued up after the total was read"),
        ({"provisional": Decimal(-10)}, "provisional"),
        (
            {"lost": 1, "lost_value": Decimal(10)},
            "1 copy closed beyond the exchange's history; its result is not known. It opened a position of 10.00 USDT, "
            "and the difference is no larger than that.",
        ),
        (
            {"lost": 2, "lost_value": Decimal("1234")},
            "2 copies closed beyond the exchange's history; their results are not known. They opened positions of "
            "1\u202f234.00 USDT, and the difference is no larger than that.",
        ),
        ({"lost": 1, "lost_value": None}, "its result is not known, nor how large it was."),
        ({"lost": 2, "lost_value": None}, "their results are not known, nor how large all of them were."),
        ({"gaps": 1}, "could not be read"),
        ({"gaps": 1}, "any number of them, and they explain a difference of any size"),
    ],
)
def test_what_explains_a_difference_is_said(change: dict, words: str) -> None:
    found = reconcile.verdict(replace(FACTS, **change))
    assert found.state == "explained" and words in found.sentence


def test_a_difference_larger_than_what_is_provisional_is_not_explained_by_it() -> None:
    assert reconcile.verdict(replace(FACTS, provisional=Decimal("9.99"))).state == "unexplained"


@pytest.mark.parametrize(
    ("exchange", "state"),
    [
        ("90", "explained"),
        ("110", "explained"),
        ("89.9999999", "unexplained"),
        ("110.0000001", "unexplained"),
        ("-9900", "unexplained"),
    ],
)
def test_lost_copies_explain_no_more_than_their_positions_were_worth(exchange: str, state: str) -> None:
    facts = replace(FACTS, exchange=Decimal(exchange), lost=1, lost_value=Decimal(10))
    assert reconcile.verdict(facts).state == state
    assert reconcile.verdict(replace(facts, lost_value=None)).state == "explained", "no bound is known"


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (1, "The 1 copy that closed beyond the exchange's history cannot explain so much, unless a price more than "
            "doubled: it opened a position of 5.00 USDT. Reading again may;"),
        (3, "The 3 copies that closed beyond the exchange's history cannot explain so much, unless a price more than "
            "doubled: they opened positions of 5.00 USDT. Reading again may;"),
    ],
)  # fmt: skip
def test_that_lost_copies_cannot_explain_so_much_is_said(lost: int, words: str) -> None:
    found = reconcile.verdict(replace(FACTS, lost=lost, lost_value=Decimal(5)))
    assert found.state == "unexplained" and found.sentence.startswith(words)
    assert "Nothing that the desk knows" not in found.sentence


def test_what_lost_copies_cannot_explain_a_gap_may() -> None:
    found = reconcile.verdict(replace(FACTS, lost=1, lost_value=Decimal(5), gaps=1))
    assert found.state == "explained"
    assert "could not be read" in found.sentence and "beyond the exchange's history" not in found.sentence


def test_lost_copies_explain_what_provisional_results_leave() -> None:
    facts = replace(FACTS, lost=1, lost_value=Decimal(5), provisional=Decimal(-5))
    assert (
        "and with what is provisional the difference is no larger than that"
        in reconcile.verdict(facts).sentence
    )
    assert reconcile.verdict(replace(facts, provisional=Decimal("4.99"))).state == "unexplained"


def test_a_bound_is_shown_no_smaller_than_it_is() -> None:
    facts = replace(FACTS, exchange=Decimal("99.9877"), lost=1, lost_value=Decimal("0.0123"))
    assert "a position of 0.02 USDT" in reconcile.verdict(facts).sentence


# --- the chore ---


@pytest.fixture
def trader(alice: User) -> Trader:
    """18 USDT in three copies, and a total that says the same; both sides read a minute ago."""
    trader = trader_of(account_of(alice), trace_total_profit=Decimal(18))
    with summed_once():
        for number, net in enumerate(["10", "10", "-2"]):
            closed_copy(trader, number, net, 10)
    Trader.objects.update(balances_at=timezone.now() - timedelta(minutes=2))
    rollups.rebuild(trader.account)
    rollups.summarise([trader.pk])
    return Trader.objects.get()


def read_again() -> None:
    """Both sides are read, a moment later than whatever was noted before."""
    now = timezone.now()
    Trader.objects.update(balances_at=now)
    SyncJob.objects.update(last_success_at=now + timedelta(seconds=1))


def found() -> list[tuple[str, str]]:
    rows = DataIssue.objects.filter(kind=DataIssue.Kind.RECONCILIATION)
    return list(rows.values_list("subject", "state"))


@pytest.mark.django_db
def test_a_difference_is_told_once_two_readings_in_a_row_have_it(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    assert reconcile.check() == 1 and found() == []
    assert reconcile.check() == 1 and found() == [], "looking twice at one reading says nothing new"
    read_again()
    reconcile.check()
    assert found() == [(reconcile.subject_of(trader), "open")]
    issue = DataIssue.objects.get()
    assert "Northwind Steady are 7.5 USDT below the exchange's total" in issue.sentence
    assert issue.details == {"trader": trader.pk, "ledger": "18", "exchange": "25.5"}


@pytest.mark.django_db
def test_a_ledger_above_the_exchanges_total_is_said_to_be_above_it(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("10.5"))
    reconcile.check()
    read_again()
    reconcile.check()
    assert "are 7.5 USDT above the exchange's total" in DataIssue.objects.get().sentence


@pytest.mark.django_db
def test_a_lost_copy_is_a_reason_of_its_own_and_is_not_missing(trader: Trader) -> None:
    now = timezone.now()
    open_copy(trader, 50, missing_since=now - timedelta(days=100), lost_since=now)
    facts = reconcile.facts_of(trader, PeriodSummary.objects.get(trader=trader, period="all"), now)
    assert (facts.missing, facts.lost) == (0, 1)
    open_copy(trader, 51, missing_since=now)
    facts = reconcile.facts_of(trader, PeriodSummary.objects.get(trader=trader, period="all"), now)
    assert (facts.missing, facts.lost) == (1, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lost", "value"),
    [
        ([], "0"),
        ([{}], "200"),
        ([{}, {"open_price_avg": Decimal("0.0000000000000000000000012345")}], "200.000000000000000000000012345"),
        ([{"open_fill_size": Decimal(3)}], "60"),
        ([{"open_fill_size": None}], "200"),
        ([{"open_fill_size": None, "open_size": None, "open_margin_amount": Decimal("40.5")}], "202.5"),
        ([{"open_price_avg": None, "open_margin_amount": Decimal("40.5")}], "202.5"),
        ([{"open_price_avg": Decimal(0)}], "200"),
        ([{"open_price_avg": None, "open_leverage": None}], None),
        ([{"open_price_avg": None, "open_margin_amount": None}], None),
        ([{"open_price_avg": Decimal(0), "open_margin_amount": Decimal(0)}], None),
        ([{}, {"open_price_avg": None, "open_leverage": None}], None),
    ],
)  # fmt: skip
def test_the_bound_is_what_the_lost_copies_were_worth_and_unknown_where_one_has_no_numbers(
    trader: Trader, lost: list[dict], value: str | None
) -> None:
    now = timezone.now()
    open_copy(trader, 40, open_price_avg=Decimal(10**9))  # open still
    open_copy(trader, 41, missing_since=now, open_price_avg=Decimal(10**9))  # looked up
    for number, more in enumerate(lost):
        open_copy(trader, 50 + number, missing_since=now, lost_since=now, **more)
    wanted = (len(lost), None if value is None else Decimal(value))
    facts = reconcile.facts_of(trader, PeriodSummary.objects.get(trader=trader, period="all"), now)
    assert (facts.lost, facts.lost_value) == wanted
    around = trader_around(trader)
    assert (around.lost, around.lost_value) == wanted, "the page reads the same"


@pytest.mark.django_db
def test_a_difference_beyond_a_lost_copy_is_told_and_the_text_does_not_hide_that_copy(trader: Trader) -> None:
    now = timezone.now()
    open_copy(trader, 50, missing_since=now - timedelta(days=100), lost_since=now)
    Trader.objects.update(trace_total_profit=Decimal("218"))  # 200 above: all that the copy was worth
    for _ in range(3):
        reconcile.check()
        read_again()
    assert found() == []
    Trader.objects.update(trace_total_profit=Decimal("10018"))
    for _ in range(2):
        read_again()
        reconcile.check()
    sentence = DataIssue.objects.get().sentence
    assert sentence.endswith(
        "are 10000 USDT below the exchange's total. The 1 copy that closed beyond the exchange's history cannot "
        "explain so much, unless a price more than doubled: it opened a position of 200.00 USDT. Read again now; "
        "if it stays, compare the history with the exchange's own list."
    )
    assert "nothing that the desk knows" not in sentence


def test_what_was_provisional_before_the_true_up_explains_nothing_after_it() -> None:
    figures = {"provisional_net": "3.25", "provisional_from": NOON.replace(hour=0).isoformat()}
    assert reconcile.provisional_of(figures, NOON) == Decimal("3.25")
    assert reconcile.provisional_of(figures, NOON + timedelta(hours=12)) == 0
    assert reconcile.provisional_of({}, NOON) == 0


@pytest.mark.django_db
def test_one_side_read_again_is_not_enough(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    reconcile.check()
    SyncJob.objects.filter(kind="traders").update(last_success_at=timezone.now() + timedelta(seconds=1))
    reconcile.check()
    assert found() == []


@pytest.mark.django_db
def test_what_was_only_a_moments_difference_leaves_no_trace(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    reconcile.check()
    Trader.objects.update(trace_total_profit=Decimal(18))
    reconcile.check()
    assert Trader.objects.get().total_differs_since is None
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    read_again()
    reconcile.check()
    assert found() == [], "the count begins anew"


@pytest.mark.django_db
def test_it_heals_when_the_sums_agree_again_and_not_before(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    reconcile.check()
    read_again()
    reconcile.check()
    TrackingOrder.objects.filter(net_profit=10).update(close_time=timezone.now() + timedelta(hours=1))
    reconcile.check()
    assert found()[0][1] == "open", "a reason that may explain it is no agreement"
    Trader.objects.update(trace_total_profit=Decimal(18))
    reconcile.check()
    assert found()[0][1] == "resolved"
    assert reconcile.check() == 0, "what agrees is not looked at again"


@pytest.mark.django_db
def test_what_its_reader_dismissed_stays_dismissed(trader: Trader, alice: User) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"))
    for _ in range(3):
        reconcile.check()
        read_again()
    issues.dismiss(DataIssue.objects.get(), "I know")
    reconcile.check()
    assert found()[0][1] == "dismissed"


@pytest.mark.django_db
def test_sums_that_are_being_made_again_are_left_alone(trader: Trader) -> None:
    Trader.objects.update(trace_total_profit=Decimal("25.5"), summaries_stale_since=timezone.now())
    assert reconcile.check() == 0


@pytest.mark.django_db
def test_it_is_a_chore_of_the_desk() -> None:
    assert tasks.CHORES["reconcile"].do() == 0


# --- against the sandbox, whose totals are the sums of its own books ---


def settle(account: Account) -> None:
    """Read everything, make the sums, compare: what the desk does within minutes."""
    run.sync_account(account.pk)
    SyncJob.objects.update(last_success_at=timezone.now() + timedelta(seconds=1))
    rollups.summarise_stale()
    reconcile.check()


@pytest.mark.django_db(transaction=True)
def test_the_sandboxs_totals_are_the_sums_of_its_copies(account: Account, sandbox: Sandbox) -> None:
    settle(account)
    checked = 0
    for trader in Trader.objects.filter(copied=True):
        ledger = sum((order.net_profit for order in trader.orders.filter(closed=True)), Decimal(0))
        assert trader.trace_total_profit == ledger
        checked += bool(ledger)
    assert checked >= 3
    assert found() == [] and not Trader.objects.exclude(total_differs_since=None).exists()


@pytest.mark.django_db(transaction=True)
def test_a_copy_that_the_ledger_lost_is_noticed_and_healed(account: Account, sandbox: Sandbox) -> None:
    settle(account)
    # What closed after the last true-up is provisional, which would explain the difference.
    settled = TrackingOrder.objects.filter(close_time__lt=true_up_before(timezone.now()))
    order = settled.filter(closed=True, trader__copied=True, net_profit__gt=1).first()
    assert order
    trader, net = order.trader, order.net_profit
    TrackingOrder.objects.filter(pk=order.pk).update(net_profit=net - 5000)
    rollups.verify(account)
    for _ in range(3):
        settle(account)
    assert (reconcile.subject_of(trader), "open") in found()
    TrackingOrder.objects.filter(pk=order.pk).update(net_profit=net)
    rollups.verify(account)
    settle(account)
    assert (reconcile.subject_of(trader), "resolved") in found()
