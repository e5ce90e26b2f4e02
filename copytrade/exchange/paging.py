"""Pages and cursors walked to their end, and never in a circle.

A list may move while it is read: a record that comes twice is given once, unless it changed in between. A
cursor that comes back, or turns round, is Malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime, timedelta
from typing import Any, TypeVar

from .envelopes import Cursor, Page
from .errors import Malformed, Rejected

T = TypeVar("T")
MOST_PAGES = 10_000
RANGE_DAYS = 90  # of one history request
EMPTY_WINDOWS = 4
TOO_OLD = -1170


class _Seen:
    """What was already given, by identity."""

    def __init__(self, identity: Callable[[Any], Hashable]) -> None:
        self._identity = identity
        self._records: dict[Hashable, Any] = {}
        self.bad = 0

    def short_of(self, total: int | None) -> bool:
        """Whether the exchange counts more records than came."""
        return total is not None and len(self._records) + self.bad < total

    def only_new(self, page: Page[T]) -> bool:
        """Drop what was given before and is unchanged. False when the page held nothing new at all."""
        known = len(self._records)
        fresh = []
        for record in page.records:
            identity = self._identity(record)
            if self._records.get(identity) != record:
                self._records[identity] = record
                fresh.append(record)
        page.records = fresh
        self.bad += len(page.bad)
        return len(self._records) > known


def numbered(fetch: Callable[[int], Page[T]], identity: Callable[[Any], Hashable]) -> Iterator[Page[T]]:
    """Page 1, 2, ... until the answer says that it was the last, or is empty, or brings nothing new.

    Raises Malformed after 10,000 pages, and when a page comes again before all that is counted has come: what is
    missing then must not pass for a list that is shorter."""
    seen = _Seen(identity)
    number = 1
    for _ in range(MOST_PAGES):
        page = fetch(number)
        new = seen.only_new(page)
        yield page
        if page.next is None:
            return
        if not (new or page.bad):
            if seen.short_of(page.total):
                raise Malformed(
                    "The exchange sent a page of its list twice instead of the next. Try again later."
                )
            return
        number = page.next
    raise Malformed("The list does not end. Try again later.")


def anonymous(fetch: Callable[[int], Page[T]]) -> Iterator[Page[T]]:
    """As `numbered`, for records that have no identity: two equal ones may both be real, so none is dropped;
    a page equal to the one before ends the walk."""
    number, before = 1, None
    for _ in range(MOST_PAGES):
        page = fetch(number)
        if page.records and page.records == before:
            return
        yield page
        if page.next is None:
            return
        number, before = page.next, page.records
    raise Malformed("The list does not end. Try again later.")


def cursored(
    fetch: Callable[[Cursor | None], Page[T]], identity: Callable[[Any], Hashable]
) -> Iterator[Page[T]]:
    """The pages of one range, by their cursors. Raises Malformed when the cursor does not lead on."""
    seen = _Seen(identity)
    course = _Course()
    cursor: Cursor | None = None
    idle = 0
    for _ in range(MOST_PAGES):
        page = fetch(cursor)
        idle = 0 if seen.only_new(page) or page.bad else idle + 1
        yield page
        if not page.more:
            return
        if page.next is None:
            raise Malformed(
                "The exchange says that there is more history, but not where it goes on. Try again later."
            )
        cursor = page.next
        course.step(cursor)
        if idle >= 2:
            raise Malformed("The exchange repeats the same history again and again. Try again later.")
    raise Malformed("The history does not end. Try again later.")


class _Course:
    """Watches that a cursor leads on. Which way it goes is not documented, so its first step decides."""

    def __init__(self) -> None:
        self._visited: set[Cursor] = set()
        self._last: Cursor | None = None
        self._steps: list[tuple[int, int]] = []

    def step(self, cursor: Cursor) -> None:
        if cursor in self._visited:
            raise Malformed(
                "The exchange's history stands still: its cursor came a second time. Try again later."
            )
        self._visited.add(cursor)
        if self._last is not None:
            way = (_sign(cursor.time_ms - self._last.time_ms), _sign(cursor.id - self._last.id))
            self._steps.append(way)
            first = self._steps[0]
            # Sorted by either, one of the two keeps its direction; both reversed means going back.
            if way[0] * first[0] < 0 and way[1] * first[1] < 0:
                raise Malformed("The exchange's history went back: its cursor turned round. Try again later.")
        self._last = cursor


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def windows(
    walk: Callable[[datetime, datetime], Iterator[Page[T]]],
    now: datetime,
    *,
    days: int = RANGE_DAYS,
    empty: int = EMPTY_WINDOWS,
) -> Iterator[tuple[datetime, datetime, Page[T]]]:
    """(start, end, page) of all history, window by window backwards from `now`.

    Ends after `empty` windows in a row without a record, or when the exchange goes back no further (-1170).
    Windows share their boundary, since the interface does not say which side is inclusive.
    """
    end, blank = now, 0
    while blank < empty:
        start = end - timedelta(days=days)
        found = 0
        try:
            for page in walk(start, end):
                found += page.size
                yield start, end, page
        except Rejected as error:
            if error.code != TOO_OLD or end == now:
                raise
            return
        blank = 0 if found else blank + 1
        end = start
