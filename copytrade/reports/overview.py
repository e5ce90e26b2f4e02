"""The first page: results by period, what is at risk now, and how old all of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

from django.utils import timezone

from copytrade.models import Account, SettingsVersion, TrackingOrder, User
from copytrade.rollups.days import first_moment
from copytrade.rollups.periods import first_day
from copytrade.rollups.read import DayNet, day_nets
from copytrade.statistics.exact import EXACT, ZERO, total
from copytrade.statistics.parts import true_up_before

from .freshness import Freshness, freshness
from .history import NEWEST_FIRST
from .orders import OpenOverview, open_overview, orders_of
from .overlap import Overlap, overlaps
from .traders import TraderRow, traders_table
from .zones import day_start, zone_of

PERIODS = (("today", "Today", 1), ("week", "7 days", 7), ("month", "30 days", 30), ("all", "All", None))
RECENT = 8


@dataclass(frozen=True)
class Tile:
    """Net result of copies closed in a period. `since` None: all. `provisional`: part that may still change."""

    key: str
    label: str
    since: datetime | None
    net: Decimal
    n: int
    provisional: Decimal


@dataclass(frozen=True)
class Overview:
    """Over all connections, in USDT. `traders`, `equity` and `daily` are those of `period`.

    `equity`: (end of a day with closed copies, cumulative net from 0, drawdown). `daily`: every day of the period up
    to today, since the first close in the ledger. `first_day`: that of the first close. `overlaps`: the same symbol
    and side open through several traders. `stale`: a result changed since the traders' figures were made; tiles,
    equity and days are never behind.
    """

    period: str
    accounts: list[Account]
    tiles: list[Tile]
    open: OpenOverview
    overlaps: list[Overlap]
    freshness: Freshness
    traders: list[TraderRow]
    equity: list[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    first_day: date | None
    stale: bool


def overview(
    user: User, period: str = "90", *, zone: tzinfo | None = None, now: datetime | None = None
) -> Overview:
    """What the first page shows, in a fixed number of queries. Raises KeyError for a period that is none."""
    now, zone = now or timezone.now(), zone or zone_of(user)
    rows = traders_table(user, period, now)
    accounts = list(Account.objects.filter(owner=user))
    days = day_nets([account.pk for account in accounts])
    open_now = open_overview(user, now=now)
    today = now.astimezone(zone).date()
    shown = _of_period(days, first_day(period, today), today)
    provisional = total(row.summary.provisional_net for row in rows)
    return Overview(
        period=period,
        accounts=accounts,
        tiles=tiles(days, provisional, zone, now),
        open=open_now,
        overlaps=overlaps(open_now.orders),
        freshness=freshness(user, now=now),
        traders=rows,
        equity=_equity(shown, zone, now),
        daily=_daily(days, shown, first_day(period, today), today),
        first_day=days[0].day if days else None,
        stale=any(row.stale for row in rows),
    )


def recent(user: User) -> list[TrackingOrder]:
    """The copies that closed last, newest first. One query."""
    rows = orders_of(user).filter(closed=True, close_time__isnull=False).select_related("trader", "account")
    return list(rows.order_by(*NEWEST_FIRST)[:RECENT])


def changed_outside(user: User, since: datetime | None = None, limit: int = 20) -> list[SettingsVersion]:
    """Settings that were changed outside the desk, newest first: marks on the time axis. One query."""
    rows = SettingsVersion.objects.filter(trader__account__owner=user, author=SettingsVersion.Author.OUTSIDE)
    if since is not None:
        rows = rows.filter(first_seen_at__gte=since)
    return list(rows.select_related("trader__account").order_by("-first_seen_at", "-id")[:limit])


def tiles(days: Sequence[DayNet], provisional: Decimal, zone: tzinfo, now: datetime) -> list[Tile]:
    """Today, 7 and 30 days (today included) and all, by the zone's day of closing. `provisional`: net since the
    last true-up."""
    today, made = now.astimezone(zone).date(), []
    for key, label, length in PERIODS:
        start = None if length is None else day_start(now, zone, length - 1)
        first = date.min if length is None else today - timedelta(days=length - 1)
        own = [row for row in days if row.day >= first]
        net = total(row.net for row in own)
        # A day that began after the true-up is provisional as a whole.
        part = net if start is not None and start > true_up_before(now) else provisional
        made.append(Tile(key, label, start, net, sum(row.n for row in own), part))
    return made


def _of_period(days: Sequence[DayNet], first: date | None, today: date) -> list[DayNet]:
    return [row for row in days if (first is None or row.day >= first) and row.day <= today]


def _equity(shown: Sequence[DayNet], zone: tzinfo, now: datetime) -> list[tuple[datetime, Decimal, Decimal]]:
    """Day by day; a fall within a day is not seen here, but in a trader's own curve."""
    so_far = peak = ZERO
    points = []
    for row in shown:
        so_far = EXACT.add(so_far, row.net)
        peak = max(peak, so_far)
        ended = min(first_moment(row.day + timedelta(days=1), zone), now)
        points.append((ended, so_far, EXACT.subtract(peak, so_far)))
    return points


def _daily(
    days: Sequence[DayNet], shown: Sequence[DayNet], first: date | None, today: date
) -> list[tuple[date, Decimal]]:
    if not days:
        return []
    start = days[0].day if first is None else max(first, days[0].day)
    results = {row.day: row.net for row in shown}
    every = (start + timedelta(days=step) for step in range((today - start).days + 1))
    return [(day, results.get(day, ZERO)) for day in every]
