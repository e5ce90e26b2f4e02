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
PACE = 1.1  # background work goes at so many times the pace that it can keep up at most,
PACE_ALLOWS = 0.1  # and by so much of a window at once
PACE_LEAST = 0.1  # of the limit
FULL = 0.98  # of the limit as the exchange last counted it: background work waits for its window to end
MEANWHILE_MS = 3_000  # for so long after it others are taken to go on
LOOK_AGAIN_MS = 1_000
LENT = 0.6  # of the reserve goes to background work while
LENT_AFTER_MS = 30_000  # nobody interactive has called for so long, nor was the count begun within it,
LENT_BELOW = 0.5  # other programs take less than this per second, and no 429 is a minute old or less
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
    """The weight of calls that ended in the last `length_ms`, and the ceiling. `guessed`: worked out, not told.
    What other programs on the address used is kept apart."""

    def __init__(self, length_ms: int, limit: int, *, guessed: bool = False) -> None:
        self.length_ms = length_ms
        self.limit = limit
        self.guessed = guessed
        self._size = bucket_ms(length_ms)
        self._own: dict[int, int] = {}
        self._foreign: dict[int, int] = {}

    def used(self, since_ms: int) -> int:
        """What counts at `since_ms`, and everything that ended later."""
        return self._sum(self._own, since_ms) + self._sum(self._foreign, since_ms)

    def add(self, now_ms: int, weight: int, *, foreign: bool = False) -> None:
        if weight:
            buckets = self._foreign if foreign else self._own
            bucket = now_ms // self._size
            buckets[bucket] = buckets.get(bucket, 0) + weight
            for old in [b for b in buckets if self._leaves(b) <= now_ms - KEEP_MS]:
                del buckets[old]

    def wait_ms(self, now_ms: int, weight: int, share: float, flying: int, foreign_rate: float) -> int:
        """0 when `weight` fits into this share of the limit, else how long until it does; -1 never.
        `foreign_rate`: weight per second that other programs use on average."""
        if weight > self.limit:
            return -1
        theirs = self._sum(self._foreign, now_ms)
        usual = int(min(self.limit, foreign_rate * self.length_ms / 1000))
        over = self._sum(self._own, now_ms) + max(theirs, usual) + flying + weight
        over -= max(int(self.limit * share), weight)
        if over <= 0:
            return 0
        leaving = dict(self._own)
        if usual <= theirs:
            for bucket, one in self._foreign.items():
                leaving[bucket] = leaving.get(bucket, 0) + one
        for bucket in sorted(b for b in leaving if self._leaves(b) > now_ms):
            over -= leaving[bucket]
            if over <= 0:
                return max(1, self._leaves(bucket) - now_ms)
        return self.length_ms

    def _sum(self, buckets: Mapping[int, int], since_ms: int) -> int:
        if not buckets:
            return 0
        first = (since_ms - self.length_ms) // self._size  # the earliest that has not left by then
        return sum([weight for bucket, weight in buckets.items() if bucket >= first])

    def _leaves(self, bucket: int) -> int:
        return (bucket + 1) * self._size + self.length_ms


class _Average:
    """Weight per second; what came lately counts most."""

    def __init__(self) -> None:
        self._rate, self._when = 0.0, 0

    def quiet(self, now: int) -> bool:
        """Has nothing come for a while?"""
        return now - self._when > LENT_AFTER_MS or not self._rate

    def at(self, now: int) -> float:
        return self._rate and self._rate * math.exp(min(0, self._when - now) / DECAY_MS)

    def add(self, now: int, weight: int) -> None:
        if weight:
            self._rate, self._when = self.at(now) + weight * 1000 / DECAY_MS, now


