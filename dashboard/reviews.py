"""What the review and the outcome of a settings change show: differences, effect on one copy, warnings."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from copytrade import effects, versions
from copytrade.models import SettingsChange, Trader
from copytrade.rules import PER_SYMBOL, UNIFIED, CopySettings, from_body

from .forms.examples import grouped
from .forms.mode_switch import losses

RECENT = 50
GREW_BY_MORE_THAN = Decimal("1.5")
UNDER_WAY = SettingsChange.OPEN_STATES


def review(trader: Trader, change: SettingsChange) -> dict[str, Any]:
    """The context of the review page."""
    after = from_body(change.body)
    before = versions.understood(change.base.answer) if change.base else None
    typical = effects.typical(_recent(trader))
    effect = _effect(before, after, typical)
    switched = before is not None and before.mode != after.mode
    return {
        "trader": trader,
        "change": change,
        "after": after,
        "typical": typical,
        "effect": effect,
        "effect_rows": _effect_rows(effect),
        "staying": 0 if switched else max(_leaves(change.body) - len(change.differences), 0),
        "lost": losses(before, _covered(after)) if switched and before else [],
        "warnings": _warnings(trader, before, after, typical, effect),
        "not_copied": change.base is not None and change.base.copy_enable is False,
        "exact_body": json.dumps(change.body, indent=2, ensure_ascii=False),
    }


def outcome(trader: Trader, change: SettingsChange) -> dict[str, Any]:
    """The context of the outcome: live while it is not decided, then what was read back."""
    return {
        "trader": trader,
        "change": change,
        "under_way": change.state in UNDER_WAY,
        "step": 3 if change.state in UNDER_WAY else 4,
        "staying": max(_leaves(change.body) - len(change.differences), 0),
        "exact_body": json.dumps(change.body, indent=2, ensure_ascii=False),
    }


def _recent(trader: Trader) -> list[tuple]:
    rows = trader.orders.order_by("-open_time", "-tracking_no")
    return list(rows.values_list("open_margin_amount", "open_leverage", "symbol")[:RECENT])


def _effect(
    before: CopySettings | None, after: CopySettings, typical: effects.Typical | None
) -> dict[str, effects.Effect] | None:
    if typical is None or before is None:
        return None
    return {
        "before": effects.effect(before, typical, before),
        "after": effects.effect(after, typical, before),
    }


def _effect_rows(
    effect: dict[str, effects.Effect] | None,
) -> list[tuple[str, Decimal | None, Decimal | None, str]]:
    """(label, before, after, what to say where there is no number)."""
    if effect is None:
        return []
    before, after = effect["before"], effect["after"]
    return [
        ("Margin", before.margin, after.margin, "not known"),
        ("Position", before.position, after.position, "not known"),
        ("Lost at stop loss", before.lost_at_stop, after.lost_at_stop, "no limit"),
        ("Held at most", before.held_at_most, after.held_at_most, "no limit"),
    ]


def _covered(settings: CopySettings) -> list[str]:
    if settings.mode == PER_SYMBOL:
        return [config.symbol for config in settings.configs if config.symbol]
    return [name for config in settings.configs for name in config.symbols or ()]


def _leaves(body: dict) -> int:
    """How many single settings a body carries."""
    configs = body.get("symbolTraceConfigs") or [body.get("unifiedTraceConfig", {})]
    count = 0
    for config in configs:
        count += sum(name not in ("symbol", "customLeverages") for name in config)
        count += 2 * len(config.get("customLeverages", ()))
    return count


def _warnings(
    trader: Trader,
    before: CopySettings | None,
    after: CopySettings,
    typical: effects.Typical | None,
    effect: dict[str, effects.Effect] | None,
) -> list[str]:
    found = []
    if effect and typical and before:
        found += _growth(effect, typical)
    left_out = sorted(
        set(trader.orders.filter(closed=False).values_list("symbol", flat=True)) - set(_covered(after))
    )
    if left_out and after.mode == UNIFIED:
        found.append(
            f"{', '.join(left_out)}: copies are open, and the symbol is no longer chosen. "
            "They stay open; new ones are not copied."
        )
    return found


def _growth(effect: dict[str, effects.Effect], typical: effects.Typical) -> list[str]:
    before, after = effect["before"], effect["after"]
    found = []
    times = effects.growth(before, after)
    if times is not None and times > GREW_BY_MORE_THAN and before.position and after.position:
        found.append(
            f"A typical copy of this trader would open {grouped(after.position)} USDT instead of "
            f"{grouped(before.position)} USDT: {grouped(times, 1)} times the position."
        )
    if after.leverage is not None and after.leverage > typical.leverage:
        found.append(
            f"The leverage, {grouped(after.leverage)}x, is above what was usual: "
            f"half of the last {typical.n} copies had {grouped(typical.leverage)}x or less."
        )
    if before.lost_at_stop is not None and after.lost_at_stop is None:
        found.append("The stop loss goes: a copy can then lose its whole margin before it closes.")
    return found
