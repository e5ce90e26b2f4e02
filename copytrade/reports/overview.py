"""The first page: results by period, what is at risk now, and how old all of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import accumulate, islice
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from copytrade.models import Account, Alert, SettingsVersion, TrackingOrder, Trader, User
from copytrade.rollups.days import first_moment
from copytrade.rollups.details import Points
from copytrade.rollups.periods import first_day
from copytrade.rollups.read import DayNets, PeriodRow, day_nets, days_asked, rows_asked, rows_of
from copytrade.statistics.exact import EXACT, ZERO, total
from copytrade.statistics.parts import true_up_before
from copytrade.together import Prepared, Query, refer

from .freshness import Freshness, freshness_of, jobs_of
from .history import newest
from .orders import BRIEFLY, OPEN_SHOWN, OpenOverview, open_order, open_rows, orders_of, overview_of
from .overlap import Overlap, overlaps
from .traders import TraderRow
from .visits import Since, news_asked, since_of, visit
from .zones import day_start, zone_of

PERIODS = (("today", "Today", 1), ("week", "7 days", 7), ("month", "30 days", 30), ("all", "All", None))
RECENT, MOST_MARKS, MOST_ALERTS = 14, 100, 20
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Tile:
    """Net result of copies closed in a period. `since` None: all. `provisional`: part that may still change, of
    `provisional_n` copies: gains and losses may add up to 0, and may change for all that."""

    key: str
    label: str
    since: datetime | None
    net: Decimal
    n: int
    provisional: Decimal
    provisional_n: int


@dataclass(frozen=True)
class Overview:
    """Over all connections, in USDT. `traders`, `equity` and `daily` are those of `period`.

    `equity`: (end of a day with closed copies, cumulative net from 0, drawdown); `deepest`: of its drawdowns.
    `daily`: every day of the period up to today, since the first close in the ledger; `closed_on`: those on which a
    copy closed. `first_day`: that of the first close. `overlaps`: the same symbol and side open through several
    traders. `recent`: closed last, at most 14. `settings`: versions that were not there at first, newest first, of the
    period and since the last visit. `alerts`: those that wait, newest first, at most 20. `stale`: a result changed
    since the traders' figures were made; tiles, equity and days are never behind.
    """

    period: str
    accounts: list[Account]
    tiles: list[Tile]
    open: OpenOverview
    overlaps: list[Overlap]
    freshness: Freshness
    traders: list[TraderRow]
    equity: Sequence[tuple[datetime, Decimal, Decimal]]
    deepest: Decimal
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
    first_day: date | None
    recent: list[TrackingOrder]
    settings: list[SettingsVersion]
    alerts: list[Alert]
    since: Since
    stale: bool


def overview(
    user: User, period: str = "90", *, zone: tzinfo | None = None, now: datetime | None = None
) -> Overview:
    """What the first page shows, in one query. Raises KeyError for a period that is none."""
    now, zone = now or timezone.now(), zone or zone_of(user)
    today = now.astimezone(zone).date()
    begins = first_day(period, today)
    here = visit(user, zone, now)
    since = _EVER if begins is None else min(first_moment(begins, zone), here["visit"])
    *kept, days_told, news, opened, recent, settings, alerts, jobs = _of_the_page(
        owner=user.pk, period=period, since=since, **here
    )
    traders, accounts, _ = kept
    refer([*opened, *recent, *settings], "trader", {trader.pk: trader for trader in traders})
    refer(jobs, "account", {account.pk: account for account in accounts})
    days = day_nets(days_told)
    shown = days.part(begins, today)
    held = overview_of([open_order(order, now) for order in opened])
    rows = _with_open(rows_of(kept, period, now), held)
    line = _line(shown)
    return Overview(
        period=period,
        accounts=accounts,
        tiles=tiles(days, _provisional(rows), zone, now),
        open=held,
        overlaps=overlaps(held.orders),
        freshness=freshness_of(jobs, now=now),
        traders=rows,
        equity=_equity(line, zone, now),
        deepest=max((below for _, _, below in line), default=ZERO),
        daily=_daily(days, shown, begins, today),
        closed_on=frozenset(shown.days),
        first_day=days.days[0] if days.days else None,
        recent=recent,
        settings=settings,
        alerts=alerts,
        since=since_of(user, now, news),
        stale=any(row.stale for row in rows),
    )


@Prepared
def _of_the_page(
    owner: Any, period: Any, since: Any, visit: Any, visit_day: Any, visit_day_ends: Any
) -> Sequence[Query]:
    """All of it at once: so its parts are of one moment, and what hangs on a trader finds him there."""
    closed = newest(owner, orders_of(owner).filter(closed=True, close_time__isnull=False), RECENT)
    waiting = Alert.objects.filter(owner=owner, read_at=None, resolved_at=None, folded_into=None)
    return (
        *rows_asked(owner, period),
        days_asked(owner),
        news_asked(owner, visit, visit_day, visit_day_ends),
        open_rows(owner).only(*OPEN_SHOWN),
        closed.only("trader", *BRIEFLY)[:RECENT],
        _changes_of_settings(owner, since),
        waiting.order_by("-created_at", "-id")[:MOST_ALERTS],
        jobs_of(owner),
    )


@dataclass(frozen=True)
class Line:
    """Of Overview, what its line is made of."""

    equity: Sequence[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
    settings: list[SettingsVersion]


def overview_line(user: User, period: str, zone: tzinfo, now: datetime) -> Line:
    """The line of the first page alone, in one query. Raises KeyError for a period that is none."""
    today = now.astimezone(zone).date()
    begins = first_day(period, today)
    since = _EVER if begins is None else first_moment(begins, zone)
    days_told, settings, traders = _of_the_line(owner=user.pk, since=since)
    refer(settings, "trader", {trader.pk: trader for trader in traders})
    days = day_nets(days_told)
    shown = days.part(begins, today)
    return Line(
        _equity(_line(shown), zone, now), _daily(days, shown, begins, today), frozenset(shown.days), settings
    )


@Prepared
def _of_the_line(owner: Any, since: Any) -> Sequence[Query]:
    return (
        days_asked(owner),
        _changes_of_settings(owner, since),
        Trader.objects.filter(account__owner=owner).only("trader_id", "name"),
    )


def _changes_of_settings(owner: Any, since: Any) -> QuerySet[SettingsVersion]:
    rows = SettingsVersion.objects.filter(trader__account__owner=owner, first_seen_at__gte=since)
    rows = rows.exclude(author=SettingsVersion.Author.FIRST).order_by("-first_seen_at", "-id")
    return rows.only("trader", "author", "first_seen_at")[:MOST_MARKS]


def _with_open(rows: Sequence[PeriodRow], held: OpenOverview) -> list[TraderRow]:
    groups = {group.key.pk: group for group in held.by_trader}
    return [
        TraderRow(row, groups[row.trader.pk].n, groups[row.trader.pk].margin)
        if row.trader.pk in groups
        else TraderRow(row, 0, ZERO)
        for row in rows
    ]


def _provisional(rows: Sequence[PeriodRow]) -> tuple[Decimal, int]:
    """The net of copies closed since the last true-up, and how many there are."""
    found = [row.brief for row in rows]
    return total(one.provisional_net for one in found), sum(one.provisional_copies for one in found)


def tiles(days: DayNets, provisional: tuple[Decimal, int], zone: tzinfo, now: datetime) -> list[Tile]:
    """Today, 7 and 30 days (today included) and all, by the zone's day of closing. `provisional`: net since the
    last true-up, and of how many copies."""
    today, made = now.astimezone(zone).date(), []
    for key, label, length in PERIODS:
        start = None if length is None else day_start(now, zone, length - 1)
        own = days.part(None if length is None else today - timedelta(days=length - 1))
        net, n = total(own.net), sum(own.n)
        # A day that began after the true-up is provisional as a whole.
        whole = start is not None and start > true_up_before(now)
        made.append(Tile(key, label, start, net, n, *((net, n) if whole else provisional)))
    return made


def _line(shown: DayNets) -> list[tuple[date, Decimal, Decimal]]:
    """(day, cumulative net from 0, drawdown) day by day; a fall within a day is not seen here, but in a trader's own
    curve."""
    so_far = list(accumulate(shown.net, EXACT.add, initial=ZERO))
    below = map(EXACT.subtract, accumulate(so_far, max), so_far)
    return list(zip(shown.days, so_far[1:], islice(below, 1, None), strict=True))


def _equity(
    line: list[tuple[date, Decimal, Decimal]], zone: tzinfo, now: datetime
) -> Points[tuple[datetime, Decimal, Decimal]]:
    """The line, each day at its end."""

    def read(row: Sequence[Any]) -> tuple[datetime, Decimal, Decimal]:
        day, net, below = row
        return min(first_moment(day + timedelta(days=1), zone), now), net, below

    return Points(line, read)


def _daily(days: DayNets, shown: DayNets, first: date | None, today: date) -> list[tuple[date, Decimal]]:
    if not days.days:
        return []
    start = days.days[0] if first is None else max(first, days.days[0])
    results = dict(zip(shown.days, shown.net, strict=True))
    every = map(date.fromordinal, range(start.toordinal(), today.toordinal() + 1))
    return [(day, results.get(day, ZERO)) for day in every]
