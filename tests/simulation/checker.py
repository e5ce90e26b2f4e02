"""The judge: holds every commit, and in the end the whole store, against the world's truth.

It reads the store's tables and the world's orders; it asks the desk's own code nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import changes
from .readings import CLOSE_TIME, COLUMNS, CONTENT, NET_PROFIT, Stored
from .truth import DAY, HOUR, MINUTE, NEVER, SECOND, Order, Version, latest, moment, ms_of
from .world import World

if TYPE_CHECKING:
    from .desk import Desk
    from .workers import Job

UPDATED = COLUMNS.index("update_time")
# What is visible for so long, while exchange and desk are well, has to be in the ledger: the daily sweep is then over.
A_DAY = 27 * HOUR
# The walk may end a day before the exchange's reach does, when the exchange refuses what lies beyond.
REACH_SLACK = DAY + 2 * HOUR
LEASE, LONGEST_PAUSE, RETRY_AFTER = MINUTE, 10 * MINUTE, 15 * SECOND

Key = tuple[Any, ...]


def key_of(order: Order) -> Key:
    return order.account, order.number, order.trader, order.symbol, order.side, order.opened


@dataclass
class Patience:
    """How long a job may have gone without a reading: since when, and what has befallen it."""

    since: int
    longest: float = 0.0
    failures: int = 0
    excused: float = 0.0


@dataclass
class Watch:
    """What was seen so far. `violations` are sentences."""

    desk: Desk
    violations: list[str] = field(default_factory=list)
    planned: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world: World = self.desk.world
        self.truth = {key_of(order): order for account in self.world.accounts for order in account.orders}
        self.rows: dict[Key, int] = {}
        self.patience: dict[tuple[int, str], Patience] = {}
        self.jumpy = 6 * MINUTE

    def wrong(self, *words: object) -> None:
        sentence = " ".join(map(str, words))
        self.desk.note("WRONG:", sentence)
        if len(self.violations) < 20:
            self.violations.append(sentence)

    def order_of(self, stored: Stored) -> Order | None:
        number, trader, symbol, side, opened = stored.row.identity
        key = (stored.account, number, trader, symbol, side, ms_of(opened) if opened else None)
        if key not in self.truth:  # opened between two pages
            self.truth |= {key_of(order): order for order in self.world.accounts[stored.account].orders}
        return self.truth.get(key)

    # ---- every commit ----------------------------------------------------------------------------------------

    def committed(self, written: list[tuple[str, Any, Any]]) -> None:
        """A transaction has been committed; `written`: (table, key, value before or None)."""
        for table, key, before in written:
            if table == "orders":
                self._row(key, before)
            elif table == "jobs" and key[1] == "history" and before is not None:
                self._walked(key[0], before.cursor)

    def _row(self, key: int, before: Stored | None) -> None:
        stored: Stored = self.desk.store["orders"][key]
        order, held = self.order_of(stored), stored.row.held
        if order is None:
            return self.wrong("invented: a row that no order is like:", stored.row.identity)
        if self.rows.setdefault(key_of(order), key) != key:
            self.wrong("duplicate: order", order.number, "has two rows")
        if held.closed and (order.told > self.world.now):
            self.wrong("invented close: order", order.number)
        said = order.closes if held.closed else order.opens
        if not any(
            version.good and content_of(version) == held.content for version in said if not version.bad
        ):
            self.wrong("order", order.number, "holds what the exchange never said")
        if before is not None:
            self._step(order, before, stored)
            self._missed(order, before, stored)
        return None

    def _step(self, order: Order, before: Stored, after: Stored) -> None:
        was, now = before.row.held, after.row.held
        if was.closed and not now.closed:
            self.wrong("reopened: order", order.number)
        elif was.closed == now.closed and was.updated and now.updated and now.updated < was.updated:
            self.wrong("order", order.number, "went back to an older state")

    def _missed(self, order: Order, before: Stored, after: Stored) -> None:
        """Nobody is missing who is on the list, and nobody is given up before he was looked for."""
        if after.missing_since and not before.missing_since and order.closed > self.world.now:
            self.wrong("open order", order.number, "passes for missing")
        if (
            after.lost_since
            and not before.lost_since
            and after.lost_since - (after.missing_since or 0) < 45 * MINUTE
        ):
            self.wrong("LOST_WINDOW: order", order.number, "was given up at once")

    def _walked(self, account: int, before: str) -> None:
        """A walk of what is new may have come to its end: whatever it covered has to be in the ledger."""
        old, new = json.loads(before), json.loads(self.desk.store["jobs"][account, "history"].cursor)
        if old.get("back") or new.get("walk") or old.get("until") == new.get("until") or not old.get("until"):
            return
        planned = self.planned.pop(account, None)
        end = datetime_ms(new["until"])
        if planned is None or any(
            gap[0] == account and gap[2] > end - DAY for gap in self.desk.store["gaps"]
        ):
            return
        for order in self.world.accounts[account].orders:
            said = order.version(planned)
            late = planned - self.jumpy
            if (
                said is None
                or said.good is None
                or order.version(self.world.now) is not said
                or max(order.told, said.since) > late
            ):
                continue
            at = self.world.filtered(order, said)
            reached = at > self.world.now - self.world.reach + REACH_SLACK
            if reached and planned - 47 * HOUR < at < planned - SECOND and not self.holds(order, said):
                self.wrong(
                    "the cursor is ahead of the rows: order", order.number, "was told", self.ago(order.told)
                )

    def holds(self, order: Order, said: Version) -> bool:
        """Is this, or something newer, in the ledger?"""
        row = self.rows.get(key_of(order))
        if row is None:
            return False
        held = self.desk.store["orders"][row].row.held
        return held.closed and (held.updated or moment(0)) >= (
            said.good.update_time if said.good else moment(0)
        )

    def walk_begins(self, account: int) -> None:
        self.planned[account] = self.world.now

    def ago(self, at: int) -> str:
        return f"{(self.world.now - at) / MINUTE:.1f} minutes ago"

    def fence(self, job: Job, held: Job) -> None:
        if held.token != job.token:
            self.wrong("no fence: a commit for", job.key, "after its lease was lost")

    # ---- readings --------------------------------------------------------------------------------------------

    def claimed(self, job: Job, stale: bool, lease: int) -> None:
        """A job was taken; `stale`: whoever had it before died."""
        patience = self.patience.setdefault(job.key, Patience(self.world.begin))
        patience.longest = max(patience.longest, job.interval)
        if stale:
            patience.failures += 1
            patience.excused += lease + 10 * LEASE

    def attempted(self, job: Job, *, ok: bool, pause: float = 0.0, asked: float = 0.0) -> None:
        """A reading has ended; after a failure the job comes back after `pause`, which begins with what was asked for
        where the exchange said so."""
        patience = self.patience[job.key]
        patience.longest = max(patience.longest, job.interval)
        if ok:
            self._punctual(job.key)
            self.patience[job.key] = Patience(self.world.now, job.interval)
            return
        first = max(asked, SECOND) if asked else min(job.interval, RETRY_AFTER)
        most = min(first * 2 ** min(patience.failures, 10), LONGEST_PAUSE)
        if pause > most + SECOND:
            self.wrong(
                "back-off: ", job.key, "waits", pause // SECOND, "s after", patience.failures, "failures"
            )
        patience.failures += 1
        patience.excused += pause + 2 * MINUTE

    def held(self, job: Job, pause: float, asked: float) -> None:
        """The limiter had no room for a reading and asked for `asked` ms: it comes back soon after, every time."""
        if not asked <= pause <= 1.5 * max(asked, SECOND) + 1:
            self.wrong("held back: ", job.key, "waits", pause, "ms where the limiter asked for", asked)
        self.patience[job.key].excused += pause + MINUTE

    def _punctual(self, key: tuple[int, str]) -> None:
        patience = self.patience[key]
        waited = self.well(key[0], patience.since, self.world.now)
        allowed = 2.2 * patience.longest + patience.excused + 30 * MINUTE
        if waited > allowed:
            self.wrong(
                "starved:", key, "was not read for", waited // MINUTE, "minutes, allowed", allowed // MINUTE
            )

    def well(self, account: int, start: int, end: int) -> int:
        """The ms between the two in which exchange, desk and account were in order."""
        ills = [
            *self.world.outages,
            *self.desk.dark,
            self.world.accounts[account].poisoned if account >= 0 else (0, 0),
        ]
        spans = sorted((max(a, start), min(b + 11 * MINUTE, end)) for a, b in ills if a < min(b, end))
        total, at = 0, max(start, self.world.begin)
        for a, b in spans:
            if b > at:
                total += max(0, a - at)
                at = max(at, b)
        return total + max(0, end - at)

    # ---- the end ---------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Everything has had its time: the store has to be the truth."""
        for key in self.patience:
            self._punctual(key)
        for account in self.world.accounts:
            for order in account.orders:
                self._kept(order)
            self._changes(account.key, account.bodies)
            start, until = account.poisoned
            if account.stumbles > 20 + 3 * (until - start) / LONGEST_PAUSE:
                self.wrong(
                    "poisoned: account", account.key, "was read", account.stumbles, "times for nothing"
                )
        self._rows()
        self._sums()
        if self.world.own_429s:
            self.wrong(self.world.own_429s, "refusals (429) of our own making")

    def _kept(self, order: Order) -> None:
        key = self.rows.get(key_of(order))
        stored: Stored | None = self.desk.store["orders"].get(key) if key is not None else None
        if order.told == NEVER:
            self._kept_open(order, stored)
        else:
            self._kept_closed(order, stored)

    def _kept_open(self, order: Order, stored: Stored | None) -> None:
        said = latest(order.opens, self.world.now)
        if said is None or said.good is None:
            if said and said.bad and (order.account, "open", said.bad.raw) not in self.desk.store["bad"]:
                self.wrong("dropped: the record of", order.number, "that does not parse was not kept")
        elif stored is None:
            self.wrong("lost: open order", order.number)
        elif stored.row.held.content != content_of(said) or stored.row.held.closed:
            self.wrong("open order", order.number, "is not as the exchange last told it")
        elif stored.missing_since or stored.lost_since:
            self.wrong("open order", order.number, "passes for missing")

    def _kept_closed(self, order: Order, stored: Stored | None) -> None:
        now, said = self.world.now, order.version(self.world.now)
        assert said
        closed = stored is not None and stored.row.held.closed
        if any(version.bad and self.well(order.account, version.since, self._until(order, version)) > A_DAY
               for version in order.closes) and not self._quarantined(order):  # fmt: skip
            self.wrong("dropped: the record of", order.number, "that does not parse was not kept")
        if said.good is None:
            return
        if stored is None and self._out_of_sight(order):
            return
        gone = self.gone_at(order, said)
        spoiled = any(version.bad for version in order.closes)  # it came, and nobody could read it
        if stored is not None and stored.lost_since and now < gone - REACH_SLACK and not spoiled:
            self.wrong("LOST_WINDOW: order", order.number, "can be read")
        since = said.since if said is order.closes[0] or order.closes[0].bad else order.told
        if not closed and self.well(order.account, since, min(gone - REACH_SLACK, now)) > A_DAY:
            self.wrong("lost: order", order.number, "closed and told", self.ago(order.told))
        if (
            not closed
            and stored is not None
            and stored.lost_since is None
            and now > gone
            and not self._veiled(order)
        ):
            self.wrong("order", order.number, "is out of reach, and not listed as LOST_WINDOW")
        if not closed and stored is None and not spoiled and self._claimed(order, said):
            self.wrong("coverage: order", order.number, "is missing where the ledger calls itself complete")
        if closed and stored is not None:
            self._newest(order, stored)

    def _out_of_sight(self, order: Order) -> bool:
        """Where the history goes by the opening: an order older than every sweep, which closed before the desk ever
        saw it open and was told after the desk had read its day, leaves no sign to look for it by."""
        return (
            self.world.filter == "open"
            and order.told > self.world.begin
            and order.opened < order.told - 89 * DAY
        )

    def _veiled(self, order: Order) -> bool:
        """While the open list holds a record without a number, that may be any order: nobody is missing for sure."""
        said = [latest(other.opens, self.world.now) for other in self.world.accounts[order.account].orders]
        return any(version and version.bad and version.bad.reason == "trackingNo" for version in said)

    def _newest(self, order: Order, stored: Stored) -> None:
        """What was trued up long enough ago is in the ledger."""
        usual = 5 * HOUR if self.world.filter != "open" else A_DAY + 3 * HOUR
        said = order.version(self.world.now - usual)
        if said is None or said.good is None or order.told > said.since:
            return
        at = self.world.filtered(order, said)
        swept = at > self.world.now - 89 * DAY and self.world.now < self.gone_at(order, said) - REACH_SLACK
        if swept and (stored.row.held.updated or moment(0)) < said.good.update_time:
            self.wrong("true-up: order", order.number, "holds an old result")

    def _until(self, order: Order, version: Version) -> int:
        later = [other.since for other in order.closes if other.since > version.since]
        return min([*later, self.gone_at(order, version), self.world.now])

    def _quarantined(self, order: Order) -> bool:
        bad = self.desk.store["bad"]
        return all((order.account, "history", one.bad.raw) in bad for one in order.closes if one.bad)

    def gone_at(self, order: Order, said: Version) -> int:
        """When the history stops telling of it."""
        reach = self.world.reach
        return NEVER if reach == NEVER else self.world.filtered(order, said) + reach

    def _claimed(self, order: Order, said: Version) -> bool:
        """Does the desk claim to know everything of the time in which this order lies?"""
        at, store = self.world.filtered(order, said), self.desk.store
        if not self.world.refuses_beyond or at < store["complete"].get(order.account, NEVER):
            return False
        gaps = [(gap[1] or 0, gap[2]) for gap in store["gaps"] if gap[0] == order.account]
        return not any(start <= at <= end for start, end in gaps)

    def _rows(self) -> None:
        taken: set[tuple[int, int, int]] = set()
        for stored in self.desk.store["orders"].values():
            place = (stored.account, stored.row.identity.number, stored.row.generation)
            if place in taken:
                self.wrong("two rows of order", place[1], "have one generation")
            taken.add(place)
        for account in self.world.accounts:
            for number in {order.number for order in account.orders}:
                kept = [place[2] for place in taken if place[:2] == (account.key, number)]
                if kept and 0 not in kept:
                    self.wrong("order", number, "has no first generation")

    def _sums(self) -> None:
        """The daily sums are those of the rows, exactly."""
        sums: dict[Any, list[Any]] = defaultdict(lambda: [0, Decimal(0)])
        for stored in self.desk.store["orders"].values():
            held = stored.row.held
            closed = held.content[CLOSE_TIME]
            if held.closed and closed is not None:
                cell = (stored.account, held.identity.trader, ms_of(closed) // DAY, held.identity.symbol)
                sums[cell][0] += 1
                sums[cell][1] += Decimal(str(held.content[NET_PROFIT] or 0))
        kept = {cell: list(value) for cell, value in self.desk.store["cells"].items() if value[0]}
        if kept != dict(sums):
            self.wrong("the daily sums are not those of the orders")

    def _changes(self, account: int, bodies: list[int]) -> None:
        for change in self.desk.store["changes"].values():
            if change.account != account:
                continue
            sent = bodies.count(change.number)
            if sent > 1:
                self.wrong("change", change.number, "was sent", sent, "times")
            if change.state in changes.OPEN_STATES:
                self.wrong("change", change.number, "is still", change.state)
            if change.state == changes.APPLIED and not sent:
                self.wrong("change", change.number, "passes for applied, and never arrived")
            # A clock that jumps over the looks ends them early; the next reading of the settings tells then.
            hasty = self.jumpy > 6 * MINUTE and change.state == changes.NOT_SEEN
            if change.state in (changes.NOT_SEEN, changes.REJECTED) and sent and not hasty:
                self.wrong("change", change.number, "arrived, and passes for", change.state)


def content_of(version: Version) -> tuple[Any, ...]:
    return CONTENT(version.good)


def datetime_ms(text: str) -> int:
    return ms_of(datetime.fromisoformat(text))
