"""The contract samples, and for every operation a call that the interface allows."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from copytrade.exchange import Cursor, NewOrder
from copytrade.rules import UNIFIED, CopySettings, TraceConfig

FOLDER = Path(__file__).parents[2] / "contract"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
TRADER = 702345678901234567
START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 20, 12, 30, 0, 123000, tzinfo=UTC)
NOW = datetime(2026, 11, 21, tzinfo=UTC)
SETTINGS = CopySettings(
    UNIFIED,
    (
        TraceConfig(
            symbol=None,
            symbols=("BTCUSDT", "ETHUSDT"),
            trace_type="percent",
            trace_value=Decimal("0.5"),
            max_hold=Decimal(500),
            take_profit=Decimal("0.3"),
            stop_loss=Decimal("0.2"),
            slippage=Decimal("0.005"),
            margin_type="cross",
            leverage_type="trader",
        ),
    ),
)


def sample(name: str) -> Any:
    """The answer of an operation as JSON, decimals and ids as Python reads them."""
    return json.loads((FOLDER / f"{name}.json").read_text())


# Every parameter of every operation, used once.
CALLS: dict[str, dict[str, Any]] = {
    "affiliate_commissions": {
        "uid": 5, "start_time": START, "end_time": END, "coin": "USDT", "product_type": "FUTURES",
        "page": 2, "page_size": 50,
    },
    "affiliate_users": {"uid": 5, "start_time": START, "end_time": END, "page": 2, "page_size": 50},
    "affiliate_trades_and_assets": {"uid": 5, "start_time": START, "end_time": END, "page": 2, "page_size": 50},
    "internal_withdrawals": {
        "withdraw_id": "w 1/ä", "coin": "BTC", "start_time": START, "end_time": END, "from_account_type": "FUND",
        "to_account_type": "SPOT", "page": 2, "page_size": 200,
    },
    "sub_affiliates": {
        "sub_uid": 7, "start_time": START, "end_time": END, "product_type": "SPOT", "page": 2, "page_size": 50,
    },
    "deal_data": {"user_ids": [1, 2], "start_time": date(2026, 11, 1), "end_time": date(2026, 11, 20)},
    "place_order": {
        "symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "time_in_force": "GTC", "quantity": Decimal("0.5"),
        "price": Decimal("1E+3"), "new_client_order_id": "desk-1",
    },
    "place_orders": {
        "symbol": "BTCUSDT",
        "orders": [
            NewOrder("BUY", "LIMIT", Decimal("0.5"), "IOC", Decimal(1000), "desk-2"),
            NewOrder("SELL", "MARKET", Decimal("0.1")),
        ],
    },
    "order": {"order_id": 9, "orig_client_order_id": "desk 1&x=y+z"},
    "account": {},
    "bills": {"coin_id": 2, "biz_type": "deposit", "after": START, "before": END, "limit": 100},
    "funding_bills": {
        "coin_id": 2, "biz_type": "deposit", "start_time": START, "end_time": END, "page": 2, "page_size": 100,
    },
    "follower_settings": {"trader_id": TRADER},
    "update_follower_settings": {
        "trader_id": TRADER, "settings": SETTINGS, "supported": ["BTCUSDT", "ETHUSDT", "SOLUSDT"],
    },
    "open_tracking_orders": {"symbol": "BTCUSDT", "limit": 7, "page": 2, "trader_id": TRADER},
    "tracking_order_history": {
        "symbol": "BTCUSDT", "limit": 7, "start_time": START, "end_time": END, "cursor": Cursor(TRADER, 1763000000000),
    },
    "my_traders": {"page": 2, "page_size": 7},
    "lead_order_history": {
        "symbol": "BTCUSDT", "limit": 7, "start_time": START, "end_time": END, "cursor": Cursor(TRADER, 1763000000000),
    },
}  # fmt: skip

# The least that the interface requires.
LEAST: dict[str, dict[str, Any]] = {
    **{name: {} for name in CALLS},
    "sub_affiliates": {"product_type": "SPOT"},
    "place_order": {"symbol": "BTCUSDT", "side": "SELL", "type": "MARKET", "quantity": Decimal("0.01")},
    "place_orders": {"symbol": "BTCUSDT", "orders": [NewOrder("SELL", "MARKET", Decimal("0.01"))]},
    "order": {"order_id": 9},
    "follower_settings": {"trader_id": TRADER},
    "update_follower_settings": CALLS["update_follower_settings"],
}
