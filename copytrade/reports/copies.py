"""Ledger rows as the copies that statistics.py counts."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from django.db.models import QuerySet
from django.db.models.functions import Collate

from copytrade.models import TrackingOrder
from copytrade.statistics import Copy

ZERO = Decimal(0)
_FIELDS = (
    "trader_id",
    "tracking_no",
    "symbol",
    "position_side",
    "open_leverage",
    "open_time",
    "close_time",
    "open_margin_amount",
    "open_fee",
    "realized_pnl",
    "net_profit",
)


def copies_by_trader(rows: QuerySet[TrackingOrder]) -> dict[int, list[Copy]]:
    """Closed copies with a known result, by our trader key, in closing order. One query.

    A copy without times or net profit cannot be counted and is left out; other missing numbers count as 0.
    """
    complete = rows.filter(
        closed=True, close_time__isnull=False, open_time__isnull=False, net_profit__isnull=False
    ).order_by("close_time", "tracking_no", "open_time", Collate("symbol", "C"), "net_profit")
    found: dict[int, list[Copy]] = defaultdict(list)
    for (
        trader,
        number,
        symbol,
        side,
        leverage,
        opened,
        closed,
        margin,
        fee,
        gross,
        net,
    ) in complete.values_list(*_FIELDS).iterator(chunk_size=5000):
        found[trader].append(
            Copy(
                tracking_no=number,
                symbol=symbol,
                side=side,
                leverage=leverage or 0,
                open_time=opened,
                close_time=closed,
                margin=ZERO if margin is None else margin,
                open_fee=ZERO if fee is None else fee,
                realized=net if gross is None else gross,
                net=net,
            )
        )
    return found


def together(by_trader: dict[int, list[Copy]]) -> list[Copy]:
    """The copies of all traders in closing order."""
    every = [copy for copies in by_trader.values() for copy in copies]
    return sorted(every, key=lambda copy: (copy.close_time, copy.tracking_no))
