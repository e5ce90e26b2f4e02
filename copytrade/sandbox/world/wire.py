"""World things as the exchange answers them: ids int, times int ms, money text, "" where open (interface.md)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from . import costs
from .copies import Copy, order_id
from .leads import LeadOrder
from .prices import DAY
from .symbols import CONTRACTS
from .traders import Trader

Row = dict[str, Any]


def text(value: Decimal | None) -> str:
    """A decimal as plain digits, without needless zeros; "" for None."""
    if value is None:
        return ""
    written = format(value, "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written in ("-0", "") else written


def price(symbol: str, value: Decimal | None) -> str:
    """A price with all digits of its tick."""
    return "" if value is None else format(value.quantize(Decimal(1).scaleb(-CONTRACTS[symbol].digits)), "f")


def open_row(copy: Copy, now_ms: int) -> Row:
    """The copy as long as it is open at `now_ms`."""
    lead, symbol = copy.lead, copy.lead.symbol
    since, take, stop = next(edit for edit in reversed(copy.edits) if edit[0] <= max(now_ms, copy.open_ms))
    return {
        "trackingNo": copy.tracking_no,
        "traderName": lead.trader.name,
        "openOrderId": copy.open_order_id,
        "closeOrderId": 0,
        "traderID": lead.trader.trader_id,
        "symbol": symbol,
        "openLeverage": copy.leverage,
        "openPriceAvg": price(symbol, copy.price),
        "openTime": copy.open_ms,
        "openSize": text(copy.size),
        "openFee": text(copy.open_fee),
        "openMarginAmount": text(copy.margin),
        "openFillSize": text(copy.fill),
        "positionSide": lead.side,
        "status": "HAVE_OPEN",
        "tpTriggerPrice": price(symbol, take),
        "slTriggerPrice": price(symbol, stop),
        "closeAvgPrice": "",
        "closeSize": "0",
        "closeTime": "",
        "realizedPnl": "0",
        "profitRate": "0",
        "netProfit": "0",
        "createdTime": copy.open_ms,
        "updateTime": since,
    }


def closed_row(copy: Copy, net: Decimal, updated_ms: int) -> Row:
    """The copy after its close, with the net profit as it stands."""
    assert copy.close_ms is not None
    row = open_row(copy, copy.close_ms)
    row.update(
        closeOrderId=copy.close_order_id,
        status="CLOSED",
        closeAvgPrice=price(copy.lead.symbol, copy.close_price),
        closeSize=text(copy.fill),
        closeTime=str(copy.close_ms),
        realizedPnl=text(copy.realized),
        profitRate=text(costs.rate(copy.realized, copy.margin)),
        netProfit=text(net),
        updateTime=updated_ms,
    )
    return row


def trader_row(trader: Trader, invested: Decimal, profit: Decimal, held: Decimal, unsettled: Decimal) -> Row:
    """An entry of my traders. `unsettled`: profit of today, which cannot be moved before the true-up."""
    balance = invested + profit
    available = max(balance - held, Decimal(0))
    return {
        "traderId": trader.trader_id,
        "traderName": trader.name,
        "copyTradingBalance": text(balance),
        "traceTotalProfit": text(profit),
        "totalInvestment": text(invested),
        "availableBalance": text(available),
        "transferableBalance": text(max(available - unsettled, Decimal(0))),
    }


def lead_row(lead: LeadOrder, start_ms: int) -> Row:
    """A closed order of the lead trader's own (copy trader tracking order). Its updateTime is its close."""
    assert lead.close_ms is not None and lead.close_price is not None
    gross = costs.realized(lead.side, lead.price, lead.close_price, lead.size)
    margin = costs.margin(lead.price, lead.size, lead.leverage)
    fees = costs.fee(lead.price, lead.size) + costs.fee(lead.close_price, lead.size)
    paid = costs.funding(lead.side, lead.price * lead.size, lead.open_ms, lead.close_ms)
    followers = lead.trader.followers + (lead.open_ms - start_ms) // (2 * DAY)
    return {
        "trackingNo": order_id(3, 0, lead),
        "symbol": lead.symbol,
        "openOrderId": order_id(1, 0, lead),
        "openLeverage": lead.leverage,
        "openPriceAvg": price(lead.symbol, lead.price),
        "openTime": lead.open_ms,
        "openSize": text(lead.size),
        "openFee": text(costs.fee(lead.price, lead.size)),
        "openMarginAmount": text(margin),
        "openFillSize": text(lead.size),
        "positionSide": lead.side,
        "status": "CLOSED",
        "tpTriggerPrice": price(lead.symbol, lead.take_profit),
        "slTriggerPrice": price(lead.symbol, lead.stop_loss),
        "realizedPnl": text(gross),
        "profitRate": text(costs.rate(gross, margin)),
        "netProfit": text(gross - fees - paid),
        "followCount": max(0, followers + (lead.open_ms // 977) % 9),
        "createdTime": lead.open_ms,
        "updateTime": lead.close_ms,
    }
