"""Spot orders in words: what one will do, what to look at before it is sent, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from copytrade import rules
from copytrade.exchange.checks import NewOrder
from copytrade.models import Account, SpotOrder, SpotTicket
from copytrade.rules.spot import BUY, LIMIT, needed, pair, worth
from dashboard.templatetags.desk import quantity as shown

State = SpotOrder.State
LASTING = {
    "GTC": "It stands until it is filled or cancelled.",
    "IOC": "What cannot be filled at once is cancelled.",
    "FOK": "It is filled whole and at once, or not at all.",
}
NO_CANCEL = "The interface has no way to cancel an order: what stands can only be cancelled on the exchange's own page."
NO_BOUND = (
    "A market order takes whatever price there is, and the interface gives no price to compare with. "
    "A limit order has a bound."
)


def example(symbol: str, order: NewOrder) -> str:
    """What an order does: `Buys 0.5 BTC for at most 500 USDT, at 1 000 USDT or less.` "" where it says too little."""
    if not order.quantity or order.quantity <= 0:
        return ""
    base, quote = pair(symbol) or (f"of {symbol}", "")
    verb = "Buys" if order.side == BUY else "Sells"
    said = f"{verb} {shown(order.quantity)} {base}"
    if order.type != LIMIT:
        return f"{said} at once, at the market's price."
    if not order.price or order.price <= 0:
        return ""
    unit = f" {quote}" if quote else ""
    total, most = shown(worth(order.quantity, order.price)), "most" if order.side == BUY else "least"
    bound = "less" if order.side == BUY else "more"
    lasting = LASTING.get(order.time_in_force or "", "")
    said += f" for at {most} {total}{unit} before fees, at {shown(order.price)}{unit} or {bound}."
    return f"{said} {lasting}".strip()


def as_new(order: SpotOrder) -> NewOrder:
    return NewOrder(order.side, order.type, order.quantity, order.time_in_force or None, order.price)


def cautions(ticket: SpotTicket, orders: Sequence[SpotOrder]) -> list[str]:
    """What to look at before these are sent."""
    found = list(_shortfalls(ticket, orders))
    if any(order.type != LIMIT for order in orders):
        found.append(NO_BOUND)
    if any(order.time_in_force == "GTC" for order in orders):
        found.append(NO_CANCEL)
    if any(order.attempt > 1 for order in orders):
        found.append(
            "This was sent before and did not arrive. It carries the same id and is looked up once more before it "
            "goes out. While an order of that id stands, the exchange makes no second one."
        )
    return found


def _shortfalls(ticket: SpotTicket, orders: Sequence[SpotOrder]) -> Iterable[str]:
    """More than is free, as far as both are known."""
    known = pair(ticket.symbol, ticket.balances)
    if known is None:
        return
    base, quote = known
    for asset, side in ((quote, BUY), (base, "SELL")):
        free = rules.number(ticket.balances.get(asset, ""))
        amounts = [needed(o.side, o.type, o.quantity, o.price) for o in orders if o.side == side]
        total = sum((amount for amount in amounts if amount is not None), Decimal(0))
        if free is not None and total > free:
            yield f"This needs {shown(total)} {asset}, and {shown(free)} {asset} are free: the exchange will refuse it."


@dataclass(frozen=True)
class Row:
    """An order as the pages show it. `tone`: good, bad, warn or "". `differs`: [(what, sent, read back)]."""

    order: SpotOrder
    title: str
    sentence: str
    tone: str
    under_way: bool
    differs: list[tuple[str, str, str]] = field(default_factory=list)


def rows(orders: Iterable[SpotOrder]) -> list[Row]:
    return [row(order) for order in orders]


def row(order: SpotOrder) -> Row:
    """What became of one order."""
    title, sentence, tone = _VERDICTS[order.state](order)
    under_way = order.state in SpotOrder.OPEN_STATES
    return Row(order, title, sentence, tone, under_way, differences(order))


def differences(order: SpotOrder) -> list[tuple[str, str, str]]:
    """Where the exchange's record says otherwise than was sent; what it does not tell is not held against it."""
    sent = {
        "symbol": order.ticket.symbol, "side": order.side, "type": order.type, "origQty": order.quantity,
        "clientOrderId": order.client_order_id,
    }  # fmt: skip
    if order.type == LIMIT:
        sent |= {"price": order.price, "timeInForce": order.time_in_force}
    found = []
    for name, ours in sent.items():
        told = order.read_back.get(name, "")
        same = rules.number(told) == ours if isinstance(ours, Decimal) else told == ours
        if told and not same:
            found.append((name, f"{ours:f}" if isinstance(ours, Decimal) else str(ours), told))
    return found


def _accepted(order: SpotOrder) -> tuple[str, str, str]:
    if not order.read_at:
        return "Taken by the exchange", "It is being looked up now.", "good"
    return "Taken by the exchange", order.error_message, "good"


def _rejected(order: SpotOrder) -> tuple[str, str, str]:
    if not order.sent_at:
        return "Not sent", order.error_message, "bad"
    if order.error_code == "-1150":
        return (
            "No batches here",
            "The exchange does not take several orders in one call. Nothing was placed.",
            "bad",
        )
    return "Refused: nothing was placed", order.error_message, "bad"


def _unknown(order: SpotOrder) -> tuple[str, str, str]:
    said = f"It was sent once and is not sent again. {order.error_message}"
    return "The answer was lost; looking it up", said, "warn"


def _not_seen(order: SpotOrder) -> tuple[str, str, str]:
    return "Not at the exchange", order.error_message, "bad"


def _waiting(order: SpotOrder) -> tuple[str, str, str]:
    return order.get_state_display().capitalize(), order.error_message, "warn" if order.error_message else ""


_VERDICTS = {
    State.DRAFT: _waiting,
    State.CONFIRMED: _waiting,
    State.SENDING: _waiting,
    State.ACCEPTED: _accepted,
    State.REJECTED: _rejected,
    State.UNKNOWN: _unknown,
    State.NOT_SEEN: _not_seen,
}


@dataclass(frozen=True)
class Count:
    """Orders counted in one window of the account's limit."""

    used: int
    limit: int
    seconds: int


def counts(account: Account) -> tuple[list[Count], object]:
    """The order counts as the exchange last told them, a window that is over counting nothing; and when it was."""
    last = account.spot_tickets.exclude(counted_at=None).order_by("-counted_at").first()
    if last is None or last.counted_at is None:
        return [], None
    age = timezone.now() - last.counted_at
    found = [
        Count(0 if age > timedelta(milliseconds=window) else used, most, window // 1000)
        for window, used, most in last.order_counts
    ]
    return found, last.counted_at


def free(ticket: SpotTicket) -> Mapping[str, Decimal]:
    """The balances of the review as numbers, in the order base, quote."""
    known = pair(ticket.symbol, ticket.balances) or ()
    told = {asset: rules.number(ticket.balances.get(asset, "")) for asset in known}
    return {asset: value for asset, value in told.items() if value is not None}
