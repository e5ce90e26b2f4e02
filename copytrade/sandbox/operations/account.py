"""Account information and bills."""

from __future__ import annotations

from typing import Any

from copytrade.sandbox import windows
from copytrade.sandbox.keys import FUTURES, READONLY, SPOT
from copytrade.sandbox.spot.book import MAKER_FEE
from copytrade.sandbox.spot.coins import text
from copytrade.sandbox.spot.past import TAKER_FEE

from .call import Call, Row, items_envelope

PERMISSION_WORDS = {READONLY: "READ_ONLY", SPOT: "SPOT_TRADING", FUTURES: "FUTURES_TRADING"}


def account(call: Call) -> Row:
    """Fee rates, balances, and what the asking key may do."""
    book = call.venue.book(call.account)
    may = call.key.permissions
    return {
        "makerCommission": int(MAKER_FEE * 10_000),
        "takerCommission": int(TAKER_FEE * 10_000),
        "commissionRates": {"maker": text(MAKER_FEE), "taker": text(TAKER_FEE)},
        "canTrade": bool(may & {SPOT, FUTURES}),
        "canWithdraw": False,
        "canDeposit": True,
        "brokered": False,
        "requireSelfTradePrevention": False,
        "preventSor": False,
        "updateTime": book.touched_ms,
        "accountType": "SPOT",
        "balances": book.balances(),
        "permissions": [word for permission, word in PERMISSION_WORDS.items() if permission in may],
        "uid": call.venue.world.uid(call.account),
        "symbolCommissions": {},
    }


def bills(call: Call) -> list[Row]:
    """Spot bills, newest first, `limit` of them."""
    after, before = call["after"], call["before"]
    if after is not None and before is not None:
        windows.in_order(after, before)
    rows = _newest_first(call, call.venue.book(call.account).spot.bills)
    found = [
        row
        for row in rows
        if (after is None or int(row["cTime"]) > after) and (before is None or int(row["cTime"]) < before)
    ]
    return found[: call["limit"]]


def funding_bills(call: Call) -> Row:
    """Funding bills, newest first, by page."""
    start, end = windows.anything(call["startTime"], call["endTime"], call.now_ms)
    rows = _newest_first(call, call.venue.book(call.account).funding.bills)
    found = [row for row in rows if start <= int(row["cTime"]) <= end]
    return items_envelope(found, call["pageIndex"], call["pageSize"])


def _newest_first(call: Call, rows: list[Row]) -> list[Row]:
    wanted: list[tuple[str, Any]] = [("coinId", call["coinId"]), ("bizType", call["bizType"])]
    found = [row for row in rows if all(value is None or row[name] == value for name, value in wanted)]
    return sorted(found, key=lambda row: (int(row["cTime"]), int(row["billId"])), reverse=True)
