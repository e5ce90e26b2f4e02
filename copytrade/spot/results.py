"""What came back from a sending, stored: each order's own result, or that it is not known, or that nothing went out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from copytrade.exchange.envelopes import BatchResult
from copytrade.exchange.records import BatchItem
from copytrade.models import SpotOrder
from copytrade.models.traders import plain

from . import lookups

State = SpotOrder.State


def sort(orders: list[SpotOrder], results: BatchResult) -> None:
    """Each order's own result, by our id; what the answer says nothing clear of is UNKNOWN."""
    told = {item.client_order_id: item for item in results.results}
    for order in orders:
        item = told.get(order.client_order_id)
        if item is not None and item.accepted:
            _accepted(order, item)
        elif item is not None and item.error_code:
            said = f" It says: “{plain(item.error_msg)[:300]}”." if item.error_msg else ""
            refused([order], plain(item.error_code)[:64], f"The exchange refused this order.{said}")
        else:
            unknown([order], "The exchange's answer says nothing of this order.")


def _accepted(order: SpotOrder, item: BatchItem) -> None:
    now = timezone.now()
    settled = {
        "state": State.ACCEPTED, "order_id": item.order_id, "transact_time": item.transact_time,
        "resolved_at": now, "look_at": now, "error_code": "", "error_message": "",
    }  # fmt: skip
    _settle([order], State.NOT_SEEN, **settled)


def refused(orders: list[SpotOrder], code: str, words: str, field: str = "") -> None:
    _settle(
        orders, state=State.REJECTED, resolved_at=timezone.now(), look_at=None, error_code=code,
        error_message=words, error_field=field[:64],
    )  # fmt: skip


def _settle(orders: list[SpotOrder], *also: str, **fields: Any) -> None:
    """A clear answer counts although the order was given up for unknown meanwhile: its sender was only slow."""
    mine = [order.pk for order in orders]
    SpotOrder.objects.filter(pk__in=mine, state__in=[State.SENDING, State.UNKNOWN, *also]).update(**fields)


def unknown(orders: list[SpotOrder], words: str) -> None:
    mine = [order.pk for order in orders]
    first = timezone.now() + timedelta(seconds=lookups.LOOK_AFTER[0])
    SpotOrder.objects.filter(pk__in=mine, state=State.SENDING).update(
        state=State.UNKNOWN, error_message=words, look_at=first
    )


def hold_back(orders: list[SpotOrder], seconds: float, words: str) -> bool:
    """Nothing went out, by our own limiter say: confirmed as before, and tried again when there is room."""
    again = timezone.now() + timedelta(seconds=min(max(seconds, 1.0), 60.0))
    mine = SpotOrder.objects.filter(pk__in=[order.pk for order in orders], state=State.SENDING)
    mine.update(state=State.CONFIRMED, sent_at=None, look_at=again, error_message=words)
    return False
