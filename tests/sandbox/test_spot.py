"""Spot orders: accepted once, filled at the world's price, rested, cancelled; balances and bills follow."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.paths import ACCOUNT, BATCH, BILLS, FUNDING, LIMIT_ORDER, ORDER
from tests.sandbox.signer import Caller, answer, refusal
from tests.support.sandbox_process import Sandbox

MARKET_BUY = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.01"}


def order(caller: Caller, **changes: Any) -> dict[str, Any]:
    """Place an order like LIMIT_ORDER and return its details."""
    placed = answer(caller.post(ORDER, LIMIT_ORDER | changes))
    found: dict[str, Any] = answer(caller.get(ORDER, f"orderId={placed['orderId']}"))
    return found


def balance(caller: Caller, asset: str) -> tuple[Decimal, Decimal]:
    """(free, locked) of an asset."""
    rows = answer(caller.get(ACCOUNT))["balances"]
    row = next(row for row in rows if row["asset"] == asset)
    return Decimal(row["free"]), Decimal(row["locked"])


class TestResting:
    def test_a_cheap_bid_rests_and_locks_its_money(self, follower: Caller) -> None:
        free, locked = balance(follower, "USDT")
        found = order(follower, quantity="0.5", price="1000")
        assert (found["status"], found["isWorking"], found["executedQty"]) == ("NEW", True, "0")
        assert balance(follower, "USDT") == (free - 500, locked + 500)

    def test_a_dear_offer_locks_the_coin(self, follower: Caller) -> None:
        free, locked = balance(follower, "BTC")
        found = order(follower, side="SELL", quantity="0.1", price="9000000")
        assert found["isWorking"]
        assert balance(follower, "BTC") == (free - Decimal("0.1"), locked + Decimal("0.1"))

    def test_it_fills_when_the_price_comes(self, exchange: Sandbox, follower: Caller) -> None:
        price = fill_price(follower)
        found = order(follower, price=str((price * Decimal("0.999")).quantize(Decimal("0.1"))))
        assert found["status"] == "NEW"
        for days in range(1, 60):
            exchange.advance(seconds=86_400)
            found = answer(follower.get(ORDER, f"orderId={found['orderId']}", shift_ms=days * 86_400_000))
            if found["status"] == "FILLED":
                break
        assert found["status"] == "FILLED"
        assert Decimal(found["cummulativeQuoteQty"]) == Decimal(found["price"]) * Decimal(
            found["executedQty"]
        )
        assert not found["isWorking"]
        assert found["updateTime"] > found["time"]

    def test_btc_is_above_a_thousand(self, follower: Caller) -> None:
        assert fill_price(follower) > 1000


def fill_price(caller: Caller) -> Decimal:
    placed = answer(caller.post(ORDER, MARKET_BUY))
    found = answer(caller.get(ORDER, f"orderId={placed['orderId']}"))
    return Decimal(found["cummulativeQuoteQty"]) / Decimal(found["executedQty"])


class TestFilling:
    def test_a_market_order_fills_at_once_and_books_two_bills(self, follower: Caller) -> None:
        usdt, btc = balance(follower, "USDT")[0], balance(follower, "BTC")[0]
        placed = answer(follower.post(ORDER, MARKET_BUY))
        found = answer(follower.get(ORDER, f"orderId={placed['orderId']}"))
        assert (found["status"], found["executedQty"], found["price"]) == ("FILLED", "0.01", "0")
        paid, fee = Decimal(found["cummulativeQuoteQty"]), Decimal("0.01") * Decimal("0.001")
        assert balance(follower, "USDT")[0] == usdt - paid
        assert balance(follower, "BTC")[0] == btc + Decimal("0.01") - fee
        got, gave = answer(follower.post(BILLS, {"limit": 2}))
        assert (got["bizType"], got["coinName"], Decimal(got["fees"])) == ("trade_in", "BTC", fee)
        assert (gave["bizType"], gave["coinName"], Decimal(gave["deltaAmount"])) == (
            "trade_out",
            "USDT",
            -paid,
        )
        assert Decimal(gave["afterAmount"]) == usdt - paid
        assert got["cTime"] == str(found["time"])

    def test_a_bid_above_the_market_fills_at_the_market(self, follower: Caller) -> None:
        found = order(follower, quantity="0.001", price="9000000")
        assert found["status"] == "FILLED"
        assert Decimal(found["cummulativeQuoteQty"]) < 1000
        assert balance(follower, "USDT")[1] == 0

    def test_a_sale_pays_its_fee_in_usdt(self, follower: Caller) -> None:
        before = balance(follower, "USDT")[0]
        found = order(follower, side="SELL", quantity="0.01", price="1")
        value = Decimal(found["cummulativeQuoteQty"])
        assert balance(follower, "USDT")[0] == before + value * Decimal("0.999")

    @pytest.mark.parametrize("time_in_force", ["IOC", "FOK"])
    def test_what_must_fill_now_and_cannot_is_cancelled(self, follower: Caller, time_in_force: str) -> None:
        free = balance(follower, "USDT")
        found = order(follower, timeInForce=time_in_force)
        assert (found["status"], found["executedQty"], found["isWorking"]) == ("CANCELED", "0", False)
        assert balance(follower, "USDT") == free

    @pytest.mark.parametrize(
        ("time_in_force", "status"), [("IOC", "CANCELED"), ("FOK", "CANCELED"), ("GTC", "PARTIALLY_FILLED")]
    )
    def test_the_other_side_is_25_000_usdt_deep(
        self, exchange: Sandbox, follower: Caller, time_in_force: str, status: str
    ) -> None:
        market = fill_price(follower)
        quantity = (30_000 / market).quantize(Decimal("0.001"))
        limit = (market * Decimal("1.05")).quantize(Decimal(1))
        found = order(follower, quantity=str(quantity), price=str(limit), timeInForce=time_in_force)
        assert found["status"] == status
        assert found["isWorking"] == (time_in_force == "GTC")
        if time_in_force == "FOK":
            assert found["executedQty"] == "0"
        else:
            assert Decimal("24999") < Decimal(found["cummulativeQuoteQty"]) <= 25_000
        if time_in_force == "GTC":
            exchange.advance(seconds=20)
            found = answer(follower.get(ORDER, f"orderId={found['orderId']}", shift_ms=20_000))
            assert (found["status"], Decimal(found["executedQty"])) == ("FILLED", quantity)


class TestOnce:
    def test_the_same_client_id_makes_one_order_while_active(self, follower: Caller) -> None:
        first = answer(follower.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "mine"}))
        again = answer(follower.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "mine", "price": "900"}))
        assert again == first
        assert balance(follower, "USDT")[1] == 1

    def test_the_id_of_a_finished_order_is_free_again(self, follower: Caller) -> None:
        first = answer(follower.post(ORDER, MARKET_BUY | {"newClientOrderId": "mine"}))
        again = answer(follower.post(ORDER, MARKET_BUY | {"newClientOrderId": "mine"}))
        assert again["orderId"] != first["orderId"]
        newest = answer(follower.get(ORDER, "origClientOrderId=mine"))
        assert newest["orderId"] == again["orderId"]

    def test_twice_in_one_batch_is_one_order(self, follower: Caller) -> None:
        twin = LIMIT_ORDER | {"newClientOrderId": "twin"}
        rows = answer(follower.post(BATCH, {"symbol": "BTCUSDT", "orderList": [twin, twin]}))["orderList"]
        assert rows[0] == rows[1]

    def test_the_system_makes_an_id_when_none_is_given(self, follower: Caller) -> None:
        first, second = order(follower), order(follower)
        assert first["clientOrderId"]
        assert first["clientOrderId"] != second["clientOrderId"]


class TestRefused:
    def test_an_unknown_symbol(self, follower: Caller) -> None:
        assert refusal(follower.post(ORDER, LIMIT_ORDER | {"symbol": "NOPEUSDT"})) == (404, -2007)
        body = {"symbol": "NOPEUSDT", "orderList": [LIMIT_ORDER]}
        assert refusal(follower.post(BATCH, body)) == (404, -2007)

    def test_an_unknown_order(self, follower: Caller, affiliate: Caller) -> None:
        mine = order(follower)
        assert refusal(follower.get(ORDER, "orderId=1")) == (404, -2200)
        assert refusal(follower.get(ORDER, "origClientOrderId=none")) == (404, -2200)
        assert refusal(follower.get(ORDER, f"orderId={mine['orderId']}&origClientOrderId=none")) == (
            404,
            -2200,
        )
        assert refusal(affiliate.get(ORDER, f"orderId={mine['orderId']}")) == (404, -2200)
        both = f"orderId={mine['orderId']}&origClientOrderId={mine['clientOrderId']}"
        assert answer(follower.get(ORDER, both)) == mine

    @pytest.mark.parametrize("side", ["BUY", "SELL"])
    @pytest.mark.parametrize("kind", ["LIMIT", "MARKET"])
    def test_without_the_balance(self, exchange: Sandbox, follower: Caller, side: str, kind: str) -> None:
        before = exchange.truth()["spot"]
        response = follower.post(ORDER, LIMIT_ORDER | {"side": side, "type": kind, "quantity": "100000"})
        assert response.json() == {"code": -1054, "msg": "insufficient balance"}
        assert response.status_code == 400
        assert exchange.truth()["spot"] == before

    def test_locked_money_cannot_be_spent_twice(self, follower: Caller) -> None:
        free, _ = balance(follower, "USDT")
        most = str((free / 1000).quantize(Decimal("0.0001")) - Decimal("0.0001"))
        order(follower, quantity=most)
        assert refusal(follower.post(ORDER, LIMIT_ORDER | {"quantity": "0.001"})) == (400, -1054)

    def test_one_of_a_batch_fails_alone(self, follower: Caller) -> None:
        dear = LIMIT_ORDER | {"quantity": "100000", "newClientOrderId": "too-dear"}
        orders = [LIMIT_ORDER, dear, LIMIT_ORDER]
        good, bad, other = answer(follower.post(BATCH, {"symbol": "BTCUSDT", "orderList": orders}))[
            "orderList"
        ]
        assert bad == {
            "symbol": "BTCUSDT", "clientOrderId": "too-dear", "errorCode": "INSUFFICIENT_BALANCE",
            "errorMsg": "insufficient balance",
        }  # fmt: skip
        for row in (good, other):
            assert answer(follower.get(ORDER, f"orderId={row['orderId']}"))["isWorking"]


class TestBills:
    def test_they_add_up_to_the_balance(self, exchange: Sandbox, follower: Caller) -> None:
        answer(follower.post(ORDER, MARKET_BUY))
        spot = exchange.truth()["spot"]
        for wallet in ("bills", "fundingBills"):
            totals: dict[str, Decimal] = {}
            for bill in spot[wallet]:
                coin = bill["coinName"]
                totals[coin] = totals.get(coin, Decimal(0)) + Decimal(bill["deltaAmount"])
                assert totals[coin] == Decimal(bill["afterAmount"]) >= 0
            if wallet == "bills":
                held = {
                    row["asset"]: Decimal(row["free"]) + Decimal(row["locked"]) for row in spot["balances"]
                }
                assert totals == held

    def test_newest_first_by_limit(self, exchange: Sandbox, follower: Caller) -> None:
        rows = answer(follower.post(BILLS, {"limit": 100}))
        times = [int(row["cTime"]) for row in rows]
        assert times == sorted(times, reverse=True)
        assert rows[:7] == answer(follower.post(BILLS, {"limit": 7}))

    def test_after_and_before_are_exclusive(self, follower: Caller) -> None:
        rows = answer(follower.post(BILLS, {"limit": 100}))
        first, last = int(rows[20]["cTime"]), int(rows[3]["cTime"])
        found = answer(follower.post(BILLS, {"limit": 100, "after": first, "before": last}))
        assert found == [row for row in rows if first < int(row["cTime"]) < last]
        assert found

    def test_filters(self, follower: Caller) -> None:
        assert {row["coinName"] for row in answer(follower.post(BILLS, {"coinId": 2}))} == {"USDT"}
        assert {row["bizType"] for row in answer(follower.post(BILLS, {"bizType": "trade_in"}))} == {
            "trade_in"
        }
        assert answer(follower.post(BILLS, {"bizType": "unheard_of"})) == []
        assert answer(follower.post(BILLS, {"coinId": 424242})) == []

    def test_only_fills_carry_fill_fields(self, follower: Caller) -> None:
        for row in answer(follower.post(BILLS, {"limit": 100})):
            assert ("fillSize" in row) == ("fillValue" in row) == row["bizType"].startswith("trade_")

    def test_funding_bills_come_in_pages(self, follower: Caller) -> None:
        first = answer(follower.post(FUNDING, {"pageSize": 4}))
        rows = list(first["items"])
        for page in range(2, first["pages"] + 1):
            found = answer(follower.post(FUNDING, {"pageSize": 4, "pageIndex": page}))
            assert found["page"] == page
            assert found["hasNextPage"] == (page < first["pages"])
            rows += found["items"]
        assert len(rows) == first["total"] == len({row["billId"] for row in rows})
        assert {row["bizType"] for row in rows} >= {"deposit", "transfer_out"}
        beyond = answer(follower.post(FUNDING, {"pageSize": 4, "pageIndex": first["pages"] + 1}))
        assert (beyond["items"], beyond["hasNextPage"]) == ([], False)
        start, end = int(rows[5]["cTime"]), int(rows[2]["cTime"])
        window = answer(follower.post(FUNDING, {"startTime": start, "endTime": end, "pageSize": 100}))[
            "items"
        ]
        assert window == [row for row in rows if start <= int(row["cTime"]) <= end]
