"""One account's spot orders: accepted, filled, rested, cancelled, against the world's prices.

A taker finds at most DEPTH_USDT on the other side; what is beyond that rests (GTC) or is cancelled
(IOC, MARKET), and a FOK order that cannot be filled whole is cancelled. Inferred, like all matching here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from copytrade.sandbox.errors import Refusal

from .coins import EXACT, QUOTE, text
from .past import TAKER_FEE, Wallet, book_fill

MAKER_FEE = Decimal("0.0008")
DEPTH_USDT = Decimal(25_000)
NEW, PARTLY, FILLED, CANCELED = "NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED"
FIRST_ORDER_ID = 880_000_000_000_000_000
STEP_MS = 15_000  # resting orders meet the market at whole steps of this
PAUSE_MS = 1_000  # and not sooner than this after they came
MOST_STEPS = 240

Price = Callable[[str, int], Decimal]
ZERO = Decimal(0)
SMALLEST = Decimal("0.00000001")


@dataclass
class Order:
    """One order. Amounts are exact; `quote` is the value filled so far."""

    id: int
    client_id: str
    symbol: str
    side: str
    type: str
    time_in_force: str
    quantity: Decimal
    price: Decimal  # 0 for MARKET
    created_ms: int
    updated_ms: int
    status: str = NEW
    filled: Decimal = ZERO
    quote: Decimal = ZERO

    @property
    def active(self) -> bool:
        return self.status in (NEW, PARTLY)

    @property
    def rest(self) -> Decimal:
        return EXACT.subtract(self.quantity, self.filled)

    def reached_by(self, price: Decimal) -> bool:
        if self.type == "MARKET":
            return True
        return price <= self.price if self.side == "BUY" else price >= self.price


class Book:
    """Orders and both wallets of one account."""

    def __init__(
        self, account_number: int, spot: Wallet, funding: Wallet, price: Price, start_ms: int
    ) -> None:
        self.spot = spot
        self.funding = funding
        self.orders: list[Order] = []
        self.seen_ms = start_ms
        self.touched_ms = start_ms
        self._price = price
        self._next_id = FIRST_ORDER_ID + account_number * 10**9 + 1
        self._untouched = len(spot.bills)

    # -- asking

    def balances(self) -> list[dict[str, str]]:
        """Free and locked amount of every asset held."""
        locked = self._locked()
        rows = []
        for coin, total in self.spot.totals.items():
            held = locked.get(coin, ZERO)
            rows.append({"asset": coin, "free": text(EXACT.subtract(total, held)), "locked": text(held)})
        return rows

    def find(self, order_id: int | None, client_id: str | None) -> Order:
        """The newest order that both ids fit. Raises Refusal -2200."""
        for order in reversed(self.orders):
            if order_id in (None, order.id) and client_id in (None, order.client_id):
                return order
        raise Refusal(-2200)

    # -- doing

    def place(self, symbol: str, fields: dict[str, Any], now_ms: int) -> Order:
        """Accept an order; an active one with the same client id is returned instead of a second.

        Raises Refusal -1054 (HTTP 400) when the balance does not cover it.
        """
        client_id = fields["newClientOrderId"]
        for order in self.orders:
            if client_id is not None and order.client_id == client_id and order.active:
                return order
        market = self._price(symbol, now_ms)
        self._afford(symbol, fields, market)
        order = Order(
            self._next_id,
            client_id or f"sandbox-{self._next_id}",
            symbol,
            fields["side"],
            fields["type"],
            fields["timeInForce"] or "IOC",
            fields["quantity"],
            fields["price"] or ZERO,
            now_ms,
            now_ms,
        )
        self._next_id += 1
        self.orders.append(order)
        self._take(order, market, now_ms)
        self.touched_ms = now_ms
        return order

    def settle(self, now_ms: int) -> None:
        """Fill resting orders whose price was reached since the last look."""
        for order in self.orders:
            if order.active:
                moment = self._reached(order, self.seen_ms, now_ms)
                if moment is not None:
                    self._fill(order, order.rest, order.price, moment, MAKER_FEE)
        self.seen_ms = max(self.seen_ms, now_ms)

    # -- how

    def _locked(self) -> dict[str, Decimal]:
        locked: dict[str, Decimal] = {}
        for order in self.orders:
            if order.active:
                base = order.symbol.removesuffix(QUOTE)
                coin, amount = (
                    (QUOTE, EXACT.multiply(order.rest, order.price))
                    if order.side == "BUY"
                    else (base, order.rest)
                )
                locked[coin] = EXACT.add(locked.get(coin, ZERO), amount)
        return locked

    def _afford(self, symbol: str, fields: dict[str, Any], market: Decimal) -> None:
        coin, cost = symbol.removesuffix(QUOTE), fields["quantity"]
        if fields["side"] == "BUY":
            coin = QUOTE
            cost = EXACT.multiply(cost, fields["price"] if fields["type"] == "LIMIT" else market)
        free = EXACT.subtract(self.spot.totals.get(coin, ZERO), self._locked().get(coin, ZERO))
        if cost > free:
            raise Refusal(-1054, "insufficient balance", http=400)

    def _take(self, order: Order, market: Decimal, now_ms: int) -> None:
        if order.reached_by(market):
            available = min(order.quantity, EXACT.quantize(EXACT.divide(DEPTH_USDT, market), SMALLEST))
            if order.time_in_force != "FOK" or available == order.quantity:
                self._fill(order, available, market, now_ms, TAKER_FEE)
        if order.active and order.time_in_force != "GTC":
            order.status = CANCELED

    def _fill(self, order: Order, size: Decimal, price: Decimal, at_ms: int, fee_rate: Decimal) -> None:
        book_fill(self.spot, at_ms, order.symbol, order.side, size, price, fee_rate)
        order.filled = EXACT.add(order.filled, size)
        order.quote = EXACT.add(order.quote, EXACT.multiply(size, price))
        order.status = FILLED if order.rest == 0 else PARTLY
        order.updated_ms = at_ms
        self.touched_ms = max(self.touched_ms, at_ms)

    def _reached(self, order: Order, after_ms: int, now_ms: int) -> int | None:
        after_ms = max(after_ms, order.updated_ms + PAUSE_MS)
        step = STEP_MS * max(1, (now_ms - after_ms) // STEP_MS // MOST_STEPS)
        for moment in range((after_ms // step + 1) * step, now_ms + 1, step):
            if order.reached_by(self._price(order.symbol, moment)):
                return moment
        return None

    # -- the state file

    def state(self) -> dict[str, Any]:
        """Everything that did not come from the seed, as JSON values."""
        orders = [
            {key: str(value) if isinstance(value, Decimal) else value for key, value in asdict(order).items()}
            for order in self.orders
        ]
        return {
            "orders": orders,
            "bills": self.spot.bills[self._untouched :],
            "next_id": self._next_id,
            "totals": {coin: str(total) for coin, total in self.spot.totals.items()},
            "seen_ms": self.seen_ms,
            "touched_ms": self.touched_ms,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `state`."""
        for row in state["orders"]:
            numbers = {key: Decimal(row[key]) for key in ("quantity", "price", "filled", "quote")}
            self.orders.append(Order(**{**row, **numbers}))
        self.spot.resume(state["bills"], {coin: Decimal(total) for coin, total in state["totals"].items()})
        self._next_id, self.seen_ms = state["next_id"], state["seen_ms"]
        self.touched_ms = state["touched_ms"]
