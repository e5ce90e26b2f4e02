"""The walk through the order history, as a state machine over a cursor that is plain JSON.

Which of an order's times the history filters on, its order and its reach are not documented (open-points.md,
"Values and meanings"), so nothing here rests on them: windows are walked whole, overlap, and reach back to the
opening of every order that has gone missing.

The cursor (`SyncJob.cursor`):
    back   {start, end, next, days, empty, found, seen, added, strays, mark, before, stale, windows}
           the walk through the past; absent once it is done
    walk   {from, end, to, next, days, sweep}  a walk of what is new, newest window first, while it is under way
    until  the end of the last complete walk: everything before it has been read once
    deep   when the long overlap was last read
    swept  when the last 90 days were last read whole
    looked when missing orders were last looked for
`next` is [id, ms] of the next page in this window, stored with the rows of the page before it.

One turn: begin, plan, then while `window` gives one: ask for its pages, and `took` (or `too_far`, `restart`). What is
returned belongs into the same transaction as the rows and the cursor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

WINDOW_DAYS = 90.0
SHORTEST_WINDOW_DAYS = 1 / 24  # an exchange that reaches back a day must not stop the reading of what is new
EMPTY_WINDOWS = 4
STALE_WINDOWS = 2
TOO_FAR = -1170
OVERLAP = timedelta(minutes=15)
# Results are trued up after 00:00 UTC: the last two days are read again every few minutes and after midnight.
DEEP_OVERLAP, DEEP_EVERY = timedelta(days=2), timedelta(minutes=5)
SWEEP_EVERY = timedelta(days=1)
# An order that went missing is looked for at once, then again and again for so long; then the daily sweep does.
LOOK_FOR_MISSING = timedelta(hours=1)
WHILE_BACK_EVERY = timedelta(seconds=30)
# There was nothing to copy before: an exchange that answers for ever does not make the walk endless.
FIRST_DAY = datetime(2009, 1, 1, tzinfo=UTC)
SLACK = timedelta(days=1)
WALK, BACK = "walk", "back"

Cursor = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """What to ask for next: `part` is WALK or BACK; `next` is the page to go on with, (id, ms)."""

    part: str
    start: datetime
    end: datetime
    next: tuple[int, int] | None


@dataclass(frozen=True)
class Missing:
    """An order that left the open list and is not in the history: since when, and when it began."""

    since: datetime
    opened: datetime


@dataclass(frozen=True)
class Gap:
    """A stretch of the past that cannot be read; `start` None: everything before `end`."""

    start: datetime | None
    end: datetime
    reason: str


@dataclass(frozen=True)
class Read:
    """A sweep that has come to its end: everything from `since` on (None: everything that there is) was read after
    the moment `planned`."""

    since: datetime | None
    planned: datetime


@dataclass(frozen=True)
class Outcome:
    """What to store beside rows and cursor. `done`: this window is. `refused`: the refusal is no matter of reach."""

    done: bool = False
    complete_from: datetime | None = None
    gap: Gap | None = None
    read: Read | None = None
    refused: bool = False

    @property
    def stores(self) -> bool:
        """Is there anything to store beside the cursor?"""
        return bool(self.complete_from or self.gap or self.read)


def begin(cursor: Cursor, now: datetime) -> None:
    """The first time ever: the past lies behind this moment, the new before it."""
    if cursor.get("until"):
        return
    cursor |= dict.fromkeys(("until", "deep", "swept"), _iso(now))
    cursor[BACK] = {
        "start": _iso(now - timedelta(days=WINDOW_DAYS)), "end": _iso(now), "days": WINDOW_DAYS, "empty": 0,
        "seen": 0, "stale": 0, "before": 0, "windows": 0, **_FRESH,
    }  # fmt: skip


def plan(cursor: Cursor, now: datetime, missing: Iterable[Missing] = ()) -> None:
    """The next walk of what is new: from the overlap, or further back for a reason, until now. Nothing while one is
    under way, or while the past is being read and the last one is recent. `missing`: those not given up (lost)."""
    if cursor.get(WALK) or (cursor.get(BACK) and now - _time(cursor["until"]) < WHILE_BACK_EVERY):
        return
    start, sweep = _time(cursor["until"]) - OVERLAP, False
    deep = _time(cursor["deep"])
    if now - deep > DEEP_EVERY or deep.date() != now.date():
        start = min(start, now - DEEP_OVERLAP)
        cursor["deep"] = _iso(now)
    if now - _time(cursor["swept"]) > SWEEP_EVERY:
        start, sweep = min(start, now - timedelta(days=WINDOW_DAYS)), True
        cursor["swept"] = _iso(now)
    for order in _looked_for(cursor, now, list(missing), sweep):
        start = min(start, order.opened - OVERLAP)
    start = max(min(start, now), FIRST_DAY)
    cursor[WALK] = {
        "from": _iso(start), "end": _iso(now), "to": _iso(now), "next": None, "days": WINDOW_DAYS, "sweep": sweep,
    }  # fmt: skip


def window(cursor: Cursor) -> Window | None:
    """What to read next: what is new before the past. None when there is nothing left."""
    if walk := cursor.get(WALK):
        end = _time(walk["end"])
        return Window(WALK, max(_time(walk["from"]), end - _days(walk)), end, _next(walk))
    if back := cursor.get(BACK):
        return Window(BACK, _time(back["start"]), _time(back["end"]), _next(back))
    return None


def took(
    cursor: Cursor,
    asked: Window,
    *,
    seen: int = 0,
    added: int = 0,
    strays: int = 0,
    mark: int = 0,
    next_page: tuple[int, int] | None = None,
    last: bool = False,
) -> Outcome:
    """Some pages of a window were merged. `seen`: records on them, good or bad. `added`: rows that are new to the
    ledger. `strays`: records that lie outside the window (`stray`). `mark`: of their numbers (`mark_of`).
    `next_page`: where the window goes on. `last`: it does not."""
    place = cursor[asked.part]
    place["next"] = list(next_page) if next_page and not last else None
    if asked.part == BACK:
        place["found"] += seen
        place["seen"] += seen
        for name, value in (("added", added), ("strays", strays)):
            place[name] = place.get(name, 0) + value
        place["mark"] = (place.get("mark", 0) + mark) % 2**52
    if not last:
        return Outcome()
    return _walk_on(cursor, asked) if asked.part == WALK else _back_on(cursor, asked)


def too_far(cursor: Cursor, asked: Window) -> Outcome:
    """The exchange does not go back that far (-1170): try half of it, down to an hour, then its reach has ended."""
    place = cursor[asked.part]
    place["next"] = None
    days = (asked.end - asked.start) / timedelta(days=2)
    if days >= SHORTEST_WINDOW_DAYS:
        place["days"] = days
        if asked.part == BACK:
            place |= _FRESH | {"start": _iso(asked.end - timedelta(days=days))}
        return Outcome()
    if asked.part == WALK:
        return _end_of_reach(cursor, asked)
    if place.get("windows") == 0:
        # Not even the last hours: that is no matter of reach. Next time from the beginning.
        place |= _FRESH | {"days": WINDOW_DAYS, "start": _iso(asked.end - timedelta(days=WINDOW_DAYS))}
        return Outcome(refused=True)
    del cursor[BACK]
    return Outcome(done=True)


def restart(cursor: Cursor, asked: Window) -> None:
    """A page's cursor led nowhere: it is not kept, and the window is read again from its first page."""
    cursor[asked.part]["next"] = None


