"""The first page: results by period, what is at risk now, and how old all of it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal

from django.utils import timezone

from copytrade import statistics
from copytrade.models import SettingsVersion, TrackingOrder, User

from .copies import copies_by_trader, together
from .freshness import Freshness, freshness
from .orders import OpenOverview, open_overview, orders_of
from .traders import TraderRow, traders_table
from .zones import day_start, zone_of

ZERO = Decimal(0)
PERIODS = (("today", "Today", 0), ("week", "7 days", 6), ("month", "30 days", 29), ("all", "All", None))


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
    """`daily` is the net result per day of the user's zone, oldest first; `equity` its running total."""

    tiles: list[Tile]
    open: OpenOverview
    freshness: Freshness
    traders: list[TraderRow]
    equity: list[tuple[datetime, Decimal, Decimal]]
    daily: list[tuple[date, Decimal]]
    recent: list[TrackingOrder]
    outside: list[SettingsVersion]


def overview(user: User, *, zone: tzinfo | None = None, now: datetime | None = None) -> Overview:
    """Everything that the first page shows, in a fixed number of queries."""
    now, zone = now or timezone.now(), zone or zone_of(user)
    per_trader = copies_by_trader(orders_of(user))
    copies = together(per_trader)
    recent = orders_of(user).filter(closed=True, close_time__isnull=False).select_related("trader", "account")
    outside = SettingsVersion.objects.filter(
        trader__account__owner=user,
        author=SettingsVersion.Author.OUTSIDE,
        first_seen_at__gte=day_start(now, zone, 6),
    ).select_related("trader__account")
    return Overview(
        tiles=tiles(copies, zone, now),
        open=open_overview(user, now=now),
        freshness=freshness(user, now=now),
        traders=traders_table(user, zone=zone, now=now, copies=per_trader),
        equity=statistics.equity(copies),
        daily=statistics.daily(copies, zone),
        recent=list(recent.order_by("-close_time", "-tracking_no")[:8]),
        outside=list(outside[:5]),
    )


def tiles(copies: list[statistics.Copy], zone: tzinfo, now: datetime) -> list[Tile]:
    """Today, 7 and 30 days (today included) and all, by the zone's day of closing."""
    true_up = now.replace(hour=0, minute=0, second=0, microsecond=0)
    made = []
    for key, label, days in PERIODS:
        since = None if days is None else day_start(now, zone, days)
        own = [copy for copy in copies if since is None or copy.close_time >= since]
        provisional = sum((copy.net for copy in own if copy.close_time >= true_up), ZERO)
        made.append(Tile(key, label, since, sum((copy.net for copy in own), ZERO), len(own), provisional))
    return made
