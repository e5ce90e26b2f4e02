"""Spot orders, account information and bills."""

from __future__ import annotations

from .rows import INT_MAX, SPOT_ROOT, Operation, Param, moment, page, size

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

OPERATIONS: tuple[Operation, ...] = (
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
            moment("after", "Only records created after this time."),
            moment("before", "Only records created before this time."),
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
            moment("startTime", "From when on."),
            moment("endTime", "Until when."),
            page("pageIndex"),
            size(high=100, default=10),
        ),
    ),
)
