"""What became of an order: found out by looking it up under our own id, never by sending again.

interface.md, "order details": by orderId or origClientOrderId. -2200: there is no such order.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from copytrade import health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.errors import ExchangeError, Rejected
from copytrade.exchange.records import SpotOrder as Told
from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.models.traders import plain
from copytrade.vault import VaultError

State = SpotOrder.State
# Seconds after sending at which an unknown outcome is looked up.
LOOK_AFTER = (1.0, 3.0, 10.0, 30.0, 60.0)
NO_SUCH_ORDER = -2200
# An order that stands is read at a tenth of its age: after 2 seconds, and once an hour in the end.
SOONEST, SELDOMMEST = timedelta(seconds=2), timedelta(hours=1)
FOLLOWED_FOR = timedelta(days=60)
# A look that got no answer is repeated after 5 s, then twice as long each time.
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0
# The examples that the interface gives of ended orders; any other word ends one only with isWorking false.
ENDED = ("FILLED", "CANCELED")
# Somebody looks at the list: what stands is read again when its last reading is older than this.
WATCHED_AFTER = timedelta(seconds=5)
MOST_WATCHED = 10
# Of a text of the exchange's; the desk's own are shorter.
LONGEST_WORD = 100


def look_up_due(ticket: SpotTicket) -> None:
    """Look up each order of this ticket that is due for it."""
    due = ticket.orders.filter(state__in=[State.UNKNOWN, State.ACCEPTED], look_at__lte=timezone.now())
    for order in due.order_by("number"):
        look_up(ticket, order)


def look_up(ticket: SpotTicket, order: SpotOrder) -> None:
    """One look, and what follows from it. A key that was refused for good is not used."""
    if not health.reading_allowed(ticket.account):
        _could_not(order, "The key of this connection is refused, so it cannot be looked up.")
        return
    try:
        found = ask(ticket.account, order)
    except Rejected as error:
        if error.code == NO_SUCH_ORDER:
            _not_there(order)
        else:
            _could_not(order, error.sentence)
    except (ExchangeError, NoKey, VaultError) as error:
        _could_not(order, getattr(error, "sentence", str(error)))
    else:
        take(order, found)


def ask(account: Account, order: SpotOrder) -> Told:
    """The exchange's record of this order. Raises ExchangeError (Rejected -2200: none), NoKey, VaultError."""
    try:
        with talking_to(account) as client:
            if order.order_id is not None:
                return client.order(order_id=order.order_id)
            return client.order(orig_client_order_id=order.client_order_id)
    except ExchangeError as error:
        health.failed(account, error)
        raise


def take(order: SpotOrder, found: Told) -> bool:
    """Store what the exchange says of an order; False when it speaks of another one."""
    asked_by_ours = order.order_id is None
    if asked_by_ours and found.client_order_id not in (None, "", order.client_order_id):
        _could_not(order, "The exchange answered with another order.")
        return False
    now = timezone.now()
    fields: dict[str, Any] = {
        "state": State.ACCEPTED, "order_id": found.order_id, "status": plain(found.status)[:64],
        "executed": found.executed_qty, "executed_value": found.cummulative_quote_qty,
        "is_working": found.is_working, "update_time": found.update_time, "read_at": now,
        "read_back": _words(found), "look_at": _next_look(order, found, now), "failed_looks": 0,
        "error_code": "", "error_message": "",
    }  # fmt: skip
    if order.transact_time is None:
        fields["transact_time"] = found.time
    if order.resolved_at is None or order.state != State.ACCEPTED:
        fields["resolved_at"] = now
    open_to_it = SpotOrder.objects.filter(pk=order.pk).exclude(state__in=[State.DRAFT, State.REJECTED])
    if open_to_it.update(**fields) and fields["look_at"]:
        # Where nobody was to look any more, for it was held not to have arrived.
        SpotTicket.objects.filter(pk=order.ticket_id, look_again_at=None).update(
            look_again_at=fields["look_at"]
        )
    return True


