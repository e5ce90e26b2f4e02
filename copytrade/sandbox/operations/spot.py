"""Placing and reading spot orders."""

from __future__ import annotations

from typing import Any

from copytrade.sandbox import parameters
from copytrade.sandbox.catalogue import ORDER_FIELDS
from copytrade.sandbox.errors import Refusal
from copytrade.sandbox.spot.book import Order
from copytrade.sandbox.spot.coins import text

from .call import Call, Row


def place_order(call: Call) -> Row:
    """Accept one order."""
    _complete(call.params)
    _known(call)
    return _acceptance(_place(call, call.params))


def place_orders(call: Call) -> Row:
    """Accept up to ten orders; one that fails is reported in its place, the others go on.

    An item of the wrong shape, or an unknown symbol, refuses the whole call.
    """
    orders = []
    for number, item in enumerate(call["orderList"]):
        where = f"orderList[{number}]."
        fields = parameters.from_body(ORDER_FIELDS, item, where)
        _complete(fields, where)
        orders.append(fields)
    _known(call)
    return {"orderList": [_one_of_many(call, fields) for fields in orders]}


def order(call: Call) -> Row:
    """One order by its id, by its client id, or by both."""
    if call["orderId"] is None and call["origClientOrderId"] is None:
        raise Refusal(-1128, "orderId or origClientOrderId is required.")
    found = call.venue.book(call.account).find(call["orderId"], call["origClientOrderId"])
    return {
        "symbol": found.symbol,
        "orderId": found.id,
        "clientOrderId": found.client_id,
        "price": text(found.price),
        "origQty": text(found.quantity),
        "executedQty": text(found.filled),
        "cummulativeQuoteQty": text(found.quote),
        "status": found.status,
        "timeInForce": found.time_in_force,
        "type": found.type,
        "side": found.side,
        "time": found.created_ms,
        "updateTime": found.updated_ms,
        "isWorking": found.active,
    }


def _complete(fields: dict[str, Any], where: str = "") -> None:
    for name in ("timeInForce", "price"):
        if fields["type"] == "LIMIT" and fields[name] is None:
            raise Refusal(-1128, f"{where}{name} is required for a LIMIT order.")
    if fields["type"] == "MARKET":  # they mean nothing here
        fields |= {"timeInForce": None, "price": None}


def _known(call: Call) -> None:
    if call["symbol"] not in call.venue.world.symbols:
        raise Refusal(-2007, f"The symbol {call['symbol']} does not exist.")


def _place(call: Call, fields: dict[str, Any]) -> Order:
    placed = call.venue.book(call.account).place(call["symbol"], fields, call.now_ms)
    call.venue.save()
    return placed


def _one_of_many(call: Call, fields: dict[str, Any]) -> Row:
    try:
        return _acceptance(_place(call, fields))
    except Refusal as refusal:
        return {
            "symbol": call["symbol"],
            "clientOrderId": fields["newClientOrderId"] or "",
            "errorCode": "INSUFFICIENT_BALANCE",
            "errorMsg": refusal.message,
        }


def _acceptance(placed: Order) -> Row:
    return {
        "symbol": placed.symbol,
        "orderId": placed.id,
        "clientOrderId": placed.client_id,
        "transactTime": placed.created_ms,
    }
