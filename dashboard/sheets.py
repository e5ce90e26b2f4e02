"""Pages of a list that nobody counts: newer and older, without asking how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from .filters import whole

FURTHEST = 10_000  # an address that asks for more is nobody's link


@dataclass(frozen=True)
class Sheet:
    """One page of a list, newest first. `older`: is there another one after it?"""

    rows: list[Any]
    number: int
    older: bool

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    @property
    def alone(self) -> bool:
        return self.number == 1 and not self.older


def sheet(rows: QuerySet[Any], size: int, asked: str | None) -> Sheet:
    """The page that the address asks for; the first when there is no such page. One query."""
    number = min(max(whole(asked) or 1, 1), FURTHEST)
    found = list(rows[(number - 1) * size : number * size + 1])
    if not found and number > 1:
        return sheet(rows, size, None)
    return Sheet(found[:size], number, len(found) > size)
