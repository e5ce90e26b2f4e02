"""The walk through the bills of a wallet, as a state machine over a cursor that is plain JSON.

Spot bills have no pages: what is asked for is narrowed until an answer is not full. In which order they come is not
documented, so a full answer says only that there are more in this stretch of time, and the stretch is cut in two at
the middle of what came. Funding bills have pages, and these move while they are read: a stretch is over when as many
bills of it are stored as the exchange counts, and is read again when they are fewer. What stays short is named.

The cursor (`SyncJob.cursor`), all times in ms:
    mark   everything between `reach` and this has been read
    reach  how far back that goes
    back   {days, empty, windows}  the walk through the past; absent once it is over, and `ended` says why
    span   {part, from, to, found, todo}  the stretch under way; `todo` are its parts, [from, to, page, tries, bad]
    swept  when the last days were last read again
    gaps   [[from, to, reason]]  what cannot be read
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

HOUR = 3_600_000
DAY = 24 * HOUR
WINDOW_DAYS = 90.0
SHORTEST_DAYS = 1 / 24
EMPTY_DAYS = 360.0  # four windows in a row
OVERLAP, SWEEP, SWEEP_EVERY = HOUR, 3 * DAY, DAY
FIRST = 1_230_768_000_000  # 1 January 2009: there was nothing to book before
MOST_PAGES, MOST_TRIES, MOST_GAPS = 1000, 2, 200
AHEAD, BACK = "ahead", "back"
TOO_MANY = "More bills in one millisecond than an answer holds"
OTHERS = "The exchange sent other bills than those asked for"
UNREACHED = "The exchange's bills no longer reached back to the last reading"
SHORT = "The exchange counts more bills than it sends"

Cursor = dict[str, Any]


@dataclass(frozen=True)
class Ask:
    """What to ask for: bills from `low` to `high` (ms, both included); `page` where there are pages."""

    low: int
    high: int
    page: int


def begin(cursor: Cursor, now: int) -> None:
    """Start anew the first time ever; then, unless something is under way, what is new since the last reading."""
    if "mark" not in cursor:
        cursor |= {"mark": now, "reach": now, "swept": now, "gaps": []}
        cursor["back"] = {"days": WINDOW_DAYS, "empty": 0.0, "windows": 0}
    if cursor.get("span"):
        return
    low = cursor["mark"] - OVERLAP
    if now - cursor["swept"] > SWEEP_EVERY:
        low, cursor["swept"] = min(low, now - SWEEP), now
    low = max(min(low, now), FIRST)
    windows = range(low, now + 1, int(WINDOW_DAYS * DAY))
    todo = [_part(start, min(start + int(WINDOW_DAYS * DAY) - 1, now)) for start in windows]
    cursor["span"] = {"part": AHEAD, "from": low, "to": max(now, low), "found": 0, "todo": todo}


def ask(cursor: Cursor) -> Ask | None:
    """What to ask for next: what is new before the past. None when there is nothing left."""
    if not cursor.get("span"):
        if not (back := cursor.get("back")):
            return None
        low = max(cursor["reach"] - int(back["days"] * DAY), FIRST)
        todo = [_part(low, cursor["reach"])]
        cursor["span"] = {"part": BACK, "from": low, "to": cursor["reach"], "found": 0, "todo": todo}
    low, high, page, *_ = cursor["span"]["todo"][-1]
    return Ask(low, high, page)


def took(cursor: Cursor, asked: Ask, times: Iterable[int | None], size: int, limit: int) -> None:
    """An answer without pages was stored: `size` records, of which these are the times that they tell."""
    span = cursor["span"]
    span["found"] += size
    span["todo"].pop()
    if size >= limit:
        inside = sorted(t for t in times if t is not None and asked.low <= t <= asked.high)
        if not inside:
            _gap(cursor, asked.low, asked.high, OTHERS)
        elif asked.low >= asked.high:
            _gap(cursor, asked.low, asked.high, TOO_MANY)
        else:
            _cut(span, asked, inside[len(inside) // 2])
    _finish(cursor)


def took_page(
    cursor: Cursor, asked: Ask, size: int, bad: int, total: int | None, more: bool, have: int
) -> None:
    """A page was stored: `size` records, `bad` of them not understood. `total`: what the exchange counts, `more`:
    whether it tells of another page, `have`: bills of this stretch that are stored by now."""
    span = cursor["span"]
    span["found"] += size
    low, high, page, tries, unread = span["todo"].pop()
    unread += bad
    if more and size and page < MOST_PAGES:
        span["todo"].append([low, high, page + 1, tries, unread])
    elif more and size and high > low:  # pages without end: shorter stretches have fewer
        _cut(span, asked, (low + high) // 2)
    elif total is not None and have + unread < total and tries < MOST_TRIES:
        span["todo"].append([low, high, 1, tries + 1, 0])
    elif (more and size) or (total is not None and have + unread < total):
        _gap(cursor, low, high, SHORT)
    _finish(cursor)


def too_far(cursor: Cursor, asked: Ask) -> bool:
    """The exchange refuses the stretch as too long or too far back (-1170): a shorter one, down to an hour. False
    when not even the last hour can be read: that is no matter of reach."""
    span = cursor["span"]
    if span["part"] == BACK:
        back = cursor["back"]
        cursor["span"] = None
        if back["days"] / 2 >= SHORTEST_DAYS:
            back["days"] /= 2
            return True
        if not back["windows"]:
            back["days"] = WINDOW_DAYS
            return False
        del cursor["back"]
        cursor["ended"] = "refused"
        return True
    if asked.high - asked.low <= HOUR:
        cursor["span"] = None
        return False
    middle = (asked.low + asked.high) // 2
    if asked.high < span["to"]:
        # A later stretch could be read: this one is beyond the reach, and so is what is older.
        span["todo"] = []
        span["unread"] = asked.high
        _finish(cursor)
        return True
    span["todo"] = [_part(middle, asked.high)]
    span["unread"] = middle
    return True


def state(cursor: Cursor) -> str:
    """ "waiting" (nothing was read), "walking", "whole" (to the beginning), or "reach" (as far as is given)."""
    if "mark" not in cursor:
        return "waiting"
    if cursor.get("back"):
        return "walking"
    return "whole" if cursor.get("ended") == "empty" else "reach"


def _part(low: int, high: int) -> list[int]:
    return [low, high, 1, 0, 0]


def _cut(span: dict[str, Any], asked: Ask, middle: int) -> None:
    """In two, the newer half first."""
    middle = min(max(middle, asked.low), asked.high - 1)
    span["todo"] += [_part(asked.low, middle), _part(middle + 1, asked.high)]


def _gap(cursor: Cursor, low: int, high: int, reason: str) -> None:
    """Name a stretch once; one that touches another of the same kind makes it longer."""
    for gap in cursor["gaps"]:
        if gap[2] == reason and gap[0] <= high + 1 and low <= gap[1] + 1:
            gap[0], gap[1] = min(gap[0], low), max(gap[1], high)
            return
    cursor["gaps"] = [*cursor["gaps"], [low, high, reason]][-MOST_GAPS:]


def _finish(cursor: Cursor) -> None:
    """A stretch of which nothing is left to ask."""
    span = cursor["span"]
    if span["todo"]:
        return
    cursor["span"] = None
    if span["part"] == AHEAD:
        if span.get("unread", 0) > cursor["mark"]:
            _gap(cursor, cursor["mark"], span["unread"], UNREACHED)
        cursor["mark"] = max(cursor["mark"], span["to"])
        return
    back = cursor["back"]
    cursor["reach"] = span["from"]
    back["windows"] += 1
    back["empty"] = 0.0 if span["found"] else back["empty"] + back["days"]
    if back["empty"] >= EMPTY_DAYS or span["from"] <= FIRST:
        del cursor["back"]
        cursor["ended"] = "empty"
