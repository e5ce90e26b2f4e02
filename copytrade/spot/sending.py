"""Sending confirmed orders: each at most once, however many workers, presses and messages there are.

SENDING is committed before the socket opens, and the only way into it is `_take`, under the ticket's lock. A lost
answer leaves UNKNOWN, which is answered by looking the order up (lookups.py), never by sending. What our own limiter
holds back was not sent: it waits, confirmed, until there is room or it has waited too long.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.conf import settings as django_settings
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from copytrade import budget, health
from copytrade.clients import NoKey, talking_to
from copytrade.exchange.client import ExchangeClient
from copytrade.exchange.envelopes import BatchResult
from copytrade.exchange.errors import (
    ExchangeError,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from copytrade.exchange.records import BatchItem
from copytrade.models import SpotOrder, SpotTicket
from copytrade.vault import VaultError

from . import gates, lookups, results, tickets

State = SpotOrder.State
# A sender that has said nothing for so long after its call's deadline is dead.
SENDER_IS_DEAD_AFTER = timedelta(seconds=10)
# A confirmed order that could not be sent within this time is given up, unsent: prices move.
GIVE_UP_UNSENT_AFTER = timedelta(minutes=2)
# One task sends for so many seconds at most; the tick goes on with the rest.
AT_A_STRETCH = 60.0
HELD_BACK = "Held back: the exchange's limit of orders is used up. It goes out when there is room."


def take_up(now: datetime | None = None, limit: int = 50) -> list[int]:
    """The tickets that wait for somebody: to be sent, to be looked up, or left by a dead sender."""
    due = SpotTicket.objects.filter(look_again_at__lte=now or timezone.now())
    return list(due.order_by("look_again_at").values_list("pk", flat=True)[:limit])


def proceed(ticket_id: int) -> dict[str, int]:
    """Do whatever a ticket needs next: send, or look up; how many of its orders are in which state after it.

    Safe to call at any time, by anyone. A ticket that is gone needs nothing.
    """
    ticket = load(ticket_id)
    if ticket is None or ticket.confirmed_at is None or not _claim(ticket):
        return {}
    _bury_dead_senders(ticket)
    _send_waiting(ticket)
    lookups.look_up_due(ticket)
    return _plan(ticket)


def load(ticket_id: int) -> SpotTicket | None:
    return SpotTicket.objects.select_related("account").filter(pk=ticket_id).first()


def sender_time() -> timedelta:
    """How long a sender may be silent before its orders are looked up by others."""
    return timedelta(seconds=django_settings.EXCHANGE_DEADLINE) + SENDER_IS_DEAD_AFTER


def _claim(ticket: SpotTicket) -> bool:
    """Take this ticket for as long as one call may last, so that ticks do not pile up at a slow exchange.

    A claim says nothing about sending: that is decided by the step into SENDING.
    """
    until = timezone.now() + timedelta(seconds=django_settings.EXCHANGE_DEADLINE) + timedelta(seconds=2)
    mine = SpotTicket.objects.filter(pk=ticket.pk, look_again_at=ticket.look_again_at)
    if ticket.look_again_at is None or mine.update(look_again_at=until) != 1:
        return False
    ticket.look_again_at = until
    return True


def _bury_dead_senders(ticket: SpotTicket) -> None:
    now = timezone.now()
    dead = ticket.orders.filter(state=State.SENDING, look_at__lte=now)
    dead.update(
        state=State.UNKNOWN, look_at=now,
        error_message="The sending was interrupted, so its outcome is not known.",
    )  # fmt: skip


def _send_waiting(ticket: SpotTicket) -> None:
    """Send what is confirmed, until nothing is, the limit is used up, or this has taken long enough."""
    until = time.monotonic() + AT_A_STRETCH
    while time.monotonic() < until and (waiting := _waiting(ticket)):
        if words := _stopped(ticket):
            _end_unsent(waiting, *words)
            return
        if waiting[0].look_at and waiting[0].look_at > timezone.now():
            return
        if not lookups.not_there_yet(ticket, [order for order in waiting if order.attempt > 1]):
            continue
        taken = _take(ticket)
        if not taken or not _post(ticket, taken) or not _claim(ticket):
            return


def _waiting(ticket: SpotTicket) -> list[SpotOrder]:
    """What one call would send: all of a batch, the next one otherwise."""
    rows = list(ticket.orders.filter(state=State.CONFIRMED).order_by("number"))
    return rows if ticket.way == SpotTicket.Way.BATCH else rows[:1]


def _stopped(ticket: SpotTicket) -> tuple[str, str] | None:
    """(code, sentence) of why nothing more goes out, as it stands now: a switch, or too long a wait."""
    ticket.account.refresh_from_db()
    if not health.reading_allowed(ticket.account):
        return "refused", "The key of this connection is refused, so nothing was sent."
    if found := gates.closed(ticket.account):
        return "switched_off", f"{found[0].sentence} Nothing was sent."
    confirmed = ticket.confirmed_at or ticket.created_at
    if timezone.now() - confirmed > GIVE_UP_UNSENT_AFTER:
        return "too_late", "This could not be sent within two minutes, and prices move. Nothing was sent."
    return None


def _end_unsent(orders: list[SpotOrder], code: str, words: str) -> None:
    """Give up confirmed orders of a ticket: of several sent one by one, all that are left."""
    left = SpotOrder.objects.filter(ticket=orders[0].ticket_id, state=State.CONFIRMED)
    left.update(
        state=State.REJECTED, error_code=code, error_message=words, resolved_at=timezone.now(), look_at=None,
        sent_at=None,
    )  # fmt: skip


def _take(ticket: SpotTicket) -> list[SpotOrder]:
    """The step into SENDING: by one worker only, for it holds the ticket's lock. Committed before any socket."""
    with transaction.atomic():
        SpotTicket.objects.select_for_update().get(pk=ticket.pk)
        rows = _waiting(ticket)
        now = timezone.now()
        for order in rows:
            order.state, order.sent_at, order.look_at = State.SENDING, now, now + sender_time()
            order.error_message = ""
        SpotOrder.objects.bulk_update(rows, ["state", "sent_at", "look_at", "error_message"])
    return rows


