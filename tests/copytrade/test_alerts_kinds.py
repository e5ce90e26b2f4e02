"""Every kind of alert: raised at its limit and not before, once, and over when it is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import alerts, issues
from copytrade.alerts import rules
from copytrade.intervals import bounds
from copytrade.models import Account, Alert, PeriodSummary, SyncJob, Trader, User
from tests.support.alert_desk import account_of, copy_of, later, said, trader_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


@pytest.fixture
def trader(account: Account) -> Trader:
    """Copied, and at work: a copy of theirs closed yesterday morning, before anything that is news."""
    made = trader_of(account)
    copy_of(made, net="5", ago=60 * 30)
    return made


def set_rule(owner: User, kind: str, mode: str, limit: str | None = None, unit: str = "") -> None:
    rules.save(owner, {kind: (mode, None if limit is None else Decimal(limit), unit)})
    # A rule holds for what happens from then on: in these tests it is an old one.
    owner.alert_rules.update(since=timezone.now() - timedelta(days=30))


def told() -> list[str]:
    return list(Alert.objects.order_by("pk").values_list("kind", flat=True))


def one(**where: object) -> Alert:
    return Alert.objects.get(**where)


# --- copies ----------------------------------------------------------------------------------------------
def test_a_copy_that_opened_is_told_once_where_somebody_wants_to_know(trader: Trader, alice: User) -> None:
    copy_of(trader)
    assert alerts.watch() == 0, "off unless a person asks for it"
    set_rule(alice, "opened", "on")
    assert [alerts.watch(), alerts.watch()] == [1, 0]
    assert said(one()) == "Northwind Steady: BTCUSDT long opened at 10x with 100.00 USDT of margin."
    assert one().loud_at is not None and one().order == trader.orders.get(closed=False)


def test_a_copy_that_opened_and_closed_between_two_looks_is_told_in_order(
    trader: Trader, alice: User
) -> None:
    copy_of(trader, net="-60")
    set_rule(alice, "opened", "on")
    assert alerts.watch() == 2
    assert told() == ["opened", "loss"]


def test_a_close_tells_its_net_result(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "on")
    copy_of(trader, net="12.345", position_side="SHORT")
    copy_of(trader, net="-0.0004", symbol="ETHUSDT", ago=5)
    assert [alerts.watch(), alerts.watch()] == [2, 0]
    first, second = (said(alert) for alert in Alert.objects.order_by("pk"))
    assert first == "Northwind Steady: BTCUSDT short closed after 1 h, +12.35 USDT net."
    assert second == "Northwind Steady: ETHUSDT long closed after 1 h, −0.000400 USDT net."


def test_a_close_without_a_result_says_so(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "on")
    copy = copy_of(trader, net="1")
    trader.orders.filter(pk=copy.pk).update(net_profit=None)
    alerts.watch()
    assert said(one()).endswith("closed after 1 h, result not told yet.")


@pytest.mark.parametrize(("net", "raised"), [("-49.99999999", 0), ("-50", 1), ("-50.00000001", 1), ("50", 0)])
def test_a_loss_is_told_from_its_limit_on(trader: Trader, net: str, raised: int) -> None:
    copy_of(trader, net=net)
    assert [alerts.watch(), alerts.watch()] == [raised, 0]
    assert told() == ["loss"] * raised


def test_a_loss_is_told_in_place_of_the_close(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "on")
    copy_of(trader, net="-80")
    assert [alerts.watch(), alerts.watch()] == [1, 0]
    assert "−80.00 USDT net. Your limit is 50 USDT." in said(one(kind="loss"))


def test_a_close_that_is_on_is_told_beside_a_loss_that_is_silent(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "on")
    set_rule(alice, "loss", "silent", "50", "USDT")
    copy_of(trader, net="-80")
    assert alerts.watch() == 2
    assert one(kind="closed").loud_at is not None and one(kind="loss").loud_at is None


def test_what_closed_over_a_day_ago_is_no_news(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "on")
    copy_of(trader, net="-80", ago=24 * 60 + 1)
    assert alerts.watch() == 0


def test_the_first_reading_of_a_new_account_raises_nothing_of_its_past(alice: User) -> None:
    set_rule(alice, "closed", "on")
    set_rule(alice, "opened", "on")
    new = account_of(alice, created_at=timezone.now() - timedelta(minutes=2))
    trader = trader_of(new)
    for n in range(30):
        copy_of(trader, net="-90", ago=3 + n)
    copy_of(trader, ago=10)
    assert alerts.watch() == 0, "all of it was before the connection"
    SyncJob.objects.filter(account=new, kind="history").update(cursor={"back": {"end": "x"}})
    copy_of(trader, net="-90", ago=1)
    assert alerts.watch() == 0, "the past is still being read"
    SyncJob.objects.filter(account=new, kind="history").update(cursor={"until": "x"})
    assert alerts.watch() == 1, "what happened since is told once it is"


def test_what_happened_before_a_rule_was_made_raises_nothing(trader: Trader, alice: User) -> None:
    copy_of(trader, net="-30")
    rules.save(alice, {"loss": ("on", Decimal(10), "USDT"), "closed": ("on", None, "")})
    assert alerts.watch() == 0
    copy_of(trader, net="-30", ago=-1)
    assert alerts.watch(later(minutes=2)) == 1


def test_a_copy_in_part_is_told_after_some_minutes_and_over_when_it_is_filled(trader: Trader) -> None:
    copy = copy_of(trader, ago=4, open_size=Decimal("0.8"), open_fill_size=Decimal("0.2"))
    assert alerts.watch() == 0, "it may still be filling"
    assert [alerts.watch(later(minutes=2)), alerts.watch(later(minutes=2))] == [1, 0]
    assert said(one()) == "Northwind Steady: BTCUSDT long is filled to 25.0 % only, 0.2 of 0.8."
    trader.orders.filter(pk=copy.pk).update(open_fill_size=Decimal("0.8"))
    alerts.watch(later(minutes=3))
    assert one().resolved_at is not None


def test_copies_of_unknown_size_are_not_in_part(trader: Trader) -> None:
    copy_of(trader, ago=60, open_size=None, open_fill_size=Decimal(1))
    copy_of(trader, ago=60, open_size=Decimal(1), open_fill_size=None)
    copy_of(trader, ago=60, open_size=Decimal(0), open_fill_size=Decimal(0))
    assert alerts.watch() == 0


def test_an_open_list_that_is_not_whole_is_told_after_some_minutes(account: Account) -> None:
    jobs = account.jobs.filter(kind="open")
    jobs.update(partial_since=timezone.now() - timedelta(minutes=4))
    assert alerts.watch() == 0
    assert [alerts.watch(later(minutes=1)), alerts.watch(later(minutes=2))] == [1, 0]
    assert one().kind == "partial" and one().order is None
    jobs.update(partial_since=None)
    alerts.watch()
    assert one().resolved_at is not None


# --- traders ---------------------------------------------------------------------------------------------
def summed(trader: Trader, fall: str, net: str = "100", peak: str = "2026-10-01T00:00:00+00:00") -> None:
    """The trader's summary as the chore keeps it, as far as a drawdown is told from it."""
    figures = {"current_drawdown": fall, "peak_margin": "1000", "last_peak": peak}
    PeriodSummary.objects.update_or_create(
        trader=trader, period="all",
        defaults={
            "account": trader.account, "as_of": timezone.now().date(), "closed_copies": 9, "net": Decimal(net),
            "net_before": Decimal(0), "figures": figures, "computed_at": timezone.now(),
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fall", "raised"),
    # On peak margin 1000 and a high point of net + fall = 250: 20 % of 1250 is 250.
    [("249.99", 0), ("250", 1), ("251", 1)],
)
def test_a_drawdown_is_told_from_its_limit_on(trader: Trader, fall: str, raised: int) -> None:
    summed(trader, fall, net=str(Decimal(250) - Decimal(fall)))
    assert [alerts.watch(), alerts.watch()] == [raised, 0]


def test_a_drawdown_is_over_with_a_smaller_fall_back_without_being_told_again_and_new_from_a_new_high(
    trader: Trader,
) -> None:
    summed(trader, "400", net="0")
    alerts.watch()
    assert said(one()) == (
        "Northwind Steady: 28.5 % below the high point, 400.00 USDT; your limit is 20 %. Closed copies only."
    )
    summed(trader, "100", net="300")
    alerts.watch()
    assert one().resolved_at is not None
    summed(trader, "400", net="0")
    assert alerts.watch() == 0 and one().resolved_at is None
    summed(trader, "0", net="500")
    alerts.watch()
    assert one().resolved_at is not None
    summed(trader, "600", net="0", peak="2026-11-01T00:00:00+00:00")
    assert alerts.watch() == 1


def test_a_drawdown_is_on_the_capital_the_person_entered(trader: Trader) -> None:
    Trader.objects.update(capital_base=Decimal(10_000))
    summed(trader, "400", net="0")
    assert alerts.watch() == 0
    Trader.objects.update(capital_base=None, total_investment=Decimal(500))
    assert alerts.watch() == 1


def test_the_fall_of_a_trader_who_was_left_is_nobodys_alarm(trader: Trader) -> None:
    summed(trader, "900", net="0")
    Trader.objects.update(copied=False)
    assert alerts.watch() == 0


@pytest.mark.parametrize(("balance", "raised"), [("125.01", 0), ("125", 1), ("100", 1)])
def test_margin_in_use_is_told_from_its_limit_on(trader: Trader, balance: str, raised: int) -> None:
    Trader.objects.update(copy_trading_balance=Decimal(balance))
    copy_of(trader, open_margin_amount=Decimal(60))
    copy_of(trader, open_margin_amount=Decimal(40))
    copy_of(trader, open_margin_amount=Decimal(900), missing_since=timezone.now())
    assert [alerts.watch(), alerts.watch()] == [raised, 0]


def test_margin_in_percent_says_nothing_where_no_balance_is_told(trader: Trader, alice: User) -> None:
    copy_of(trader, open_margin_amount=Decimal(900))
    assert alerts.watch() == 0
    set_rule(alice, "margin", "on", "900", "USDT")
    assert alerts.watch() == 1
    assert said(one()) == "Northwind Steady: 900.00 USDT of margin in use; your limit is 900 USDT."


def test_margin_is_told_once_a_day_at_most_and_over_when_it_is_less(trader: Trader) -> None:
    Trader.objects.update(copy_trading_balance=Decimal(100))
    copy = copy_of(trader, open_margin_amount=Decimal(90))
    noon = timezone.now().replace(hour=12)
    alerts.watch(noon)
    for used, over in (("10", True), ("90", False)):
        trader.orders.filter(pk=copy.pk).update(open_margin_amount=Decimal(used))
        alerts.watch(noon + timedelta(minutes=1))
        assert (one(kind="margin").resolved_at is not None) is over
    alerts.watch(noon + timedelta(days=1))
    assert Alert.objects.filter(kind="margin").count() == 1, "it has lasted since"


def test_a_quiet_trader_is_told_in_the_inbox_and_over_with_the_next_copy(account: Account) -> None:
    trader = trader_of(account)
    copy_of(trader, net="1", ago=60 * 24 * 7 - 5)
    assert alerts.watch() == 0
    account.jobs.update(last_success_at=later(minutes=6))
    assert [alerts.watch(later(minutes=6)), alerts.watch(later(minutes=7))] == [1, 0]
    assert one().silent and one().loud_at is None and alerts.waiting(account.owner) == 0
    assert "no copy opened or closed since" in one().sentence and one().sentence.endswith("for 7 days.")
    copy_of(trader)
    alerts.watch(later(minutes=8))
    assert one().resolved_at is not None


def test_a_trader_of_whom_nothing_is_read_is_not_called_quiet(account: Account) -> None:
    copy_of(trader_of(account), net="1", ago=60 * 24 * 30)
    account.jobs.filter(kind="open").update(last_success_at=timezone.now() - timedelta(days=26))
    alerts.watch()
    assert not Alert.objects.filter(kind="quiet").exists()


def test_a_trader_without_any_copy_is_quiet_since_he_is_known(account: Account) -> None:
    trader_of(account, first_seen_at=timezone.now() - timedelta(days=8))
    trader_of(account, "New", first_seen_at=timezone.now() - timedelta(days=6))
    assert alerts.watch() == 1


def test_a_trader_who_is_gone_is_told_once_and_over_when_he_is_back(trader: Trader) -> None:
    Trader.objects.update(copied=False, left_at=timezone.now())
    assert alerts.watch() == 1
    alerts.watch(later(days=3))
    assert one(kind="gone").resolved_at is None, "he is still gone"
    Trader.objects.update(copied=True, left_at=None)
    alerts.watch()
    assert one(kind="gone").resolved_at is not None
    Trader.objects.update(copied=False, left_at=timezone.now())
    assert alerts.watch() == 1


def test_a_trader_who_left_long_ago_is_no_news(trader: Trader) -> None:
    Trader.objects.update(copied=False, left_at=timezone.now() - timedelta(days=2))
    assert alerts.watch() == 0


# --- sums and the request limit --------------------------------------------------------------------------
def test_a_total_that_does_not_agree_is_told_with_its_trader_and_over_when_it_does(trader: Trader) -> None:
    subject = f"total of trader {trader.trader_id}"
    issues.tell(trader.account, "reconciliation", subject, "It differs by +3 USDT.", {"trader": trader.pk})
    assert [alerts.watch(), alerts.watch()] == [1, 0]
    assert (one().trader, one().sentence) == (trader, "It differs by +3 USDT.")
    assert alerts.cure(one())[0] == f"/traders/{trader.pk}/"
    issues.heal(trader.account, "reconciliation", subject)
    alerts.watch()
    assert one().resolved_at is not None


@pytest.mark.parametrize("details", [{}, {"trader": "x"}, {"trader": 2**40}])
def test_a_total_of_an_unknown_trader_is_told_all_the_same(trader: Trader, details: dict) -> None:
    issues.tell(trader.account, "reconciliation", "total of trader 1", "It differs.", details)
    assert alerts.watch() == 1 and one().trader is None


def test_the_total_of_another_persons_trader_is_not_linked(trader: Trader, charlie: User) -> None:
    other = account_of(charlie)
    issues.tell(other, "reconciliation", "total of trader 1", "It differs.", {"trader": trader.pk})
    alerts.watch()
    assert one().owner == charlie and one().trader is None


@pytest.mark.parametrize(("stretch", "raised"), [(1.0, 0), (1.009, 0), (1.018, 1)])
def test_readings_stretched_beyond_their_cap_are_told(account: Account, stretch: float, raised: int) -> None:
    account.jobs.filter(kind="open").update(interval=stretch * bounds(account.venue, "open").cap)
    assert [alerts.watch(), alerts.watch()] == [raised, 0]
    account.jobs.filter(kind="open").update(interval=60)
    alerts.watch()
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_bills_that_a_key_may_not_read_are_no_alarm(account: Account) -> None:
    SyncJob.objects.create(account=account, kind="bills", interval=10**6, last_error="No permission.")
    assert alerts.watch() == 0


# --- how much looking costs ------------------------------------------------------------------------------
def test_looking_costs_as_many_queries_for_fifteen_copies_as_for_nine(trader: Trader, alice: User) -> None:
    set_rule(alice, "closed", "silent")
    set_rule(alice, "opened", "silent")

    def queries(n: int) -> int:
        for _ in range(n):
            other = trader_of(trader.account, f"T{n}", copy_trading_balance=Decimal(1))
            copy_of(other, net="-90")
            copy_of(other)
        with CaptureQueriesContext(connection) as captured:
            alerts.watch()
        return len(captured)

    few = queries(3)
    Alert.objects.update(created_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert queries(5) == few
    with CaptureQueriesContext(connection) as again:
        assert alerts.watch() == 0
    trader_of(trader.account, "One more")
    with CaptureQueriesContext(connection) as nothing_new:
        assert alerts.watch() == 0
    assert len(again) == len(nothing_new) < few
