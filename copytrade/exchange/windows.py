"""Rolling windows of weight in this process, and what the exchange's headers say of its own.

A call counts from its grant until one window after its answer: the exchange counts it somewhere between. The ends
of calls are kept in buckets; a bucket counts in full until all of it is older than the window, so the count errs on
the safe side. The same as limits_script.py does in Redis.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

UNITS = {"S": 1_000, "M": 60_000, "H": 3_600_000, "D": 86_400_000}
FLIGHT_MS = 20_000  # a call whose end nobody told counts as ended after this
KEEP_MS = 5_000  # ends are remembered longer than they count, to be held against answers that took so long
RECOVERY_MS = 60_000  # after a 429: a quarter of the background's share, then half, then all
DECAY_MS = 60_000
_HEADER = re.compile(
    r"x-(used-weight|remaining-weight|order-count)-([1-9][0-9]{0,3})([smhd])\Z", re.IGNORECASE
)


@dataclass(frozen=True)
class Told:
    """One window as the exchange counts it; `remaining` None when it does not say."""

    window_ms: int
    used: int
    remaining: int | None


def told(headers: Mapping[str, str], kind: str) -> list[Told]:
    """The windows in an answer's headers. kind: "weight" or "order"."""
    used: dict[int, int] = {}
    remaining: dict[int, int] = {}
    for name, value in headers.items():
        found = _HEADER.match(name)
        if not found or not re.fullmatch(r"[0-9]{1,9}", value.strip()):
            continue
        what, count, unit = found.group(1).lower(), int(found.group(2)), found.group(3).upper()
        if what == "remaining-weight":
            remaining[count * UNITS[unit]] = int(value)
        elif (what == "order-count") == (kind == "order"):
            used[count * UNITS[unit]] = int(value)
    return [
        Told(window, used[window], remaining.get(window) if kind == "weight" else None)
        for window in sorted(used)
    ]


