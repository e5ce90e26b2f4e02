"""Do the bills of an asset add up: each balance after is the one before and the change. PURE.

Bills of one millisecond come in no certain order: they are taken in the one that adds up, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from copytrade.statistics.exact import EXACT


@dataclass(frozen=True)
class Link:
    """A bill as a link: `key` names it, `change` and `after` are exact, in the asset."""

    key: str
    at: datetime
    change: Decimal
    after: Decimal
    fee: Decimal | None = None


@dataclass(frozen=True)
class Break:
    """A bill whose balance does not follow from the one before it: `missing` is what the two differ by."""

    link: Link
    before: Link
    expected: Decimal
    missing: Decimal

    @property
    def is_fee(self) -> bool:
        """Is the difference just the fee, so that the change does not contain it?"""
        fee = self.link.fee
        return fee is not None and fee != 0 and abs(self.missing) == abs(fee)


def breaks(links: Iterable[Link]) -> tuple[list[Break], Link | None]:
    """Where the chain does not hold, and its last link. `links`: of one asset, oldest first, complete."""
    found: list[Break] = []
    last: Link | None = None
    for _, group in groupby(links, key=lambda link: link.at):
        for link in _in_order(list(group), last):
            if last is not None:
                expected = EXACT.add(last.after, link.change)
                if expected != link.after:
                    found.append(Break(link, last, expected, EXACT.subtract(link.after, expected)))
            last = link
    return found, last


def _in_order(group: Sequence[Link], last: Link | None) -> list[Link]:
    """The bills of one moment, each behind the one whose balance it begins with, as far as there is one."""
    if len(group) == 1:
        return list(group)
    rest, ordered = list(group), []
    after = last.after if last else _beginning(group)
    while rest:
        link = next((one for one in rest if _before(one) == after), rest[0])
        rest.remove(link)
        ordered.append(link)
        after = link.after
    return ordered


def _beginning(group: Sequence[Link]) -> Decimal:
    """The balance with which a moment begins: one that no bill of it leaves, or the first's."""
    left = {link.after for link in group}
    return next((before for before in map(_before, group) if before not in left), _before(group[0]))


def _before(link: Link) -> Decimal:
    return EXACT.subtract(link.after, link.change)
