"""The digest: a day or a week in figures, by the sums that Overview reads. When it is due, and what stands in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone

from copytrade.models import (
    Account,
    Alert,
    Channel,
    Delivery,
    Digest,
    DigestPlan,
    SettingsVersion,
    Trader,
    TraderResult,
    User,
)
from copytrade.reports.orders import Totals as Open
from copytrade.reports.orders import open_overview
from copytrade.rollups.days import first_moment, zone_of
from copytrade.statistics.exact import total

Rhythm = DigestPlan.Rhythm
# How long after its hour a digest is still sent, when the desk stood still: a day's is then another day's news.
LATE = {Rhythm.DAILY: timedelta(hours=20), Rhythm.WEEKLY: timedelta(days=3)}
DAYS = {Rhythm.DAILY: 1, Rhythm.WEEKLY: 7}
MOST = 20  # alerts and changes that are listed; more are counted


@dataclass(frozen=True)
class Line:
    """Net result in USDT of what closed in the days of the digest."""

    name: str
    net: Decimal
    n: int


@dataclass(frozen=True)
class Part:
    """One account, with those of its traders of whom something closed, the largest result first."""

    account: Line
    traders: list[Line]


@dataclass(frozen=True)
class Content:
    """`open`: copies, margin and notional at `now`. `alerts` and `changes`: (when, sentence), the newest first;
    `n_alerts` and `n_changes` count those that are not listed, too."""

    first_day: date
    last_day: date
    now: datetime
    zone: tzinfo
    total: Line
    parts: list[Part]
    open: Open
    alerts: list[tuple[datetime, str]]
    n_alerts: int
    changes: list[tuple[datetime, str]]
    n_changes: int


def plan_of(owner: User) -> DigestPlan:
    return DigestPlan.objects.filter(owner=owner).first() or DigestPlan(owner=owner)


def set_plan(owner: User, rhythm: str, hour: int, weekday: int) -> DigestPlan:
    """From now on; an hour that struck already is not made up for. ValueError for what no clock has."""
    if rhythm not in Rhythm.values or not 0 <= hour <= 23 or not 0 <= weekday <= 6:
        raise ValueError("Choose a rhythm, an hour from 0 to 23 and a day of the week.")
    fields = {"rhythm": rhythm, "hour": hour, "weekday": weekday, "since": timezone.now()}
    return DigestPlan.objects.update_or_create(owner=owner, defaults=fields)[0]


def struck(plan: DigestPlan, zone: tzinfo, now: datetime) -> datetime:
    """When its hour struck last, by the person's clock. An hour that summer time leaves out strikes when the clock
    jumps past it; one that comes twice counts the first time."""
    today = now.astimezone(zone).date()
    for ago in range(9):
        day = today - timedelta(days=ago)
        moment = datetime(day.year, day.month, day.day, plan.hour, tzinfo=zone).astimezone(now.tzinfo)
        if moment <= now and (plan.rhythm != Rhythm.WEEKLY or day.weekday() == plan.weekday):
            return moment
    raise ValueError("No day of the last nine is that weekday.")


def next_in_words(plan: DigestPlan, now: datetime) -> str:
    """When the next one comes: `The next digest comes on 23 Nov 2026 at 08:00.`"""
    if plan.rhythm == Rhythm.OFF:
        return "No digest is mailed."
    zone = zone_of(plan.owner)
    today = now.astimezone(zone).date()
    for ahead in range(9):
        day = today + timedelta(days=ahead)
        moment = datetime(day.year, day.month, day.day, plan.hour, tzinfo=zone)
        if moment.astimezone(now.tzinfo) > now and (
            plan.rhythm != Rhythm.WEEKLY or day.weekday() == plan.weekday
        ):
            return f"The next digest comes on {day.day} {day:%b %Y} at {plan.hour:02}:00."
    raise ValueError("No day of the next nine is that weekday.")


def plan(now: datetime) -> int:
    """A row for each digest whose hour has struck; how many. Each once, whoever looks and however often."""
    if not settings.EMAIL_HOST:
        return 0
    ways = Channel.objects.filter(
        kind=Channel.Kind.MAIL, enabled=True, owner__is_active=True, owner__is_demo=False
    )
    ways = ways.exclude(owner__email="").exclude(owner__digest_plan__rhythm=Rhythm.OFF)
    made = 0
    for way in ways.filter(owner__digest_plan__isnull=False).select_related("owner__digest_plan"):
        made += _plan_one(way, way.owner.digest_plan, now)
    return made


def _plan_one(way: Channel, wanted: DigestPlan, now: datetime) -> int:
    zone = zone_of(way.owner)
    moment = struck(wanted, zone, now)
    if moment <= max(wanted.since, way.since) or now - moment > LATE[Rhythm(wanted.rhythm)]:
        return 0
    last = moment.astimezone(zone).date() - timedelta(days=1)
    first = last - timedelta(days=DAYS[Rhythm(wanted.rhythm)] - 1)
    if Digest.objects.filter(owner=way.owner, rhythm=wanted.rhythm, last_day=last).exists():
        return 0
    with transaction.atomic():
        digest, new = Digest.objects.get_or_create(
            owner=way.owner,
            rhythm=wanted.rhythm,
            last_day=last,
            defaults={"first_day": first, "created_at": now},
        )
        if new:
            Delivery.objects.create(
                channel=way, what=Delivery.What.DIGEST, digest=digest, words=f"Digest of {days_in_words(digest)}",
                said_at=moment, due_at=now, created_at=now,
            )  # fmt: skip
    return int(new)


def days_in_words(digest: Digest) -> str:
    first, last = digest.first_day, digest.last_day
    end = f"{last.day} {last:%b %Y}"
    return end if first == last else f"{first.day} {first:%b} to {end}"


def content(digest: Digest, now: datetime | None = None) -> Content:
    """What stands in it: the closed days by the daily sums, what is open by the open list. Ten queries."""
    owner, now = digest.owner, now or timezone.now()
    zone = zone_of(owner)
    begins, ends = (
        first_moment(digest.first_day, zone),
        first_moment(digest.last_day + timedelta(days=1), zone),
    )
    parts = _parts(owner, digest)
    alerts = Alert.objects.filter(
        owner=owner, created_at__gte=begins, created_at__lt=ends, folded_into=None
    ).order_by("-created_at", "-pk")
    changes = SettingsVersion.objects.filter(
        trader__account__owner=owner, first_seen_at__gte=begins, first_seen_at__lt=ends
    ).exclude(author=SettingsVersion.Author.FIRST).order_by("-first_seen_at", "-pk")  # fmt: skip
    return Content(
        first_day=digest.first_day,
        last_day=digest.last_day,
        now=now,
        zone=zone,
        total=Line(
            "All accounts", total(part.account.net for part in parts), sum(p.account.n for p in parts)
        ),
        parts=parts,
        open=open_overview(owner, now=now).totals,
        alerts=[(alert.created_at, alert.sentence) for alert in alerts[:MOST]],
        n_alerts=alerts.count(),
        changes=[(v.first_seen_at, _changed(v)) for v in changes.select_related("trader")[:MOST]],
        n_changes=changes.count(),
    )


def _parts(owner: User, digest: Digest) -> list[Part]:
    sums = TraderResult.objects.filter(
        account__owner=owner, day__gte=digest.first_day, day__lte=digest.last_day
    ).values("account", "trader").annotate(all_net=Sum("net"), all_n=Sum("n"), rows=Count("pk"))  # fmt: skip
    found = list(sums)
    names = Trader.objects.in_bulk({row["trader"] for row in found})
    parts = []
    for account in Account.objects.filter(owner=owner):
        own = [row for row in found if row["account"] == account.pk]
        lines = [Line(str(names.get(row["trader"], "")), row["all_net"], row["all_n"]) for row in own]
        lines.sort(key=lambda line: (-line.net, line.name))
        account_line = Line(account.label, total(line.net for line in lines), sum(line.n for line in lines))
        parts.append(Part(account_line, lines))
    return parts


def _changed(version: SettingsVersion) -> str:
    return f"{version.trader}: copy settings {version.get_author_display()}"
