"""The 18 operations as interface.md writes them, typed in again here: method, path, and a body or query that works."""

from __future__ import annotations

from typing import Any, NamedTuple

TRADER = 702345678901234567
STRANGER = 702345678901234999
COMMISSIONS = "/api/v3/rebate/affiliate/getAffiliateCommission"
USERS = "/api/v3/rebate/affiliate/getAffiliateUIDs"
ASSETS = "/api/v3/rebate/affiliate/getChannelUserTradeAndAsset"
WITHDRAWALS = "/api/v3/rebate/affiliate/getInternalWithdrawalStatus"
SUBS = "/api/v3/rebate/affiliate/querySubChannelTransactions"
DEALS = "/api/v3/agency/getDealData"
ORDER = "/api/v3/order"
BATCH = "/api/v3/order/batch"
ACCOUNT = "/api/v3/account"
BILLS = "/api/v3/account/bills"
FUNDING = "/api/v3/account/fundingBills"
SETTINGS = "/capi/v3/copy/follower/settings"
OPEN = "/capi/v3/copy/follower/openOrders"
HISTORY = "/capi/v3/copy/follower/historyOrders"
TRADERS = "/capi/v3/copy/follower/myTraders"
LEAD_HISTORY = "/capi/v3/copy/trader/historyOrders"

LIMIT_ORDER = {
    "symbol": "BTCUSDT",
    "side": "BUY",
    "type": "LIMIT",
    "timeInForce": "GTC",
    "quantity": "0.001",
    "price": "1000",
}
UNIFIED: dict[str, Any] = {
    "traderId": TRADER,
    "settingType": "unified",
    "unifiedTraceConfig": {"symbols": ["BTCUSDT", "ETHUSDT"], "traceType": "percent", "traceValue": "0.5"},
}


class Row(NamedTuple):
    """An operation of the interface; `key` is one that may call it."""

    name: str
    method: str
    path: str
    weight: int
    orders: int
    ask: Any  # a query string, or a body
    key: str = "follower-key"


ROWS = [
    Row("affiliate_commissions", "GET", COMMISSIONS, 20, 0, "", "affiliate-key"),
    Row("affiliate_users", "GET", USERS, 20, 0, "", "affiliate-key"),
    Row("affiliate_trades_and_assets", "GET", ASSETS, 20, 0, "", "affiliate-key"),
    Row("internal_withdrawals", "GET", WITHDRAWALS, 100, 0, "", "affiliate-key"),
    Row("sub_affiliates", "POST", SUBS, 10, 0, {"productType": "SPOT"}, "affiliate-key"),
    Row("deal_data", "GET", DEALS, 10, 0, "", "affiliate-key"),
    Row("account", "GET", ACCOUNT, 5, 0, ""),
    Row("bills", "POST", BILLS, 5, 0, {}),
    Row("funding_bills", "POST", FUNDING, 5, 0, {}),
    Row("order", "GET", ORDER, 2, 0, "origClientOrderId=probe"),
    Row("place_order", "POST", ORDER, 0, 1, LIMIT_ORDER | {"newClientOrderId": "probe"}),
    Row("place_orders", "POST", BATCH, 0, 5, {"symbol": "BTCUSDT", "orderList": [LIMIT_ORDER]}),
    Row("follower_settings", "GET", SETTINGS, 10, 0, f"traderId={TRADER}"),
    Row("update_follower_settings", "POST", SETTINGS, 10, 0, UNIFIED),
    Row("open_tracking_orders", "GET", OPEN, 10, 0, ""),
    Row("tracking_order_history", "GET", HISTORY, 10, 0, ""),
    Row("my_traders", "GET", TRADERS, 10, 0, ""),
    Row("lead_order_history", "GET", LEAD_HISTORY, 10, 0, "", "lead-key"),
]
