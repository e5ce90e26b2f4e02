"""Tickets: drafted for a review, confirmed once, and followed by a linked one where orders did not arrive."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from copytrade import audit, health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange import checks
from copytrade.exchange.checks import NewOrder
from copytrade.exchange.errors import ExchangeError
from copytrade.exchange.operations import BATCH_MOST, OPERATIONS
from copytrade.models import Account, SpotOrder, SpotTicket, User
from copytrade.rules import spot as figures
from copytrade.vault import VaultError

from . import gates
from .gates import SpotRefused

State = SpotOrder.State
Way = SpotTicket.Way
# How long a worker has to take up a confirmed ticket before the tick does.
HINT_HAS = timedelta(seconds=5)
# A review older than this is made anew: prices and balances have moved.
REVIEW_HOLDS = timedelta(minutes=15)
NO_BATCH = "-1150"


def draft(
    account: Account,
    symbol: str,
    orders: Sequence[NewOrder],
    author: User | None,
    way: str = Way.SINGLE,
    previous: SpotTicket | None = None,
    attempts: Sequence[int] = (),
) -> SpotTicket:
    """A ticket under review, each order with an id of ours (or its own, from `again`). Sends nothing.

    Raises LocalRefusal where an order breaks a rule of the interface, SpotRefused where none may be placed.
    """
    if found := gates.closed(account):
        raise SpotRefused(f"{found[0].sentence} {found[0].who}")
    check(account, symbol, orders, way)
    with transaction.atomic():
        ticket = SpotTicket.objects.create(
            account=account, author=author, symbol=symbol, way=way, previous=previous
        )
        SpotOrder.objects.bulk_create(
            SpotOrder(
                ticket=ticket, account=account, number=number,
                client_order_id=order.new_client_order_id or new_id(),
                attempt=attempts[number - 1] if attempts else 1,
                side=order.side, type=order.type, time_in_force=order.time_in_force or "",
                quantity=order.quantity, price=order.price,
            )
            for number, order in enumerate(orders, 1)
        )  # fmt: skip
    return ticket


def new_id() -> str:
    """An id of ours: 34 letters and digits, never given twice."""
    return f"cd{uuid.uuid4().hex}"


def check(account: Account, symbol: str, orders: Sequence[NewOrder], way: str) -> None:
    """Hold the orders against the interface's rules, as the client will. Raises LocalRefusal."""
    if way == Way.BATCH:
        _prepared("place_orders", symbol=symbol, orders=orders)
        return
    if not 1 <= len(orders) <= BATCH_MOST:
        raise SpotRefused(f"A ticket holds 1 to {BATCH_MOST} orders.")
    for order in orders:
        _prepared("place_order", symbol=symbol, **vars(order))


def requests(ticket: SpotTicket) -> list[tuple[str, dict[str, Any]]]:
    """[(address, body)] exactly as they will be sent: one for a batch, else one for each order."""
    orders = [as_new(order) for order in lines(ticket)]
    if ticket.way == Way.BATCH:
        return [_prepared("place_orders", symbol=ticket.symbol, orders=orders)]
    return [_prepared("place_order", symbol=ticket.symbol, **vars(order)) for order in orders]


