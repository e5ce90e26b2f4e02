"""What the method groups of the client share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from . import checks
from .calls import Caller
from .errors import LocalRefusal
from .operations import OPERATIONS, TRADE, Operation


class Methods:
    """Check, then send."""

    _caller: Caller
    allow_writes: bool

    def _call(self, name: str, /, **arguments: Any) -> tuple[Operation, Any]:
        """Check the arguments against the table and make the call: (operation, decoded JSON)."""
        operation = self._writable(name)
        return operation, self._send(operation, checks.prepare(operation, arguments, self._now()))

    def _writable(self, name: str) -> Operation:
        """The operation; raises LocalRefusal when it changes something and writing is not switched on."""
        operation = OPERATIONS[name]
        if operation.label == TRADE and not self.allow_writes:
            sentence = "This connection only reads; its owner has to switch writing on first."
            raise LocalRefusal.of("allow_writes", "not_allowed", sentence, operation=name, fault="operation")
        return operation

    def _send(self, operation: Operation, parameters: dict[str, Any]) -> Any:
        return self._caller.call(operation, parameters)

    def _now(self) -> datetime:
        return self._caller.clock.moment()
