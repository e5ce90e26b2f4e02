"""The six copy-trading operations."""

from __future__ import annotations

from .rows import CONTRACT_ROOT, Operation, Param, moment, page, size

SYMBOL_FILTER = Param("symbol", "text", about="Only orders of this symbol.")
LIMIT = Param("limit", "int", low=1, high=100, default=100, about="Records at most.")
HISTORY = (
    SYMBOL_FILTER,
    LIMIT,
    moment("startTime", "From when on; 90 days before endTime when left out."),
    moment("endTime", "Until when; now when left out."),
    Param("nextKeyId", "long", low=0, about="nextKey.nextKeyId of the page before."),
    Param("nextKeyTime", "long", low=0, about="nextKey.nextKeyTime of the page before."),
)

OPERATIONS: tuple[Operation, ...] = (
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
            page(),
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
        params=(page("pageNo"), size(high=100)),
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
