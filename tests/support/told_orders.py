"""Orders as the exchange's lists tell them: open, and closed by the history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from copytrade.exchange.records import FollowerOrder

START = datetime(2026, 1, 1, tzinfo=UTC)
UID = 702345678901234567


def order(number: int = 1, at: int = 0, **changed: Any) -> FollowerOrder:
    """An open order as the open list tells it, updated `at` minutes after the start."""
    told = {
        "tracking_no": number, "trader_name": "Northwind", "open_order_id": 2**60 + number, "close_order_id": 0,
        "trader_id": UID, "symbol": "BTCUSDT", "open_leverage": 10, "open_price_avg": Decimal("60000.10"),
        "open_time": START, "open_size": Decimal("0.010"), "open_fee": Decimal("0.36"),
        "open_margin_amount": Decimal("60.0001"), "open_fill_size": Decimal("0.010"), "position_side": "LONG",
        "status": "HAVE_OPEN", "realized_pnl": Decimal(0), "profit_rate": Decimal(0), "net_profit": Decimal(0),
        "close_size": Decimal(0), "created_time": START, "update_time": START + timedelta(minutes=at),
    }  # fmt: skip
    return FollowerOrder(**(told | changed))


def closed(number: int = 1, at: int = 60, net: str = "5", **changed: Any) -> FollowerOrder:
    told = {
        "status": "CLOSED", "close_order_id": 2**61 + number, "close_time": START + timedelta(minutes=60),
        "close_avg_price": Decimal("60500"), "close_size": Decimal("0.010"), "realized_pnl": Decimal("6"),
        "profit_rate": Decimal("0.1"), "net_profit": Decimal(net),
    }  # fmt: skip
    return order(number, at, **(told | changed))
