"""World things as the exchange answers them: ids int, times int ms, money text, "" where open (interface.md)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from . import costs
from .copies import LEAD_TRACKING, OPEN_ORDER, Copy, order_id
from .leads import End, LeadOrder
from .life import Ending
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
    lead, position = copy.lead, copy.position
    edit = next(edit for edit in reversed(copy.edits) if edit.since_ms <= max(now_ms, position.open_ms))
    return {
        "trackingNo": copy.tracking_no,
        "traderName": lead.trader.name,
        "openOrderId": copy.open_order_id,
        "closeOrderId": 0,
        "traderID": lead.trader.trader_id,
        "symbol": position.symbol,
        "openLeverage": position.leverage,
        "openPriceAvg": price(position.symbol, position.price),
        "openTime": position.open_ms,
        "openSize": text(copy.size),
        "openFee": text(copy.open_fee),
        "openMarginAmount": text(copy.margin),
        "openFillSize": text(position.size),
        "positionSide": position.side,
        "status": "HAVE_OPEN",
        "tpTriggerPrice": price(position.symbol, edit.triggers.take),
        "slTriggerPrice": price(position.symbol, edit.triggers.stop),
        "closeAvgPrice": "",
        "closeSize": "0",
        "closeTime": "",
        "realizedPnl": "0",
        "profitRate": "0",
        "netProfit": "0",
        "createdTime": position.open_ms,
        "updateTime": edit.since_ms,
    }


def closed_row(copy: Copy, end: Ending, net: Decimal, updated_ms: int) -> Row:
    """The copy after its end, with the net profit as it stands."""
    return open_row(copy, end.ms) | {
        "closeOrderId": copy.close_order_id,
        "status": "CLOSED",
        "closeAvgPrice": price(copy.position.symbol, end.price),
        "closeSize": text(copy.position.size),
        "closeTime": str(end.ms),
        "realizedPnl": text(end.realized),
        "profitRate": text(costs.rate(end.realized, copy.margin)),
        "netProfit": text(net),
        "updateTime": updated_ms,
    }


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


def lead_row(lead: LeadOrder, end: End, start_ms: int) -> Row:
    """A closed order of the lead trader's own (copy trader tracking order). Its updateTime is its close."""
    gross = costs.realized(lead.side, lead.price, end.price, lead.size)
    margin = costs.margin(lead.price, lead.size, lead.leverage)
    fees = costs.fee(lead.price, lead.size) + costs.fee(end.price, lead.size)
    paid = costs.funding(lead.side, lead.price * lead.size, lead.open_ms, end.ms)
    followers = lead.trader.followers + (lead.open_ms - start_ms) // (2 * DAY)
    return {
        "trackingNo": order_id(LEAD_TRACKING, 0, lead),
        "symbol": lead.symbol,
        "openOrderId": order_id(OPEN_ORDER, 0, lead),
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
        "updateTime": end.ms,
    }
