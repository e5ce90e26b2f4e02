"""The exchange of the simulation: accounts whose orders open and close at seeded times, and answers with every oddity.

Time is in ms since 1970 and moves only when the simulation moves it. Nothing here knows how the desk reads; what
is undocumented of the real exchange (which time its history filters on, its order, its reach) a seed decides.
"""

from __future__ import annotations

import json
import random
from collections import deque
from dataclasses import replace
from typing import Any

from copytrade.exchange.decoding import BadRecord, Drift, decode_each
from copytrade.exchange.envelopes import Cursor, Page
from copytrade.exchange.errors import OutcomeUnknown, RateLimited, Rejected, Unreachable
from copytrade.exchange.records import FollowerOrder
from copytrade.exchange.windows import Told

from .truth import DAY, HOUR, MINUTE, NEVER, SECOND, Account, Order, Version, latest

BEGIN = 1_772_323_200_000  # 2026-03-01 00:00 UTC
TOO_FAR = -1170
WINDOW = 10 * SECOND
# How long the world lives, and the longest usual pause between two readings of the same list: both in ms.
SCALES = ((2 * HOUR, 4 * MINUTE), (10 * HOUR, 20 * MINUTE), (40 * HOUR, HOUR), (6 * DAY, 3 * HOUR))
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT")


