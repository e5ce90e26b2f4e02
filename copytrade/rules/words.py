"""The words of the checks: what a setting is called, and how names from outside are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .types import UNIFIED

MOST_NAMES = 12
LONGEST_NAME = 40

LABELS = {
    "traceValue": "Size of each copy",
    "maxHoldQty": "Most held",
    "stopProfitRatio": "Take profit",
    "stopLossRatio": "Stop loss",
    "slippageRatio": "Slippage",
    "fixedLongLeverage": "Long leverage",
    "fixedShortLeverage": "Short leverage",
    "longLeverage": "Long leverage",
    "shortLeverage": "Short leverage",
}
RANGE_SENTENCES = {
    "traceValue": "Size of each copy must be more than 0.",
    "maxHoldQty": "Most held must be between 10 and 100000 (USDT).",
    "stopProfitRatio": "Take profit must be between 0 % and 400 % (0 to 4 in the request).",
    "stopLossRatio": "Stop loss must be between 0 % and 400 % (0 to 4 in the request).",
    "slippageRatio": "Slippage must be 0 (no limit) or between 0.1 % and 1 % (0.001 to 0.01 in the request).",
}


def in_mode(what: str, mode: str) -> str:
    return what if mode == UNIFIED else f"{what} of settings per symbol"


def repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    again: dict[str, None] = {}
    for name in names:
        if name in seen:
            again[name] = None
        seen.add(name)
    return list(again)


def shown(name: str) -> str:
    """A name from outside, safe and short enough for a sentence."""
    start = name[: LONGEST_NAME + 1]
    printable = start if start.isprintable() else start.encode("unicode_escape").decode("ascii")
    if not printable.strip():
        return f"“{printable}”"
    return printable if len(printable) <= LONGEST_NAME else printable[:LONGEST_NAME] + "…"


def listed(names: Collection[str]) -> str:
    ordered = sorted(set(names))
    text = ", ".join(shown(name) for name in ordered[:MOST_NAMES])
    return text if len(ordered) <= MOST_NAMES else f"{text} and {len(ordered) - MOST_NAMES} more"
