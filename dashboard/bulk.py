"""What the pages of several traders show: whom settings may go to, the one review of all, the results of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import cached_property

from copytrade import changes, presets, versions
from copytrade.models import ChangeGroup, SettingsChange, SettingsVersion, Trader
from copytrade.rules import UNIFIED, CopySettings, from_body

from .cautions import cautions, covered
from .reviews import exact

State = SettingsChange.State
INCLUDE = "include-"
SHOWN = 14


@dataclass(frozen=True)
class Candidate:
    """A trader who may get the settings."""

    trader: Trader
    version: SettingsVersion | None
    ticked: bool

    @property
    def not_copied(self) -> bool:
        return not self.trader.copied or (self.version is not None and self.version.copy_enable is False)


def candidates(traders: Iterable[Trader], ticked: set[str]) -> list[Candidate]:
    """Those copied now first. Whose settings are not known cannot get others yet, and says so."""
    rows = sorted(traders, key=lambda trader: (not trader.copied, trader.name.casefold(), trader.pk))
    stored = presets.latest_versions(rows)
    return [Candidate(trader, stored.get(trader.pk), str(trader.pk) in ticked) for trader in rows]


@dataclass
class Row:
    """One trader of a group: the change, or why there is none."""

    trader: Trader
    change: SettingsChange | None
    refused: str = ""
    warnings: list[str] = field(default_factory=list)
    switched: str = ""
    ticked: bool = True

    @property
    def tick(self) -> str:
        return f"{INCLUDE}{self.change.pk}" if self.change else ""

    @property
    def not_copied(self) -> bool:
        base = self.change.base if self.change else None
        return base is not None and base.copy_enable is False

    @cached_property
    def seen(self) -> str:
        return changes.body_mark(self.change) if self.change else ""

    @property
    def first_lines(self) -> list:
        return self.change.differences[:SHOWN] if self.change else []

    @property
    def more_lines(self) -> list:
        """Folded away: across a change of mode there are ten lines for each symbol."""
        return self.change.differences[SHOWN:] if self.change else []

    @property
    def exact_body(self) -> str:
        return exact(self.change.body) if self.change else ""

    @property
    def under_way(self) -> bool:
        return self.change is not None and self.change.state in SettingsChange.OPEN_STATES

    @property
    def left_out(self) -> bool:
        return self.change is not None and self.change.state == State.DRAFT and not self.refused


def review(group: ChangeGroup, posted: Mapping[str, str] | None) -> dict[str, Any]:
    """Every difference on one page. `posted`: the ticks as they were, None when the page is new."""
    rows = _rows(group)
    drafts = [row for row in rows if row.change and row.change.state == State.DRAFT]
    pks = [row.trader.pk for row in drafts]
    recent, opened = presets.recent_copies(pks), presets.open_symbols(pks)
    for row in drafts:
        _judge(row, recent.get(row.trader.pk, []), opened.get(row.trader.pk, set()))
        row.ticked = not row.not_copied if posted is None else row.tick in posted
    return {
        "group": group,
        "drafts": drafts,
        "refused_rows": [row for row in rows if not row.change],
        "sent_rows": [row for row in rows if row.change and row.change.state != State.DRAFT],
        "not_copied": any(row.not_copied for row in drafts),
    }


def chosen(posted: Mapping[str, str]) -> dict[int, str]:
    """Id of a change -> the mark of the body that the person saw, of those that are ticked."""
    ticks = {name.removeprefix(INCLUDE): mark for name, mark in posted.items() if name.startswith(INCLUDE)}
    return {int(pk): mark for pk, mark in ticks.items() if pk.isascii() and pk.isdigit() and len(pk) < 19}


def outcome(group: ChangeGroup) -> dict[str, Any]:
    """Where each trader stands; live while one of them is under way."""
    rows = _rows(group)
    states = [row.change.state for row in rows if row.change]
    return {
        "group": group,
        "rows": rows,
        "under_way": any(row.under_way for row in rows),
        "applied": states.count(State.APPLIED),
        "sent_to": sum(state != State.DRAFT for state in states),
    }


def _rows(group: ChangeGroup) -> list[Row]:
    words = {int(pk): sentence for pk, sentence in group.refused}
    of_group = group.changes.select_related("trader__account", "base").order_by("trader__name", "pk")
    rows = [Row(change.trader, change, words.get(change.trader_id, "")) for change in of_group]
    without = set(words) - {row.trader.pk for row in rows}
    mine = Trader.objects.filter(pk__in=without, account__owner=group.owner_id).select_related("account")
    return rows + [Row(trader, None, words[trader.pk]) for trader in mine.order_by("name", "pk")]


def _judge(row: Row, recent: list[tuple], opened: set[str]) -> None:
    assert row.change is not None
    before = versions.understood(row.change.base.answer) if row.change.base else None
    after = from_body(row.change.body)
    row.warnings = cautions(before, after, recent=recent, open_symbols=opened)
    if before and before.mode != after.mode:
        row.switched = _switch(before, after)


def _switch(before: CopySettings, after: CopySettings) -> str:
    """What a change of mode means for the symbols."""
    gone = sorted(set(covered(before)) - set(covered(after)))
    added = sorted(set(covered(after)) - set(covered(before)))
    words = "Every symbol gets settings of its own in place of one set for all."
    if after.mode == UNIFIED:
        words = "One set of values for all chosen symbols takes the place of each symbol's own."
    if gone:
        words += f" Not copied any more: {', '.join(gone)}."
    if added:
        words += f" Copied from then on: {', '.join(added)}."
    return words
