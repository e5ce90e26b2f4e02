"""What a person is warned of before settings are sent: each a sentence, none of them a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from copytrade import effects
from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, TraceConfig

from .forms.examples import grouped

GREW_BY_MORE_THAN = Decimal("1.5")
MOST_NAMED = 6
SIDES = ("long", "short")
Copies = Sequence[tuple[Decimal | None, int | None, str]]  # (margin in USDT, leverage, symbol)


def cautions(
    before: CopySettings | None,
    after: CopySettings,
    *,
    recent: Copies,
    open_symbols: Iterable[str],
) -> list[str]:
    """`recent` are the trader's last copies, `open_symbols` the symbols that have one open now."""
    typical = effects.typical(recent)
    found = []
    if before and typical:
        found += _growth(before, after, typical, {symbol for _, _, symbol in recent})
    if before:
        found += _limits(before, after)
    if typical:
        found += _leverage(after, typical, [leverage for _, leverage, _ in recent if leverage])
    return found + _left_out(after, open_symbols)


def covered(settings: CopySettings) -> list[str]:
    """The symbols that these settings name."""
    if settings.mode == PER_SYMBOL:
        return [config.symbol for config in settings.configs if config.symbol]
    return [name for config in settings.configs for name in config.symbols or ()]


def _growth(
    before: CopySettings, after: CopySettings, typical: effects.Typical, copied: set[str]
) -> list[str]:
    """The worst case over the symbols lately copied and both sides, told once."""
    worst: tuple[Decimal, Decimal, Decimal, str] | None = None
    for symbol in sorted({typical.symbol, *(copied & set(covered(after)))}):
        for side in SIDES:
            here = replace(typical, symbol=symbol)
            old, new = (effects.effect(settings, here, before, side) for settings in (before, after))
            times = effects.growth(old, new)
            if times is not None and old.position and new.position and (not worst or times > worst[0]):
                worst = times, old.position, new.position, symbol
    if worst is None or worst[0] <= GREW_BY_MORE_THAN:
        return []
    times, was, becomes, symbol = worst
    of = "" if symbol == typical.symbol else f" in {symbol}"
    return [
        f"A typical copy of this trader{of} would open {grouped(becomes)} USDT instead of "
        f"{grouped(was)} USDT: {grouped(times, 1)} times the position."
    ]


def _limits(before: CopySettings, after: CopySettings) -> list[str]:
    """Caps and exits that go, or a cap that grows by more than half, wherever they do."""
    pairs = _pairs(before, after)
    found = []
    if any(old.stop_loss and not new.stop_loss for old, new in pairs):
        found.append("The stop loss goes: a copy can then lose its whole margin before it closes.")
    if any(old.max_hold is not None and new.max_hold is None for old, new in pairs):
        found.append("The most held goes: nothing then limits how much margin copies of this trader bind.")
    grown = [
        (old.max_hold, new.max_hold)
        for old, new in pairs
        if old.max_hold and new.max_hold and new.max_hold > old.max_hold * GREW_BY_MORE_THAN
    ]
    if grown:
        was, becomes = max(grown, key=lambda pair: pair[1] / pair[0])
        found.append(f"The most held grows from {grouped(was)} to {grouped(becomes)} USDT.")
    return found


def _pairs(before: CopySettings, after: CopySettings) -> list[tuple[TraceConfig, TraceConfig]]:
    """Each config with the one that held for the same symbols before."""
    if before.mode == PER_SYMBOL and after.mode != PER_SYMBOL:
        return [(old, new) for new in after.configs[:1] for old in before.configs]
    found = []
    for new in after.configs:
        old = effects.config_for(before, new.symbol or "")
        if old is not None:
            found.append((old, new))
    return found


def _leverage(after: CopySettings, typical: effects.Typical, used: list[int]) -> list[str]:
    highest = max(used)
    above = [(label, value) for label, value in _leverages(after) if value > highest]
    if not above:
        return []
    above.sort(key=lambda item: -item[1])
    named = ", ".join(f"{label} {value}x" for label, value in above[:MOST_NAMED])
    if len(above) > MOST_NAMED:
        named += f" and {len(above) - MOST_NAMED} more"
    return [
        f"{named[0].upper()}{named[1:]}: above what was used. The last {typical.n} copies of this trader had "
        f"{highest}x at most, half of them {grouped(typical.leverage)}x or less."
    ]


def _leverages(settings: CopySettings) -> list[tuple[str, int]]:
    """Every leverage that would hold, with what it is called."""
    found: list[tuple[str, int | None]] = []
    for config in settings.configs:
        of = f" {config.symbol}" if config.symbol else ""
        if config.leverage_type == "fixed":
            found += [
                (f"long leverage{of}", config.long_leverage),
                (f"short leverage{of}", config.short_leverage),
            ]
        elif config.leverage_type == "specify":
            for item in config.custom_leverages:
                found.append((f"long leverage {item.symbol}", item.long_leverage))
                found.append((f"short leverage {item.symbol}", item.short_leverage))
    return [(label, value) for label, value in found if value is not None]


def _left_out(after: CopySettings, open_symbols: Iterable[str]) -> list[str]:
    names = sorted(set(open_symbols) - set(covered(after)))
    everything = any(config.symbols is None for config in after.configs)
    if after.mode != UNIFIED or not names or everything:
        return []
    return [
        f"{', '.join(names)}: copies are open, and the symbol is no longer chosen. "
        "They stay open; new ones are not copied."
    ]
