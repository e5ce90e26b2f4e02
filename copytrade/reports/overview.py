"""The first page: results by period, what is at risk now, and how old all of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from copytrade.models import Account, Alert, SettingsVersion, TrackingOrder, Trader, User
from copytrade.rollups.days import first_moment
from copytrade.rollups.details import Points
from copytrade.rollups.periods import first_day
from copytrade.rollups.read import DayNet, PeriodRow, day_nets, period_rows
from copytrade.statistics.exact import EXACT, ZERO, total
from copytrade.statistics.parts import true_up_before

from .freshness import Freshness, freshness
from .history import newest
from .orders import BRIEFLY, OPEN_SHOWN, OpenOverview, open_order, open_rows, orders_of, overview_of
from .overlap import Overlap, overlaps
from .together import Prepared
from .traders import TraderRow
from .visits import Since, since_last_visit
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

    `equity`: (end of a day with closed copies, cumulative net from 0, drawdown). `daily`: every day of the period up
    to today, since the first close in the ledger; `closed_on`: those on which a copy closed. `first_day`: that of the
    first close. `overlaps`: the same symbol and side open through several traders. `recent`: closed last, at most 14.
    `settings`: versions that were not there at first, newest first, of the period and since the last visit. `alerts`:
    those that wait, newest first, at most 20. `stale`: a result changed since the traders' figures were made; tiles,
    equity and days are never behind.
    """

    period: str
    accounts: list[Account]
    tiles: list[Tile]
    open: OpenOverview
    overlaps: list[Overlap]
    freshness: Freshness
    traders: list[TraderRow]
    equity: Sequence[tuple[datetime, Decimal, Decimal]]
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
    """What the first page shows, in five queries. Raises KeyError for a period that is none."""
    now, zone = now or timezone.now(), zone or zone_of(user)
    today = now.astimezone(zone).date()
    begins = first_day(period, today)
    kept, since = period_rows(user, period, now), since_last_visit(user, zone, now)
    around = _around(user, {row.trader.pk: row.trader for row in kept}, begins, since.at, zone, now)
    rows = _with_open(kept, around.open)
    days = day_nets([account.pk for account in around.accounts])
    shown = _of_period(days, begins, today)
    return Overview(
        period=period,
        accounts=around.accounts,
        tiles=tiles(days, _provisional(rows), zone, now),
        open=around.open,
        overlaps=overlaps(around.open.orders),
        freshness=freshness(user, now=now),
        traders=rows,
        equity=_equity(shown, zone, now),
        daily=_daily(days, shown, begins, today),
        closed_on=_closed_on(shown),
        first_day=days[0].day if days else None,
        recent=around.recent,
        settings=around.settings,
        alerts=around.alerts,
        since=since,
        stale=any(row.stale for row in rows),
    )


@dataclass(frozen=True)
class _Around:
    accounts: list[Account]
    open: OpenOverview
    recent: list[TrackingOrder]
    settings: list[SettingsVersion]
    alerts: list[Alert]


def _around(
    user: User, traders: dict[int, Trader], begins: date | None, visit: datetime, zone: tzinfo, now: datetime
) -> _Around:
    """What a page shows of other tables than the sums: one query. `traders`: by our key."""
    since = _EVER if begins is None else min(first_moment(begins, zone), visit)
    accounts, opened, recent, settings, alerts = _of_other_tables(owner=user.pk, since=since)
    # A trader may have come between the two queries: what hangs on him waits for the next page.
    for row in (found := [row for row in [*opened, *recent, *settings] if row.trader_id in traders]):
        row.trader = traders[row.trader_id]
    known = {id(row) for row in found}
    return _Around(
        accounts,
        overview_of([open_order(order, now) for order in opened if id(order) in known]),
        [order for order in recent if id(order) in known],
        [version for version in settings if id(version) in known],
        alerts,
    )


