"""What an account's two wallets did before the server started: bills, and the balances they left.

The same for the same seed, account and start. Deposits arrive in the funding wallet and move on to the
spot wallet, where they are traded; every `afterAmount` follows from the bills before it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random

from .coins import EXACT, QUOTE, coin_id, text

DAY_MS = 86_400_000
DAYS = 200
TAKER_FEE = Decimal("0.001")
FIRST_BILL_ID = 6_101_000_000_000_000_000

Bill = dict[str, object]
Price = Callable[[str, int], Decimal]


class Wallet:
    """Bills in the order in which they happened, and the total of each asset."""

    def __init__(self, first_id: int) -> None:
        self.totals: dict[str, Decimal] = {}
        self.bills: list[Bill] = []
        self._next_id = first_id

    def book(
        self,
        at_ms: int,
        coin: str,
        kind: str,
        delta: Decimal,
        *,
        fee: Decimal = Decimal(0),
        size: Decimal | None = None,
        value: Decimal | None = None,
    ) -> None:
        """Add one bill; fillSize and fillValue only where there was a fill."""
        after = EXACT.add(self.totals.get(coin, Decimal(0)), delta)
        self.totals[coin] = after
        bill: Bill = {
            "billId": str(self._next_id),
            "coinId": coin_id(coin),
            "coinName": coin,
            "bizType": kind,
        }
        if size is not None and value is not None:
            bill |= {"fillSize": text(size), "fillValue": text(value)}
        bill |= {
            "deltaAmount": text(delta),
            "afterAmount": text(after),
            "fees": text(fee),
            "cTime": str(at_ms),
        }
        self.bills.append(bill)
        self._next_id += 1

    def resume(self, bills: list[Bill], totals: dict[str, Decimal]) -> None:
        """Take up again what a state file kept."""
        self.bills.extend(bills)
        self.totals = totals
        self._next_id += len(bills)


def wallets(
    seed: int, account: str, start_ms: int, symbols: tuple[str, ...], price: Price
) -> tuple[Wallet, Wallet]:
    """The spot and the funding wallet of an account as they stand at `start_ms`."""
    random = Random(f"wallets/{seed}/{account}")
    first = FIRST_BILL_ID + random.randrange(10**6) * 10**9
    spot, funding = Wallet(first), Wallet(first + 500_000_000)
    opening = start_ms - DAYS * DAY_MS
    _deposit(spot, funding, opening, Decimal(60_000))
    _fill(spot, opening + 3_600_000, "BTCUSDT", "BUY", Decimal("0.35"), price)
    for day in range(1, DAYS):
        at_ms = opening + day * DAY_MS + random.randrange(DAY_MS - 120_000)
        chance = random.random()
        if chance < 0.03:
            _deposit(spot, funding, at_ms, Decimal(random.randrange(200, 5_000)))
        elif chance < 0.05:
            _withdraw(spot, funding, at_ms, Decimal(random.randrange(100, 900)))
        elif chance < 0.30:
            _trade(spot, at_ms, random.choice(symbols[:5]), random, price)
    return spot, funding


def _deposit(spot: Wallet, funding: Wallet, at_ms: int, amount: Decimal) -> None:
    funding.book(at_ms, QUOTE, "deposit", amount)
    _move(funding, spot, at_ms + 30_000, amount)


def _withdraw(spot: Wallet, funding: Wallet, at_ms: int, amount: Decimal) -> None:
    if spot.totals.get(QUOTE, Decimal(0)) < amount + 30_000:
        return
    _move(spot, funding, at_ms, amount)
    funding.book(at_ms + 60_000, QUOTE, "withdraw", -amount, fee=Decimal(1))


def _move(source: Wallet, target: Wallet, at_ms: int, amount: Decimal) -> None:
    source.book(at_ms, QUOTE, "transfer_out", -amount)
    target.book(at_ms, QUOTE, "transfer_in", amount)


def _trade(spot: Wallet, at_ms: int, symbol: str, random: Random, price: Price) -> None:
    held = spot.totals.get(symbol.removesuffix(QUOTE), Decimal(0))
    if held and random.random() < 0.4 and symbol != "BTCUSDT":
        half = EXACT.multiply(held, Decimal("0.5")).quantize(Decimal("0.000001"))
        _fill(spot, at_ms, symbol, "SELL", half, price)
    elif spot.totals[QUOTE] > 32_000:
        value = Decimal(random.randrange(50, 600))
        _fill(
            spot,
            at_ms,
            symbol,
            "BUY",
            EXACT.divide(value, price(symbol, at_ms)).quantize(Decimal("0.0001")),
            price,
        )


def _fill(spot: Wallet, at_ms: int, symbol: str, side: str, size: Decimal, price: Price) -> None:
    if size > 0:
        book_fill(spot, at_ms, symbol, side, size, price(symbol, at_ms), TAKER_FEE)


def book_fill(
    wallet: Wallet, at_ms: int, symbol: str, side: str, size: Decimal, price: Decimal, fee_rate: Decimal
) -> None:
    """The two bills of a fill. The fee is taken from what is received."""
    base = symbol.removesuffix(QUOTE)
    value = EXACT.multiply(size, price)
    given, got = ((QUOTE, value), (base, size)) if side == "BUY" else ((base, size), (QUOTE, value))
    fee = EXACT.multiply(got[1], fee_rate)
    wallet.book(at_ms, given[0], "trade_out", -given[1], size=size, value=value)
    wallet.book(at_ms, got[0], "trade_in", EXACT.subtract(got[1], fee), fee=fee, size=size, value=value)
