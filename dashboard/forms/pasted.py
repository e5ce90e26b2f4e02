"""Rows pasted from a spreadsheet: what they would set, and every cell that cannot be taken, by its place.

The first line names the columns: the symbol, then settings by their label, their head in the table or their name
in the interface. Cells are separated by tabs (as a spreadsheet copies them), semicolons or commas. An empty cell
leaves its field as it is. A unit after a number may stay: 20 %, 5x, 100 USDT. Nothing else is guessed:
whether a value holds is for copytrade.rules.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from .copy_settings_fields import BY_NAME, SPECS, Spec
from .widgets import HEADS, SHORT

SYMBOL_HEADS = frozenset(("symbol", "symbols", "pair"))
UNIT = re.compile(r"\s*(%|x|×|usdt)\s*$", re.IGNORECASE)
LONGEST_TOLD = 40


@dataclass(frozen=True)
class Cell:
    """One value to be set, and where it stood."""

    line: int
    symbol: str
    spec: Spec
    text: str

    @property
    def name(self) -> str:
        return f"{self.symbol}.{self.spec.name}"


@dataclass
class Pasted:
    """What was understood, and a sentence for each thing that was not."""

    cells: list[Cell] = field(default_factory=list)
    told: list[tuple[int, str]] = field(default_factory=list)
    preview: list[tuple[str, str, str, str]] = field(default_factory=list)
    took: bool = False

    def tell(self, line: int, sentence: str) -> None:
        self.told.append((line, sentence))

    @property
    def problems(self) -> list[str]:
        """In the order of the lines."""
        return [sentence for _, sentence in sorted(self.told, key=lambda pair: pair[0])]


def _key(text: str) -> str:
    return re.sub(r"[^a-z]", "", UNIT.sub("", re.sub(r"[(,].*$", "", text)).lower())


def _names() -> dict[str, Spec]:
    found = {}
    for spec in SPECS:
        for text in (spec.name, spec.wire, spec.label, HEADS[spec.name][0]):
            found[_key(text)] = spec
    read_names = {"maxHoldSize": "max_hold", "takeProfitRatio": "take_profit", "stopLossRatio": "stop_loss"}
    return found | {_key(text): BY_NAME[name] for text, name in read_names.items()}


NAMES = _names()


def separated(text: str) -> list[list[str]]:
    """The cells of each line. One separator for all: the first of tab, semicolon, comma that the first line has."""
    lines = text.strip("\r\n").splitlines()
    first = lines[0] if lines else ""
    mark = next((mark for mark in "\t;," if mark in first), "\t")
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]
    except csv.Error:
        return [[cell.strip() for cell in line.split(mark)] for line in lines]


def quoted(text: str) -> str:
    return f"“{text if len(text) <= LONGEST_TOLD else text[:LONGEST_TOLD] + '…'}”"


def value_of(spec: Spec, text: str) -> str:
    """A cell as its input would hold it: a choice by its value or by its words, a number without its unit."""
    if not spec.choices:
        return UNIT.sub("", text)
    words = {SHORT.get(value, label).lower(): value for value, label in spec.choices_for(True)}
    words |= {label.lower(): value for value, label in spec.choices_for(True)}
    return words.get(text.lower(), text)


def read(text: str, known: Collection[str]) -> Pasted:
    """Understand what was pasted. `known` are the symbols that have a row."""
    rows = separated(text)
    found = Pasted()
    if not rows or not any(rows[0]):
        found.tell(1, "Nothing was pasted. Copy rows in your spreadsheet, with the line of heads above them.")
        return found
    columns = _columns(rows[0], found)
    if columns is None:
        return found
    seen: set[str] = set()
    for number, row in enumerate(rows[1:], start=2):
        if any(row):
            _line(number, row, columns, known, seen, found)
    return found


def _columns(heads: Sequence[str], found: Pasted) -> list[Spec | str | None] | None:
    """For each column its field, "symbol", or None for one that is left out; None for all when there is no symbol."""
    columns: list[Spec | str | None] = []
    for number, head in enumerate(heads, start=1):
        what: Spec | str | None = "symbol" if _key(head) in SYMBOL_HEADS else NAMES.get(_key(head))
        if what is None and head:
            found.tell(1, f"Column {number}, {quoted(head)}, is no setting. It is left out.")
        elif what is not None and what in columns:
            found.tell(1, f"Column {number}, {quoted(head)}, comes twice. The second is left out.")
            what = None
        columns.append(what)
    if "symbol" in columns:
        return columns
    found.tell(0, "No column is named “Symbol”. The first line must name the columns.")
    return None


def _line(
    number: int,
    row: Sequence[str],
    columns: Sequence[Spec | str | None],
    known: Collection[str],
    seen: set[str],
    found: Pasted,
) -> None:
    place = columns.index("symbol")
    symbol = row[place].upper() if place < len(row) else ""
    if not symbol:
        found.tell(number, f"Line {number} names no symbol. It is left out.")
    elif symbol not in known:
        found.tell(number, f"Line {number}: {quoted(symbol)} has no row here. It is left out.")
    elif symbol in seen:
        found.tell(number, f"Line {number}: {symbol} was named above. It is left out.")
    else:
        seen.add(symbol)
        if len(row) > len(columns):
            found.tell(number, f"Line {number}, {symbol}: more cells than heads. The last are left out.")
        found.cells += [
            Cell(number, symbol, what, value_of(what, text))
            for what, text in zip(columns, row, strict=False)
            if isinstance(what, Spec) and text
        ]
