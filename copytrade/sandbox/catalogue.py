"""The 18 operations as the sandbox serves them: path, label, weight, parameters with their bounds.

Written from interface.md, apart from the client's own table; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SPOT_ROOT = "spot"
CONTRACT_ROOT = "contract"

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


@dataclass(frozen=True)
class Param:
    """One parameter. `kind`: long, int, text, decimal, choice, date, longs, objects or object."""

    name: str
    kind: str
    required: bool = False
    low: int | None = None
    high: int | None = None
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    code: int = -1142  # the answer to a value of the wrong form
    about: str = ""


@dataclass(frozen=True)
class Operation:
    """One operation. `needs` is the permission; `only` the kind of key or account it is kept for."""

    name: str
    method: str
    path: str
    root: str
    label: str  # USER_DATA, TRADE or ""
    needs: str  # Readonly, Spot or Futures
    weight: int
    answer: str  # the schema of a success, in schemas.py
    summary: str
    params: tuple[Param, ...] = ()
    orders: int = 0  # what one call adds to the order counts
    only: str = ""  # "copy-trade" or "affiliate"
    also_slash: bool = False
    tag: str = field(default="")


def _page(name: str = "page") -> Param:
    return Param(name, "int", low=1, high=INT_MAX, default=1, about="Page number, from 1.")


def _size(name: str = "pageSize", *, high: int | None = None, default: int = 100) -> Param:
    return Param(name, "int", low=1, high=high or INT_MAX, default=default, about="Records on a page.")


def _moment(name: str, about: str) -> Param:
    return Param(name, "long", low=0, about=about + " Unix milliseconds, UTC.")


COIN = Param("coin", "choice", choices=("USDT", "BTC"), about="The asset.")
UID = Param("uid", "long", low=0, about="An invited user's UID.")
SYMBOL_FILTER = Param("symbol", "text", about="Only orders of this symbol.")
LIMIT = Param("limit", "int", low=1, high=100, default=100, about="Records at most.")
HISTORY = (
    SYMBOL_FILTER,
    LIMIT,
    _moment("startTime", "From when on; 90 days before endTime when left out."),
    _moment("endTime", "Until when; now when left out."),
    Param("nextKeyId", "long", low=0, about="nextKey.nextKeyId of the page before."),
    Param("nextKeyTime", "long", low=0, about="nextKey.nextKeyTime of the page before."),
)
NINETY_DAYS = (
    UID,
    _moment("startTime", "Within the last 365 days; 90 days before endTime when left out."),
    _moment("endTime", "Later than startTime, at most 90 days; now when left out."),
    _page(),
    _size(),
)
ORDER_FIELDS = (
    Param("side", "choice", required=True, choices=("BUY", "SELL"), code=-1117),
    Param("type", "choice", required=True, choices=("LIMIT", "MARKET"), code=-1116),
    Param("timeInForce", "choice", choices=("GTC", "IOC", "FOK"), code=-1115, about="Required for LIMIT."),
    Param("quantity", "decimal", required=True, about="In base coin, above 0."),
    Param("price", "decimal", about="Required for LIMIT, above 0."),
    Param("newClientOrderId", "text", about="Unique among active orders; made up when left out."),
)
PAIR = Param("symbol", "text", required=True, about="The trading pair.")
BILL_FILTER = (
    Param("coinId", "int", low=0, high=INT_MAX, about="The asset's ID; 2 is USDT."),
    Param("bizType", "text", about="The business type."),
)
WALLETS = ("SPOT", "FUND")

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "affiliate_commissions",
        "GET",
        "/api/v3/rebate/affiliate/getAffiliateCommission",
        SPOT_ROOT,
        "",
        "Readonly",
        20,
        "AffiliateCommissions",
        "Commissions of the affiliate",
        tag="Affiliate",
        params=(
            UID,
            _moment("startTime", "7 days before now when left out; at most 3 months before endTime."),
            _moment("endTime", "Now when left out."),
            COIN,
            Param("productType", "choice", choices=("SPOT", "FUTURES"), default="SPOT"),
            _page(),
            _size(),
        ),
    ),
    Operation(
        "affiliate_users",
        "GET",
        "/api/v3/rebate/affiliate/getAffiliateUIDs",
        SPOT_ROOT,
        "",
        "Readonly",
        20,
        "AffiliateUsers",
        "Users invited by the affiliate",
        NINETY_DAYS,
        tag="Affiliate",
    ),
    Operation(
        "affiliate_trades_and_assets",
        "GET",
        "/api/v3/rebate/affiliate/getChannelUserTradeAndAsset",
        SPOT_ROOT,
        "",
        "Readonly",
        20,
        "AffiliateTradesAndAssets",
        "What invited users traded and moved",
        NINETY_DAYS,
        tag="Affiliate",
    ),
    Operation(
        "internal_withdrawals",
        "GET",
        "/api/v3/rebate/affiliate/getInternalWithdrawalStatus",
        SPOT_ROOT,
        "",
        "Readonly",
        100,
        "InternalWithdrawals",
        "Internal withdrawals of the past month",
        tag="Affiliate",
        params=(
            Param("withdrawID", "text", about="One withdrawal."),
            COIN,
            _moment("startTime", "Within the past 31 days."),
            _moment("endTime", "Within the past 31 days."),
            Param("fromAccountType", "choice", choices=WALLETS, default="SPOT"),
            Param("toAccountType", "choice", choices=WALLETS, default="SPOT"),
            _page(),
            _size(high=200),
        ),
    ),
    Operation(
        "sub_affiliates",
        "POST",
        "/api/v3/rebate/affiliate/querySubChannelTransactions",
        SPOT_ROOT,
        "",
        "Readonly",
        10,
        "SubAffiliates",
        "Figures of sub-affiliates",
        tag="Affiliate",
        only="affiliate",
        params=(
            Param("subUid", "long", low=0, about="A sub-affiliate's UID."),
            _moment("startTime", "May be null."),
            _moment("endTime", "May be null."),
            Param("productType", "choice", required=True, choices=("SPOT", "FUTURES")),
            _page("pageNum"),
            _size(),
        ),
    ),
    Operation(
        "deal_data",
        "GET",
        "/api/v3/agency/getDealData",
        SPOT_ROOT,
        "",
        "Readonly",
        10,
        "DealData",
        "Deal volume of direct customers",
        tag="Affiliate",
        params=(
            Param("userIds", "longs", about="Repeated; every direct user when left out."),
            Param("startTime", "date", about="UTC date, yyyy-MM-dd."),
            Param("endTime", "date", about="UTC date, yyyy-MM-dd."),
        ),
    ),
    Operation(
        "place_order",
        "POST",
        "/api/v3/order",
        SPOT_ROOT,
        "TRADE",
        "Spot",
        0,
        "OrderAcceptance",
        "Place an order",
        (PAIR, *ORDER_FIELDS),
        orders=1,
        tag="Spot",
    ),
    Operation(
        "place_orders",
        "POST",
        "/api/v3/order/batch",
        SPOT_ROOT,
        "TRADE",
        "Spot",
        0,
        "BatchResult",
        "Place up to 10 orders",
        orders=5,
        tag="Spot",
        params=(PAIR, Param("orderList", "objects", required=True, low=1, high=10, about="The orders.")),
    ),
    Operation(
        "order",
        "GET",
        "/api/v3/order",
        SPOT_ROOT,
        "USER_DATA",
        "Readonly",
        2,
        "SpotOrder",
        "Order details",
        tag="Spot",
        params=(
            Param("orderId", "long", low=0, about="Required when origClientOrderId is absent."),
            Param("origClientOrderId", "text", about="Required when orderId is absent."),
        ),
    ),
    Operation(
        "account",
        "GET",
        "/api/v3/account",
        SPOT_ROOT,
        "USER_DATA",
        "Readonly",
        5,
        "AccountInformation",
        "Account information",
        also_slash=True,
        tag="Account",
    ),
    Operation(
        "bills",
        "POST",
        "/api/v3/account/bills",
        SPOT_ROOT,
        "USER_DATA",
        "Readonly",
        5,
        "Bills",
        "Spot account bills",
        tag="Account",
        params=(
            *BILL_FILTER,
            _moment("after", "Only records created after this time."),
            _moment("before", "Only records created before this time."),
            Param("limit", "int", low=1, high=100, default=10, about="Records at most."),
        ),
    ),
    Operation(
        "funding_bills",
        "POST",
        "/api/v3/account/fundingBills",
        SPOT_ROOT,
        "USER_DATA",
        "Readonly",
        5,
        "FundingBills",
        "Funding account bills",
        tag="Account",
        params=(
            *BILL_FILTER,
            _moment("startTime", "From when on."),
            _moment("endTime", "Until when."),
            _page("pageIndex"),
            _size(high=100, default=10),
        ),
    ),
    Operation(
        "follower_settings",
        "GET",
        "/capi/v3/copy/follower/settings",
        CONTRACT_ROOT,
        "USER_DATA",
        "Readonly",
        10,
        "FollowerSettings",
        "Copy settings for a trader",
        tag="Copy trading",
        params=(Param("traderId", "long", required=True, low=0, about="The copy trader's UID."),),
    ),
    Operation(
        "update_follower_settings",
        "POST",
        "/capi/v3/copy/follower/settings",
        CONTRACT_ROOT,
        "TRADE",
        "Futures",
        10,
        "StandardSuccess",
        "Update copy settings",
        tag="Copy trading",
        params=(
            Param("traderId", "long", required=True, low=0, about="The copy trader's UID."),
            Param("settingType", "choice", required=True, choices=("unified", "per_symbol")),
            Param("unifiedTraceConfig", "object", about="Required when settingType is unified."),
            Param("symbolTraceConfigs", "objects", about="Required when settingType is per_symbol."),
        ),
    ),
    Operation(
        "open_tracking_orders",
        "GET",
        "/capi/v3/copy/follower/openOrders",
        CONTRACT_ROOT,
        "USER_DATA",
        "Readonly",
        10,
        "OpenTrackingOrders",
        "Open tracking orders of the follower",
        tag="Copy trading",
        params=(
            SYMBOL_FILTER,
            LIMIT,
            _page(),
            Param("traderId", "long", low=0, about="Only copies of this trader."),
        ),
    ),
    Operation(
        "tracking_order_history",
        "GET",
        "/capi/v3/copy/follower/historyOrders",
        CONTRACT_ROOT,
        "USER_DATA",
        "Readonly",
        10,
        "FollowerHistory",
        "Closed tracking orders of the follower",
        HISTORY,
        tag="Copy trading",
    ),
    Operation(
        "my_traders",
        "GET",
        "/capi/v3/copy/follower/myTraders",
        CONTRACT_ROOT,
        "USER_DATA",
        "Readonly",
        10,
        "TraderList",
        "Traders being copied",
        tag="Copy trading",
        params=(_page("pageNo"), _size(high=100)),
    ),
    Operation(
        "lead_order_history",
        "GET",
        "/capi/v3/copy/trader/historyOrders",
        CONTRACT_ROOT,
        "USER_DATA",
        "Readonly",
        10,
        "LeadHistory",
        "Closed tracking orders of the trader",
        HISTORY,
        only="copy-trade",
        tag="Copy trading",
    ),
)

BY_NAME = {operation.name: operation for operation in OPERATIONS}
TIME_ROUTES = {"/api/v3/time": SPOT_ROOT, "/capi/v3/market/time": CONTRACT_ROOT}


def _routes() -> dict[str, dict[str, Operation]]:
    routes: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        for path in [operation.path] + [operation.path + "/"] * operation.also_slash:
            routes.setdefault(path, {})[operation.method] = operation
    return routes


ROUTES = _routes()
