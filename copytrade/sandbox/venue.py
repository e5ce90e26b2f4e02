"""Everything behind the doors: the world, the spot books, the affiliate's rows, and the state file."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from copytrade.rules import CopySettings

from . import statefile
from .affiliate import Affiliate
from .clock import Clock
from .spot.book import Book
from .spot.past import wallets
from .world import World


@dataclass(frozen=True)
class Options:
    """What the command line says; `/sandbox/reset` may change it."""

    seed: int = 7
    speed: float = 1.0
    limit: int = 500
    order_limit: int = 20
    accounts: int = 0
    history_by: str = "close"
    state: str | None = None


class Venue:
    """One lock, `lock`, is around all of it: take it for every question and every change."""

    def __init__(self, options: Options, start_ms: int | None = None) -> None:
        self.lock = threading.RLock()
        self._first_options = self.options = options
        self.clock = Clock()
        self.generation = 0
        kept = statefile.read(options.state) if options.state else None
        if kept and kept["seed"] != options.seed:
            statefile.set_aside(str(options.state), f"it was written with --seed {kept['seed']}")
            kept = None
        if kept:
            self.clock = Clock(kept["offset_ms"])
        self._build(kept["start_ms"] if kept else start_ms or self.clock.now_ms())
        if kept:
            self._try_to_restore(kept)
        self.save()  # the start belongs to what must be the same after a restart

    def _build(self, start_ms: int) -> None:
        options = self.options
        self.start_ms = start_ms
        self.world = World(options.seed, start_ms, load_accounts=options.accounts, speed=options.speed)
        self.affiliate = Affiliate(options.seed, start_ms)
        self._books: dict[str, Book] = {}

    def reset(self, changes: dict[str, Any]) -> None:
        """Back to the beginning: no settings changed, no orders, the clock at real time.

        Options are those of the command line again, but for `changes`.
        """
        with self.lock:
            self.generation += 1
            self.options = replace(self._first_options, **changes)
            self.clock = Clock()
            self._build(self.start_ms)
            self.save()

    def now(self) -> int:
        """The server's time, with the world caught up to it. Hold the lock."""
        now_ms = self.clock.now_ms()
        self.world.advance(now_ms)
        return now_ms

    def book(self, account: str) -> Book:
        """The spot side of an account, resting orders settled. Hold the lock."""
        if account not in self._books:
            self._books[account] = self._new_book(account)
        self._books[account].settle(self.clock.now_ms())
        return self._books[account]

    def write_settings(self, account: str, trader_id: int, settings: CopySettings, now_ms: int) -> None:
        """Change settings and keep them. Hold the lock."""
        self.world.write_settings(account, trader_id, settings, now_ms)
        self.save()

    def save(self) -> None:
        """Write the state file, if there is one; the answer that follows may rely on it."""
        if self.options.state:
            statefile.write(self.options.state, self._state())

    def _new_book(self, account: str) -> Book:
        symbols = tuple(self.world.symbols)
        spot, funding = wallets(self.options.seed, account, self.start_ms, symbols, self.world.price)
        return Book(self.world.uid(account) % 10**6, spot, funding, self.world.price, self.start_ms)

    def _state(self) -> dict[str, Any]:
        return {
            "seed": self.options.seed,
            "start_ms": self.start_ms,
            "offset_ms": self.clock.offset_ms,
            "settings": self.world.settings_log(),
            "books": {account: book.state() for account, book in self._books.items() if book.orders},
        }

    def _try_to_restore(self, kept: dict[str, Any]) -> None:
        try:
            self._restore(kept)
        except (KeyError, ValueError, TypeError, ArithmeticError) as error:
            statefile.set_aside(str(self.options.state), f"it does not fit these flags ({error!r})")
            self.clock = Clock()
            self._build(self.clock.now_ms())

    def _restore(self, kept: dict[str, Any]) -> None:
        self.world.load(kept["settings"])
        for account, state in kept["books"].items():
            book = self._new_book(account)
            book.restore(state)
            self._books[account] = book
