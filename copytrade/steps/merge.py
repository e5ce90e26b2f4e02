"""The ledger merge: a set of observations of orders becomes rows, in any order and any number of times.

An order is what its trader, symbol, side and opening time say: they never change. A tracking number that comes
with others is another order (the exchange used the number again) and gets a row, a generation, of its own.

Every observation has a rank: (it closes the order, its updateTime, how clearly it tells it, its own text). A row
always holds the observation of the highest rank. Taking the highest of a set is commutative, associative and
idempotent, and so is the merge: pages may overlap, repeat, arrive late or out of order.

An observation without an opening time may be of any order of its trader, symbol and side. It is held to be of the
earliest of them; because an earlier one may yet come, the row keeps both, the one that won and the one `beneath`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
STATUSES = ("HAVE_OPEN", "CLOSED")  # the words that interface.md shows; there may be more


class Identity(NamedTuple):
    """What never changes of an order. `opened` is None where an observation does not tell it."""

    number: int
    trader: int
    symbol: str
    side: str
    opened: datetime | None


class Observation(NamedTuple):
    """An order as one answer told it. `content`: everything that was told, each value in its only spelling (see
    ledger/), so that equal observations are equal tuples."""

    identity: Identity
    closed: bool
    updated: datetime | None
    content: tuple[Any, ...]


class Row(NamedTuple):
    """A row of the ledger. `key`: the database's, None for a new one. `opened`: of the order, told or not by the
    observation that is `held`. `beneath`: the weaker one of a dated and an undated observation."""

    key: Any
    generation: int
    opened: datetime | None
    held: Observation
    beneath: Observation | None = None

    @property
    def identity(self) -> Identity:
        return self.held.identity._replace(opened=self.opened)


def merged(rows: Sequence[Row], observations: Sequence[Observation]) -> list[Row]:
    """The rows of one tracking number, as they stand and as the observations make them. Rows never vanish and keep
    their keys; a row that is equal to the one handed in is not to be written."""
    if quick := _usual(rows, observations):
        return quick
    families: dict[tuple[int, str, str], dict[datetime | None, Observation]] = {}
    keys: dict[tuple[int, str, str, datetime | None], Any] = {}
    for row in rows:
        keys[row.identity[1:]] = row.key
        _take(families, row.held)
        if row.beneath:
            _take(families, row.beneath)
    for one in observations:
        _take(families, one)
    made = [row for kin, family in families.items() for row in _rows(kin, family, keys)]
    made.sort(key=lambda row: _place(row.identity))
    first = made[0].identity
    return [row._replace(generation=generation(row.identity, first)) for row in made]


def stronger(one: Observation, other: Observation) -> Observation:
    """The one that a row holds: closing, then newer, then (a tie) the clearer, then by its own text."""
    left, right = _rank(one), _rank(other)
    if left == right and one != other:
        left, right = (_clear(one), text(one)), (_clear(other), text(other))  # type: ignore[assignment]
    return one if left >= right else other


def strongest(observations: Iterable[Observation]) -> Observation:
    """The highest of a set; there is at least one."""
    best = None
    for one in observations:
        best = one if best is None else stronger(best, one)
    assert best is not None
    return best


def generation(identity: Identity, first: Identity) -> int:
    """0 for the earliest order of a number (nearly always the only one), for the others a number that follows from
    what never changes. Neither depends on which of them was read first."""
    if identity == first:
        return 0
    opened = identity.opened.astimezone(UTC).isoformat() if identity.opened else ""
    told = json.dumps([identity.trader, identity.symbol, identity.side, opened])
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big") >> 1 or 1


def same(one: Identity, other: Identity) -> bool:
    """May these two be the same order? One that does not tell its opening time may be any of its kin."""
    return one[:4] == other[:4] and (one.opened is None or other.opened is None or one.opened == other.opened)


def text(one: Observation) -> str:
    """One text per different observation."""
    return json.dumps([one.content, one.identity], default=datetime.isoformat)


def _rank(one: Observation) -> tuple[bool, datetime]:
    return one.closed, one.updated or BEGINNING


def _clear(one: Observation) -> tuple[int, int]:
    """An answer that came spoiled must not stand for ever: of the same state, whoever tells it in the words that the
    interface shows wins, then whoever leaves less out."""
    known = sum(value in STATUSES for value in one.content if isinstance(value, str))
    return known, sum(value not in (None, "") for value in one.content)


def _usual(rows: Sequence[Row], observations: Sequence[Observation]) -> list[Row] | None:
    """The rows where all of it is one order with its opening time told, or all without; None otherwise."""
    row = rows[0] if rows else None
    held = row.held if row else observations[0]
    if len(rows) > 1 or (row and (row.beneath or row.opened != held.identity.opened)):
        return None
    for one in observations:
        if one.identity != held.identity:
            return None
        if one != held:
            held = stronger(held, one)
    return [row._replace(held=held) if row else Row(None, 0, held.identity.opened, held)]


def _take(families: dict[Any, dict[datetime | None, Observation]], one: Observation) -> None:
    _, trader, symbol, side, opened = one.identity
    family = families.setdefault((trader, symbol, side), {})
    held = family.get(opened)
    family[opened] = one if held is None else stronger(held, one)


def _rows(
    kin: tuple[int, str, str], family: dict[datetime | None, Observation], keys: dict[Any, Any]
) -> list[Row]:
    """The rows of one trader, symbol and side: one per opening time, the undated with the earliest."""
    undated, dates = family.get(None), sorted(opened for opened in family if opened)
    undated_key = keys.get((*kin, None))
    if undated and not dates:
        return [Row(undated_key, 0, None, undated)]
    made = [Row(keys.get((*kin, opened)), 0, opened, family[opened]) for opened in dates]
    if undated:
        first, told = made[0], made[0].held
        held = stronger(told, undated)
        beneath = undated if held is told else told
        # The row of an order that was not dated so far is the row of the earliest now: it keeps its revisions.
        made[0] = first._replace(key=undated_key or first.key, held=held, beneath=beneath)
    return made


def _place(identity: Identity) -> tuple[Any, ...]:
    opened = identity.opened
    return opened is None, opened or BEGINNING, identity.trader, identity.symbol, identity.side
