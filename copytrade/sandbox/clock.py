"""The server's clock: real time plus whatever a test has advanced it by."""

from __future__ import annotations

import time


class Clock:
    """Unix milliseconds. Only ever advanced; `--speed` never touches it."""

    def __init__(self, offset_ms: int = 0) -> None:
        self.offset_ms = offset_ms

    def now_ms(self) -> int:
        return int(time.time() * 1000) + self.offset_ms

    def advance(self, milliseconds: int) -> int:
        """Move forward and return the new time."""
        self.offset_ms += milliseconds
        return self.now_ms()