def lost(order: Missing, read: Read) -> bool:
    """Has everything been read in which this order could have been, long enough after it went missing?"""
    reached = read.since is None or read.since <= order.opened - OVERLAP
    return reached and order.since + LOOK_FOR_MISSING <= read.planned


def stray(asked: Window, times: Iterable[datetime | None]) -> bool:
    """Does a record with these times lie wholly outside the window, whichever of them the exchange filters on?"""
    known = [time for time in times if time is not None]
    return bool(known) and (max(known) < asked.start - SLACK or min(known) > asked.end + SLACK)


def mark_of(numbers: Iterable[int]) -> int:
    """A fingerprint of tracking numbers that does not depend on their order, and adds up over pages."""
    parts = (hashlib.blake2b(b"%d" % number, digest_size=6).digest() for number in numbers)
    return sum(int.from_bytes(part, "big") for part in parts) % 2**52


# What begins anew with each window of the walk back.
_FRESH = {"next": None, "found": 0, "added": 0, "strays": 0, "mark": 0}


def _looked_for(cursor: Cursor, now: datetime, missing: list[Missing], sweep: bool) -> list[Missing]:
    """Which of the missing orders this walk reaches back for: all in a sweep; else those lately gone, at once when
    there is a new one and then every few minutes."""
    if sweep:
        return missing
    looked = _time(cursor["looked"]) if cursor.get("looked") else FIRST_DAY
    lately = [order for order in missing if order.since > now - LOOK_FOR_MISSING]
    if not any(order.since > looked for order in lately) and now - looked <= DEEP_EVERY:
        return []
    if lately:
        cursor["looked"] = _iso(now)
    return lately


