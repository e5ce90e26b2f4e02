"""A database for the simulation: tables of values, transactions that happen whole or not at all.

Values are replaced, never changed in place, so that undoing a transaction is putting the old ones back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

GONE = object()


class Crash(Exception):
    """The process ends here, with whatever it had not committed."""


class Store:
    """Tables by name. `strike`: called inside transactions, where it may raise Crash."""

    def __init__(self, strike: Callable[[], None]) -> None:
        self.tables: dict[str, dict[Hashable, Any]] = defaultdict(dict)
        self.commits = 0
        self.watch: Callable[[list[tuple[str, Hashable, Any]]], None] = lambda written: None
        self._strike = strike
        self._undo: list[tuple[str, Hashable, Any]] | None = None

    def __getitem__(self, table: str) -> dict[Hashable, Any]:
        """A table, to read from."""
        return self.tables[table]

    def put(self, table: str, key: Hashable, value: Any) -> None:
        """Write one value. Outside of a transaction it is one by itself."""
        rows = self.tables[table]
        if self._undo is not None:
            self._undo.append((table, key, rows.get(key, GONE)))
            self._strike()
        rows[key] = value

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is put within, or nothing. One within another belongs to the outer one."""
        if self._undo is not None:
            yield
            return
        self._undo = []
        try:
            yield
            self._strike()
        except BaseException:
            for table, key, value in reversed(self._undo):
                if value is GONE:
                    self.tables[table].pop(key, None)
                else:
                    self.tables[table][key] = value
            raise
        finally:
            written, self._undo = self._undo, None
        self.commits += 1
        self.watch([(table, key, None if value is GONE else value) for table, key, value in written])
