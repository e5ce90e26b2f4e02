"""Faults that a test asks for: which call fails next, and in which way. See docs/sandbox.md."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from .catalogue import BY_NAME
from .errors import CATALOGUE

SERVER_TIME = "server_time"
OPERATION_NAMES = {*BY_NAME, SERVER_TIME, "*"}

# Kinds that act before the call is looked at, on its answer's rows, on its delivery, or as a state.
INSTEAD = {"code", "http", "rate_limit", "timeout_before", "maintenance", "key_pending", "html_200"}
PAGES = {"repeat_page"}  # what is asked for is changed, not what is answered
ROWS = {
    "duplicate_rows",
    "reorder_rows",
    "cursor_loop",
    "unknown_status",
    "missing_fields",
    "extra_fields",
    "numbers_for_strings",
    "strings_for_numbers",
}
AFTER = {"timeout_after", "apply_late", "truncated", "slow_drip"}
KINDS = INSTEAD | PAGES | ROWS | AFTER | {"reset", "clock_skew"}
LASTING = {"clock_skew", "maintenance", "key_pending"}  # `times` has no end for these unless given

FIELDS: dict[str, tuple[type, ...]] = {
    "operation": (str,),
    "kind": (str,),
    "times": (int,),
    "after": (int,),
    "seconds": (int, float),
    "key": (str,),
    "code": (int,),
    "http": (int,),
    "msg": (str,),
    "body": (str,),
    "applied": (bool,),
    "answer": (str,),
    "fields": (list,),
    "lasts": (int, float),
    "retry_after": (int,),
}
DEFAULT_SECONDS = {
    "timeout_before": 30.0,
    "timeout_after": 30.0,
    "apply_late": 2.0,
    "slow_drip": 3.0,
    "clock_skew": 60.0,
}


@dataclass
class Fault:
    """One fault as asked for, and how much of it is left. `times` 0 means for ever."""

    id: int
    operation: str
    kind: str
    times: int
    after: int
    seconds: float
    key: str | None
    until_ms: int | None
    more: dict[str, Any] = field(default_factory=dict)
    used: int = 0

    def fits(self, operation: str, key: str | None, now_ms: int) -> bool:
        if self.operation not in ("*", operation) or self.key not in (None, key):
            return False
        if self.kind == "key_pending" and operation == SERVER_TIME:
            return False  # that one asks for no key
        return not self.spent and (self.until_ms is None or now_ms < self.until_ms)

    @property
    def spent(self) -> bool:
        return bool(self.times) and self.used >= self.times

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "operation": self.operation,
            "kind": self.kind,
            "times": self.times,
            "after": self.after,
            "seconds": self.seconds,
            "key": self.key,
            "used": self.used,
            **self.more,
        }


class Faults:
    """The faults in force, oldest first: the first that fits a call is its fault."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._next_id = 1
        self._released = threading.Event()

    def add(self, wanted: dict[str, Any], now_ms: int) -> Fault:
        """Take up a fault. Raises ValueError with a sentence when it makes no sense."""
        _check(wanted)
        kind = wanted["kind"]
        more = {
            name: wanted[name]
            for name in wanted
            if name in ("code", "http", "msg", "body", "applied", "answer", "fields", "retry_after")
        }
        lasts = wanted.get("lasts")
        with self._lock:
            fault = Fault(
                self._next_id,
                wanted.get("operation", "*"),
                kind,
                wanted.get("times", 0 if kind in LASTING or lasts else 1),
                wanted.get("after", 0),
                float(wanted.get("seconds", DEFAULT_SECONDS.get(kind, 0))),
                wanted.get("key"),
                None if lasts is None else now_ms + int(lasts * 1000),
                more,
            )
            self._next_id += 1
            self._faults.append(fault)
            return fault

    def take(self, operation: str, key: str | None, now_ms: int) -> Fault | None:
        """The fault of this call, counted as used; None for an ordinary call."""
        with self._lock:
            for fault in self._faults:
                if fault.kind != "clock_skew" and fault.fits(operation, key, now_ms):
                    if fault.after:
                        fault.after -= 1
                        continue
                    fault.used += 1
                    return fault
        return None

    def skew_ms(self, operation: str, key: str | None, now_ms: int) -> int:
        """By how much the server's clock seems wrong to this call. Server time goes by every skew."""
        with self._lock:
            for fault in self._faults:
                if fault.kind == "clock_skew" and (
                    operation == SERVER_TIME or fault.fits(operation, key, now_ms)
                ):
                    fault.used += operation != SERVER_TIME
                    return int(fault.seconds * 1000)
        return 0

    def clear(self) -> None:
        """No more faults; calls that are being held are let go."""
        with self._lock:
            self._faults.clear()
            self._released.set()
            self._released = threading.Event()

    def hold(self, seconds: float) -> None:
        """Wait, but no longer than until `clear`."""
        self._released.wait(seconds)

    def shown(self) -> list[dict[str, Any]]:
        with self._lock:
            return [fault.shown() for fault in self._faults]


def _check(wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        kinds = FIELDS.get(name)
        if kinds is None:
            raise ValueError(f"A fault has no field {name}. It has: {', '.join(FIELDS)}.")
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"{name} must be {' or '.join(kind.__name__ for kind in kinds)}.")
    if wanted.get("kind") not in KINDS:
        raise ValueError(f"kind must be one of: {', '.join(sorted(KINDS))}.")
    if wanted.get("operation", "*") not in OPERATION_NAMES:
        raise ValueError(f"operation must be * or one of: {', '.join(sorted(OPERATION_NAMES - {'*'}))}.")
    if wanted["kind"] == "code" and wanted.get("code") not in CATALOGUE:
        raise ValueError(f"code must be one of: {', '.join(map(str, CATALOGUE))}.")
    if wanted["kind"] == "http" and not 200 <= wanted.get("http", 0) <= 599:
        raise ValueError("http must be a status from 200 to 599.")
    if min(wanted.get(name, 0) for name in ("times", "after", "lasts")) < 0:
        raise ValueError("times, after and lasts cannot be negative.")
    if wanted["kind"] != "clock_skew" and wanted.get("seconds", 0) < 0:
        raise ValueError("seconds cannot be negative.")