def _post(ticket: SpotTicket, orders: list[SpotOrder]) -> bool:
    """The one place that places orders; False when they were held back. What is no clear yes or no is UNKNOWN."""
    account = ticket.account
    try:
        with talking_to(account, interactive=True, purpose="to send a spot order") as client:
            if _slept(orders):
                return results.hold_back(orders, 1.0, "Not sent yet: this machine was busy.")
            try:
                answer = _called(client, ticket, orders)
            finally:
                _note_counts(ticket, client)
    except RateLimited as error:
        if error.local:
            return results.hold_back(orders, error.retry_after, HELD_BACK)
        results.refused(
            orders, str(error.code or ""), f"The exchange did not take the order. {error.sentence}"
        )
    except (Rejected, Unauthorized, Unreachable) as error:
        health.failed(account, error)
        untaken = "The exchange did not take the order. " if isinstance(error, Unreachable) else ""
        field = (error.field or "") if isinstance(error, Rejected) else ""
        results.refused(orders, str(error.code or ""), f"{untaken}{error.sentence}", field)
    except (NoKey, VaultError) as error:  # before the socket opens
        results.refused(orders, "no_key", f"Nothing was sent. {error}")
    except Exception as error:
        known = isinstance(error, OutcomeUnknown | Malformed)
        results.unknown(orders, error.sentence if known else "The answer was lost.")  # type: ignore[attr-defined]
        if not isinstance(error, ExchangeError):
            raise
    else:
        results.sort(orders, answer)
    return True


def _called(client: ExchangeClient, ticket: SpotTicket, orders: list[SpotOrder]) -> BatchResult:
    """Send; one order's acceptance in the form of a batch's results."""
    if ticket.way == SpotTicket.Way.BATCH:
        return client.place_orders(symbol=ticket.symbol, orders=[tickets.as_new(order) for order in orders])
    taken = client.place_order(symbol=ticket.symbol, **vars(tickets.as_new(orders[0])))
    item = BatchItem(
        symbol=taken.symbol, client_order_id=orders[0].client_order_id, order_id=taken.order_id,
        transact_time=taken.transact_time, error_code=None, error_msg=None,
    )  # fmt: skip
    return BatchResult([item], [], [])


def _slept(orders: list[SpotOrder]) -> bool:
    """Was this process put to sleep since it took them? Others may hold its orders for lost by now."""
    return any(not order.sent_at or timezone.now() - order.sent_at > SENDER_IS_DEAD_AFTER for order in orders)


def _note_counts(ticket: SpotTicket, client: ExchangeClient) -> None:
    """Keep what the limiter counts after this call, by the exchange's headers, for the page."""
    counts = [[one.window_ms, one.used, one.limit] for one in budget.order_counts(ticket.account_id, client)]
    if counts:
        now = timezone.now()
        SpotTicket.objects.filter(pk=ticket.pk).update(order_counts=counts, counted_at=now)


def _plan(ticket: SpotTicket) -> dict[str, int]:
    """When this ticket is due again, by its orders; and how they stand."""
    rows = ticket.orders.all()
    next_look = rows.aggregate(at=Min("look_at"))["at"]
    if rows.filter(state=State.CONFIRMED, look_at=None).exists():
        next_look = timezone.now()
    SpotTicket.objects.filter(pk=ticket.pk, look_again_at=ticket.look_again_at).update(
        look_again_at=next_look
    )
    states: dict[str, int] = {}
    for state in rows.values_list("state", flat=True):
        states[state] = states.get(state, 0) + 1
    return states
