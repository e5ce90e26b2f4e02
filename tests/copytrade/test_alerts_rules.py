"""What a person wants of alerts: modes, limits, single traders, quiet hours; and storms, folded into one."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.utils import timezone

from copytrade import alerts
from copytrade.alerts import folds, rules
from copytrade.alerts.hours import told_from
from copytrade.alerts.kinds import KINDS
from copytrade.models import Account, Alert, AlertRule, AuditEntry, QuietHours, Trader, User
from tests.support.alert_desk import account_of, copy_of, later, said, trader_of
from tests.support.at_once import at_once

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


@pytest.fixture
def trader(account: Account) -> Trader:
    return trader_of(account)


def settle_rules(owner: User) -> None:
    """Rules hold for what happens from then on: these are old ones."""
    owner.alert_rules.update(since=timezone.now() - timedelta(days=30))


def to_tell(now: datetime | None = None) -> int:
    """How many a channel would tell now."""
    return Alert.objects.filter(loud_at__lte=now or timezone.now(), folded_into=None).count()


def set_mode(owner: User, mode: str, kind: str = "loss") -> None:
    rule = rules.default(kind)
    rules.save(owner, {kind: (mode, rule.limit, rule.unit)})
    settle_rules(owner)


# --- modes -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "inbox", "counted", "loud"), [("on", 1, 1, 1), ("silent", 1, 0, 0), ("off", 0, 0, 0)]
)
def test_on_is_told_silent_is_kept_and_off_is_nothing(
    trader: Trader, alice: User, mode: str, inbox: int, counted: int, loud: int
) -> None:
    set_mode(alice, mode)
    copy_of(trader, net="-70")
    assert alerts.watch() == inbox
    assert alerts.inbox(alice).count() == inbox and alerts.waiting(alice) == counted
    assert Alert.objects.filter(loud_at__isnull=False).count() == loud


def test_silent_ones_are_not_told(trader: Trader, alice: User) -> None:
    set_mode(alice, "silent")
    copy_of(trader, net="-70")
    alerts.watch()
    assert to_tell(later(days=1)) == 0


def test_one_persons_rules_are_nobody_elses(trader: Trader, alice: User, charlie: User) -> None:
    set_mode(alice, "off")
    other = trader_of(account_of(charlie))
    copy_of(trader, net="-70")
    copy_of(other, net="-70")
    alerts.watch()
    assert [alert.owner for alert in Alert.objects.all()] == [charlie]


def test_a_trader_of_his_own_is_not_as_all_others(trader: Trader, alice: User) -> None:
    loud, plain, calm = trader, trader_of(trader.account, "Plain"), trader_of(trader.account, "Calm")
    rules.override(alice, "loss", loud, "on", Decimal(5), "USDT")
    rules.override(alice, "loss", calm, "off")
    settle_rules(alice)
    for one in (loud, plain, calm):
        copy_of(one, net="-10")
        copy_of(one, net="-55")
    assert alerts.watch() == 3
    assert Alert.objects.filter(trader=loud).count() == 2 and not Alert.objects.filter(trader=calm).exists()
    assert "Your limit is 5 USDT." in said(Alert.objects.filter(trader=loud).first())


def test_an_override_without_a_limit_has_that_of_all(trader: Trader, alice: User) -> None:
    rules.save(alice, {"loss": ("off", Decimal(30), "USDT")})
    rules.override(alice, "loss", trader, "silent")
    settle_rules(alice)
    copy_of(trader, net="-29")
    copy_of(trader, net="-31")
    assert alerts.watch() == 1 and Alert.objects.get().silent


def test_an_override_that_is_removed_leaves_the_rule_for_all(trader: Trader, alice: User) -> None:
    row = rules.override(alice, "loss", trader, "off")
    rules.drop(row)
    copy_of(trader, net="-70")
    assert alerts.watch() == 1


def test_an_alarm_that_is_switched_off_is_not_called_over(trader: Trader, alice: User) -> None:
    Trader.objects.update(copied=False, left_at=timezone.now())
    alerts.watch()
    set_mode(alice, "off", "gone")
    alerts.watch()
    assert Alert.objects.get().resolved_at is None


def test_only_what_differs_is_stored_and_each_change_is_in_the_audit_log(alice: User, trader: Trader) -> None:
    usual = {kind: (rule.mode, rule.limit, rule.unit) for kind in KINDS if (rule := rules.default(kind))}
    assert rules.save(alice, usual) == [] and not alice.alert_rules.exists()
    assert rules.save(alice, usual | {"loss": ("off", Decimal(50), "USDT")}) == [
        "loss of a copy: off, 50\u202fUSDT"
    ]
    rules.drop(rules.override(alice, "quiet", trader, "on", Decimal("1"), "days"))
    rules.set_quiet(alice, time(22), time(7))
    said = [entry.subject for entry in AuditEntry.objects.filter(action="alert_rules").order_by("pk")]
    assert said == [
        "loss of a copy: off, 50\u202fUSDT",
        "trader quiet, Northwind Steady: on, 1\u202fday",
        "trader quiet, Northwind Steady: as for all traders",
        "Quiet hours: 22:00 to 07:00",
    ]


@pytest.mark.parametrize(
    ("kind", "limit", "unit"),
    [("loss", None, "USDT"), ("loss", "0", "USDT"), ("loss", "-1", "USDT"), ("drawdown", "1001", "%"),
     ("quiet", "366", "days"), ("loss", "0.000000001", "USDT"), ("loss", "NaN", "USDT"), ("loss", "1e13", "USDT")],
)  # fmt: skip
def test_a_limit_that_makes_no_sense_is_refused(kind: str, limit: str | None, unit: str) -> None:
    with pytest.raises(rules.BadLimit):
        rules.checked(KINDS[kind], None if limit is None else Decimal(limit), unit)


def test_a_unit_that_the_kind_has_not_becomes_its_own() -> None:
    assert rules.checked(KINDS["loss"], Decimal(3), "%") == (Decimal(3), "USDT")
    assert rules.checked(KINDS["opened"], Decimal(3), "%") == (None, "")


def test_the_rules_of_a_person_go_with_the_person(alice: User, trader: Trader) -> None:
    rules.override(alice, "loss", trader, "off")
    rules.set_quiet(alice, time(22), time(7))
    alice.delete()
    assert not QuietHours.objects.exists() and not AlertRule.objects.exists()


# --- what is told once from outside ----------------------------------------------------------------------
def test_what_is_told_by_another_part_of_the_desk_is_told_once_and_by_the_rules(
    alice: User, charlie: User
) -> None:
    told = [alerts.tell(alice, "channel_off", "channel_off:1", "Mail was switched off.") for _ in range(2)]
    assert told == [True, False]
    assert Alert.objects.get().account is None
    set_mode(charlie, "off", "channel_off")
    assert alerts.tell(charlie, "channel_off", "channel_off:2", "Mail was switched off.") is False


def test_what_lasts_cannot_be_told_from_outside(alice: User) -> None:
    with pytest.raises(ValueError, match="by looking"):
        alerts.tell(alice, "quiet", "quiet:1", "Quiet.")


# --- quiet hours -----------------------------------------------------------------------------------------
def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "begins", "ends", "told"),
    [
        # Over midnight, in winter time.
        ("2026-01-10T21:59:59+01:00", time(22), time(7), None),
        ("2026-01-10T22:00:00+01:00", time(22), time(7), "2026-01-11T07:00:00+01:00"),
        ("2026-01-11T06:59:59+01:00", time(22), time(7), "2026-01-11T07:00:00+01:00"),
        ("2026-01-11T07:00:00+01:00", time(22), time(7), None),
        # Within a day.
        ("2026-07-10T12:30:00+02:00", time(12), time(13), "2026-07-10T13:00:00+02:00"),
        ("2026-07-10T13:00:00+02:00", time(12), time(13), None),
        # The night in which the clock goes forward is an hour shorter, the one in which it goes back an hour longer.
        ("2026-03-28T23:00:00+01:00", time(22), time(7), "2026-03-29T07:00:00+02:00"),
        ("2026-10-24T23:00:00+02:00", time(22), time(7), "2026-10-25T07:00:00+01:00"),
        # An end that the clock skips, and one that comes twice.
        ("2026-03-29T01:00:00+01:00", time(22), time(2, 30), "2026-03-29T03:30:00+02:00"),
        ("2026-10-25T01:00:00+02:00", time(22), time(2, 30), "2026-10-25T02:30:00+02:00"),
        ("2026-10-25T02:10:00+01:00", time(22), time(2, 30), "2026-10-25T02:30:00+01:00"),
        # No hours at all.
        ("2026-01-10T23:00:00+01:00", None, time(7), None),
        ("2026-01-10T23:00:00+01:00", time(7), time(7), None),
    ],
)
def test_quiet_hours_end_by_the_clock_of_the_zone(
    now: str, begins: time | None, ends: time | None, told: str | None
) -> None:
    assert told_from(at(now), begins, ends, BERLIN) == at(told or now)


def test_what_comes_in_quiet_hours_is_in_the_inbox_at_once_and_told_when_they_end(alice: User) -> None:
    User.objects.update(zone="Europe/Berlin")
    rules.set_quiet(alice, time(22), time(7))
    with time_machine.travel(at("2026-03-29T00:30:00+01:00"), tick=False):
        copy_of(trader_of(account_of(alice)), net="-70")
        assert alerts.watch() == 1
        assert alerts.waiting(alice) == 1 and to_tell() == 0
        assert Alert.objects.get().loud_at == at("2026-03-29T07:00:00+02:00")
    with time_machine.travel(at("2026-03-29T07:00:00+02:00"), tick=False):
        assert to_tell() == 1


# --- storms ----------------------------------------------------------------------------------------------
def storm(trader: Trader, n: int, ago: float = 10) -> None:
    for _ in range(n):
        copy_of(trader, net="-70", ago=ago)


def test_ten_at_once_are_ten_and_eleven_are_one(trader: Trader, alice: User) -> None:
    storm(trader, 10)
    alerts.watch()
    assert alerts.inbox(alice).count() == alerts.waiting(alice) == 10
    Alert.objects.all().delete()
    storm(trader, 1)
    assert alerts.watch() == 11, "each is raised"
    (head,) = alerts.inbox(alice)
    assert (head.times, head.sentence) == (
        11,
        "11 copies closed with a loss beyond your limit within 10 minutes.",
    )
    assert alerts.waiting(alice) == 1 and head.folded.count() == 11
    assert [alert.pk for alert in Alert.objects.filter(loud_at__isnull=False)] == [head.pk]
    assert (head.account, head.trader) == (trader.account, trader)


def test_a_storm_that_grew_is_one_alert_told_when_its_ten_minutes_are_over(
    trader: Trader, alice: User
) -> None:
    begin = timezone.now()
    storm(trader, 6)
    alerts.watch(begin)
    other = trader_of(trader.account, "Other")
    storm(other, 7)
    assert alerts.watch(begin + timedelta(minutes=4)) == 7
    storm(trader, 2)
    assert alerts.watch(begin + timedelta(minutes=9)) == 2
    (head,) = alerts.inbox(alice)
    assert head.times == 15 and head.sentence.startswith("15 copies closed")
    assert head.loud_at == begin + timedelta(minutes=10), "six were told before, so this can wait and count"
    assert head.trader is None and head.account == trader.account
    assert Alert.objects.filter(loud_at=begin).count() == 6
    storm(trader, 1)
    alerts.watch(begin + timedelta(minutes=15))
    assert alerts.inbox(alice, kind="loss").count() == 2, "the storm is over: this one stands for itself"


def test_what_joins_a_storm_that_was_read_opens_it_again(trader: Trader, alice: User) -> None:
    storm(trader, 11)
    alerts.watch()
    assert alerts.mark_read(alerts.inbox(alice)) == 1
    assert not Alert.objects.filter(read_at=None).exists(), "what is folded is read with it"
    storm(trader, 1)
    alerts.watch()
    assert alerts.waiting(alice) == 1


def test_a_storm_in_quiet_hours_is_told_when_they_end(trader: Trader, alice: User) -> None:
    now = timezone.now()
    ends = (now + timedelta(hours=2)).replace(second=0, microsecond=0)
    rules.set_quiet(alice, (now - timedelta(hours=1)).time(), ends.time())
    storm(trader, 5)
    alerts.watch(now)
    storm(trader, 7)
    alerts.watch(now + timedelta(minutes=1))
    assert [a.loud_at for a in Alert.objects.filter(loud_at__isnull=False)] == [ends]
    assert Alert.objects.get(loud_at=ends).times == 12


def test_a_silent_storm_is_told_by_nobody(trader: Trader, alice: User) -> None:
    set_mode(alice, "silent")
    storm(trader, 12)
    alerts.watch()
    (head,) = alerts.inbox(alice)
    assert head.silent and head.loud_at is None and alerts.waiting(alice) == 0


def test_storms_of_two_people_and_of_two_kinds_are_apart(trader: Trader, alice: User, charlie: User) -> None:
    set_mode(alice, "on", "opened")
    storm(trader, 12)
    storm(trader_of(account_of(charlie)), 5)
    alerts.watch()
    heads = Alert.objects.filter(times__gt=1).order_by("kind")
    assert [(head.kind, head.owner, head.times) for head in heads] == [
        ("loss", alice, 12),
        ("opened", alice, 12),
    ]
    assert alerts.inbox(charlie).count() == 5


def test_a_storm_of_what_lasts_is_over_when_the_last_of_it_is(alice: User) -> None:
    made = [account_of(alice, f"Desk {n}", state="refused", state_reason="No.") for n in range(12)]
    alerts.watch()
    (head,) = alerts.inbox(alice)
    assert head.sentence == "12 keys refused within 10 minutes." and head.account is None
    Account.objects.exclude(pk=made[0].pk).update(state="active")
    alerts.watch()
    assert alerts.inbox(alice).count() == 1 and head.folded.filter(resolved_at=None).count() == 1
    Account.objects.update(state="active")
    alerts.watch()
    assert not alerts.inbox(alice).exists()
    head.refresh_from_db()
    assert head.resolved_at is not None


@pytest.mark.django_db(transaction=True)
def test_watchers_that_look_at_once_fold_a_storm_once(alice: User) -> None:
    trader = trader_of(account_of(alice))
    storm(trader, folds.MOST + 13)
    raised = at_once(*[alerts.watch] * 4)
    assert sorted(raised) == [0, 0, 0, 23]
    (head,) = alerts.inbox(alice)
    assert head.times == head.folded.count() == 23
    assert Alert.objects.count() == 24


def test_a_storm_is_told_as_one(trader: Trader) -> None:
    storm(trader, 23)
    alerts.watch()
    assert to_tell(later(days=1)) == 1
