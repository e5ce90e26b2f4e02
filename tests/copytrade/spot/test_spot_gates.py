"""What must hold before a spot order is sent: switches, a fresh review, bounds; and what becomes of tickets."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from copytrade import audit, connections, retention
from copytrade.exchange.errors import LocalRefusal
from copytrade.models import Account, AuditEntry, SpotOrder, SpotTicket, User
from copytrade.spot import gates, sending, tickets
from copytrade.spot.gates import SpotRefused
from tests.support.sandbox_process import Sandbox
from tests.support.spot_orders import SYMBOL, bodies, confirmed, drafted, limit, only, sent

State = SpotOrder.State


# --- switches, drafts, bounds


def test_nothing_is_drafted_while_a_switch_is_off(account: Account) -> None:
    names = [gate.name for gate in gates.closed(account)]
    assert names == ["operator", "key", "account"], "the sandbox may write from the start"
    with pytest.raises(SpotRefused, match="operator can switch them on"):
        drafted(account)


@pytest.mark.parametrize("gate", ["operator", "writes", "account"])
def test_a_switch_turned_off_after_the_confirmation_stops_the_order(
    trading: Account, sandbox: Sandbox, gate: str
) -> None:
    ticket = confirmed(trading)
    if gate == "operator":
        User.objects.filter(pk=trading.owner_id).update(is_operator=True)
        gates.set_for_desk(User.objects.get(pk=trading.owner_id), False)
    elif gate == "writes":
        connections.set_writes(trading, False)
    else:
        gates.set_for_account(trading, False, trading.owner)
    sending.proceed(ticket.pk)
    order = only(ticket)
    assert (order.state, order.error_code, order.sent_at) == (State.REJECTED, "switched_off", None)
    assert bodies(sandbox) == []


def test_switching_on_for_an_account_needs_writing_and_the_permission(account: Account) -> None:
    with pytest.raises(SpotRefused, match="not known yet"):
        gates.set_for_account(account, True, account.owner)
    account.permissions = ["READ_ONLY"]
    with pytest.raises(SpotRefused, match="no permission"):
        gates.set_for_account(account, True, account.owner)
    assert connections.test(account).ok
    gates.set_for_account(account, True, account.owner)
    gates.set_for_account(account, True, account.owner)
    account.refresh_from_db()
    assert account.spot_enabled
    assert AuditEntry.objects.filter(action="spot_switched").count() == 1, "the second changed nothing"


def test_only_the_operator_turns_the_desks_switch_and_it_is_in_the_log(alice: User) -> None:
    with pytest.raises(ValueError):
        gates.set_for_desk(alice, True)
    alice.is_operator = True
    alice.save()
    assert gates.set_for_desk(alice, True).spot_trading and audit.policy().spot_trading
    gates.set_for_desk(alice, True)
    assert AuditEntry.objects.filter(action="policy").count() == 1


def test_an_old_review_is_not_sent(trading: Account) -> None:
    ticket = drafted(trading)
    SpotTicket.objects.update(created_at=timezone.now() - timedelta(minutes=16))
    ticket.refresh_from_db()
    with pytest.raises(SpotRefused, match="older than 15 minutes"):
        tickets.confirm(ticket, ticket.key, tickets.mark(ticket), trading.owner)


def test_another_key_or_other_content_is_not_sent(trading: Account) -> None:
    ticket = drafted(trading)
    seen = tickets.mark(ticket)
    for key, mark in (("00000000-0000-0000-0000-000000000000", seen), (ticket.key, "0" * 64)):
        with pytest.raises(SpotRefused, match="not what this would send"):
            tickets.confirm(ticket, key, mark, trading.owner)
    ticket.orders.update(quantity=Decimal(9))
    with pytest.raises(SpotRefused):
        tickets.confirm(SpotTicket.objects.get(), ticket.key, seen, trading.owner)


@pytest.mark.parametrize("number", [0, 11])
@pytest.mark.parametrize("way", ["batch", "separate"])
def test_a_ticket_holds_one_to_ten_orders(trading: Account, number: int, way: str) -> None:
    with pytest.raises((LocalRefusal, SpotRefused)):
        tickets.draft(trading, SYMBOL, [limit()] * number, trading.owner, way)
    assert not SpotTicket.objects.exists()


def test_reviews_nobody_confirmed_go_after_a_week_and_sent_ones_stay(trading: Account) -> None:
    drafted(trading)
    sent(trading)
    SpotTicket.objects.update(created_at=timezone.now() - timedelta(days=8))
    retention.tidy()
    assert [ticket.confirmed_at is not None for ticket in SpotTicket.objects.all()] == [True]


def test_a_connection_with_an_order_under_way_is_not_removed_and_later_takes_its_orders_along(
    trading: Account, sandbox: Sandbox
) -> None:
    ticket = confirmed(trading)
    with pytest.raises(connections.BadConnection, match="spot order"):
        connections.remove(trading)
    sending.proceed(ticket.pk)
    connections.remove(trading)
    assert not SpotOrder.objects.exists() and not SpotTicket.objects.exists()
    assert "BTCUSDT: BUY" in AuditEntry.objects.get(action="spot_sent").subject
