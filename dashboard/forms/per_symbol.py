"""The rows of per-symbol settings: which of them show, which were changed, and setting many of them at once.

Every action works on the plain texts of the form, by a POST, so that it does the same without JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString, mark_safe

from copytrade import rules

from .copy_settings_blocks import Block, Typed
from .copy_settings_fields import BY_NAME, SPECS, Spec
from .widgets import HEADS, cell, columns, hidden, many

# A row is 11 fields: this many stay below DATA_UPLOAD_MAX_NUMBER_FIELDS and DATA_UPLOAD_MAX_MEMORY_SIZE.
ROWS_AT_MOST = 1_000


def one(data: Mapping[str, list[str]], name: str) -> str:
    return (data.get(name) or [""])[-1].strip()


def differs(text: str, was: str) -> bool:
    """Whether two typed texts mean different values: 5 and 5.0 do not."""
    if text == was:
        return False
    number = rules.number(text)
    return number is None or number != rules.number(was)


@dataclass
class Row:
    """One symbol of the table."""

    block: Block
    was: Mapping[str, list[str]]
    ticked: bool
    with_margin: bool
    hidden: bool = False

    @cached_property
    def changed(self) -> dict[str, str]:
        """Field name -> what the exchange holds, where something else is typed."""
        found = {}
        for item in self.block.fields:
            was = one(self.was, item.name)
            if differs(item.value, was):
                found[item.name] = was
        return found

    @property
    def cells(self) -> SafeString:
        """The row's cells. The label of each is for cards, where no column has a head."""
        made = []
        for item in self.block.fields:
            name = item.spec.name
            if name == "margin_type" and not self.with_margin:
                made.append(f"<td hidden>{hidden(item)}</td>")
                continue
            note = self.block.note_id if item.errors else ""
            made.append(
                f'<td class="c-{name}" data-label="{_label(name)}">'
                f"{cell(self.block.symbol, item, self.changed.get(item.name), note)}</td>"
            )
        return mark_safe("".join(made))  # noqa: S308 - every text was escaped where it became an input


def _label(name: str) -> str:
    head, unit = HEADS[name]
    return f"{head}, {unit}" if unit else head


@dataclass
class Table:
    """All rows, and what the person asked to see of them."""

    blocks: Sequence[Block]
    data: Mapping[str, list[str]]
    was: Mapping[str, list[str]]

    @cached_property
    def rows(self) -> list[Row]:
        ticked = set(self.data.get("rows", ()))
        margin = self.with_margin
        rows = [Row(block, self.was, block.symbol in ticked, margin) for block in self.blocks]
        for row in rows:
            row.hidden = not self._asked_for(row)
        return rows

    @cached_property
    def with_margin(self) -> bool:
        """The column of the margin type: only where some row holds another than the single one allowed."""
        return any(block.by_name["margin_type"].value != "trader" for block in self.blocks)

    @property
    def columns(self) -> list[tuple[Spec, str, str, SafeString]]:
        """(field, head, unit, the input that sets many)."""
        return [
            (spec, *HEADS[spec.name], many(spec, one(self.data, f"set.{spec.name}")))
            for spec in columns(self.with_margin)
        ]

    @property
    def width(self) -> int:
        return len(columns(self.with_margin)) + 2

    @property
    def find(self) -> str:
        return one(self.data, "find")

    @property
    def only_changed(self) -> bool:
        return one(self.data, "only") == "changed"

    @property
    def scope(self) -> str:
        return one(self.data, "scope")

    @property
    def shown(self) -> list[Row]:
        return [row for row in self.rows if not row.hidden]

    @property
    def changed(self) -> int:
        return sum(bool(row.changed) for row in self.rows)

    def _asked_for(self, row: Row) -> bool:
        if not all(word in row.block.symbol.upper() for word in self.find.upper().split()):
            return False
        return not self.only_changed or bool(row.changed) or row.block.problems > 0


# Setting many at once

Action = Callable[[Table, Typed], tuple[Typed, str]]


def rows_in(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def meant(table: Table) -> list[Row]:
    """The rows that an action is about: the ticked ones when that was chosen, else all that show."""
    return [row for row in table.rows if row.ticked] if table.scope == "ticked" else table.shown


def set_many(table: Table, data: Typed) -> tuple[Typed, str]:
    """Put what was typed above the columns into the rows that are meant."""
    given = {name: text for name in BY_NAME if (text := one(data, f"set.{name}"))}
    rows = meant(table)
    if not given:
        return {}, "Nothing was set: type a value above a column first."
    if not rows:
        return {}, NO_ROWS
    new = {f"{row.block.symbol}.{name}": [text] for row in rows for name, text in given.items()}
    new |= {f"set.{name}": [""] for name in given}
    words = ", ".join(BY_NAME[name].label.lower() for name in given)
    return new, f"Set in {rows_in(len(rows))}: {words}."


def put_back(table: Table, data: Typed) -> tuple[Typed, str]:
    """Undo: what the exchange holds, in the rows that are meant."""
    rows = [row for row in meant(table) if row.changed]
    new = {name: [was] for row in rows for name, was in row.changed.items()}
    return new, f"Put back to what the exchange holds: {rows_in(len(rows))}."


def fill_down(table: Table, data: Typed) -> tuple[Typed, str]:
    """The values of one row in every row below it that shows."""
    source = one(data, "fill_from")
    below = [row.block.symbol for row in table.shown if row.block.symbol > source]
    if f"{source}.trace_type" not in data:
        return {}, f"There is no row {source}."
    new = {
        f"{symbol}.{spec.name}": data.get(f"{source}.{spec.name}", [""]) for symbol in below for spec in SPECS
    }
    return new, f"The values of {source} are now in {rows_in(len(below))} below it."


def show(table: Table, data: Typed) -> tuple[Typed, str]:
    return {}, ""


NO_ROWS = "Nothing was set: no row is ticked or shown."
ACTIONS: dict[str, Action] = {"set": set_many, "back": put_back, "show": show}


def act(table: Table, data: Typed) -> tuple[Typed, str]:
    """Do what the pressed button asks for. Returns the texts that become new, and a sentence about it."""
    if one(data, "fill_from"):
        return fill_down(table, data)
    action = ACTIONS.get(one(data, "apply"))
    return action(table, data) if action else ({}, "")
