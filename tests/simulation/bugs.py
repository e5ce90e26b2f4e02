"""Mistakes planted on purpose, each of which the judge has to see: so that its silence means something.

Most are known by name to the shell of the simulation (`desk.bugs`); the others replace a piece of the pure steps
while a seed is played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

from copytrade.exchange import windows
from copytrade.steps import merge, passes, walk

from .play import play

Patch = Callable[[], Any]


def _put(module: Any, name: str, value: Any) -> Patch:
    return lambda: mock.patch.object(module, name, value)


def _first_comes_last(one: merge.Observation, other: merge.Observation) -> merge.Observation:
    return other


def _late_close_ignored(one: merge.Observation, other: merge.Observation) -> merge.Observation:
    return one if (one.updated or merge.BEGINNING) >= (other.updated or merge.BEGINNING) else other


def _same_number(rows: Any, observations: Any) -> list[merge.Row]:
    """One row per number, whatever else it says."""
    held = merge.strongest([*[row.held for row in rows], *observations])
    row = rows[0] if rows else merge.Row(None, 0, None, held)
    return [row._replace(held=held, opened=held.identity.opened)]


def _closed_stays(one: merge.Observation, other: merge.Observation) -> merge.Observation:
    return one if one.closed else merge_stronger(one, other)


merge_stronger, walk_too_far, walk_took, walk_on = merge.stronger, walk.too_far, walk.took, walk._walk_on


def _end_of_everything(cursor: walk.Cursor, asked: walk.Window) -> walk.Outcome:
    cursor.pop(asked.part)
    cursor["until"] = asked.end.isoformat()
    return walk.Outcome(done=True)


def _first_page_only(cursor: walk.Cursor, asked: walk.Window, **told: Any) -> walk.Outcome:
    return walk_took(cursor, asked, **(told | {"last": True}))


def _short_windows(cursor: walk.Cursor, asked: walk.Window) -> walk.Outcome:
    """The next older window begins an hour further down."""
    outcome = walk_on(cursor, asked)
    for part in (walk.WALK, walk.BACK):
        if place := cursor.get(part):
            place["end"] = (asked.start - timedelta(hours=1)).isoformat()
    return outcome


def _tie_lost(cursor: walk.Cursor, asked: walk.Window, **told: Any) -> walk.Outcome:
    """The next page begins at another millisecond."""
    if told.get("next_page"):
        told["next_page"] = (told["next_page"][0] // 10_000 * 10_000, told["next_page"][1])
    return walk_took(cursor, asked, **told)


def _lost_at_once(order: walk.Missing, read: walk.Read) -> bool:
    return True


def _arrival(identity: merge.Identity, first: merge.Identity) -> int:
    return 0


# name -> what to replace meanwhile; () where the shell knows the name.
BUGS: dict[str, tuple[Patch, ...]] = {
    "the cursor before the rows": (),
    "no fence": (),
    "absence means closed": (),
    "money is a float": (),
    "a record that does not parse is dropped": (),
    "the daily sums are made later": (),
    "the daily sum that an order left is not remade": (),
    "a lease never runs out": (),
    "back-off is never reset": (),
    "poisoned work is not pushed ahead": (),
    "a message is the only memory": (),
    "429 is not heeded": (),
    "the limiter forgets when Redis does": (),
    "a write whose answer was lost is sent again": (),
    "the step to sending is not fenced": (),
    "an unknown write is taken for applied": (),
    "no overlap": (
        _put(walk, "OVERLAP", timedelta()),
        _put(walk, "DEEP_OVERLAP", timedelta()),
    ),
    "no daily sweep": (_put(walk, "SWEEP_EVERY", timedelta(days=3650)),),
    "one pass is enough": (_put(passes, "judge", lambda *_, **__: passes.Verdict.AGREED),),
    "a number is one order": (_put(merge, "merged", _same_number),),
    "every generation is 0": (_put(merge, "generation", _arrival),),
    "the last to come wins": (_put(merge, "stronger", _first_comes_last),),
    "a late close is ignored": (_put(merge, "stronger", _late_close_ignored),),
    "a true-up is ignored": (_put(merge, "stronger", _closed_stays),),
    "-1170 is the end of everything": (_put(walk, "too_far", _end_of_everything),),
    "only the first page of a window": (_put(walk, "took", _first_page_only),),
    "windows do not meet": (_put(walk, "_walk_on", _short_windows),),
    "a tie is lost at the border of a page": (_put(walk, "took", _tie_lost),),
    "whoever is missing is lost": (_put(walk, "lost", _lost_at_once),),
    "nobody is ever lost": (_put(walk, "lost", lambda *_: False),),
    "a call stops counting when it is answered": (
        _put(windows.LocalPool, "_flying", lambda self: 0),
        _put(windows.Window, "add", lambda *_, **__: None),
    ),
}


@contextmanager
def planted(name: str) -> Iterator[frozenset[str]]:
    """While it lasts, the desk has this bug; what to hand to `play`."""
    with ExitStack() as stack:
        for patch in BUGS[name]:
            stack.enter_context(patch())
        yield frozenset({name})


def seeds_to_catch(name: str, most: int, first: int = 0) -> int:
    """How many seeds it took until the judge objected; 0 when it did not within `most`."""
    with planted(name) as bugs:
        for seed in range(first, first + most):
            if play(seed, bugs).violations:
                return seed - first + 1
    return 0
