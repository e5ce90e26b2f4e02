"""What the battery needs: for every operation the key that may call it, and a call that succeeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from copytrade.exchange import OPERATIONS, ExchangeClient, NewOrder, Page
from copytrade.rules import CopySettings
from tests.support.sandbox_process import Sandbox

from .scripted import client_of

PASSPHRASE = "sandbox"
TRADER = 702345678901234567
PER_SYMBOL_TRADER = 704560917733280453
AFFILIATE = [name for name, row in OPERATIONS.items() if "/rebate/" in row.path or "/agency/" in row.path]
KEYS = {
    **dict.fromkeys(OPERATIONS, "follower"),
    **dict.fromkeys(AFFILIATE, "affiliate"),
    "lead_order_history": "lead",
}
READS = [name for name, row in OPERATIONS.items() if row.retry_safe]
WRITES = [name for name, row in OPERATIONS.items() if not row.retry_safe]
LISTS = [name for name, row in OPERATIONS.items() if row.envelope not in ("one", "batch", "settings")]
CLIENT_ORDER = "battery-1"
RESTING = {
    "side": "BUY",
    "type": "LIMIT",
    "time_in_force": "GTC",
    "quantity": Decimal("0.01"),
    "price": Decimal(900),
}

CALLS: dict[str, dict[str, Any]] = {
    **{name: {} for name in OPERATIONS},
    "sub_affiliates": {"product_type": "FUTURES"},
    "place_order": {"symbol": "BTCUSDT", **RESTING, "new_client_order_id": CLIENT_ORDER},
    "place_orders": {
        "symbol": "BTCUSDT",
        "orders": [
            NewOrder(**RESTING, new_client_order_id=CLIENT_ORDER),
            NewOrder("SELL", "MARKET", Decimal(1000)),
        ],
    },
    "order": {"orig_client_order_id": CLIENT_ORDER},
    "follower_settings": {"trader_id": TRADER},
}


@dataclass
class Desk:
    """A sandbox and the clients that talk to it."""

    sandbox: Sandbox

    def client(self, name: str = "my_traders", **options: Any) -> ExchangeClient:
        """A client with the key that may call this operation."""
        account = options.pop("account", KEYS[name])
        key = {"key": f"{account}-key", "secret": f"{account}-secret", "passphrase": PASSPHRASE, **options}
        return client_of(self.sandbox.url, **key)

    def arguments(self, name: str) -> dict[str, Any]:
        """Arguments of a call that succeeds, changed settings included; for `order` there is one to look at."""
        if name == "order":
            self.client(name).place_order(**CALLS["place_order"])
        if name != "update_follower_settings":
            return CALLS[name]
        return {"trader_id": TRADER, "settings": self.wanted(), "supported": self.symbols()}

    def call(self, name: str, client: ExchangeClient | None = None) -> Any:
        arguments = self.arguments(name)
        return getattr(client or self.client(name), name)(**arguments)

    def settings(self) -> CopySettings:
        """As the exchange holds them now."""
        found = self.client().follower_settings(trader_id=TRADER).settings
        assert found is not None
        return found

    def wanted(self) -> CopySettings:
        """The settings now, with another copy value."""
        now = self.settings()
        return replace(
            now, configs=tuple(replace(config, trace_value=Decimal("0.77")) for config in now.configs)
        )

    def symbols(self) -> tuple[str, ...]:
        return self.settings().configs[0].symbols or ()

    def applied(self, name: str) -> bool:
        """Whether a write has had its effect, by the sandbox's own account."""
        truth = self.sandbox.truth("follower")
        if name == "update_follower_settings":
            return self.settings().configs[0].trace_value == Decimal("0.77")
        return any(order["client_id"] == CLIENT_ORDER for order in truth["spot"]["orders"])

    def received(self, name: str) -> list[dict[str, Any]]:
        """The calls of an operation that reached the exchange."""
        calls: list[dict[str, Any]] = self.sandbox.calls()["calls"]
        return [call for call in calls if call["operation"] == name]


def rows(answer: Any) -> list[Any]:
    """The records of any answer."""
    if isinstance(answer, Page):
        return answer.records
    return list(getattr(answer, "results", None) or getattr(answer, "items", None) or [answer])
