"""What the simulated exchange knows: its accounts, their orders, and what it says of each order from when on.

Times are in ms since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from copytrade.exchange.decoding import BadRecord
from copytrade.exchange.records import FollowerOrder

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = 1 << 62


def moment(ms: float) -> datetime:
    return EPOCH + timedelta(milliseconds=int(ms))


def ms_of(when: datetime) -> int:
    return (when - EPOCH) // timedelta(milliseconds=1)


@dataclass
class Version:
    """What the exchange says of an order from `since` on: one record, good or bad."""

    since: int
    updated: int
    closed: int
    good: FollowerOrder | None
    bad: BadRecord | None = None


@dataclass(eq=False)
class Order:
    """One order of the truth. `closed`: when it left the open list; `told`: from when the history holds it."""

    account: int
    number: int
    trader: int
    symbol: str
    side: str
    opened: int
    closed: int = NEVER
    told: int = NEVER
    price: str = "0"
    opens: list[Version] = field(default_factory=list)
    closes: list[Version] = field(default_factory=list)

    def version(self, now: int) -> Version | None:
        """What the history says of it now, None while it is not there."""
        return latest(self.closes, now) if now >= self.told else None


def latest(versions: list[Version], now: int) -> Version | None:
    found = None
    for version in versions:
        if version.since > now:
            break
        found = version
    return found


@dataclass(eq=False)
class Account:
    """The exchange's side of one account, and what befalls its readings."""

    key: int
    orders: list[Order] = field(default_factory=list)
    settings: int = 0  # what a change replaces: one number stands for a whole set
    bodies: list[int] = field(default_factory=list)  # the changes that arrived
    # Changes still under way: (when they arrive, which).
    late: list[tuple[int, int]] = field(default_factory=list)
    poisoned: tuple[int, int] = (0, 0)  # readings raise what nobody foresaw
    stumbles: int = 0  # readings of the open list that did
