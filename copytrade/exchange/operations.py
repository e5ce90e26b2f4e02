"""The 18 operations as rows: everything that the interface says of each.

Client methods take their checks, weights and decoding from here; tests hold method signatures, the sandbox's
routes and the contract samples against it. The two public server-time routes stand beside the table.

Source: interface.md "Endpoints" and "Limits"; labels as printed there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import records

SPOT = "spot"
CONTRACT = "contract"
USER_DATA = "USER_DATA"
TRADE = "TRADE"

SERVER_TIME = {SPOT: "/api/v3/time", CONTRACT: "/capi/v3/market/time"}
SERVER_TIME_WEIGHT = 1


@dataclass(frozen=True)
class Parameter:
    """One request parameter.

    name: on the wire. arg: in Python. kind: long, integer, text, decimal, time (ms), date (yyyy-MM-dd), longs
    (repeated), orders, settings. default: what the exchange applies when it is left out, for the reader.
    least / most: inclusive bounds. when: (arg, value) under which it is required. nullable: null may be sent.
    """

    name: str
    arg: str
    kind: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    when: tuple[str, str] | None = None
    nullable: bool = False


@dataclass(frozen=True)
class Span:
    """The bounds of startTime and endTime.

    days / months: the longest range. back_days: startTime no older than this before now. both_back: endTime
    too. ordered: endTime later than startTime (strictly).
    default_days: startTime left out means so long before `default_from` ("now" or "end").
    """

    days: int | None = None
    months: int | None = None
    back_days: int | None = None
    both_back: bool = False
    strict: bool = False
    default_days: int | None = None
    default_from: str = "now"
    end_is_now: bool = False


@dataclass(frozen=True)
class Operation:
    """One operation. envelope: list, page, items, sub, traders, cursor, deal, settings, batch, one.
    rows: the envelope's list field. retry_safe: a read, may be repeated after a lost answer."""

    name: str
    method: str
    path: str
    root: str
    label: str | None
    weight: int
    answer: type
    envelope: str
    section: str
    parameters: tuple[Parameter, ...] = ()
    rows: str = ""
    retry_safe: bool = True
    orders_10s: int = 0
    orders_1m: int = 0
    span: Span | None = None
    one_of: tuple[str, ...] = field(default=())  # args of which one is required
    key_kind: str | None = None  # a kind of key or account that alone may call it

    @property
    def permission(self) -> str:
        """The key permission that it needs (open-points.md, "Keys and permissions")."""
        if self.label != TRADE:
            return "Readonly"
        return "Spot" if self.root == SPOT else "Futures"


def _page(name: str, arg: str = "page") -> Parameter:
    return Parameter(name, arg, "integer", default=1, least=1)


def _size(name: str, default: int, most: int | None = None, arg: str = "page_size") -> Parameter:
    return Parameter(name, arg, "integer", default=default, least=1, most=most)


_UID = Parameter("uid", "uid", "long")
_START = Parameter("startTime", "start_time", "time")
_END = Parameter("endTime", "end_time", "time")
_COIN = Parameter("coin", "coin", "text", choices=("USDT", "BTC"))
_PRODUCTS = ("SPOT", "FUTURES")
_WALLETS = ("SPOT", "FUND")
_SYMBOL = Parameter("symbol", "symbol", "text")
_LIMIT = _size("limit", 100, 100, arg="limit")
_TRADER = Parameter("traderId", "trader_id", "long", required=True)
_COIN_ID = Parameter("coinId", "coin_id", "integer")
_BIZ = Parameter("bizType", "biz_type", "text")
_HISTORY = (
    _SYMBOL,
    _LIMIT,
    _START,
    _END,
    Parameter("nextKeyId", "cursor_id", "long"),
    Parameter("nextKeyTime", "cursor_time", "long"),
)

