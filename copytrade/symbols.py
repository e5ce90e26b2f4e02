"""The symbols that copy trading supports at a venue: learned, never guessed.

open-points.md, "Values and meanings": no documented call lists them. They are known from a per-symbol
settings answer (one item for every symbol) or from the operator's own list; anything else only proposes.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from .models import CopySymbols, TrackingOrder, Trader


def supported(venue: str) -> frozenset[str] | None:
    """The known list, or None while nobody has told it."""
    row = CopySymbols.objects.filter(venue=venue).first()
    return frozenset(row.symbols) if row and row.symbols else None


def learn(venue: str, symbols: Iterable[str]) -> None:
    """Take the symbols of a per-symbol answer as the list. The operator's own list is left alone."""
    names = sorted(set(symbols))
    if not names:
        return
    row = CopySymbols.objects.filter(venue=venue).first()
    if row and (row.source == "operator" or row.symbols == names):
        return
    CopySymbols.objects.update_or_create(
        venue=venue, defaults={"symbols": names, "source": "answer", "seen_at": timezone.now()}
    )


def set_by_operator(venue: str, symbols: Iterable[str]) -> None:
    """The operator's own list for a venue; it stands until the operator changes it."""
    CopySymbols.objects.update_or_create(
        venue=venue,
        defaults={"symbols": sorted(set(symbols)), "source": "operator", "seen_at": timezone.now()},
    )


def proposals(trader: Trader) -> list[str]:
    """Symbols to offer where the list is not known: those of this account's orders and stored settings."""
    seen = set(
        TrackingOrder.objects.filter(account=trader.account_id).values_list("symbol", flat=True).distinct()
    )
    for answer in trader.versions.values_list("answer", flat=True)[:5]:
        for item in answer:
            seen.update(item.get("symbols") or [])
            if item.get("symbol"):
                seen.add(item["symbol"])
    return sorted(seen)
