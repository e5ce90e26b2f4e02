"""Requests outside the interface's bounds are refused before any network, by parameter and bound."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from copytrade.exchange import OPERATIONS, LocalRefusal, NewOrder
from copytrade.exchange.checks import add_months, prepare, to_ms
from copytrade.exchange.errors import OutcomeUnknown
from copytrade.rules import PER_SYMBOL, CopySettings, TraceConfig

from .samples import CALLS, LEAST, NOW, SETTINGS, TRADER
from .scripted import ScriptedServer, answer

DAY = timedelta(days=1)
MS = timedelta(milliseconds=1)
MARKET = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": Decimal(1)}
LIMIT = MARKET | {"type": "LIMIT", "time_in_force": "GTC", "price": Decimal(10)}

WITHOUT_PRICE = NewOrder("BUY", "LIMIT", Decimal(1), "GTC")

REFUSED = [
    ("open_tracking_orders", {"limit": 0}, "limit", "1 or more"),
    ("open_tracking_orders", {"limit": 101}, "limit", "at most 100"),
    ("open_tracking_orders", {"limit": True}, "limit", "whole number"),
    ("open_tracking_orders", {"limit": 5.0}, "limit", "whole number"),
    ("open_tracking_orders", {"page": 0}, "page", "1 or more"),
    ("open_tracking_orders", {"page": 2**31}, "page", "whole number"),
    ("open_tracking_orders", {"symbol": ""}, "symbol", "not empty"),
    ("open_tracking_orders", {"symbol": "A\nB"}, "symbol", "printable"),
    ("open_tracking_orders", {"symbol": "\ud800"}, "symbol", "printable"),
    ("open_tracking_orders", {"trader_id": "702345678901234567"}, "traderId", "whole number"),
    ("open_tracking_orders", {"trader_id": 2**63}, "traderId", "whole number"),
    ("tracking_order_history", {"limit": 101}, "limit", "at most 100"),
    ("tracking_order_history", {"start_time": NOW - 90 * DAY - MS, "end_time": NOW}, "startTime", "90 days"),
    ("tracking_order_history", {"start_time": NOW, "end_time": NOW - MS}, "endTime", "no earlier than startTime"),
    ("tracking_order_history", {"start_time": NOW.replace(tzinfo=None)}, "startTime", "time with its zone"),
    ("tracking_order_history", {"start_time": 1763000000000}, "startTime", "time with its zone"),
    ("lead_order_history", {"start_time": NOW - 91 * DAY, "end_time": NOW}, "startTime", "90 days"),
    ("lead_order_history", {"limit": 0}, "limit", "1 or more"),
    ("my_traders", {"page": 0}, "pageNo", "1 or more"),
    ("my_traders", {"page_size": 101}, "pageSize", "at most 100"),
    ("follower_settings", {"trader_id": None}, "traderId", "required"),
    ("affiliate_commissions", {"coin": "ETH"}, "coin", "USDT, BTC"),
    ("affiliate_commissions", {"product_type": "spot"}, "productType", "SPOT, FUTURES"),
    ("affiliate_commissions", {"page_size": 0}, "pageSize", "1 or more"),
    ("affiliate_commissions", {"start_time": NOW - 93 * DAY}, "startTime", "3 months"),
    ("affiliate_commissions", {"end_time": NOW - 8 * DAY}, "endTime", "no earlier than startTime"),
    ("affiliate_users", {"start_time": NOW - 91 * DAY, "end_time": NOW}, "startTime", "90 days"),
    ("affiliate_users", {"start_time": NOW, "end_time": NOW}, "endTime", "later than startTime"),
    ("affiliate_users", {"start_time": NOW - 365 * DAY - MS}, "startTime", "last 365 days"),
    ("affiliate_trades_and_assets", {"start_time": NOW - 366 * DAY}, "startTime", "last 365 days"),
    ("affiliate_trades_and_assets", {"start_time": NOW - 91 * DAY, "end_time": NOW}, "startTime", "90 days"),
    ("affiliate_trades_and_assets", {"start_time": NOW, "end_time": NOW - DAY}, "endTime", "later than startTime"),
    ("internal_withdrawals", {"start_time": NOW - 31 * DAY - MS}, "startTime", "last 31 days"),
    ("internal_withdrawals", {"end_time": NOW - 32 * DAY}, "endTime", "last 31 days"),
    ("internal_withdrawals", {"page_size": 201}, "pageSize", "at most 200"),
    ("internal_withdrawals", {"from_account_type": "FUTURES"}, "fromAccountType", "SPOT, FUND"),
    ("internal_withdrawals", {"to_account_type": "spot"}, "toAccountType", "SPOT, FUND"),
    ("sub_affiliates", {"product_type": None}, "productType", "required"),
    ("sub_affiliates", {"product_type": "MARGIN"}, "productType", "SPOT, FUTURES"),
    ("sub_affiliates", {"product_type": "SPOT", "page": 0}, "pageNum", "1 or more"),
    ("deal_data", {"user_ids": ["5"]}, "userIds", "whole numbers"),
    ("deal_data", {"start_time": NOW}, "startTime", "UTC date"),
    ("deal_data", {"start_time": date(2026, 2, 2), "end_time": date(2026, 2, 1)}, "endTime", "not be before"),
    ("place_order", LIMIT | {"price": None}, "price", "required when type is LIMIT"),
    ("place_order", LIMIT | {"time_in_force": None}, "timeInForce", "required when type is LIMIT"),
    ("place_order", LIMIT | {"time_in_force": "GTX"}, "timeInForce", "GTC, IOC, FOK"),
    ("place_order", MARKET | {"side": "buy"}, "side", "BUY, SELL"),
    ("place_order", MARKET | {"type": "STOP"}, "type", "LIMIT, MARKET"),
    ("place_order", MARKET | {"quantity": Decimal(0)}, "quantity", "more than 0"),
    ("place_order", MARKET | {"quantity": Decimal("NaN")}, "quantity", "exact decimal"),
    ("place_order", MARKET | {"quantity": 0.1}, "quantity", "exact decimal"),
    ("place_order", MARKET | {"quantity": "1"}, "quantity", "exact decimal"),
    ("place_order", MARKET | {"symbol": None}, "symbol", "required"),
    ("place_orders", {"symbol": "BTCUSDT", "orders": []}, "orderList", "1 to 10 orders; it holds 0"),
    ("place_orders", {"symbol": "BTCUSDT", "orders": [NewOrder("BUY", "MARKET", Decimal(1))] * 11}, "orderList",
     "1 to 10 orders; it holds 11"),
    ("place_orders", {"symbol": "BTCUSDT", "orders": [NewOrder("BUY", "MARKET", Decimal(1)), WITHOUT_PRICE]},
     "orderList[1].price", "required when type is LIMIT"),
    ("place_orders", {"symbol": "BTCUSDT", "orders": ["order"]}, "orderList[0].side", "required"),
    ("order", {"order_id": None}, "orderId or origClientOrderId", "one of the two"),
    ("order", {"order_id": None, "orig_client_order_id": ""}, "origClientOrderId", "not empty"),
    ("bills", {"limit": 101}, "limit", "at most 100"),
    ("bills", {"coin_id": "2"}, "coinId", "whole number"),
    ("bills", {"after": 5}, "after", "time with its zone"),
    ("funding_bills", {"page_size": 101}, "pageSize", "at most 100"),
    ("funding_bills", {"page": 0}, "pageIndex", "1 or more"),
    ("funding_bills", {"start_time": NOW, "end_time": NOW - MS}, "endTime", "no earlier than startTime"),
    ("update_follower_settings", {"trader_id": "7", "settings": SETTINGS}, "traderId", "whole number"),
    ("update_follower_settings", {"trader_id": TRADER, "settings": None}, "settingType", "required"),
    ("update_follower_settings", {"trader_id": TRADER, "settings": {"settingType": "unified"}}, "settingType",
     "settings are needed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "field", "bound"), REFUSED, ids=[f"{r[0]}-{r[2]}-{r[3]}" for r in REFUSED]
)
def test_out_of_bounds_is_refused_before_the_network(name, arguments, field, bound):
    with ScriptedServer(answer({})) as server:
        client = server.client(clock=NOW.timestamp)
        with pytest.raises(LocalRefusal) as refused:
            getattr(client, name)(**{**LEAST[name], **arguments})
        assert server.connections == 0
    assert field in [violation.field for violation in refused.value.violations]
    assert any(bound in v.message for v in refused.value.violations if v.field == field), (
        refused.value.violations
    )
    assert refused.value.operation == name
    assert refused.value.field
    assert "Nothing was sent" in refused.value.sentence


ALLOWED = [
    ("open_tracking_orders", {"limit": 1, "page": 1}),
    ("open_tracking_orders", {"limit": 100}),
    ("tracking_order_history", {"start_time": NOW - 90 * DAY, "end_time": NOW}),
    ("tracking_order_history", {"start_time": NOW, "end_time": NOW}),
    ("tracking_order_history", {"start_time": NOW - 300 * DAY}),
    ("affiliate_commissions", {"start_time": datetime(2026, 8, 21, tzinfo=UTC), "end_time": NOW}),
    ("affiliate_users", {"start_time": NOW - 365 * DAY, "end_time": NOW - 275 * DAY}),
    ("affiliate_users", {"end_time": NOW - 100 * DAY}),
    ("internal_withdrawals", {"start_time": NOW - 31 * DAY, "end_time": NOW, "page_size": 200}),
    ("place_orders", {"symbol": "BTCUSDT", "orders": [NewOrder("BUY", "MARKET", Decimal(1))] * 10}),
    ("order", {"order_id": None, "orig_client_order_id": "x"}),
    ("bills", {"limit": 100}),
    ("place_order", LIMIT),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), ALLOWED)
def test_the_bounds_themselves_are_allowed(name, arguments):
    prepare(OPERATIONS[name], {**LEAST[name], **arguments}, NOW)


@pytest.mark.parametrize("name", CALLS)
def test_every_parameter_of_the_table_goes_out_under_its_wire_name(name):
    sent = prepare(OPERATIONS[name], wire_arguments(name), NOW)
    assert list(sent) == [parameter.name for parameter in OPERATIONS[name].parameters]


def wire_arguments(name):
    arguments = dict(CALLS[name])
    if cursor := arguments.pop("cursor", None):
        arguments |= {"cursor_id": cursor.id, "cursor_time": cursor.time_ms}
    return arguments


def test_three_months_are_calendar_months():
    assert add_months(datetime(2026, 11, 30, tzinfo=UTC), 3) == datetime(2027, 2, 28, tzinfo=UTC)
    assert add_months(datetime(2027, 11, 30, tzinfo=UTC), 3) == datetime(2028, 2, 29, tzinfo=UTC)
    assert add_months(datetime(2026, 12, 1, tzinfo=UTC), 1) == datetime(2027, 1, 1, tzinfo=UTC)


def test_milliseconds_are_exact():
    assert to_ms(datetime(2026, 11, 21, 7, 8, 9, 999999, tzinfo=UTC)) == 1795244889999


def test_settings_are_held_against_the_rules():
    broken = CopySettings(
        PER_SYMBOL,
        (TraceConfig(symbol="BTCUSDT", symbols=None, trace_type="percent", trace_value=Decimal(0)),),
    )
    with ScriptedServer(answer({})) as server, pytest.raises(LocalRefusal) as refused:
        server.client().update_follower_settings(
            trader_id=TRADER, settings=broken, supported=["BTCUSDT", "ETHUSDT"]
        )
    assert server.connections == 0
    fields = {violation.field for violation in refused.value.violations}
    assert {"symbolTraceConfigs[0].traceValue", "symbolTraceConfigs[0].maxHoldQty"} <= fields
    assert "more problems" in refused.value.sentence


def test_per_symbol_settings_are_refused_while_the_symbols_are_not_known():
    settings = CopySettings(PER_SYMBOL, ())
    with ScriptedServer(answer({})) as server, pytest.raises(LocalRefusal):
        server.client().update_follower_settings(trader_id=TRADER, settings=settings)
    assert server.connections == 0


@pytest.mark.parametrize("name", ["place_order", "place_orders", "update_follower_settings"])
def test_nothing_is_written_before_the_owner_allows_it(name):
    with ScriptedServer(answer({})) as server, pytest.raises(LocalRefusal, match="only reads") as refused:
        getattr(server.client(allow_writes=False), name)(**LEAST[name])
    assert server.connections == 0
    assert refused.value.fault == "operation"
    assert not isinstance(refused.value, OutcomeUnknown)
