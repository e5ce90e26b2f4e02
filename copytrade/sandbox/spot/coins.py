"""Assets, their numbers and how amounts are written."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal

QUOTE = "USDT"
# 2 is USDT (open-points.md); the others are ours.
COIN_IDS = {"BTC": 1, "USDT": 2, "ETH": 3, "SOL": 4, "XRP": 5, "BNB": 6, "DOGE": 7, "ADA": 8}
FIRST_OTHER_ID = 100

# Wide enough for 36 digits times 36 digits, and apart from the context that the world computes in.
EXACT = Context(prec=90, rounding=ROUND_DOWN)


def coin_id(coin: str) -> int:
    """The asset's number; one that is not in the list gets a steady number from its letters."""
    return (
        COIN_IDS.get(coin) or FIRST_OTHER_ID + int.from_bytes(coin.encode()[:4].rjust(4, b"\0"), "big") % 9000
    )


def text(amount: Decimal) -> str:
    """Plain digits, without exponent and without trailing zeros."""
    plain = format(amount, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain
