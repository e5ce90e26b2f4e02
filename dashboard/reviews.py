"""What the review and the outcome of a settings change show: differences, effect on one copy, warnings, columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from copytrade import changes, effects, rules, versions
from copytrade.models import SettingsChange, Trader
from copytrade.rules import CopySettings, from_body

from .cautions import cautions, covered
from .forms.mode_switch import losses

RECENT = 50
UNDER_WAY = SettingsChange.OPEN_STATES
State = SettingsChange.State


def review(trader: Trader, change: SettingsChange) -> dict[str, Any]:
    """The context of the review page."""
    after = from_body(change.body)
    before = versions.understood(change.base.answer) if change.base else None
    recent = _recent(trader)
    typical = effects.typical(recent)
    effect = _effect(before, after, typical)
    switched = before is not None and before.mode != after.mode
    opened = trader.orders.filter(closed=False).values_list("symbol", flat=True)
    return {
        "trader": trader,
        "change": change,
        "after": after,
        "symbols": len(covered(after)),
        "seen": changes.body_mark(change),
        "typical": typical,
        "effect": effect,
        "effect_rows": _effect_rows(effect),
        "untold": effect is not None and effect["after"].position is None,
        "staying": 0 if switched else max(_leaves(change.body) - len(change.differences), 0),
        "lost": losses(before, covered(after)) if switched and before else [],
        "warnings": cautions(before, after, recent=recent, open_symbols=opened),
        "not_copied": change.base is not None and change.base.copy_enable is False,
        "overtaken": _overtaken(trader, change),
        "exact_body": exact(change.body),
    }


def outcome(
    trader: Trader, change: SettingsChange, chosen: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The context of the outcome: live while it is not decided, then what was read back, then what to choose."""
    under_way = change.state in UNDER_WAY
    conflict = _conflict(change)
    return {
        "trader": trader,
        "change": change,
        "under_way": under_way,
        "step": 3 if under_way else (4 if change.sent_at else 2),
        "looks": len(changes.READ_BACK_AFTER),
        "staying": max(_leaves(change.body) - len(change.differences), 0),
        "following": change.following.exclude(state=State.DRAFT).first(),
        "theirs": conflict.theirs if conflict else None,
        "columns": columns(conflict, chosen or {}),
        "exact_body": exact(change.body),
    }


def exact(body: dict) -> str:
    """The body as it is sent, laid out to be read."""
    return json.dumps(body, indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class Column:
    """One setting in three columns. `name` is that of its radio buttons; `picked` is "mine", "theirs" or ""."""

    row: rules.Row
    name: str
    picked: str

    @property
    def agreed(self) -> bool:
        """Both changed it to the same: there is nothing to choose."""
        return self.row.mine == self.row.theirs


def columns(found: changes.Conflict | None, chosen: Mapping[str, str]) -> list[Column]:
    """What was started from, what the exchange holds, and what was wanted; the side that changed is chosen."""
    rows = found.rows if found else []
    return [Column(row, f"pick:{row.path}", chosen.get(row.path) or row.default) for row in rows]


def _conflict(change: SettingsChange) -> changes.Conflict | None:
    """The three sides, or None where there is no conflict or one side cannot be understood."""
    try:
        return changes.conflict(change) if change.state == State.CONFLICT else None
    except changes.ChangeRefused:
        return None


def _overtaken(trader: Trader, change: SettingsChange) -> list[rules.Difference]:
    """What the exchange is known to hold otherwise than this draft was built on."""
    newest = versions.latest(trader)
    if newest is None or change.base is None or newest.fingerprint == change.base.fingerprint:
        return []
    base, theirs = versions.understood(change.base.answer), versions.understood(newest.answer)
    return rules.differences(base, theirs) if base and theirs else []


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


def _leaves(body: dict) -> int:
    """How many single settings a body carries."""
    configs = body.get("symbolTraceConfigs") or [body.get("unifiedTraceConfig", {})]
    count = 0
    for config in configs:
        count += sum(name not in ("symbol", "customLeverages") for name in config)
        count += 2 * len(config.get("customLeverages", ()))
    return count
