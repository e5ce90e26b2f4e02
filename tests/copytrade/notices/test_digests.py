"""The digest: due once at its hour by the person's clock, and its figures are those of Overview."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from copytrade import notices, reports, rollups
from copytrade.models import (
    Alert,
    Channel,
    Delivery,
    Digest,
    DigestPlan,
    SettingsVersion,
    Trader,
    User,
)
from copytrade.notices import channels, digests
from tests.support.ledger_rows import account_of, closed_copy, open_copy, summed_once, trader_of, version_of

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(autouse=True)
def server(settings: object) -> None:
    settings.EMAIL_HOST, settings.SITE_URL = "mail.test", "https://desk.example.com"  # type: ignore[attr-defined]


@pytest.fixture
def daily(alice: User) -> DigestPlan:
    return wanted(alice, "daily", 8)


def wanted(owner: User, rhythm: str, hour: int, weekday: int = 0, zone: str = "Europe/Berlin") -> DigestPlan:
    """A plan that has been there for years."""
    User.objects.filter(pk=owner.pk).update(zone=zone)
    plan = digests.set_plan(owner, rhythm, hour, weekday)
    DigestPlan.objects.update(since=datetime(2020, 1, 1, tzinfo=UTC))
    channels.ensure_mail(timezone.now(), owner)
    Channel.objects.update(since=datetime(2020, 1, 1, tzinfo=UTC))
    return plan


def just_struck() -> int:
    """The hour of UTC that has struck last: whenever the tests run, its digest is due and not late."""
    return timezone.now().hour


def berlin(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=BERLIN).astimezone(UTC)  # type: ignore[misc]


def days() -> list[tuple[date, date]]:
    return list(Digest.objects.order_by("pk").values_list("first_day", "last_day"))


# --- when ------------------------------------------------------------------------------------------------
def test_it_is_due_once_at_its_hour_and_tells_of_the_day_before(daily: DigestPlan) -> None:
    assert digests.plan(berlin(2026, 11, 20, 7, 59)) == 0 or days() == [(date(2026, 11, 18),) * 2]
    Digest.objects.all().delete()
    assert [digests.plan(berlin(2026, 11, 20, 8, m)) for m in (0, 1, 30)] == [1, 0, 0]
    assert days() == [(date(2026, 11, 19), date(2026, 11, 19))]
    assert Delivery.objects.get().words == "Digest of 19 Nov 2026"


def test_before_its_hour_nothing_of_the_day_is_told(daily: DigestPlan) -> None:
    DigestPlan.objects.update(since=berlin(2026, 11, 19, 12))
    assert digests.plan(berlin(2026, 11, 20, 7, 59)) == 0
    assert digests.plan(berlin(2026, 11, 20, 8)) == 1


@pytest.mark.parametrize(("late", "made"), [(timedelta(hours=19), 1), (timedelta(hours=21), 0)])
def test_a_desk_that_stood_still_makes_up_for_a_day_within_it(
    daily: DigestPlan, late: timedelta, made: int
) -> None:
    assert digests.plan(berlin(2026, 11, 20, 8) + late) == made


def test_an_hour_that_struck_before_it_was_wanted_is_not_made_up_for(daily: DigestPlan) -> None:
    DigestPlan.objects.update(since=berlin(2026, 11, 20, 8, 30))
    assert digests.plan(berlin(2026, 11, 20, 9)) == 0
    assert digests.plan(berlin(2026, 11, 21, 9)) == 1


def test_once_a_week_tells_of_seven_whole_days(alice: User) -> None:
    wanted(alice, "weekly", 7, weekday=0)
    assert digests.plan(berlin(2026, 11, 23, 7)) == 1, "a Monday"
    assert days() == [(date(2026, 11, 16), date(2026, 11, 22))]
    assert [digests.plan(berlin(2026, 11, day, 12)) for day in (24, 25, 26, 28)] == [0, 0, 0, 0]
    assert Delivery.objects.get().words == "Digest of 16 Nov to 22 Nov 2026"


def test_an_hour_that_summer_time_leaves_out_strikes_when_the_clock_jumps(alice: User) -> None:
    plan = wanted(alice, "daily", 2)
    assert digests.struck(plan, BERLIN, datetime(2026, 3, 29, 0, 59, tzinfo=UTC)).date() == date(2026, 3, 28)
    assert digests.struck(plan, BERLIN, datetime(2026, 3, 29, 1, 0, tzinfo=UTC)) == datetime(
        2026, 3, 29, 1, tzinfo=UTC
    )
    moments = [datetime(2026, 3, 29, 0, tzinfo=UTC) + timedelta(minutes=10) * n for n in range(24 * 6)]
    DigestPlan.objects.update(since=moments[0])
    assert sum(digests.plan(moment) for moment in moments) == 1
    assert days() == [(date(2026, 3, 28),) * 2]


def test_an_hour_that_comes_twice_is_told_once(alice: User) -> None:
    wanted(alice, "daily", 2)
    moments = [datetime(2026, 10, 24, 22, tzinfo=UTC) + timedelta(minutes=10) * n for n in range(24 * 6)]
    DigestPlan.objects.update(since=moments[0])
    told = [moment for moment in moments if digests.plan(moment)]
    assert told == [datetime(2026, 10, 25, 0, tzinfo=UTC)], "02:00 of summer time"


def test_the_hour_stays_the_same_by_the_clock_over_a_year(alice: User) -> None:
    plan = wanted(alice, "daily", 8)
    for n in range(0, 366, 5):
        now = datetime(2026, 1, 1, 23, tzinfo=UTC) + timedelta(days=n)
        assert digests.struck(plan, BERLIN, now).astimezone(BERLIN).hour == 8


@pytest.mark.parametrize("case", ["off", "paused", "no address", "demo", "inactive", "no server", "no plan"])
def test_who_wants_none_or_cannot_have_it_gets_none(
    case: str, alice: User, daily: DigestPlan, settings: object
) -> None:
    if case == "off":
        DigestPlan.objects.update(rhythm="off")
    elif case == "paused":
        Channel.objects.update(enabled=False)
    elif case == "no server":
        settings.EMAIL_HOST = ""  # type: ignore[attr-defined]
    elif case == "no plan":
        DigestPlan.objects.all().delete()
    else:
        User.objects.update(
            **{"no address": {"email": ""}, "demo": {"is_demo": True}, "inactive": {"is_active": False}}[case]
        )
    assert digests.plan(berlin(2026, 11, 20, 8)) == 0


@pytest.mark.parametrize("wrong", [("monthly", 8, 0), ("daily", 24, 0), ("daily", -1, 0), ("weekly", 8, 7)])
def test_a_rhythm_that_no_clock_has_is_refused(alice: User, wrong: tuple) -> None:
    with pytest.raises(ValueError):
        digests.set_plan(alice, *wrong)


@pytest.mark.parametrize(
    ("rhythm", "words"),
    [
        ("off", "No digest is mailed."),
        ("daily", "on 21 Nov 2026 at 08:00."),
        ("weekly", "on 23 Nov 2026 at 08:00."),
    ],
)
def test_when_the_next_one_comes_is_said(alice: User, rhythm: str, words: str) -> None:
    wanted(alice, rhythm, 8)
    plan = digests.plan_of(User.objects.get())
    assert digests.next_in_words(plan, berlin(2026, 11, 20, 9)).endswith(words)


# --- what ------------------------------------------------------------------------------------------------
@pytest.fixture
def world(alice: User) -> list[Trader]:
    """Two accounts, three traders; copies closed yesterday, today and long ago; two open."""
    first, second = account_of(alice, "Main"), account_of(alice, "Second")
    traders = [
        trader_of(first, 0, "Northwind Steady"),
        trader_of(first, 1, "Blue Harbour"),
        trader_of(second, 2, "Kestrel"),
    ]
    with summed_once():
        for number, (trader, net, ago) in enumerate(
            [
                (0, "5.25", 1),
                (0, "-1.5", 1),
                (1, "-7.125", 1),
                (2, "2", 1),
                (2, "100", 0),
                (1, "-40", 5),
                (0, "9", 12),
            ]
        ):
            closed_copy(traders[trader], number, net, ago)
    for number in (50, 51):
        open_copy(traders[0], number)
    return traders


def digest_of(owner: User, rhythm: str = "daily") -> Digest:
    yesterday = timezone.now().astimezone(rollups.zone_of(owner)).date() - timedelta(days=1)
    length = 1 if rhythm == "daily" else 7
    return Digest.objects.create(
        owner=owner, rhythm=rhythm, first_day=yesterday - timedelta(days=length - 1), last_day=yesterday
    )


@pytest.mark.parametrize(("rhythm", "net", "n"), [("daily", "-1.375", 4), ("weekly", "-41.375", 5)])
def test_its_net_result_is_that_of_overview_on_these_days(
    alice: User, world: list[Trader], rhythm: str, net: str, n: int
) -> None:
    digest = digest_of(alice, rhythm)
    found, overview = digests.content(digest), reports.overview(alice)
    assert (found.total.net, found.total.n) == (Decimal(net), n)
    shown = [one for day, one in overview.daily if digest.first_day <= day <= digest.last_day]
    assert found.total.net == sum(shown)
    assert (
        (found.open.n, found.open.margin) == (overview.open.totals.n, overview.open.totals.margin) == (2, 80)
    )


def test_accounts_and_traders_add_up_the_best_first(alice: User, world: list[Trader]) -> None:
    main, second = digests.content(digest_of(alice)).parts
    assert [(line.name, line.net, line.n) for line in main.traders] == [
        ("Northwind Steady", Decimal("3.75"), 2),
        ("Blue Harbour", Decimal("-7.125"), 1),
    ]
    assert (main.account.name, main.account.net) == ("Main", Decimal("-3.375"))
    assert (second.account.net, [line.name for line in second.traders]) == (Decimal(2), ["Kestrel"])


def test_days_are_those_of_the_persons_clock(alice: User) -> None:
    User.objects.update(zone="Pacific/Kiritimati")
    alice.refresh_from_db()
    trader = trader_of(account_of(alice))
    zone = rollups.zone_of(alice)
    yesterday = timezone.now().astimezone(zone).replace(hour=0, minute=30) - timedelta(days=1)
    closed_copy(trader, 1, "3", (timezone.now() - yesterday) / timedelta(days=1))
    assert digests.content(digest_of(alice)).total.net == Decimal(3)


def test_alerts_and_changed_settings_of_these_days_are_listed(alice: User, world: list[Trader]) -> None:
    noon = timezone.now() - timedelta(days=1)
    for n in range(25):
        Alert.objects.create(owner=alice, kind="closed", key=str(n), sentence=f"Alert {n}.", created_at=noon)
    Alert.objects.create(
        owner=alice, kind="closed", key="old", sentence="Old.", created_at=noon - timedelta(days=9)
    )
    version = version_of(world[0])
    SettingsVersion.objects.filter(pk=version.pk).update(author="outside", first_seen_at=noon)
    found = digests.content(digest_of(alice))
    assert (len(found.alerts), found.n_alerts) == (digests.MOST, 25)
    assert [words for _, words in found.changes] == [
        "Northwind Steady: copy settings changed outside the desk"
    ]


def test_nothing_of_a_stranger_is_in_it(alice: User, charlie: User, world: list[Trader]) -> None:
    found = digests.content(digest_of(charlie))
    assert (found.total.n, found.parts, found.open.n, found.n_alerts) == (0, [], 0, 0)


def test_the_letter_has_the_figures_as_text_and_as_html(alice: User, world: list[Trader]) -> None:
    wanted(alice, "daily", just_struck(), zone="UTC")
    notices.plan()
    assert notices.work() == 1
    assert notices.plan() == 0 and notices.work() == 0
    (letter,) = mail.outbox
    assert letter.to == ["alice@example.com"]
    yesterday = timezone.now().date() - timedelta(days=1)
    assert letter.subject == f"Copydesk: −1.38 USDT on {yesterday.day} {yesterday:%b %Y}"
    for body in (letter.body, str(letter.alternatives[0][0])):
        for words in (
            "Main",
            "−3.38 USDT",
            "Northwind Steady",
            "+3.75 USDT",
            "Blue Harbour",
            "Kestrel",
            "80.00 USDT",
            "2 copies",
        ):
            assert words in body, words


def test_a_name_from_the_exchange_is_text_in_it(alice: User) -> None:
    trader = trader_of(account_of(alice), name="<script>alert(1)</script>")
    closed_copy(trader, 1)
    wanted(alice, "daily", just_struck(), zone="UTC")
    notices.plan()
    notices.work()
    html = str(mail.outbox[0].alternatives[0][0])
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_a_person_without_an_account_gets_a_digest_that_says_so(alice: User) -> None:
    wanted(alice, "weekly", just_struck(), weekday=timezone.now().weekday(), zone="UTC")
    notices.plan()
    notices.work()
    assert "No exchange account is connected" in mail.outbox[0].body


def test_ten_traders_cost_as_many_queries_as_thirty(alice: User) -> None:
    account = account_of(alice)

    def queries(numbers: range) -> int:
        with summed_once():
            for number in numbers:
                closed_copy(trader_of(account, number, f"Trader {number}"), number)
        Digest.objects.all().delete()
        digest = digest_of(alice)
        with CaptureQueriesContext(connection) as captured:
            digests.content(digest)
        return len(captured)

    assert queries(range(10)) == queries(range(10, 30)) <= 12


@pytest.mark.parametrize(
    "amount",
    ["0", "0.125", "-0.125", "0.135", "-1234567.005", "0.004", "-0.0004", "0.0000000001", "2.675", "1e6"],
)
def test_an_amount_has_the_digits_that_the_pages_show(amount: str) -> None:
    from django.utils.html import strip_tags

    from copytrade.notices.letters import money
    from dashboard.templatetags import desk

    shown = strip_tags(desk.signed(Decimal(amount))).replace("\u00a0", " ")
    assert money(Decimal(amount), signed=True).removesuffix(" USDT") == shown.strip()
