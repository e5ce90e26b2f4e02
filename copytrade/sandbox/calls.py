"""The log of what arrived, for tests. It holds no signature and no passphrase."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from .faults import Fault
from .wire import Answer, Request

KEPT = 5_000
Entry = dict[str, Any]


class CallLog:
    """The last calls, oldest first."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._next = 1

    def begin(self, request: Request, operation: str, now_ms: int, fault: Fault | None) -> Entry:
        """Note an arrival. `status` is None until the answer is on its way."""
        with self._lock:
            entry = {
                "n": self._next,
                "time": now_ms,
                "operation": operation,
                "key": request.header("access-key"),
                "method": request.method,
                "path": request.raw_path,
                "query": request.raw_query,
                "body": request.body.decode("utf-8", "replace"),
                "from": request.peer,
                "fault": fault.kind if fault else None,
                "status": None,
            }
            self._next += 1
            self._entries.append(entry)
            return entry

    def end(self, entry: Entry, answer: Answer) -> None:
        """Note the answer: its status, or how it was withheld."""
        entry["status"] = answer.status if answer.delivery in ("", "drip", "truncate") else None
        if answer.delivery:
            entry["delivery"] = answer.delivery

    def shown(self, operation: str | None = None, after: int = 0) -> list[Entry]:
        with self._lock:
            return [
                dict(entry)
                for entry in self._entries
                if operation in (None, entry["operation"]) and entry["n"] > after
            ]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