# The parameters of one order; in a batch `symbol` is said once for all.
ORDER_PARAMETERS = (
    Parameter("symbol", "symbol", "text", required=True),
    Parameter("side", "side", "text", required=True, choices=("BUY", "SELL")),
    Parameter("type", "type", "text", required=True, choices=("LIMIT", "MARKET")),
    Parameter("timeInForce", "time_in_force", "text", choices=("GTC", "IOC", "FOK"), when=("type", "LIMIT")),
    Parameter("quantity", "quantity", "decimal", required=True),
    Parameter("price", "price", "decimal", when=("type", "LIMIT")),
    Parameter("newClientOrderId", "new_client_order_id", "text"),
)
BATCH_MOST = 10

_AFFILIATE = (
    Operation(
        "affiliate_commissions", "GET", "/api/v3/rebate/affiliate/getAffiliateCommission", SPOT, None, 20,
        records.Commission, "page", "Endpoints, Affiliate", rows="channelCommissionInfoItems",
        parameters=(
            _UID, _START, _END, _COIN,
            Parameter("productType", "product_type", "text", choices=_PRODUCTS, default="SPOT"),
            _page("page"), _size("pageSize", 100),
        ),
        span=Span(months=3, default_days=7, end_is_now=True),
    ),
    Operation(
        "affiliate_users", "GET", "/api/v3/rebate/affiliate/getAffiliateUIDs", SPOT, None, 20,
        records.AffiliateUser, "page", "Endpoints, Affiliate", rows="channelUserInfoItemList",
        parameters=(_UID, _START, _END, _page("page"), _size("pageSize", 100)),
        span=Span(days=90, back_days=365, strict=True, default_days=90, default_from="end"),
    ),
    Operation(
        "affiliate_trades_and_assets", "GET", "/api/v3/rebate/affiliate/getChannelUserTradeAndAsset", SPOT, None,
        20, records.TradeAndAsset, "page", "Endpoints, Affiliate", rows="records",
        parameters=(_UID, _START, _END, _page("page"), _size("pageSize", 100)),
        span=Span(days=90, back_days=365, strict=True, default_days=90, default_from="end"),
    ),
    Operation(
        "internal_withdrawals", "GET", "/api/v3/rebate/affiliate/getInternalWithdrawalStatus", SPOT, None, 100,
        records.InternalWithdrawal, "items", "Endpoints, Affiliate", rows="items",
        parameters=(
            Parameter("withdrawID", "withdraw_id", "text"), _COIN, _START, _END,
            Parameter("fromAccountType", "from_account_type", "text", choices=_WALLETS, default="SPOT"),
            Parameter("toAccountType", "to_account_type", "text", choices=_WALLETS, default="SPOT"),
            _page("page"), _size("pageSize", 100, 200),
        ),
        span=Span(back_days=31, both_back=True),
    ),
    Operation(
        "sub_affiliates", "POST", "/api/v3/rebate/affiliate/querySubChannelTransactions", SPOT, None, 10,
        records.SubAffiliate, "sub", "Endpoints, Affiliate", rows="records", key_kind="affiliate account",
        parameters=(
            Parameter("subUid", "sub_uid", "long"),
            Parameter("startTime", "start_time", "time", nullable=True),
            Parameter("endTime", "end_time", "time", nullable=True),
            Parameter("productType", "product_type", "text", required=True, choices=_PRODUCTS),
            _page("pageNum"), _size("pageSize", 100),
        ),
        span=Span(),
    ),
    Operation(
        "deal_data", "GET", "/api/v3/agency/getDealData", SPOT, None, 10,
        records.DealData, "deal", "Endpoints, Affiliate", rows="data",
        parameters=(
            Parameter("userIds", "user_ids", "longs"),
            Parameter("startTime", "start_time", "date"), Parameter("endTime", "end_time", "date"),
        ),
    ),
)  # fmt: skip

