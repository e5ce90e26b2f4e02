"""The world that the sandbox serves: prices, traders, accounts and their copies, from a seed.

Deterministic: (seed, start_ms, speed) and the settings written, with their times, decide everything.
`advance` only moves the clock; an account is brought forward when it is asked for, and only by what is new.
What does not depend on any follower, and each account's past before the start, is kept for the process and
shared between worlds of the same (seed, start_ms, speed), so that a reset is cheap.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

from copytrade.rules import CopySettings, apply_defaults, from_answer, to_answer

from . import accounts, wire
from .accounts import AFFILIATE, FOLLOWER, LEAD, SYMBOLS
from .book import Book
from .prices import Market
from .tape import Tape
from .traders import BY_ID, NORTHWIND, TRADERS
from .wire import Row

_STAGES_KEPT = 4


class _Stage:
    """What all worlds of a (seed, start, speed) share: prices, the traders' tapes, accounts at the start."""

    def __init__(self, seed: int, start_ms: int, speed: float) -> None:
        self.lock = threading.RLock()
        self.market = Market(seed, start_ms)
        self.tapes = {trader: Tape(trader, self.market, seed, start_ms, speed) for trader in TRADERS}
        self.start_ms = start_ms
        self._pristine: dict[str, _Account] = {}

    def account(self, name: str) -> _Account:
        """The account as it is at the start, free to go on from there."""
        if name not in self._pristine:
            account = _Account(name, self)
            account.bring_forward(self.start_ms)
            if accounts.load_number(name) is not None:
                return account
            self._pristine[name] = account
        return self._pristine[name].twin()


class _Account:
    """An account's books, one for each trader, and its closed rows in order."""

    def __init__(self, name: str, stage: _Stage) -> None:
        number = accounts.small_number(name)
        self.books = {
            trader.trader_id: Book(number, bond, stage.tapes[trader], stage.market)
            for trader, bond in accounts.bonds_of(name, stage.start_ms).items()
        }
        self.never: dict[int, CopySettings] = {}  # written for traders whom it does not follow
        self._closed: list[tuple[int, int]] = []  # (closeTime, trackingNo), oldest first
        self._rows: dict[int, Row] = {}

    def twin(self) -> _Account:
        twin = object.__new__(_Account)
        twin.books = {trader_id: book.copy() for trader_id, book in self.books.items()}
        twin.never = dict(self.never)
        twin._closed = list(self._closed)
        twin._rows = dict(self._rows)
        return twin

    def bring_forward(self, now_ms: int) -> None:
        fresh = []
        for book in self.books.values():
            for tracking_no in book.bring_forward(now_ms):
                if tracking_no not in self._rows:
                    fresh.append((int(book.closed[tracking_no]["closeTime"]), tracking_no))
                self._rows[tracking_no] = book.closed[tracking_no]
        if fresh:
            self._closed = sorted(self._closed + fresh)

    def closed(self) -> list[Row]:
        return [dict(self._rows[tracking_no]) for _, tracking_no in reversed(self._closed)]