def not_there_yet(ticket: SpotTicket, orders: list[SpotOrder]) -> bool:
    """Before an order is sent once more: has the first arrived after all? True when all may go out.

    What is found is taken as it is, and nothing is sent for it. What cannot be looked up waits.
    """
    free = True
    for order in orders:
        try:
            found = ask(ticket.account, order)
        except (ExchangeError, NoKey, VaultError) as error:
            if isinstance(error, Rejected) and error.code == NO_SUCH_ORDER:
                continue
            words = f"Not sent yet: it is looked up first. {getattr(error, 'sentence', error)}"
            again = timezone.now() + timedelta(seconds=FIRST_PAUSE)
            waiting = SpotOrder.objects.filter(ticket=ticket, state=State.CONFIRMED)
            waiting.update(look_at=again, error_message=words[:1000])
            return False
        take(order, found)
        free = False
    return free


def watch(account: Account) -> int:
    """Somebody looks at the account's orders: those that stand are due now; how many."""
    now = timezone.now()
    standing = account.spot_orders.filter(
        state=State.ACCEPTED, failed_looks=0, look_at__gt=now, read_at__lt=now - WATCHED_AFTER
    )
    rows = dict(standing.order_by("-pk").values_list("pk", "ticket_id")[:MOST_WATCHED])
    if rows:
        SpotOrder.objects.filter(pk__in=rows, state=State.ACCEPTED).update(look_at=now)
        SpotTicket.objects.filter(pk__in=set(rows.values())).update(look_again_at=now)
    return len(rows)


def _words(found: Told) -> dict[str, str]:
    """What the exchange says of the order's own fields, as it says it."""
    told = {
        "symbol": found.symbol, "side": found.side, "type": found.type, "timeInForce": found.time_in_force,
        "origQty": found.orig_qty, "price": found.price, "clientOrderId": found.client_order_id,
    }  # fmt: skip
    return {
        name: plain(value)[:LONGEST_WORD] if isinstance(value, str) else f"{value:f}"
        for name, value in told.items()
        if value is not None
    }


def _next_look(order: SpotOrder, found: Told, now: datetime) -> datetime | None:
    age = now - (order.sent_at or now)
    if found.is_working is False or found.status in ENDED or age > FOLLOWED_FOR:
        return None
    return now + min(max(age / 10, SOONEST), SELDOMMEST)


def _not_there(order: SpotOrder) -> None:
    now = timezone.now()
    mine = SpotOrder.objects.filter(pk=order.pk, state=order.state)
    if order.state == State.ACCEPTED:
        words = "The exchange took this order and does not show it now."
        age = now - (order.sent_at or now)
        again = now + min(max(age / 10, SOONEST), SELDOMMEST) if age < FOLLOWED_FOR else None
        mine.update(look_at=again, read_at=now, error_message=words)
        return
    looks = order.looks + 1
    sent = order.sent_at or now
    if looks >= len(LOOK_AFTER) or now >= sent + timedelta(seconds=LOOK_AFTER[-1]):
        often = "once" if looks == 1 else f"{looks} times"
        words = f"The exchange does not know this order, asked {often}: it has not arrived."
        mine.update(
            state=State.NOT_SEEN, looks=looks, look_at=None, resolved_at=now, error_code="",
            error_message=words,
        )  # fmt: skip
        return
    mine.update(looks=looks, failed_looks=0, look_at=max(sent + timedelta(seconds=LOOK_AFTER[looks]), now))


def _could_not(order: SpotOrder, words: str) -> None:
    """A look that could not be made does not count, and the order stays as it is."""
    pause = min(FIRST_PAUSE * 2 ** min(order.failed_looks, 10), LONGEST_PAUSE)
    SpotOrder.objects.filter(pk=order.pk, state=order.state).update(
        failed_looks=min(order.failed_looks + 1, 1000),
        look_at=timezone.now() + timedelta(seconds=pause),
        error_message=f"It could not be looked up yet. {words}"[:1000],
    )
