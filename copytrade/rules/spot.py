"""What a spot order means in plain figures: the two assets of its symbol, and what it can cost at most. Pure.

Whether an order may be sent is not decided here: those checks are exchange/checks.py, for form and client alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, localcontext

BUY, SELL = "BUY", "SELL"
LIMIT, MARKET = "LIMIT", "MARKET"
SIDES = (BUY, SELL)
TYPES = (LIMIT, MARKET)
# How long a limit order stands (interface.md, "place an order"). What each does is the usual meaning.
TIMES_IN_FORCE = ("GTC", "IOC", "FOK")
# Assets that prices are quoted in, the longer ones first; the interface does not list them.
QUOTES = ("FDUSD", "USDT", "USDC", "TUSD", "BUSD", "DAI", "EUR", "USD", "BTC", "ETH", "BNB")
_EXACT = Context(prec=100, traps=[Inexact])


def pair(symbol: str, assets: Iterable[str] = ()) -> tuple[str, str] | None:
    """(base, quote) of a symbol such as BTCUSDT, by the assets that are known; None where it cannot be told."""
    name = symbol.upper()
    known = sorted({asset.upper() for asset in assets}, key=len, reverse=True)
    for quote in (*QUOTES, *known):
        base = name.removesuffix(quote).rstrip("-_/")
        if base and base != name:
            return base, quote
    return None


def worth(quantity: Decimal, price: Decimal) -> Decimal:
    """quantity x price, exact: both have at most 36 digits."""
    with localcontext(_EXACT):
        return quantity * price


def needed(side: str, kind: str, quantity: Decimal, price: Decimal | None) -> Decimal | None:
    """How much an order binds: of the quote for a buy, of the base for a sell; None where no price bounds it."""
    if side == SELL:
        return quantity
    return worth(quantity, price) if kind == LIMIT and price is not None else None
