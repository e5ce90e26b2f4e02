"""The records and envelopes of interface.md, "Resources and their fields", as JSON schemas.

Short words: text, amount (decimal as text), amount-or-empty, ms-or-empty, ms-text, int, long, ms, flag, date.
A name with `?` may be absent; a type with `?` may be null.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"
DECIMAL_OR_EMPTY = r"^(-?[0-9]+(\.[0-9]+)?)?$"

WORDS: dict[str, Schema] = {
    "text": {"type": "string"},
    "amount": {"type": "string", "pattern": DECIMAL, "examples": ["12.5"]},
    "amount-or-empty": {"type": "string", "pattern": DECIMAL_OR_EMPTY},
    "ms-text": {"type": "string", "pattern": "^[0-9]+$", "description": "Unix milliseconds as text"},
    "ms-or-empty": {
        "type": "string",
        "pattern": "^[0-9]*$",
        "description": "Unix milliseconds as text, or empty",
    },
    "int": {"type": "integer", "format": "int32"},
    "long": {"type": "integer", "format": "int64"},
    "ms": {"type": "integer", "format": "int64", "description": "Unix milliseconds, UTC"},
    "flag": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "object": {"type": "object"},
    "texts": {"type": "array", "items": {"type": "string"}},
}

RECORDS: dict[str, dict[str, str]] = {
    "Error": {"code": "int", "msg": "text"},
    "StandardSuccess": {"code": "text", "msg": "text", "requestTime": "ms"},
    "ServerTime": {"serverTime": "ms"},
    "AffiliateCommission": {
        "uid": "text", "date": "ms", "coin": "text", "productType": "text", "fee": "amount", "commission": "amount",
        "rate": "amount", "symbol": "text", "sourceType": "int", "takerAmount": "amount", "makerAmount": "amount",
    },
    "AffiliateUser": {
        "uid": "text", "registerTime": "ms", "kycResult": "flag", "inviteCode": "text", "firstDeposit": "ms",
        "firstTrade": "ms", "lastDeposit": "ms", "lastTrade": "ms",
    },
    "AffiliateTradeAndAsset": {
        "uid": "text", "depositAmount": "amount", "withdrawalAmount": "amount", "spotTradingAmount": "amount",
        "futuresTradingAmount": "amount", "commission": "amount",
    },
    "InternalWithdrawal": {
        "fromUserId": "long", "toUserId": "long", "withdrawId": "text", "coin": "text", "status": "text",
        "amount": "amount", "createTime": "ms", "updateTime": "ms",
    },
    "SubAffiliate": {
        "subAffiliateUid": "text", "productType": "text", "date": "date", "tradingVolume": "amount",
        "netTradingFee": "amount", "paidCommission": "amount",
    },
    "DealDataItem": {
        "userId": "long", "spotDealAmountUsdt": "amount", "futuresProDealAmountUsdt": "amount",
        "spotProDealAmountUsdtTemp": "text",
    },
    "OrderAcceptance": {"symbol": "text", "orderId": "long", "clientOrderId": "text", "transactTime": "ms"},
    "BatchOrderResult": {
        "symbol": "text", "clientOrderId": "text", "orderId?": "long", "transactTime?": "ms", "errorCode?": "text",
        "errorMsg?": "text",
    },
    "SpotOrder": {
        "symbol": "text", "orderId": "long", "clientOrderId": "text", "price": "amount", "origQty": "amount",
        "executedQty": "amount", "cummulativeQuoteQty": "amount", "status": "text", "timeInForce": "text",
        "type": "text", "side": "text", "time": "ms", "updateTime": "ms", "isWorking": "flag",
    },
    "Balance": {"asset": "text", "free": "amount", "locked": "amount"},
    "CommissionRates": {"maker": "amount", "taker": "amount"},
    "AccountInformation": {
        "makerCommission": "int", "takerCommission": "int", "commissionRates": "CommissionRates", "canTrade": "flag",
        "canWithdraw": "flag", "canDeposit": "flag", "brokered?": "flag", "requireSelfTradePrevention": "flag",
        "preventSor": "flag", "updateTime?": "ms", "accountType?": "text", "balances": "[Balance]",
        "permissions": "texts", "uid": "long", "symbolCommissions": "object",
    },
    "Bill": {
        "billId": "text", "coinId": "int", "coinName": "text", "bizType": "text", "fillSize?": "amount",
        "fillValue?": "amount", "deltaAmount": "amount", "afterAmount": "amount", "fees": "amount", "cTime": "ms-text",
    },
    "CustomLeverage": {"symbol": "text", "longLeverage": "int", "shortLeverage": "int"},
    "FollowerSettingsItem": {
        "copyEnable": "flag", "symbol": "text?", "symbols": "texts?", "productType": "text", "settingMode": "text",
        "traceType": "text", "traceValue": "amount", "maxHoldSize": "amount?", "marginType": "text",
        "marginCoin": "text", "leverageType": "text", "longLeverage": "int?", "shortLeverage": "int?",
        "customLeverages": "[CustomLeverage]?", "takeProfitRatio": "amount?", "stopLossRatio": "amount?",
        "slippageRatio": "amount?",
    },
    "FollowerOrder": {
        "trackingNo": "long", "traderName": "text", "openOrderId": "long", "closeOrderId": "long", "traderID": "long",
        "symbol": "text", "openLeverage": "int", "openPriceAvg": "amount", "openTime": "ms", "openSize": "amount",
        "openFee": "amount", "openMarginAmount": "amount", "openFillSize": "amount", "positionSide": "text",
        "status": "text", "tpTriggerPrice": "amount-or-empty", "slTriggerPrice": "amount-or-empty",
        "closeAvgPrice": "amount-or-empty", "closeSize": "amount-or-empty", "closeTime": "ms-or-empty",
        "realizedPnl": "amount", "profitRate": "amount", "netProfit": "amount", "createdTime": "ms", "updateTime": "ms",
    },
    "LeadOrder": {
        "trackingNo": "long", "symbol": "text", "openOrderId": "long", "openLeverage": "int", "openPriceAvg": "amount",
        "openTime": "ms", "openSize": "amount", "openFee": "amount", "openMarginAmount": "amount",
        "openFillSize": "amount", "positionSide": "text", "status": "text", "tpTriggerPrice": "amount-or-empty",
        "slTriggerPrice": "amount-or-empty", "realizedPnl": "amount", "profitRate": "amount", "netProfit": "amount",
        "followCount": "int", "createdTime": "ms", "updateTime": "ms",
    },
    "CopiedTrader": {
        "traderId": "long", "traderName": "text", "copyTradingBalance": "amount", "traceTotalProfit": "amount",
        "totalInvestment": "amount", "availableBalance": "amount", "transferableBalance": "amount",
    },
    "NextKey": {"nextKeyId": "long", "nextKeyTime": "ms"},
    # Envelopes
    "AffiliateCommissions": {
        "pages": "int", "pageSize": "int", "total": "long", "channelCommissionInfoItems": "[AffiliateCommission]",
    },
    "AffiliateUsers": {
        "pages": "int", "pageSize": "int", "total": "long", "channelUserInfoItemList": "[AffiliateUser]",
    },
    "AffiliateTradesAndAssets": {
        "pages": "int", "pageSize": "int", "total": "long", "records": "[AffiliateTradeAndAsset]",
    },
    "InternalWithdrawals": {
        "total": "long", "pageSize": "int", "pages": "int", "page": "int", "hasNextPage": "flag",
        "items": "[InternalWithdrawal]",
    },
    "SubAffiliates": {
        "records": "[SubAffiliate]", "total": "long", "size": "int", "current": "int", "pages": "int",
    },
    "DealData": {"data": "[DealDataItem]", "startTime": "date", "endTime": "date"},
    "BatchResult": {"orderList": "[BatchOrderResult]"},
    "FundingBills": {
        "total": "long", "pageSize": "int", "pages": "int", "page": "int", "hasNextPage": "flag", "items": "[Bill]",
    },
    "FollowerHistory": {"list": "[FollowerOrder]", "nextFlag": "flag", "nextKey": "NextKey?"},
    "LeadHistory": {"list": "[LeadOrder]", "nextFlag": "flag", "nextKey": "NextKey?"},
    "TraderList": {"list": "[CopiedTrader]", "nextFlag": "flag", "total": "int"},
}  # fmt: skip
BARE_LISTS = {
    "Bills": "Bill",
    "FollowerSettings": "FollowerSettingsItem",
    "OpenTrackingOrders": "FollowerOrder",
}

# The write side of copy settings.
BODIES: dict[str, dict[str, str]] = {
    "CustomLeverageConfig": {"symbol": "text", "longLeverage?": "int", "shortLeverage?": "int"},
    "UnifiedTraceConfig": {
        "symbols?": "texts", "traceType": "text", "traceValue": "amount", "maxHoldQty?": "amount",
        "stopProfitRatio?": "amount", "stopLossRatio?": "amount", "slippageRatio?": "amount", "marginType?": "text",
        "leverageType?": "text", "fixedLongLeverage?": "int", "fixedShortLeverage?": "int",
        "customLeverages?": "[CustomLeverageConfig]",
    },
    "SymbolTraceConfig": {
        "symbol": "text", "traceType": "text", "traceValue": "amount", "maxHoldQty": "amount",
        "stopProfitRatio": "amount", "stopLossRatio": "amount", "slippageRatio": "amount", "marginType?": "text",
        "leverageType?": "text", "fixedLongLeverage?": "int", "fixedShortLeverage?": "int",
    },
    "OrderItem": {
        "side": "text", "type": "text", "timeInForce?": "text", "quantity": "amount", "price?": "amount",
        "newClientOrderId?": "text",
    },
}  # fmt: skip
CHOICES = {
    "traceType": ["percent", "amount"],
    "marginType": ["cross", "isolated", "trader"],
    "leverageType": ["fixed", "trader", "specify"],
    "side": ["BUY", "SELL"],
    "type": ["LIMIT", "MARKET"],
    "timeInForce": ["GTC", "IOC", "FOK"],
}


def components() -> dict[str, Schema]:
    """Every schema by name."""
    found = {name: _record(fields) for name, fields in RECORDS.items()}
    for name, item in BARE_LISTS.items():
        found[name] = {"type": "array", "items": _reference(item)}
    for name, fields in BODIES.items():
        found[name] = _record(fields)
        for field, choices in CHOICES.items():
            if field in found[name]["properties"]:
                found[name]["properties"][field] = {"type": "string", "enum": choices}
    return found


def _record(fields: dict[str, str]) -> Schema:
    return {
        "type": "object",
        "required": [name for name in fields if not name.endswith("?")],
        "properties": {name.rstrip("?"): _field(word) for name, word in fields.items()},
    }


def _field(word: str) -> Schema:
    if word.endswith("?"):
        return {"anyOf": [_field(word[:-1]), {"type": "null"}]}
    if word.startswith("["):
        return {"type": "array", "items": _reference(word.strip("[]"))}
    return dict(WORDS[word]) if word in WORDS else _reference(word)


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
