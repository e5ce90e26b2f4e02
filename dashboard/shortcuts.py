"""The keys of the desk: "g" and a letter goes to a page, and the few single keys of every page."""

from __future__ import annotations

# The letter after "g", by the name of the place. A place that is not here has the first free letter of its label.
LETTERS = {
    "overview": "o", "traders": "t", "open_orders": "p", "history": "h", "templates": "m",
    "my_account": "b", "my_bills": "w", "my_funding_bills": "f", "my_lead": "l", "spot": "s", "affiliate": "e",
    "connections": "c", "alerts": "a", "activity": "v", "issues": "i", "security": "u",
}  # fmt: skip
ALPHABET = "abcdefhijklmnopqrstuvwxyz0123456789"  # without "g": that begins anew

# (key, what it does); each can be switched off with all others (WCAG 2.1.4).
SINGLE = (
    ("j", "The next row"),
    ("k", "The row before"),
    ("Enter", "Open the row"),
    ("/", "To the filter or the search"),
    ("r", "Load the page again, unless something was typed"),
    ("?", "This list"),
)


def letters(places: list[tuple[str, str]]) -> dict[str, str]:
    """The letter of each (name, label), no two alike."""
    taken: dict[str, str] = {}
    for name, _ in places:
        if name in LETTERS:
            taken[name] = LETTERS[name]
    for name, label in places:
        if name not in taken:
            free = [one for one in label.lower() + ALPHABET if one in ALPHABET and one not in taken.values()]
            taken[name] = free[0] if free else ""
    return taken
