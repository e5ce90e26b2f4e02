"""Spot orders in tests: an account that may place them, what the exchange received, and what it really holds."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from copytrade.exchange.checks import NewOrder
from copytrade.models import Account, DeskPolicy, SpotOrder, SpotTicket
from copytrade.spot import sending, tickets
from tests.support.sandbox_process import Sandbox

SYMBOL = "BTCUSDT"


def allow(account: Account) -> Account:
    """Both switches on, and a key that may trade spot."""
    DeskPolicy.objects.update_or_create(pk=1, defaults={"spot_trading": True})
    account.spot_enabled, account.permissions = True, ["READ_ONLY", "SPOT_TRADING"]
    account.save(update_fields=["spot_enabled", "permissions"])
    return account


def limit(quantity: str = "0.001", price: str = "1000", side: str = "BUY", tif: str = "GTC") -> NewOrder:
    """A limit order far from the market: it rests."""
    return NewOrder(side, "LIMIT", Decimal(quantity), tif, Decimal(price))


def market(quantity: str = "0.001", side: str = "BUY") -> NewOrder:
    return NewOrder(side, "MARKET", Decimal(quantity))


def drafted(account: Account, *orders: NewOrder, way: str = "single", symbol: str = SYMBOL) -> SpotTicket:
    return tickets.draft(account, symbol, orders or [limit()], account.owner, way)


def confirmed(account: Account, *orders: NewOrder, way: str = "single", symbol: str = SYMBOL) -> SpotTicket:
    ticket = drafted(account, *orders, way=way, symbol=symbol)
    return tickets.confirm(ticket, ticket.key, tickets.mark(ticket), account.owner)


def sent(account: Account, *orders: NewOrder, way: str = "single", symbol: str = SYMBOL) -> SpotTicket:
    ticket = confirmed(account, *orders, way=way, symbol=symbol)
    sending.proceed(ticket.pk)
    ticket.refresh_from_db()
    return ticket


def only(ticket: SpotTicket) -> SpotOrder:
    return SpotOrder.objects.get(ticket=ticket)


def states(ticket: SpotTicket) -> list[str]:
    return list(SpotOrder.objects.filter(ticket=ticket).order_by("number").values_list("state", flat=True))


def later(ticket: SpotTicket, seconds: float) -> None:
    """As if so much more time had passed since it was sent: everything of it is due."""
    now = timezone.now()
    for order in ticket.orders.all():
        if order.sent_at:
            order.sent_at -= timedelta(seconds=seconds)
        if order.look_at:
            order.look_at = now
        order.save()
    SpotTicket.objects.filter(pk=ticket.pk).update(look_again_at=now)


def not_arrived(account: Account, sandbox: Sandbox, *orders: NewOrder, way: str = "single") -> SpotTicket:
    """Sent into a 502, and not there when it is looked up a minute later."""
    operation = "place_orders" if way == "batch" else "place_order"
    sandbox.fault(operation, "http", http=502, times=max(1, len(orders)) if way != "batch" else 1)
    ticket = sent(account, *orders, way=way)
    later(ticket, 61)
    sending.proceed(ticket.pk)
    assert set(states(ticket)) == {SpotOrder.State.NOT_SEEN}
    return ticket


def bodies(sandbox: Sandbox, operation: str = "place_order") -> list[dict[str, Any]]:
    """Every body of this operation that reached the exchange."""
    return [json.loads(call["body"]) for call in sandbox.calls()["calls"] if call["operation"] == operation]


def at_the_exchange(sandbox: Sandbox) -> list[str]:
    """The client ids of all orders that it really holds: an id twice is an order twice."""
    return [order["client_id"] for order in sandbox.truth()["spot"]["orders"]]
