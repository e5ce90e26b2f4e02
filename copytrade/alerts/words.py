"""Amounts and names as they stand in an alert's sentence, which is read in the inbox, in mails and on telephones."""

from __future__ import annotations

from datetime import timedelta
from decimal import ROUND_HALF_UP, Context, Decimal

from copytrade.models import TrackingOrder
from copytrade.models.traders import plain

LONGEST = 500
THIN = "\u202f"  # narrow no-break space: an amount and its unit stay on one line
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
_SIDES = {"LONG": "long", "SHORT": "short"}


def one_line(sentence: str) -> str:
    """One line of at most 500 characters, without marks that turn its direction: names and reasons come from the
    exchange."""
    line = " ".join(plain(sentence.replace("\n", " ").replace("\r", " ").replace("\t", " ")).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def usdt(amount: Decimal, *, signed: bool = False) -> str:
    """`1 234.56 USDT`; below 1 with as many places as show three digits that matter, at most eight."""
    places = 2 if amount == 0 or abs(amount) >= 1 else min(8, max(2, 2 - amount.adjusted()))
    rounded = _EXACT.quantize(amount, Decimal(1).scaleb(-places))
    text = f"{abs(rounded):,f}".replace(",", THIN)
    sign = "" if not rounded else "\u2212" if rounded < 0 else "+" if signed else ""
    return f"{sign}{text}{THIN}USDT"


def percent(part: Decimal) -> str:
    """A fraction: 0.128 -> `12.8 %`. Cut, not rounded, so that it never shows a limit that is not reached."""
    scaled = _EXACT.multiply(part, Decimal(100))
    return f"{scaled.quantize(Decimal('0.1'), rounding='ROUND_DOWN'):f}{THIN}%"


def limit(value: Decimal, unit: str) -> str:
    """A limit as it was entered, without zeros that say nothing: `20 %`, `50 USDT`, `7 days`."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{THIN}{'day' if (text, unit) == ('1', 'days') else unit}"


def length(span: timedelta) -> str:
    """`40 min`, `3 h`, `2 days`."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 48 * 3600 else f"{seconds // 86400} days"


def copy_of(order: TrackingOrder) -> str:
    """`BTCUSDT long`, an unknown side as it came."""
    return f"{order.symbol} {_SIDES.get(order.position_side, order.position_side)}".strip()