_SPOT = (
    Operation(
        "place_order", "POST", "/api/v3/order", SPOT, TRADE, 0, records.OrderAcceptance, "one",
        "Endpoints, Spot trading and account", parameters=ORDER_PARAMETERS,
        retry_safe=False, orders_10s=1, orders_1m=1,
    ),
    Operation(
        "place_orders", "POST", "/api/v3/order/batch", SPOT, TRADE, 0, records.BatchItem, "batch",
        "Endpoints, Spot trading and account", rows="orderList",
        parameters=(
            ORDER_PARAMETERS[0],
            Parameter("orderList", "orders", "orders", required=True, least=1, most=BATCH_MOST),
        ),
        retry_safe=False, orders_10s=5, orders_1m=5,
    ),
    Operation(
        "order", "GET", "/api/v3/order", SPOT, USER_DATA, 2, records.SpotOrder, "one",
        "Endpoints, Spot trading and account",
        parameters=(
            Parameter("orderId", "order_id", "long"),
            Parameter("origClientOrderId", "orig_client_order_id", "text"),
        ),
        one_of=("order_id", "orig_client_order_id"),
    ),
    Operation(
        "account", "GET", "/api/v3/account", SPOT, USER_DATA, 5, records.AccountInfo, "one",
        "Endpoints, Spot trading and account",
    ),
    Operation(
        "bills", "POST", "/api/v3/account/bills", SPOT, USER_DATA, 5, records.Bill, "list",
        "Endpoints, Spot trading and account",
        parameters=(
            _COIN_ID, _BIZ, Parameter("after", "after", "time"), Parameter("before", "before", "time"),
            _size("limit", 10, 100, arg="limit"),
        ),
    ),
    Operation(
        "funding_bills", "POST", "/api/v3/account/fundingBills", SPOT, USER_DATA, 5, records.Bill, "items",
        "Endpoints, Spot trading and account", rows="items",
        parameters=(_COIN_ID, _BIZ, _START, _END, _page("pageIndex"), _size("pageSize", 10, 100)),
        span=Span(),
    ),
)  # fmt: skip

_COPY = (
    Operation(
        "follower_settings", "GET", "/capi/v3/copy/follower/settings", CONTRACT, USER_DATA, 10,
        records.SettingsItem, "settings", "Endpoints, Copy trading", parameters=(_TRADER,),
    ),
    Operation(
        "update_follower_settings", "POST", "/capi/v3/copy/follower/settings", CONTRACT, TRADE, 10,
        records.Success, "one", "Endpoints, Copy trading",
        parameters=(_TRADER, Parameter("settingType", "settings", "settings", required=True)),
        retry_safe=False,
    ),
    Operation(
        "open_tracking_orders", "GET", "/capi/v3/copy/follower/openOrders", CONTRACT, USER_DATA, 10,
        records.FollowerOrder, "list", "Endpoints, Copy trading",
        parameters=(_SYMBOL, _LIMIT, _page("page"), Parameter("traderId", "trader_id", "long")),
    ),
    Operation(
        "tracking_order_history", "GET", "/capi/v3/copy/follower/historyOrders", CONTRACT, USER_DATA, 10,
        records.FollowerOrder, "cursor", "Endpoints, Copy trading", rows="list",
        parameters=_HISTORY, span=Span(days=90),
    ),
    Operation(
        "my_traders", "GET", "/capi/v3/copy/follower/myTraders", CONTRACT, USER_DATA, 10,
        records.CopiedTrader, "traders", "Endpoints, Copy trading", rows="list",
        parameters=(_page("pageNo"), _size("pageSize", 100, 100)),
    ),
    Operation(
        "lead_order_history", "GET", "/capi/v3/copy/trader/historyOrders", CONTRACT, USER_DATA, 10,
        records.LeadOrder, "cursor", "Endpoints, Copy trading", rows="list",
        parameters=_HISTORY, span=Span(days=90), key_kind="copy-trade key",
    ),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {row.name: row for row in (*_AFFILIATE, *_SPOT, *_COPY)}