class World:
    """The truth, and the calls that tell of it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.span, self.cap = rng.choice(SCALES)
        self.begin = BEGIN + rng.randrange(DAY)
        self.now, self.end = self.begin, self.begin + self.span
        self.filter = rng.choice(("close", "close", "close", "open", "update"))
        self.newest_first, self.open_newest_first = rng.random() < 0.7, rng.random() < 0.6
        self.start_counts, self.end_counts = rng.choice(
            ((True, True), (True, True), (True, False), (False, True))
        )
        self.reach = rng.choice((NEVER, NEVER, 400 * DAY, 120 * DAY, 45 * DAY, max(3 * DAY, self.span // 2)))
        self.refuses_beyond = rng.random() < 0.6
        self.page, self.open_page = rng.randint(2, 4), rng.randint(2, 5)
        self.limit = rng.choice((30, 40, 60, 500))
        self.fixed_windows = rng.random() < 0.3
        self.neighbours = rng.choice((0.0, 0.0, 0.1, 0.3))
        self.lossy = rng.choice((0.0, 0.02, 0.08))
        self.restless = rng.choice((0.0, 0.2, 0.5))  # how often a list moves between two of its pages
        self.outages = self._outages()
        self.served: deque[tuple[int, int, bool]] = deque()
        self.blocked_from = self.blocked_until = 0
        self.own_429s, self.other_429s, self.calls, self.spare = 0, 0, 0, 5
        self.accounts = [self._account(key) for key in range(rng.choice((1, 1, 1, 2, 3)))]

    def _outages(self) -> list[tuple[int, int]]:
        found = []
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            start = self.begin + self.rng.randrange(self.span)
            found.append(
                (start, min(self.end, start + self.rng.randrange(MINUTE, max(2 * MINUTE, self.span // 2))))
            )
        return found

    # ---- making it -------------------------------------------------------------------------------------------

    def _account(self, key: int) -> Account:
        rng, account = self.rng, Account(key)
        past, oldest = rng.choice((0, 3, 8)), rng.choice((20, 100, 300)) * DAY
        for _ in range(past):
            closed = self.begin - rng.randrange(MINUTE, oldest)
            self._add(account, closed - rng.choice((MINUTE, HOUR, 3 * DAY)), closed)
        for _ in range(rng.randint(2, 8)):
            opened = self.begin + rng.randrange(-self.span // 4, self.span)
            if rng.random() < 0.1:
                opened -= rng.choice((5, 60, 130)) * DAY
            closes = rng.random() < 0.8
            closed = max(opened, self.begin) + rng.randrange(SECOND, self.span) if closes else NEVER
            self._add(account, opened, closed if closed < self.end else NEVER)
        self._tie(account)
        if rng.random() < 0.15:
            self._reuse(account)
        if rng.random() < 0.15 and key == 0:
            start = self.begin + rng.randrange(self.span)
            account.poisoned = (start, min(self.end, start + rng.randrange(self.span)))
        return account

    def _add(self, account: Account, opened: int, closed: int = NEVER, number: int = 0) -> Order:
        rng = self.rng
        order = Order(
            account.key,
            number or 700_000_000_000_000_000 + account.key * 1_000 + len(account.orders),
            trader=rng.randint(1, 3),
            symbol=rng.choice(SYMBOLS),
            side=rng.choice(("LONG", "SHORT")),
            opened=opened,
            price=f"{rng.randrange(10**9)}.{rng.randrange(10**9):09d}",
        )
        self._say_open(order, opened)
        if rng.random() < 0.3:
            self._say_open(
                order,
                min(opened + rng.randrange(1, self.span), max(self.end, opened + 1)),
                stop=str(rng.randrange(1, 10**6)),
            )
        if rng.random() < 0.04:
            self._spoil(order.number, order.opens)
        account.orders.append(order)
        if closed < self.end:
            self._close(order, closed)
        return order

    def _say_open(self, order: Order, since: int, stop: str = "") -> None:
        wire = self._wire(order, since) | {"status": "HAVE_OPEN", "slTriggerPrice": stop}
        order.opens.append(_version(since, wire))

    def _close(self, order: Order, closed: int) -> None:
        """It leaves the open list; the history tells of it then, or late; it may be trued up after midnight."""
        rng = self.rng
        late = rng.choice((0, 0, 0, rng.randrange(5 * SECOND), rng.randrange(3 * HOUR)))
        order.closed = closed + rng.choice((0, 0, rng.randrange(3 * SECOND), rng.randrange(10 * MINUTE)))
        if order.closed - closed > 3 * SECOND and rng.random() < 0.5:
            # The open list lags, and even says something newer of an order that is closed.
            self._say_open(order, (order.closed + closed) // 2, stop="1")
            order.opens.sort(key=lambda version: version.since)
        order.told = min(closed + late, max(closed, self.end))
        profit = f"{rng.choice(('', '-'))}{rng.randrange(10**4)}.{rng.randrange(10**12):012d}1"
        gone = {
            "status": "CLOSED", "closeOrderId": order.number + 2, "closeAvgPrice": order.price, "closeSize": "0.1",
            "closeTime": str(closed), "realizedPnl": profit, "profitRate": "0.010", "netProfit": profit,
        }  # fmt: skip
        order.closes = [_version(order.told, self._wire(order, closed) | gone)]
        midnight = (closed // DAY + 1) * DAY + rng.randrange(5 * MINUTE)
        if rng.random() < 0.4:
            gone["netProfit"] = f"{profit}7"
            if rng.random() < 0.2:
                gone["closeTime"] = str(closed - rng.randrange(max(1, min(12 * HOUR, closed - order.opened))))
            order.closes.append(_version(max(midnight, order.told + 1), self._wire(order, midnight) | gone))
        if rng.random() < 0.04:
            self._spoil(order.number, order.closes)

    def _tie(self, account: Account) -> None:
        """Some orders close in the same millisecond: a trader closed all at once."""
        for one, other in zip(account.orders, account.orders[1:], strict=False):
            if self.rng.random() < 0.5 and max(one.opened, self.begin) < other.closed < NEVER > one.closed:
                if one.told < self.begin or other.told < self.begin:
                    continue
                self._close(one, other.closes[0].closed)

    def _reuse(self, account: Account) -> None:
        """The exchange gives a number out a second time."""
        done = [order for order in account.orders if order.closed < self.end - MINUTE]
        if done:
            first = self.rng.choice(done)
            opened = max(first.closed, self.begin) + self.rng.randrange(SECOND, MINUTE)
            again = self._add(account, opened, number=first.number)
            if self.rng.random() < 0.7 and opened < self.end - MINUTE:
                self._close(again, opened + self.rng.randrange(SECOND, self.end - opened))

    def _wire(self, order: Order, updated: int) -> dict[str, Any]:
        return {
            "trackingNo": order.number, "traderName": f"Trader {order.trader}", "openOrderId": order.number + 1,
            "closeOrderId": 0, "traderID": order.trader, "symbol": order.symbol, "openLeverage": 10,
            "openPriceAvg": order.price, "openTime": order.opened, "openSize": "0.1", "openFee": "0.02",
            "openMarginAmount": "10", "openFillSize": "0.1", "positionSide": order.side, "tpTriggerPrice": "",
            "slTriggerPrice": "", "closeAvgPrice": "", "closeSize": "", "closeTime": "", "realizedPnl": "",
            "profitRate": "", "netProfit": "", "createdTime": order.opened, "updateTime": updated,
        }  # fmt: skip

    def _spoil(self, number: int, versions: list[Version]) -> None:
        """The first thing said of it cannot be understood; for ever, or until it is said again."""
        first, rng = versions[0], self.rng
        broken = rng.choice(("traderID", "trackingNo", "symbol"))
        shown = {"trackingNo": number, "closeTime": first.since} | {
            broken: "?" if broken != "symbol" else None
        }
        bad = replace(first, good=None, bad=BadRecord(json.dumps(shown), broken))
        if len(versions) == 1 and rng.random() < 0.6:
            again = max(first.since + 1, min(first.since + rng.randrange(1, self.span), self.end))
            versions.append(replace(first, since=again))
        versions[0] = bad

    # ---- the calls -------------------------------------------------------------------------------------------

    def open_orders(self, account: Account, page: int) -> Page:
        """A page of the list as it stands at this moment."""
        self._arrive(account, counted=True)
        rows = [order for order in account.orders if order.opened <= self.now < order.closed]
        rows.sort(key=lambda order: (order.opened, order.number), reverse=self.open_newest_first)
        size = self.open_page
        said = [latest(order.opens, self.now) for order in rows[(page - 1) * size : page * size]]
        answer = _page(said)
        if answer.size == size:
            answer.next = page + 1
        return self._answer(answer)

    def history(self, account: Account, start: int, end: int, cursor: Cursor | None) -> Page:
        """A page of what closed in a window, by the time that this exchange filters on."""
        self._arrive(account)
        if end - start > 90 * DAY or (self.refuses_beyond and start < self.now - self.reach):
            raise Rejected("The range is not allowed.", code=TOO_FAR)
        rows = []
        for order in account.orders:
            said = order.version(self.now)
            if said and self.within(order, said, start, end):
                rows.append((self.filtered(order, said), order.number, order.opened, said))
        rows.sort(key=lambda row: row[:3], reverse=self.newest_first)
        if cursor is not None:
            at = (cursor.time_ms, cursor.id)
            rows = [row for row in rows if (row[:2] < at if self.newest_first else row[:2] > at)]
        answer = _page([row[3] for row in rows[: self.page]])
        answer.more = len(rows) > self.page
        if answer.more:
            last = rows[self.page - 1]
            answer.next = Cursor(last[1], last[0])
        return self._answer(answer)

    def filtered(self, order: Order, said: Version) -> int:
        """The time by which the history finds this order."""
        if self.filter == "open":
            return order.opened
        return said.closed if self.filter == "close" else said.updated

    def within(self, order: Order, said: Version, start: int, end: int) -> bool:
        at = self.filtered(order, said)
        if at < self.now - self.reach:
            return False
        return (start < at < end) or (at == start and self.start_counts) or (at == end and self.end_counts)

    def totals(self, account: Account) -> dict[int, str]:
        """Each trader's total, as the list of copied traders shows it: it moves when an order closes."""
        self._arrive(account)
        found: dict[int, list[str]] = {}
        for order in account.orders:
            said = order.version(self.now)
            found.setdefault(order.trader, [])
            if said and said.good:
                found[order.trader].append(str(said.good.net_profit))
        return self._answer({trader: " ".join(sorted(parts)) for trader, parts in found.items()})

    def settings(self, account: Account) -> int:
        self._arrive(account)
        return self._answer(account.settings)

    def change(self, account: Account, settings: int) -> None:
        """Write settings. A lost answer leaves it open whether they arrived."""
        self._arrive(account)
        if self.rng.random() < self.lossy * 3:
            if self.rng.random() < 0.6:
                account.late.append((self.now + self.rng.randrange(40 * SECOND), settings))
            raise OutcomeUnknown("The connection broke.")
        self._take_over(account, settings)
        if self.rng.random() < self.lossy * 2:
            raise OutcomeUnknown("The answer was lost.")

    def _take_over(self, account: Account, settings: int) -> None:
        account.bodies.append(settings)
        account.settings = settings

    def jostle(self, account: Account) -> None:
        """Something may happen to the lists between two pages of a reading."""
        rng = self.rng
        if self.now >= self.end or rng.random() > self.restless or not self.spare:
            return
        self.spare -= 1
        listed = [
            order for order in account.orders if order.opened <= self.now < min(order.closed, order.told)
        ]
        if listed and rng.random() < 0.6:
            order = rng.choice(listed)
            self._close(order, self.now)
        else:
            self._add(
                account,
                self.now,
                self.now + rng.randrange(SECOND, self.span) if rng.random() < 0.5 else NEVER,
            )

    def told(self) -> list[Told]:
        """What the headers say of the weight that this address has used."""
        used = self._used()
        return [Told(WINDOW, used, max(0, self.limit - used))]

    def down(self, at: int) -> bool:
        return any(start <= at < end for start, end in self.outages)

    # ---- what every call goes through ------------------------------------------------------------------------

    def _arrive(self, account: Account, weight: int = 10, *, counted: bool = False) -> None:
        self.calls += 1
        for late in [late for late in account.late if late[0] <= self.now]:
            account.late.remove(late)
            self._take_over(account, late[1])
        if self.down(self.now):
            raise Unreachable("The exchange is away.")
        if account.poisoned[0] <= self.now < account.poisoned[1]:
            account.stumbles += counted
            raise ArithmeticError("nobody foresaw this")
        if self.neighbours and self.now < self.end and self.rng.random() < self.neighbours:
            self.served.append((self.now, self.rng.randrange(self.limit // 4), False))
        if self._used() + weight > self.limit or self.now < self.blocked_until:
            own = sum(entry[1] for entry in self.served if entry[2]) + weight
            blocked = self.now < self.blocked_until
            # Those that were on their way when the first was refused are nobody's fault.
            heedless = blocked and self.now > self.blocked_from + 400
            self.own_429s += own > self.limit or heedless
            self.other_429s += own <= self.limit
            if not blocked:
                self.blocked_from, self.blocked_until = self.now, self.now + WINDOW
            raise RateLimited("Too many requests.", retry_after=WINDOW / SECOND)
        self.served.append((self.now, weight, True))

    def _used(self) -> int:
        oldest = self.now // WINDOW * WINDOW - 1 if self.fixed_windows else self.now - WINDOW
        while self.served and self.served[0][0] <= oldest:
            self.served.popleft()
        return sum([entry[1] for entry in self.served])

    def _answer(self, answer: Any) -> Any:
        if self.now < self.end and self.rng.random() < self.lossy:
            raise Unreachable("The answer was lost.")
        return answer


def _version(since: int, wire: dict[str, Any]) -> Version:
    good, bad = decode_each(FollowerOrder, [wire], Drift())
    assert good and not bad, bad
    return Version(since, wire["updateTime"], int(wire["closeTime"] or 0), good[0])


def _page(said: list[Version | None]) -> Page:
    return Page(
        [version.good for version in said if version and version.good],
        [version.bad for version in said if version and version.bad],
    )
