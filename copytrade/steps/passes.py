"""Passes over the open list: which pages to ask for, when to believe what was not on them, and who is absent.

A list of one page is one answer and holds together. A longer one moves while it is read: an order may slip from
the page not yet read to the one that was. Who is not on it counts as absent only when two passes in a row agree.
Absence closes nothing; it only means that the history has to be looked at.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .merge import Identity, same

MOST_PAGES = 10_000
MOST_PASSES = 3  # in one reading


class Verdict(Enum):
    """What a pass is good for."""

    AGREED = "agreed"  # who is absent may be acted upon
    AGAIN = "again"  # read the list once more
    PARTIAL = "partial"  # it does not hold still: say so, and go on with the next reading


@dataclass
class Pass:
    """One pass, page by page. `present`: the orders on it. `numbers`: those of records that could not be read.
    `unnamed`: one of these did not even tell its number, so that it may be any order. `broken`: the exchange sent a
    page again instead of the next, so that there is no telling where the list ends."""

    present: set[Identity] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    unnamed: bool = False
    broken: bool = False
    pages: int = 0

    def take(self, present: Iterable[Identity], bad: Iterable[int | None], *, full: bool) -> bool:
        """One more page. `bad`: the numbers of records that could not be read, None where there is none to see.
        `full`: it held as many as were asked for. Whether there is a next page to ask for."""
        before, bad = len(self.present) + len(self.numbers), set(bad)
        self.present |= set(present)
        self.numbers |= {number for number in bad if number is not None}
        self.unnamed = self.unnamed or None in bad
        self.pages += 1
        new = len(self.present) + len(self.numbers) > before or None in bad
        if full and (not new or self.pages >= MOST_PAGES):
            self.broken = True
        return full and not self.broken

    def digest(self) -> str:
        """Equal for two passes that held the same orders."""
        told = [
            (i.number, i.trader, i.symbol, i.side, i.opened and i.opened.timestamp()) for i in self.present
        ]
        whole = (sorted(map(str, told)), sorted(self.numbers), self.unnamed)
        return hashlib.sha256(repr(whole).encode()).hexdigest()[:32]


def judge(passes: Sequence[Pass], digest_before: str | None, *, missing: bool) -> Verdict:
    """After each pass of a reading. `digest_before`: of the last pass of the reading before, if it was long.
    `missing`: whether the last pass left out an order that should be open; nothing else needs a second one."""
    last = passes[-1]
    earlier = passes[-2].digest() if len(passes) > 1 else digest_before
    if not last.broken and (last.pages == 1 or not missing or earlier == last.digest()):
        return Verdict.AGREED
    return Verdict.AGAIN if len(passes) < MOST_PASSES else Verdict.PARTIAL


def absent(known: Iterable[Identity], seen: Pass) -> list[Identity]:
    """Those of the known open orders that the pass left out for sure: nobody while an unnamed record may be any."""
    if seen.unnamed:
        return []
    by_number: dict[int, list[Identity]] = {}
    for one in seen.present:
        by_number.setdefault(one.number, []).append(one)
    return [
        order
        for order in known
        if order.number not in seen.numbers
        and not any(same(order, one) for one in by_number.get(order.number, ()))
    ]


def number_of(raw: str) -> int | None:
    """The tracking number of a record that could not be understood, if it shows one."""
    try:
        return int(json.loads(raw).get("trackingNo"))
    except (ValueError, TypeError, AttributeError):
        return None
