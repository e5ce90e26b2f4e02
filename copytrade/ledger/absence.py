"""Orders that the open list no longer holds. Nothing is closed here: a look into the history decides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from copytrade.locks import alone_with_ledger
from copytrade.models import Account, TrackingOrder
from copytrade.steps.passes import Pass, absent

from .rows import still_open


def note_absent(account: Account, seen: Pass | set[int], pass_began: datetime) -> list[TrackingOrder]:
    """After a pass of the open list that can be relied on: mark orders that it no longer holds; those newly missing.

    `seen`: the pass, or just the tracking numbers that it held. Orders first seen after the pass began are left
    alone. Nothing is closed here.
    """
    gone = [order for order in absent_rows(account, seen, pass_began) if order.missing_since is None]
    mark_missing(account, gone, pass_began)
    return gone


def mark_missing(account: Account, orders: Sequence[TrackingOrder], since: datetime) -> None:
    """These left the open list. One that closed meanwhile, or was just seen open, is left alone."""
    if orders:
        alone_with_ledger(account.pk)
        rows = TrackingOrder.objects.filter(pk__in=[order.pk for order in orders], closed=False)
        rows.filter(missing_since=None).update(missing_since=since)


def absent_rows(account: Account, seen: Pass | set[int], pass_began: datetime) -> list[TrackingOrder]:
    """The open orders that a pass left out, missing already or not. One query."""
    if not isinstance(seen, Pass):
        seen = Pass(numbers=set(seen))
    known = still_open(account, pass_began)
    return [
        TrackingOrder(
            pk=known[one][0], missing_since=known[one][1], open_time=one.opened, tracking_no=one.number
        )
        for one in absent(known, seen)
    ]