@Prepared
def _of_other_tables(owner: Any, since: Any) -> Sequence[QuerySet[Any]]:
    closed = newest(owner, orders_of(owner).filter(closed=True, close_time__isnull=False), RECENT)
    waiting = Alert.objects.filter(owner=owner, read_at=None, resolved_at=None, folded_into=None)
    return (
        Account.objects.filter(owner=owner),
        open_rows(owner).only(*OPEN_SHOWN),
        closed.only("trader", *BRIEFLY)[:RECENT],
        _changes_of_settings(owner, since),
        waiting.order_by("-created_at", "-id")[:MOST_ALERTS],
    )


@dataclass(frozen=True)
class Line:
    """Of Overview, what its line is made of."""

    equity: Sequence[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    closed_on: frozenset[date]
    settings: list[SettingsVersion]


def overview_line(user: User, period: str, zone: tzinfo, now: datetime) -> Line:
    """The line of the first page alone, in two queries. Raises KeyError for a period that is none."""
    today = now.astimezone(zone).date()
    begins = first_day(period, today)
    since = _EVER if begins is None else first_moment(begins, zone)
    accounts, settings, traders = _of_the_line(owner=user.pk, since=since)
    known = {trader.pk: trader for trader in traders}
    for version in settings:
        version.trader = known[version.trader_id]
    days = day_nets([account.pk for account in accounts])
    shown = _of_period(days, begins, today)
    return Line(_equity(shown, zone, now), _daily(days, shown, begins, today), _closed_on(shown), settings)


@Prepared
def _of_the_line(owner: Any, since: Any) -> Sequence[QuerySet[Any]]:
    return (
        Account.objects.filter(owner=owner),
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


def tiles(
    days: Sequence[DayNet], provisional: tuple[Decimal, int], zone: tzinfo, now: datetime
) -> list[Tile]:
    """Today, 7 and 30 days (today included) and all, by the zone's day of closing. `provisional`: net since the
    last true-up, and of how many copies."""
    today, made = now.astimezone(zone).date(), []
    for key, label, length in PERIODS:
        start = None if length is None else day_start(now, zone, length - 1)
        first = date.min if length is None else today - timedelta(days=length - 1)
        own = [row for row in days if row.day >= first]
        net, n = total(row.net for row in own), sum(row.n for row in own)
        # A day that began after the true-up is provisional as a whole.
        whole = start is not None and start > true_up_before(now)
        made.append(Tile(key, label, start, net, n, *((net, n) if whole else provisional)))
    return made


def _of_period(days: Sequence[DayNet], first: date | None, today: date) -> list[DayNet]:
    return [row for row in days if (first is None or row.day >= first) and row.day <= today]


def _equity(
    shown: Sequence[DayNet], zone: tzinfo, now: datetime
) -> Points[tuple[datetime, Decimal, Decimal]]:
    """Day by day; a fall within a day is not seen here, but in a trader's own curve."""
    so_far = peak = ZERO
    kept = []
    for row in shown:
        so_far = EXACT.add(so_far, row.net)
        peak = max(peak, so_far)
        kept.append((row.day, so_far, EXACT.subtract(peak, so_far)))

    def read(row: Sequence[Any]) -> tuple[datetime, Decimal, Decimal]:
        day, net, below = row
        return min(first_moment(day + timedelta(days=1), zone), now), net, below

    return Points(kept, read)


def _closed_on(shown: Sequence[DayNet]) -> frozenset[date]:
    return frozenset(row.day for row in shown)


def _daily(
    days: Sequence[DayNet], shown: Sequence[DayNet], first: date | None, today: date
) -> list[tuple[date, Decimal]]:
    if not days:
        return []
    start = days[0].day if first is None else max(first, days[0].day)
    results = {row.day: row.net for row in shown}
    every = (start + timedelta(days=step) for step in range((today - start).days + 1))
    return [(day, results.get(day, ZERO)) for day in every]