def bucket_ms(window_ms: int) -> int:
    """The length of a window's buckets: fine for short ones, where one is a thousandth of the limit."""
    return max(1, window_ms // (1000 if window_ms <= 60_000 else 50))


class Window:
    """The weight of calls that ended in the last `length_ms`, and the ceiling. `guessed`: worked out, not told."""

    def __init__(self, length_ms: int, limit: int, *, guessed: bool = False) -> None:
        self.length_ms = length_ms
        self.limit = limit
        self.guessed = guessed
        self._size = bucket_ms(length_ms)
        self._buckets: dict[int, int] = {}

    def used(self, since_ms: int) -> int:
        """What counts at `since_ms`, and everything that ended later."""
        return sum(weight for bucket, weight in self._buckets.items() if self._leaves(bucket) > since_ms)

    def add(self, now_ms: int, weight: int) -> None:
        if weight:
            bucket = now_ms // self._size
            self._buckets[bucket] = self._buckets.get(bucket, 0) + weight
            kept = now_ms - KEEP_MS
            self._buckets = {b: one for b, one in self._buckets.items() if self._leaves(b) > kept}

    def wait_ms(self, now_ms: int, weight: int, share: float, flying: int) -> int:
        """0 when `weight` fits into this share of the limit, else how long until it does; -1 never."""
        if weight > self.limit:
            return -1
        over = self.used(now_ms) + flying + weight - max(int(self.limit * share), weight)
        if over <= 0:
            return 0
        for bucket in sorted(b for b in self._buckets if self._leaves(b) > now_ms):
            over -= self._buckets[bucket]
            if over <= 0:
                return max(1, self._leaves(bucket) - now_ms)
        return self.length_ms

    def _leaves(self, bucket: int) -> int:
        return (bucket + 1) * self._size + self.length_ms


class LocalPool:
    """All windows of one pool, in this process. Safe among threads."""

    def __init__(self, limits: Mapping[int, int], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._base = min(limits)
        self._windows = {length: Window(length, limit) for length, limit in limits.items()}
        self._flights: dict[str, tuple[int, int]] = {}  # ticket -> when, weight
        self._blocked_until = 0
        self._slow_from = -RECOVERY_MS
        self._others = (
            0.0,
            0,
        )  # weight per second that background work cannot have, and when that was worked out

    def take(self, weight: int, share: float) -> int:
        """Take `weight` when it fits: 0; else the ms to wait, taking nothing; -1 never."""
        with self._lock:
            now = self._now()
            wait = self._wait(now, weight, share)
            if wait == 0:
                self._add(now, weight)
            return wait

    def begin(self, ticket: str, weight: int, share: float, *, slow: bool) -> tuple[int, int]:
        """The same for a call that counts until `learn` is told that it ended; and the time. `slow`: background."""
        with self._lock:
            now = self._now()
            wait = self._wait(now, weight, share * (self._recovered(now) if slow else 1.0))
            if wait == 0 and weight:
                self._flights[ticket] = (now, weight)
                if not slow:
                    self._note_others(now, weight)
            return wait, now

    def wait_ms(self, weight: int, share: float, *, slow: bool = False) -> int:
        """The ms until `weight` would fit; -1 never. Takes nothing."""
        with self._lock:
            now = self._now()
            return self._wait(now, weight, share * (self._recovered(now) if slow else 1.0))

    def note(self, weight: int) -> None:
        """Count what was granted elsewhere (by Redis), so that this process knows its own use."""
        with self._lock:
            self._add(self._now(), weight)

    def usable(self, share: float) -> float:
        """Weight per second that background work can count on."""
        with self._lock:
            now = self._now()
            rate = min(window.limit * 1000 / window.length_ms for window in self._windows.values())
            return max(0.0, rate * share * self._recovered(now) - self._others_at(now))

    def learn(self, windows: list[Told], ticket: str = "", granted_ms: int | None = None) -> None:
        """A call ended (`ticket`), granted at `granted_ms`. Take over the exchange's own count where it is higher than
        ours was then, and its limits."""
        with self._lock:
            now = self._now()
            self._add(now, self._flights.pop(ticket, (0, 0))[1])
            since = granted_ms if ticket and granted_ms is not None else now
            base_told = any(seen.window_ms == self._base for seen in windows)
            foreign = 0
            for seen in windows:
                more = self._learn_one(seen, now, since, base_told)
                if seen.window_ms == self._base or not base_told:
                    foreign = max(foreign, more)
            if foreign and not base_told:
                base = self._windows[self._base]
                foreign = max(0, min(foreign, base.limit - base.used(now) - self._flying()))
                base.add(now, foreign)
            self._note_others(now, foreign)

    def _learn_one(self, seen: Told, now: int, since: int, base_told: bool) -> int:
        """One window of the exchange's; answers what others used of it."""
        window = self._windows.get(seen.window_ms)
        is_limit_told = seen.remaining is not None and seen.used + seen.remaining > 0
        if base_told and not is_limit_told and (window is None or window.guessed):
            self._windows.pop(
                seen.window_ms, None
            )  # what the base window says itself is not worked out from it
            return 0
        if window is None:
            limit = max(1, self._windows[self._base].limit * seen.window_ms // self._base)
            window = self._windows[seen.window_ms] = Window(seen.window_ms, limit, guessed=True)
        if is_limit_told:
            window.limit, window.guessed = seen.used + (seen.remaining or 0), False
        if now - since > KEEP_MS:
            return 0
        more = max(0, seen.used - window.used(since) - self._flying())
        window.add(now, more)
        return more

    def block(self, seconds: float) -> None:
        with self._lock:
            self._blocked_until = max(self._blocked_until, self._now() + int(seconds * 1000))
            self._slow_from = self._blocked_until

    def _wait(self, now: int, weight: int, share: float) -> int:
        flying = self._flying()
        waits = [w.wait_ms(now, weight, share, flying) for w in self._windows.values() if weight]
        return -1 if -1 in waits else max([self._blocked_until - now, 0, *waits])

    def _flying(self) -> int:
        """The weight of calls under way; one that nobody ended in time is put among the ended."""
        now = self._now()
        for ticket, (at, weight) in list(self._flights.items()):
            if at + FLIGHT_MS <= now:
                del self._flights[ticket]
                for window in self._windows.values():
                    window.add(at + FLIGHT_MS, weight)
        return sum(weight for _, weight in self._flights.values())

    def _recovered(self, now: int) -> float:
        since = now - self._slow_from
        return 1.0 if since >= RECOVERY_MS else 0.5 if since >= RECOVERY_MS / 2 else 0.25

    def _others_at(self, now: int) -> float:
        rate, at = self._others
        return rate * math.exp(min(0, at - now) / DECAY_MS)

    def _note_others(self, now: int, weight: int) -> None:
        if weight:
            self._others = (self._others_at(now) + weight * 1000 / DECAY_MS, now)

    def _add(self, now: int, weight: int) -> None:
        for window in self._windows.values():
            window.add(now, weight)

    def _now(self) -> int:
        return int(self._clock() * 1000)