class LocalPool:
    """All windows of one pool, in this process. Safe among threads."""

    def __init__(self, limits: Mapping[int, int], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._born = self._now()
        self._base = min(limits)
        self._windows = {length: Window(length, limit) for length, limit in limits.items()}
        self._flights: dict[str, tuple[int, int]] = {}  # ticket -> when, weight
        self._blocked_until = 0
        self._slow_from = -RECOVERY_MS
        self._foreign = _Average()
        self._people = _Average()
        self._paced_until = 0.0  # ms
        self._told = (0, 0, -1)  # the exchange's last count and ours since, when it came, and of which call

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
            wait = self._wait_with_pace(now, weight, share, slow)
            if wait == 0 and weight:
                self._flights[ticket] = (now, weight)
                self._told = (self._told[0] + weight, *self._told[1:])
                if slow:
                    share = self._lent(now, share)
                    pace = PACE * max(self._usable(now, share), PACE_LEAST * self._rate()) / 1000
                    self._paced_until = max(self._paced_until, now) + weight / pace
                else:
                    self._people.add(now, weight)
            return wait, now

    def wait_ms(self, weight: int, share: float, *, slow: bool = False) -> int:
        """The ms until `weight` would fit; -1 never. Takes nothing."""
        with self._lock:
            return self._wait_with_pace(self._now(), weight, share, slow)

    def note(self, weight: int) -> None:
        """Count what was granted elsewhere (by Redis), so that this process knows its own use."""
        with self._lock:
            self._add(self._now(), weight)

    def usable(self, share: float) -> float:
        """Weight per second that background work can count on."""
        with self._lock:
            now = self._now()
            return self._usable(now, self._lent(now, share))

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
                base.add(now, foreign, foreign=True)
            self._foreign.add(now, foreign)

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
        if seen.window_ms == self._base and since >= self._told[2]:
            self._told = (seen.used, now, since)
        more = max(0, seen.used - window.used(since) - self._flying())
        window.add(now, more, foreign=True)
        return more

    def block(self, seconds: float) -> None:
        with self._lock:
            self._blocked_until = max(self._blocked_until, self._now() + int(seconds * 1000))
            self._slow_from = self._blocked_until

    def _wait(self, now: int, weight: int, share: float) -> int:
        flying = self._flying()
        foreign = self._foreign.at(now)
        waits = [w.wait_ms(now, weight, share, flying, foreign) for w in self._windows.values() if weight]
        return -1 if -1 in waits else max([self._blocked_until - now, 0, *waits])

    def _wait_with_pace(self, now: int, weight: int, share: float, slow: bool) -> int:
        """Background work goes at a pace: answers must tell of other programs while there is room to give way."""
        wait = self._wait(now, weight, self._lent(now, share) * self._recovered(now) if slow else share)
        if not slow or not weight or wait < 0:
            return wait
        used, when, _ = self._told
        used += int(self._foreign.at(now) * min(now - when, MEANWHILE_MS) / 1000)
        if when + self._base > now and used + weight > max(FULL * self._windows[self._base].limit, weight):
            wait = max(wait, min(when + self._base - now, LOOK_AGAIN_MS))
        return max(wait, math.ceil(self._paced_until - self._base * PACE_ALLOWS - now))

    def _usable(self, now: int, share: float) -> float:
        kept = self._foreign.at(now) + self._people.at(now)
        return max(0.0, self._rate() * share * self._recovered(now) - kept)

    def _lent(self, now: int, share: float) -> float:
        """Background's share: with a part of the reserve while nobody else calls. The rest is there for the first
        person who does, and what was lent comes back before the next background call."""
        known = now - self._born > LENT_AFTER_MS and self._people.quiet(now)
        alone = known and self._foreign.at(now) < LENT_BELOW and self._recovered(now) == 1
        return share + (1 - share) * LENT if alone else share

    def _rate(self) -> float:
        """Weight per second that the limits allow."""
        return min(window.limit * 1000 / window.length_ms for window in self._windows.values())

    def _flying(self) -> int:
        """The weight of calls under way; one that nobody ended in time is put among the ended."""
        if not self._flights:
            return 0
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

    def _add(self, now: int, weight: int) -> None:
        for window in self._windows.values():
            window.add(now, weight)

    def _now(self) -> int:
        return int(self._clock() * 1000)