def _prepared(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    operation = OPERATIONS[name]
    return operation.path, checks.prepare(operation, arguments, timezone.now())


def as_new(order: SpotOrder) -> NewOrder:
    """The order as the client takes it."""
    return NewOrder(
        order.side, order.type, order.quantity, order.time_in_force or None, order.price, order.client_order_id
    )  # fmt: skip


def lines(ticket: SpotTicket) -> list[SpotOrder]:
    """Its orders, in the order of the form."""
    return sorted(ticket.orders.all(), key=lambda order: order.number)


def mark(ticket: SpotTicket) -> str:
    """What a review was rendered for: a hash of the exact requests (64 hex digits)."""
    text = json.dumps(requests(ticket), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_balances(ticket: SpotTicket) -> None:
    """Ask what is free of the two assets, for the review. What cannot be told is left out; nothing is raised."""
    account = ticket.account
    try:
        with talking_to(account, interactive=True, purpose="to show balances before a spot order") as client:
            info = client.account()
    except ExchangeError as error:
        health.failed(account, error)
        return
    except (NoKey, VaultError):
        return
    health.succeeded(account)
    held = {row.asset: row.free for row in info.balances or [] if row.asset and row.free is not None}
    of_pair = figures.pair(ticket.symbol, held) or ()
    ticket.balances = {asset: format(held.get(asset, 0), "f") for asset in of_pair} if held else {}
    ticket.balances_at = timezone.now()
    ticket.save(update_fields=["balances", "balances_at"])


def confirm(ticket: SpotTicket, key: uuid.UUID | str, seen: str, by: User) -> SpotTicket:
    """The person has reviewed it: to be sent now. The same key again changes nothing.

    `seen`: the mark that the review carried. Raises SpotRefused: another key or content, an old review, a switch
    that is off.
    """
    if str(ticket.key) != str(key) or seen != mark(ticket):
        raise SpotRefused("What you reviewed is not what this would send, so nothing was sent. Begin anew.")
    if ticket.confirmed_at is not None:
        return ticket
    if timezone.now() - ticket.created_at > REVIEW_HOLDS:
        raise SpotRefused(
            "This review is older than 15 minutes, and prices move. Nothing was sent: review it once more."
        )
    if found := gates.closed(ticket.account):
        raise SpotRefused(f"{found[0].sentence} {found[0].who} Nothing was sent.")
    _commit_intent(ticket, by)
    ticket.refresh_from_db()
    return ticket


def _commit_intent(ticket: SpotTicket, by: User) -> None:
    """Draft to confirmed, its orders with it, and the line in the audit log: all or nothing, and once."""
    now = timezone.now()
    with transaction.atomic():
        drafted = SpotTicket.objects.filter(pk=ticket.pk, confirmed_at=None)
        if not drafted.update(confirmed_at=now, look_again_at=now + HINT_HAS):
            return
        ticket.orders.filter(state=State.DRAFT).update(state=State.CONFIRMED)
        orders = lines(ticket)
        audit.note(
            by, audit.Action.SPOT_SENT, account=ticket.account,
            subject=f"{ticket.symbol}: {in_short(orders)}",
            details={"ticket": str(ticket.key), "orders": [body for _, body in requests(ticket)]},
        )  # fmt: skip


def in_short(orders: Sequence[SpotOrder]) -> str:
    """The orders in one line: `BUY 0.5 at 60000, SELL 1 at the market's price`."""
    return ", ".join(
        f"{order.side} {order.quantity:f} at "
        + (f"{order.price:f}" if order.price is not None else "the market's price")
        for order in orders
    )


def repeatable(ticket: SpotTicket) -> list[SpotOrder]:
    """The orders that did not arrive and may be sent once more, under the same ids."""
    return [
        order
        for order in lines(ticket)
        if order.state == State.NOT_SEEN
        or (order.state == State.REJECTED and order.error_code == NO_BATCH and ticket.way == Way.BATCH)
    ]


def again(ticket: SpotTicket, author: User) -> SpotTicket:
    """A new draft of what did not arrive: under the same ids, which are looked up once more before they are sent.

    After -1150 (no batches here) one after the other. Raises SpotRefused: nothing to repeat, or repeated already.
    """
    rows = repeatable(ticket)
    if not rows:
        raise SpotRefused("There is nothing on this ticket that did not arrive.")
    ticket.following.filter(confirmed_at=None).delete()  # an earlier review of the same that nobody confirmed
    way = Way.SINGLE if len(rows) == 1 else Way.SEPARATE
    if way == Way.SEPARATE and all(order.state == State.NOT_SEEN for order in rows):
        way = Way(ticket.way)
    try:
        return draft(
            ticket.account, ticket.symbol, [as_new(order) for order in rows], author, way, ticket,
            [order.attempt + 1 for order in rows],
        )  # fmt: skip
    except IntegrityError:
        raise SpotRefused("This was taken up again already: go on with the later ticket.") from None