def _walk_on(cursor: Cursor, asked: Window) -> Outcome:
    """The next older window; `until` moves on when all of them have been read."""
    walk = cursor[WALK]
    if asked.start > _time(walk["from"]):
        walk["end"] = _iso(asked.start)
        return Outcome(done=True)
    cursor["until"] = walk["to"]
    del cursor[WALK]
    return Outcome(done=True, read=Read(asked.start, _time(walk["to"])) if walk.get("sweep") else None)


def _end_of_reach(cursor: Cursor, asked: Window) -> Outcome:
    """The walk of what is new has met the end of the exchange's reach. What had not been read before is a gap."""
    walk, until = cursor[WALK], _time(cursor["until"])
    if asked.end == _time(walk["to"]):
        del cursor[WALK]
        return Outcome(refused=True)
    cursor["until"] = walk["to"]
    del cursor[WALK]
    gap = None
    if asked.end > until:
        gap = Gap(until, asked.end, "The exchange's history no longer reached back to the last reading.")
    return Outcome(done=True, gap=gap, read=Read(None, _time(walk["to"])) if walk.get("sweep") else None)


def _back_on(cursor: Cursor, asked: Window) -> Outcome:
    """This window of the past is done: the ledger is complete from its start on. The next one ends there."""
    back = cursor[BACK]
    stale = back["found"] and not back["added"] and (back["strays"] or back["mark"] == back.get("before"))
    back["stale"] = back.get("stale", 0) + 1 if stale else 0
    back["empty"] = 0 if back["found"] else back["empty"] + 1
    if back["stale"] >= STALE_WINDOWS:
        del cursor[BACK]
        return Outcome(
            done=True, gap=Gap(None, asked.end, "The exchange sent the same orders for every range of time.")
        )
    # Windows that a refusal made short count for what they cover, or four empty weeks would pass for a year.
    if back["empty"] * back["days"] >= EMPTY_WINDOWS * WINDOW_DAYS or asked.start <= FIRST_DAY:
        del cursor[BACK]
        return Outcome(done=True, complete_from=asked.start)
    back["before"] = back["mark"]
    back |= _FRESH | {"end": _iso(asked.start), "windows": back.get("windows", 0) + 1}
    back["start"] = _iso(max(asked.start - _days(back), FIRST_DAY - SLACK))
    return Outcome(done=True, complete_from=None if stale else asked.start)


def _days(place: dict[str, Any]) -> timedelta:
    return timedelta(days=place.get("days", WINDOW_DAYS))


def _next(place: dict[str, Any]) -> tuple[int, int] | None:
    return (place["next"][0], place["next"][1]) if place.get("next") else None


def _iso(moment: datetime) -> str:
    return moment.isoformat()


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