class World:
    """See the module. All answers are wire-shaped (interface.md); rows are the caller's to change.

    Accounts: "follower", "lead" (the lead trader Northwind Steady), "affiliate", and `load_accounts` of
    "load-000001"...; another name raises KeyError.
    """

    symbols: ClassVar[tuple[str, ...]] = SYMBOLS
    _stages: ClassVar[OrderedDict[tuple[int, int, float], _Stage]] = OrderedDict()
    _stages_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, seed: int, start_ms: int, *, load_accounts: int = 0, speed: float = 1.0) -> None:
        if not 0 <= load_accounts <= 2_000:
            raise ValueError("load_accounts must be from 0 to 2000")
        if speed < 0:
            raise ValueError("speed must not be negative")
        self.seed, self.start_ms, self.speed, self.load_accounts = seed, start_ms, float(speed), load_accounts
        self.now_ms = start_ms
        self._names = {FOLLOWER, LEAD, AFFILIATE, *map(accounts.load_name, range(1, load_accounts + 1))}
        self._log: list[dict[str, Any]] = []
        self._accounts: dict[str, _Account] = {}
        self._stage = self._shared(seed, start_ms, self.speed)
        self._lock = self._stage.lock  # tapes and prices are written by whoever asks first
        with self._lock:
            self._accounts[FOLLOWER] = self._stage.account(FOLLOWER)

    @classmethod
    def _shared(cls, seed: int, start_ms: int, speed: float) -> _Stage:
        key = (seed, start_ms, speed)
        with cls._stages_lock:
            stage = cls._stages.pop(key, None) or _Stage(*key)
            cls._stages[key] = stage
            while len(cls._stages) > _STAGES_KEPT:
                cls._stages.popitem(last=False)
            return stage

    def fresh(self, *, seed: int | None = None, speed: float | None = None) -> World:
        """A new world at the same start; under 50 ms when the seed and speed were used before."""
        return World(
            self.seed if seed is None else seed,
            self.start_ms,
            load_accounts=self.load_accounts,
            speed=self.speed if speed is None else speed,
        )

    # Time and prices

    def advance(self, now_ms: int) -> None:
        """Moves the world's clock forward; an earlier moment changes nothing."""
        with self._lock:
            self.now_ms = max(self.now_ms, now_ms)

    def price(self, symbol: str, at_ms: int) -> Decimal:
        """The price of a symbol (USDT) at any moment, past or future; KeyError for an unknown symbol."""
        with self._lock:
            return self._stage.market.price(symbol, at_ms)

    # Who is there

    def follower_names(self) -> list[str]:
        """All accounts that copy: "follower" and the load accounts."""
        return [FOLLOWER, *map(accounts.load_name, range(1, self.load_accounts + 1))]

    def uid(self, account: str) -> int:
        self._known(account)
        return accounts.uid(account)

    # Copying

    def settings(self, account: str, trader_id: int) -> list[Row] | None:
        """The settings answer for a trader; None for an unknown one.

        `copyEnable` is false for traders that were left or never copied.
        """
        with self._lock:
            books = self._at_now(account)
            if trader_id not in BY_ID:
                return None
            book = books.books.get(trader_id)
            if book is None:
                shown = books.never.get(trader_id) or accounts.never_copied()
                return to_answer(apply_defaults(shown, SYMBOLS), copy_enable=False)
            left = book.bond.until_ms is not None and book.bond.until_ms <= self.now_ms
            return to_answer(book.current, copy_enable=not left)

    def write_settings(self, account: str, trader_id: int, settings: CopySettings, now_ms: int) -> None:
        """Settings for what the trader opens after `now_ms`. They are taken as valid.

        For a trader whom the account does not copy they are kept and shown, and nothing is copied.
        KeyError for an unknown account or trader.
        """
        with self._lock:
            self.advance(now_ms)
            books = self._at_now(account)
            if trader_id not in BY_ID:
                raise KeyError(trader_id)
            settings = apply_defaults(settings, SYMBOLS)
            self._log.append(
                {
                    "account": account,
                    "traderId": trader_id,
                    "at": self.now_ms,
                    "settings": to_answer(settings, copy_enable=True),
                }
            )
            book = books.books.get(trader_id)
            if book is None:
                books.never[trader_id] = settings
            else:
                book.change(settings, self.now_ms)

    def settings_log(self) -> list[dict[str, Any]]:
        """All writes so far as JSON-able items, oldest first, for `load` after a restart."""
        with self._lock:
            return [dict(entry) for entry in self._log]

    def load(self, log: Iterable[dict[str, Any]]) -> None:
        """Replays a settings log into a new world with the same seed, start_ms and speed."""
        for entry in log:
            settings = from_answer(entry["settings"])
            self.write_settings(entry["account"], entry["traderId"], settings, entry["at"])

    def open_orders(self, account: str) -> list[Row]:
        """Open copies (copy follower tracking orders), newest first, ties by trackingNo."""
        with self._lock:
            books = self._at_now(account).books.values()
            rows = [
                wire.open_row(copy, self.now_ms) for book in books for copy in book.open_copies(self.now_ms)
            ]
        return sorted(rows, key=lambda row: (row["openTime"], row["trackingNo"]), reverse=True)

    def closed_orders(self, account: str) -> list[Row]:
        """All closed copies ever, newest close first, ties by trackingNo (larger first)."""
        with self._lock:
            return self._at_now(account).closed()

    def my_traders(self, account: str) -> list[Row]:
        """The traders copied now; those that were left are absent."""
        with self._lock:
            books = self._at_now(account).books
            return [
                wire.trader_row(
                    BY_ID[trader_id],
                    book.bond.invested(self.now_ms),
                    book.profit,
                    sum((copy.margin for copy in book.open_copies(self.now_ms)), Decimal(0)),
                    book.unsettled(),
                )
                for trader_id, book in books.items()
                if book.bond.until_ms is None or book.bond.until_ms > self.now_ms
            ]

    def lead_history(self, account: str) -> list[Row]:
        """Closed orders of the lead trader behind the account, newest close first; [] for other accounts.

        The wire record has no close time: `updateTime` is the close.
        """
        self._known(account)
        if account != LEAD:
            return []
        with self._lock:
            tape, index, rows = self._stage.tapes[NORTHWIND], 0, []
            while (lead := tape.ahead(index)) is not None and lead.open_ms <= self.now_ms:
                index += 1
                if lead.end is not None and lead.end.ms <= self.now_ms:
                    rows.append(wire.lead_row(lead, lead.end, self.start_ms))
        return sorted(rows, key=lambda row: (row["updateTime"], row["trackingNo"]), reverse=True)

    def truth(self, account: str) -> dict[str, Any]:
        """Everything about an account as it really is, JSON-able, `skipped` (orders not copied) included."""
        with self._lock:
            books = self._at_now(account).books
            skipped = [
                {
                    "traderID": item.lead.trader.trader_id,
                    "symbol": item.lead.symbol,
                    "time": item.lead.open_ms,
                    "reason": item.reason,
                }
                for book in books.values()
                for item in book.skipped
            ]
            return {
                "account": account,
                "uid": self.uid(account),
                "seed": self.seed,
                "start": self.start_ms,
                "now": self.now_ms,
                "speed": self.speed,
                "open": self.open_orders(account),
                "closed": self.closed_orders(account),
                "traders": self.my_traders(account),
                "settings": {str(number): self.settings(account, number) for number in BY_ID},
                "lead": self.lead_history(account),
                "skipped": sorted(skipped, key=lambda item: item["time"]),
                "settingsLog": [entry for entry in self._log if entry["account"] == account],
            }

    def _known(self, account: str) -> None:
        if account not in self._names:
            raise KeyError(account)

    def _at_now(self, account: str) -> _Account:
        """The account, brought forward to now."""
        self._known(account)
        books = self._accounts.get(account)
        if books is None:
            books = self._accounts[account] = self._stage.account(account)
        books.bring_forward(self.now_ms)
        return books
