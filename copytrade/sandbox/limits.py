"""The limits: weight by source address and address root, orders by account.

Windows are fixed and aligned to the server's clock. A refused call (429) counts nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from .errors import Refusal

TEN_SECONDS = 10_000
MINUTE = 60_000


@dataclass
class _Counter:
    """What one caller used in the current window of each length (ms)."""

    used: dict[int, tuple[int, int]]  # length -> (window number, used)

    def get(self, length: int, now_ms: int) -> int:
        window, used = self.used.get(length, (-1, 0))
        return used if window == now_ms // length else 0

    def add(self, amount: int, now_ms: int) -> None:
        for length in (TEN_SECONDS, MINUTE):
            self.used[length] = (now_ms // length, self.get(length, now_ms) + amount)


class Limits:
    """`weight_limit` per 10 s and `order_limit` per 10 s (five times that per minute); 0 switches off."""

    def __init__(self, weight_limit: int, order_limit: int) -> None:
        self.weight_limit = weight_limit
        self.order_limit = order_limit
        self._counters: dict[tuple[str, str], _Counter] = {}
        self._lock = threading.Lock()

    def spend_weight(self, root: str, address: str, weight: int, now_ms: int) -> dict[str, str]:
        """Count a call and return the headers for its answer. Raises Refusal -1003 when over."""
        with self._lock:
            counter = self._counters.setdefault((root, address), _Counter({}))
            if self.weight_limit and counter.get(TEN_SECONDS, now_ms) + weight > self.weight_limit:
                raise Refusal(-1003, f"Too many requests: more than {self.weight_limit} weight within 10 s.")
            counter.add(weight, now_ms)
        return self.weight_headers(root, address, now_ms)

    def weight_headers(self, root: str, address: str, now_ms: int) -> dict[str, str]:
        counter = self._counters.get((root, address)) or _Counter({})
        used = counter.get(TEN_SECONDS, now_ms)
        headers = {"X-USED-WEIGHT-1M": str(counter.get(MINUTE, now_ms)), "X-USED-WEIGHT-10S": str(used)}
        if self.weight_limit:
            headers["X-REMAINING-WEIGHT-10S"] = str(max(0, self.weight_limit - used))
        return headers

    def spend_orders(self, account: str, orders: int, now_ms: int) -> None:
        """Count placed orders; a batch counts as five whatever its length. Raises Refusal -1003 when over."""
        with self._lock:
            counter = self._counters.setdefault(("orders", account), _Counter({}))
            for length, most in ((TEN_SECONDS, self.order_limit), (MINUTE, 5 * self.order_limit)):
                if self.order_limit and counter.get(length, now_ms) + orders > most:
                    raise Refusal(-1003, f"Too many orders: more than {most} within {length // 1000} s.")
            counter.add(orders, now_ms)

    def order_headers(self, account: str, now_ms: int) -> dict[str, str]:
        counter = self._counters.get(("orders", account)) or _Counter({})
        return {
            "X-ORDER-COUNT-10S": str(counter.get(TEN_SECONDS, now_ms)),
            "X-ORDER-COUNT-1M": str(counter.get(MINUTE, now_ms)),
        }
