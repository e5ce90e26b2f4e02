"""What stands around a trader's figures on their page: copies open and closed last, settings, notes, corrections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, QuerySet, Sum, Window
from django.db.models.fields.json import KT
from django.utils import timezone

from copytrade import reconcile
from copytrade.models import (
    OrderRevision,
    PeriodSummary,
    SettingsChange,
    SettingsVersion,
    TrackingOrder,
    Trader,
    TraderNote,
)
from copytrade.models.orders import OPENED_VALUE
from copytrade.readiness import Readiness
from copytrade.statistics.exact import EXACT
from copytrade.together import Prepared, Query

from .orders import BRIEFLY, OPEN_SHOWN, OpenOrder, open_order
from .readiness import facts_of, ready_of

MOST_OPEN, MOST_LATEST, MOST_MARKS, MOST_NOTES, MOST_TRUED_UP = 20, 8, 100, 100, 6
# The profit share of a day is settled at the next 00:00 UTC: what is corrected later than this is no true-up.
TRUE_UP_WITHIN = timedelta(days=8)
RECENT = ("provisional_net", "provisional_from")


@dataclass(frozen=True)
class TruedUp:
    """A closed copy whose net result the exchange changed afterwards; both in USDT."""

    order: int
    symbol: str
    close_time: datetime
    seen_at: datetime
    before: Decimal
    after: Decimal

    @property
    def difference(self) -> Decimal:
        return EXACT.subtract(self.after, self.before)


@dataclass(frozen=True)
class Around:
    """`open`: newest first, at most 20. `latest`: closed last, at most 8. `version`: the settings read last.
    `marks`: versions with their time and author alone, but for the first one ever. `trued_up`: the last few days'
    corrections, newest first. `named`: our order key -> that order, for those that were asked for.
    `lost`: copies that closed beyond the exchange's history; `lost_value`: of their positions when they were opened
    (USDT), None where that is not known of one. `recent`: of the figures kept of all time those that say
    what is provisional (reconcile.provisional_of), whatever period is shown. `ready`: what would keep or shrink the
    next copy, None where nobody asked."""

    open: list[OpenOrder]
    latest: list[TrackingOrder]
    version: SettingsVersion | None
    marks: list[SettingsVersion]
    notes: list[TraderNote]
    change: SettingsChange | None
    trued_up: list[TruedUp]
    named: dict[int, TrackingOrder]
    lost: int
    lost_value: Decimal | None
    recent: dict[str, str | None]
    ready: Readiness | None


def trader_around(
    trader: Trader, orders: Iterable[int] = (), now: datetime | None = None, ready: bool = False
) -> Around:
    """One query. `orders`: keys of orders of this trader that the page wants to name. `ready`: whether it tells how
    ready the next copy is; raises Trader.DoesNotExist where he was removed meanwhile."""
    now, asked = now or timezone.now(), _around_and_ready if ready else _around
    opened, latest, version, marks, notes, change, revisions, named, lost, kept, *facts = asked(
        trader=trader.pk, orders=list(orders), lately=now - TRUE_UP_WITHIN
    )
    readiness = ready_of(facts[0], [trader], now) if facts else {}
    if facts and not readiness:
        raise Trader.DoesNotExist("The trader was removed a moment ago.")
    for order in opened:
        order.trader = trader
    n_lost, valued, value = (lost[0].n_lost, lost[0].n_valued, lost[0].value) if lost else (0, 0, None)
    return Around(
        open=[open_order(order, now) for order in opened],
        latest=latest,
        version=version[0] if version else None,
        marks=marks,
        notes=notes,
        change=change[0] if change else None,
        trued_up=_trued_up(revisions),
        named={order.pk: order for order in named},
        lost=n_lost,
        lost_value=reconcile.lost_value(n_lost, valued, value),
        recent={name: getattr(kept[0], name) for name in RECENT} if kept else {},
        ready=readiness.get(trader.pk),
    )


@Prepared
def _around(trader: Any, orders: Any, lately: Any) -> Sequence[Query]:
    return _parts(trader, orders, lately)


@Prepared
def _around_and_ready(trader: Any, orders: Any, lately: Any) -> Sequence[Query]:
    return *_parts(trader, orders, lately), facts_of(trader)


def _parts(trader: Any, orders: Any, lately: Any) -> Sequence[Query]:
    own = TrackingOrder.objects.filter(trader=trader)
    present = own.filter(closed=False, missing_since=None, lost_since=None)
    closed = own.filter(closed=True, close_time__isnull=False)
    lost = own.filter(closed=False, lost_since__isnull=False)
    kept = PeriodSummary.objects.filter(trader=trader, period="all")
    versions = SettingsVersion.objects.filter(trader=trader).order_by("-first_seen_at", "-id")
    return (
        present.only(*OPEN_SHOWN).order_by(F("open_time").desc(nulls_last=True), "-tracking_no")[:MOST_OPEN],
        closed.order_by("-close_time", "-tracking_no").only(*BRIEFLY)[:MOST_LATEST],
        versions[:1],
        versions.exclude(author=SettingsVersion.Author.FIRST).only("first_seen_at", "author")[:MOST_MARKS],
        TraderNote.objects.filter(trader=trader)[:MOST_NOTES],
        SettingsChange.objects.filter(trader=trader).exclude(state=SettingsChange.State.DRAFT)[:1],
        _corrections(trader, lately),
        own.filter(pk__one_of=orders).only("symbol", "position_side", "close_time"),
        lost.annotate(
            n_lost=Window(Count("pk")), n_valued=Window(Count(OPENED_VALUE)), value=Window(Sum(OPENED_VALUE))
        ).only("pk")[:1],
        kept.annotate(**{name: KT(f"figures__{name}") for name in RECENT}).only("pk"),
    )


def _corrections(trader: Any, lately: Any) -> QuerySet[OrderRevision]:
    """Changes of the net result alone: one that came with the close is the close."""
    rows = OrderRevision.objects.filter(
        order__trader=trader,
        order__closed=True,
        order__close_time__gte=lately,
        changed__has_key="net_profit",
    ).exclude(changed__has_key="close_time")
    rows = rows.annotate(symbol=F("order__symbol"), close_time=F("order__close_time"))
    return rows.order_by("-seen_at", "-id")[:MOST_TRUED_UP]


def _trued_up(revisions: Iterable[OrderRevision]) -> list[TruedUp]:
    found = []
    for row in revisions:
        before, after = row.changed["net_profit"]
        if before is not None and after is not None:
            found.append(
                TruedUp(
                    row.order_id, row.symbol, row.close_time, row.seen_at, Decimal(before), Decimal(after)
                )
            )
    return found
