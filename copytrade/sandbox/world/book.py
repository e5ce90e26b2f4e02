"""The book that an account keeps of one trader: what is open, what closed, what was earned.

Events (a trader's order, a close, the true-up at 00:00 UTC) are taken strictly in the order of their time, so
that a book brought forward in one jump equals one brought forward in many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from heapq import heappop, heappush

from copytrade.rules import CopySettings

from . import costs
from .copies import Copy, Means, Skipped, derive_copy
from .leads import LeadOrder
from .life import Ending
from .prices import DAY, Market
from .tape import Tape
from .wire import Row, closed_row

_CLOSE, _TRUE_UP = 1, 0  # at the same ms a day is settled first
_SKIPPED_KEPT = 500


@dataclass(frozen=True)
class Bond:
    """How an account follows a trader: since when, until when, with what money and settings.

    `settings` and `money` are (from when in ms, value), oldest first.
    """

    since_ms: int
    until_ms: int | None
    settings: tuple[tuple[int, CopySettings], ...]
    money: tuple[tuple[int, Decimal], ...]

    def invested(self, at_ms: int) -> Decimal:
        return sum((amount for moment, amount in self.money if moment <= at_ms), Decimal(0))


class Book:
    """See the module. `account` is the account's small number."""

    def __init__(self, account: int, bond: Bond, tape: Tape, market: Market) -> None:
        self.bond = bond
        self.settings = list(bond.settings)
        self.profit = Decimal(0)  # the sum of netProfit of all closed copies, always
        self.closed: dict[int, Row] = {}  # by trackingNo
        self.skipped: list[Skipped] = []
        self._account = account
        self._tape = tape
        self._market = market
        self._next = 0
        self._open: dict[int, Copy] = {}
        self._events: list[tuple[int, int, int]] = []  # ms, kind, trackingNo or day
        self._days: dict[int, list[tuple[Copy, Ending]]] = {}  # closed, not settled, by day

    def copy(self) -> Book:
        """A book that goes its own way from here. Copies and closed rows are shared: they never change."""
        twin = Book(self._account, self.bond, self._tape, self._market)
        twin.settings = list(self.settings)
        twin.profit = self.profit
        twin.closed = dict(self.closed)
        twin.skipped = list(self.skipped)
        twin._next = self._next
        twin._open = dict(self._open)
        twin._events = list(self._events)
        twin._days = {day: list(copies) for day, copies in self._days.items()}
        return twin

    @property
    def current(self) -> CopySettings:
        return self.settings[-1][1]

    def change(self, settings: CopySettings, at_ms: int) -> None:
        """New settings, for orders that open after `at_ms`."""
        self.settings.append((at_ms, settings))

    def bring_forward(self, now_ms: int) -> set[int]:
        """Takes all events up to `now_ms`; returns the trackingNos whose closed row is new or changed."""
        touched: set[int] = set()
        while True:
            lead = self._tape.ahead(self._next)
            opens = lead.open_ms if lead is not None else None
            if self._events and (opens is None or self._events[0][0] <= opens):
                if self._events[0][0] > now_ms:
                    return touched
                moment, kind, what = heappop(self._events)
                touched |= self._settle(what, moment) if kind == _TRUE_UP else self._close(what)
            else:
                if lead is None or lead.open_ms > now_ms:
                    return touched
                self._next += 1
                self._meet(lead)

    def open_copies(self, now_ms: int) -> list[Copy]:
        """The copies open at `now_ms`, to which the book has been brought forward.

        A copy opens some tenths of a second after the trader's order; until then it only binds its margin.
        """
        return [copy for copy in self._open.values() if copy.position.open_ms <= now_ms]

    def _held(self, symbol: str | None = None) -> Decimal:
        """Margin bound by copies, USDT."""
        copies = self._open.values()
        return sum((c.margin for c in copies if symbol in (None, c.lead.symbol)), Decimal(0))

    def unsettled(self) -> Decimal:
        """Profit of winners that the next true-up may still change."""
        ends = (end for day in self._days.values() for _, end in day)
        return sum((max(end.after_costs - end.share, Decimal(0)) for end in ends), Decimal(0))

    def _meet(self, lead: LeadOrder) -> None:
        """An order of the trader: copied by the settings in force, or not."""
        bond = self.bond
        if lead.open_ms < bond.since_ms or (bond.until_ms is not None and lead.open_ms >= bond.until_ms):
            return
        settings = next(value for since, value in reversed(self.settings) if since < lead.open_ms)
        available = bond.invested(lead.open_ms) + self.profit - self._held()
        means = Means(available, self._held(), self._held(lead.symbol))
        made = derive_copy(
            lead, settings, means, market=self._market, account=self._account, until_ms=bond.until_ms
        )
        if isinstance(made, Skipped):
            self.skipped = [*self.skipped[-_SKIPPED_KEPT:], made]
            return
        self._open[made.tracking_no] = made
        if made.end is not None:
            heappush(self._events, (made.end.ms, _CLOSE, made.tracking_no))

    def _close(self, tracking_no: int) -> set[int]:
        copy = self._open.pop(tracking_no)
        end = copy.end
        if end is None:
            raise RuntimeError("a copy without an end was scheduled to close")
        net = end.after_costs - end.share
        self.profit += net
        self.closed[tracking_no] = closed_row(copy, end, net, end.ms)
        day = end.ms // DAY
        if day not in self._days:
            self._days[day] = []
            heappush(self._events, ((day + 1) * DAY, _TRUE_UP, day))
        self._days[day].append((copy, end))
        return {tracking_no}

    def _settle(self, day: int, moment: int) -> set[int]:
        """00:00 UTC: the day's profit share is settled, and the winners' net profit with it."""
        copies = self._days.pop(day)
        shares = costs.settled_shares([(end.realized, end.after_costs) for _, end in copies])
        changed = set()
        for (copy, end), share in zip(copies, shares, strict=True):
            if share == end.share:
                continue
            self.profit += end.share - share
            self.closed[copy.tracking_no] = closed_row(copy, end, end.after_costs - share, moment)
            changed.add(copy.tracking_no)
        return changed
