"""Rolling windows of weight in this process, and what the exchange's headers say of its own.

A window counts in buckets of a fiftieth of its length; a bucket counts in full until all of it is older than the
window, so the count errs on the safe side.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

BUCKETS = 50
UNITS = {"S": 1_000, "M": 60_000, "H": 3_600_000, "D": 86_400_000}
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


class Window:
    """The weight used in the last `length_ms`, and its ceiling."""

    def __init__(self, length_ms: int, limit: int) -> None:
        self.length_ms = length_ms
        self.limit = limit
        self._size = max(1, length_ms // BUCKETS)
        self._buckets: dict[int, int] = {}

    def used(self, now_ms: int) -> int:
        oldest = now_ms - self.length_ms
        self._buckets = {b: weight for b, weight in self._buckets.items() if (b + 1) * self._size > oldest}
        return sum(self._buckets.values())

    def add(self, now_ms: int, weight: int) -> None:
        bucket = now_ms // self._size
        self._buckets[bucket] = self._buckets.get(bucket, 0) + weight

    def wait_ms(self, now_ms: int, weight: int, share: float) -> int:
        """0 when `weight` fits into this share of the limit, else how long until it does; -1 never."""
        if weight > self.limit:
            return -1
        over = self.used(now_ms) + weight - max(int(self.limit * share), weight)
        if over <= 0:
            return 0
        for bucket in sorted(self._buckets):
            over -= self._buckets[bucket]
            if over <= 0:
                return max(1, (bucket + 1) * self._size + self.length_ms - now_ms)
        return self.length_ms


class LocalPool:
    """All windows of one pool, in this process. Safe among threads."""

    def __init__(self, limits: Mapping[int, int], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._base = min(limits)
        self._windows = {length: Window(length, limit) for length, limit in limits.items()}
        self._blocked_until = 0

    def take(self, weight: int, share: float) -> int:
        """Take `weight` when it fits: 0; else the ms to wait, taking nothing; -1 never."""
        with self._lock:
            now = self._now()
            waits = [window.wait_ms(now, weight, share) for window in self._windows.values() if weight]
            if -1 in waits:
                return -1
            wait = max([self._blocked_until - now, 0, *waits])
            if wait == 0:
                self._add(now, weight)
            return wait

    def note(self, weight: int) -> None:
        """Count what was granted elsewhere (by Redis), so that this process knows its own use."""
        with self._lock:
            self._add(self._now(), weight)

    def learn(self, windows: list[Told]) -> None:
        """Take over the exchange's own count where it is higher, and its limits."""
        with self._lock:
            now = self._now()
            foreign = 0
            for seen in windows:
                window = self._windows.get(seen.window_ms)
                if window is None:
                    window = self._windows[seen.window_ms] = Window(
                        seen.window_ms, self._scaled(seen.window_ms)
                    )
                if seen.remaining is not None and seen.used + seen.remaining > 0:
                    window.limit = seen.used + seen.remaining
                excess = seen.used - window.used(now)
                if excess > 0:
                    window.add(now, excess)
                    foreign = max(foreign, excess)
            if foreign and self._base not in {seen.window_ms for seen in windows}:
                base = self._windows[self._base]
                base.add(now, max(0, min(foreign, base.limit - base.used(now))))

    def block(self, seconds: float) -> None:
        with self._lock:
            self._blocked_until = max(self._blocked_until, self._now() + int(seconds * 1000))

    def _scaled(self, length_ms: int) -> int:
        return max(1, self._windows[self._base].limit * length_ms // self._base)

    def _add(self, now: int, weight: int) -> None:
        for window in self._windows.values():
            window.add(now, weight)

    def _now(self) -> int:
        return int(self._clock() * 1000)
