"""The ledger held against the sandbox's truth: the same orders, each number to the last digit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from copytrade.models import Account, TrackingOrder

NUMBERS = {
    "open_price_avg": "openPriceAvg", "open_size": "openSize", "open_fee": "openFee",
    "open_margin_amount": "openMarginAmount", "open_fill_size": "openFillSize",
    "tp_trigger_price": "tpTriggerPrice", "sl_trigger_price": "slTriggerPrice",
    "close_avg_price": "closeAvgPrice", "close_size": "closeSize", "realized_pnl": "realizedPnl",
    "profit_rate": "profitRate", "net_profit": "netProfit",
}  # fmt: skip
PLAIN = {
    "tracking_no": "trackingNo", "trader_name": "traderName", "open_order_id": "openOrderId",
    "close_order_id": "closeOrderId", "symbol": "symbol", "open_leverage": "openLeverage",
    "position_side": "positionSide", "status": "status",
}  # fmt: skip
TIMES = {
    "open_time": "openTime", "close_time": "closeTime", "created_time": "createdTime", "update_time": "updateTime",
}  # fmt: skip


def moment(value: int | str) -> datetime | None:
    """ms since 1970, as a number or text; "" is None."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(value)) if value != "" else None


def expected(wire: dict[str, Any]) -> dict[str, Any]:
    """What a row must hold for an order as the sandbox tells it."""
    row: dict[str, Any] = {ours: wire[theirs] for ours, theirs in PLAIN.items()}
    row |= {ours: Decimal(wire[theirs]) if wire[theirs] != "" else None for ours, theirs in NUMBERS.items()}
    row |= {ours: moment(wire[theirs]) for ours, theirs in TIMES.items()}
    return row | {"trader": wire["traderID"], "closed": wire["status"] == "CLOSED"}


def held(order: TrackingOrder) -> dict[str, Any]:
    """The same of a stored order."""
    row = {name: getattr(order, name) for name in (*PLAIN, *NUMBERS, *TIMES, "closed")}
    return row | {"trader": order.trader.trader_id}


def assert_ledger_is(account: Account, truth: dict[str, Any]) -> None:
    """Every order of the truth is there once and equal, and nothing else is."""
    rows = list(TrackingOrder.objects.filter(account=account).select_related("trader"))
    stored = {order.tracking_no: held(order) for order in rows}
    wanted = {wire["trackingNo"]: expected(wire) for wire in [*truth["closed"], *truth["open"]]}
    assert len(rows) == len(stored), "an order is there twice"
    assert not wanted.keys() - stored.keys(), "orders are lost"
    assert not stored.keys() - wanted.keys(), "orders were invented"
    wrong = {number: (stored[number], row) for number, row in wanted.items() if stored[number] != row}
    assert not wrong, f"{len(wrong)} orders differ, for example {next(iter(wrong.values()))}"
