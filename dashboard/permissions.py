"""What a key may do, in plain words, and where it may do too much."""

from __future__ import annotations

from dataclasses import dataclass

WORDS = {
    "readonly": ("Read", "balances, orders, traders and settings"),
    "spot": ("Spot orders", "place and cancel orders on the spot market"),
    "futures": ("Copy settings", "change copy settings and trade futures"),
    "withdraw": ("Withdraw", "send money away"),
}


@dataclass(frozen=True)
class Permission:
    """name as the exchange gave it; title and meaning for a person; `too_much`: Copydesk has no use for it."""

    name: str
    title: str
    meaning: str
    too_much: bool


def _kind(name: str) -> str:
    low = name.lower()
    for kind, marks in (
        ("withdraw", ("withdraw",)),
        ("spot", ("spot",)),
        ("futures", ("future", "contract", "swap")),
    ):
        if any(mark in low for mark in marks):
            return kind
    return "readonly" if "read" in low else ""


def describe(names: list[str]) -> list[Permission]:
    """One row per permission that the exchange reported. Unknown ones are shown as they came."""
    rows = []
    for name in names:
        kind = _kind(name)
        title, meaning = WORDS.get(kind, (name, "not known to Copydesk"))
        rows.append(Permission(name, title, meaning, kind == "withdraw"))
    return rows
