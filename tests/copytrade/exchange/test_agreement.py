"""Four descriptions of the 18 operations agree: the client's table, its methods, the sandbox, the samples.

And the table agrees with an independent reading of interface.md's own tables, written down here.
"""

import inspect
import json
from pathlib import Path

import jsonschema
import pytest

import copytrade.sandbox
from copytrade.exchange import OPERATIONS, ExchangeClient
from copytrade.exchange.checks import Omitted
from copytrade.exchange.decoding import wire_names
from copytrade.exchange.operations import ORDER_PARAMETERS, SERVER_TIME

from .samples import CALLS, LEAST, NAMES, sample

OPENAPI = json.loads((Path(copytrade.sandbox.__file__).parent / "openapi.json").read_text())
COPY, SPOT = "/capi/v3/copy", "/api/v3"
AFFILIATE = "/api/v3/rebate/affiliate"

# interface.md, "Endpoints" and "Limits": method, path, label, weight, order counts, parameters (* required).
INTERFACE = {
    "affiliate_commissions": ("GET", AFFILIATE + "/getAffiliateCommission", None, 20, 0,
                              "uid startTime endTime coin productType page pageSize"),
    "affiliate_users": ("GET", AFFILIATE + "/getAffiliateUIDs", None, 20, 0, "uid startTime endTime page pageSize"),
    "affiliate_trades_and_assets": ("GET", AFFILIATE + "/getChannelUserTradeAndAsset", None, 20, 0,
                                    "uid startTime endTime page pageSize"),
    "internal_withdrawals": ("GET", AFFILIATE + "/getInternalWithdrawalStatus", None, 100, 0,
                             "withdrawID coin startTime endTime fromAccountType toAccountType page pageSize"),
    "sub_affiliates": ("POST", AFFILIATE + "/querySubChannelTransactions", None, 10, 0,
                       "subUid startTime endTime productType* pageNum pageSize"),
    "deal_data": ("GET", SPOT + "/agency/getDealData", None, 10, 0, "userIds startTime endTime"),
    "place_order": ("POST", SPOT + "/order", "TRADE", 0, 1,
                    "symbol* side* type* timeInForce quantity* price newClientOrderId"),
    "place_orders": ("POST", SPOT + "/order/batch", "TRADE", 0, 5, "symbol* orderList*"),
    "order": ("GET", SPOT + "/order", "USER_DATA", 2, 0, "orderId origClientOrderId"),
    "account": ("GET", SPOT + "/account", "USER_DATA", 5, 0, ""),
    "bills": ("POST", SPOT + "/account/bills", "USER_DATA", 5, 0, "coinId bizType after before limit"),
    "funding_bills": ("POST", SPOT + "/account/fundingBills", "USER_DATA", 5, 0,
                      "coinId bizType startTime endTime pageIndex pageSize"),
    "follower_settings": ("GET", COPY + "/follower/settings", "USER_DATA", 10, 0, "traderId*"),
    "update_follower_settings": ("POST", COPY + "/follower/settings", "TRADE", 10, 0, "traderId* settingType*"),
    "open_tracking_orders": ("GET", COPY + "/follower/openOrders", "USER_DATA", 10, 0, "symbol limit page traderId"),
    "tracking_order_history": ("GET", COPY + "/follower/historyOrders", "USER_DATA", 10, 0,
                               "symbol limit startTime endTime nextKeyId nextKeyTime"),
    "my_traders": ("GET", COPY + "/follower/myTraders", "USER_DATA", 10, 0, "pageNo pageSize"),
    "lead_order_history": ("GET", COPY + "/trader/historyOrders", "USER_DATA", 10, 0,
                           "symbol limit startTime endTime nextKeyId nextKeyTime"),
}  # fmt: skip

# "Parameter bounds" and defaults: (operation, wire name) -> least, most, default.
BOUNDS = {
    ("open_tracking_orders", "limit"): (1, 100, 100),
    ("tracking_order_history", "limit"): (1, 100, 100),
    ("lead_order_history", "limit"): (1, 100, 100),
    ("my_traders", "pageSize"): (1, 100, 100),
    ("bills", "limit"): (1, 100, 10),
    ("funding_bills", "pageSize"): (1, 100, 10),
    ("internal_withdrawals", "pageSize"): (1, 200, 100),
    ("affiliate_commissions", "pageSize"): (1, None, 100),
    ("affiliate_users", "pageSize"): (1, None, 100),
    ("affiliate_trades_and_assets", "pageSize"): (1, None, 100),
    ("sub_affiliates", "pageSize"): (1, None, 100),
    ("place_orders", "orderList"): (1, 10, None),
}
# "Parameter bounds" of times: longest range (days or months), how far back, default start in days before what.
WINDOWS = {
    "affiliate_commissions": ((None, 3), None, (7, "now")),
    "affiliate_users": ((90, None), 365, (90, "end")),
    "affiliate_trades_and_assets": ((90, None), 365, (90, "end")),
    "internal_withdrawals": ((None, None), 31, None),
    "tracking_order_history": ((90, None), None, None),
    "lead_order_history": ((90, None), None, None),
}
LIMIT_ONLY = ("type", "LIMIT")
ORDER_CHOICES = {
    "side": ("BUY SELL", None),
    "type": ("LIMIT MARKET", None),
    "timeInForce": ("GTC IOC FOK", LIMIT_ONLY),
    "price": ("", LIMIT_ONLY),
}
WALLETS = {"fromAccountType": ("SPOT FUND", None), "toAccountType": ("SPOT FUND", None)}
CHOICES = {
    "affiliate_commissions": {"coin": ("USDT BTC", None), "productType": ("SPOT FUTURES", None)},
    "internal_withdrawals": {"coin": ("USDT BTC", None), **WALLETS},
    "sub_affiliates": {"productType": ("SPOT FUTURES", None)},
    "place_order": ORDER_CHOICES,
    "place_orders": ORDER_CHOICES,
}
NO_WINDOW = ((None, None), None, None)
PAGES = {"page", "pageNo", "pageNum", "pageIndex"}


def test_there_are_exactly_the_18_operations_everywhere():
    assert sorted(OPERATIONS) == sorted(INTERFACE) == NAMES == sorted(CALLS) == sorted(LEAST)
    assert len(OPERATIONS) == 18


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_table_says_what_the_interface_says(name):
    row = OPERATIONS[name]
    method, path, label, weight, orders, parameters = INTERFACE[name]
    assert (row.method, row.path, row.label, row.weight) == (method, path, label, weight)
    assert (row.orders_10s, row.orders_1m) == (orders, orders)
    assert row.root == ("contract" if path.startswith("/capi") else "spot")
    said = [parameter.name + "*" * parameter.required for parameter in row.parameters]
    assert said == parameters.split()
    assert row.retry_safe == (label != "TRADE")


@pytest.mark.parametrize("name", OPERATIONS)
def test_bounds_and_defaults_are_the_interfaces(name):
    for parameter in OPERATIONS[name].parameters:
        bounds = (parameter.least, parameter.most, parameter.default)
        if parameter.name in PAGES:
            assert bounds == (1, None, 1)
        elif parameter.name in ("productType", "fromAccountType", "toAccountType"):
            assert parameter.default == ("SPOT" if not parameter.required else None)
        else:
            assert bounds == BOUNDS.get((name, parameter.name), (None, None, None)), parameter.name


@pytest.mark.parametrize("name", OPERATIONS)
def test_time_windows_are_the_interfaces(name):
    span = OPERATIONS[name].span
    said = NO_WINDOW
    if span is not None:
        default = (span.default_days, span.default_from) if span.default_days else None
        said = ((span.days, span.months), span.back_days, default)
    assert said == WINDOWS.get(name, NO_WINDOW)
    assert (span is not None and span.strict) == (name in ("affiliate_users", "affiliate_trades_and_assets"))


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_choices_and_conditions_are_the_interfaces(name):
    """Every word list and every "required when" of the tables; all others take any text."""
    said = {}
    for parameter in (*OPERATIONS[name].parameters, *(ORDER_PARAMETERS if name == "place_orders" else ())):
        if parameter.choices or parameter.when:
            said[parameter.name] = (" ".join(parameter.choices), parameter.when)
    assert said == CHOICES.get(name, {})
    assert OPERATIONS[name].one_of == (("order_id", "orig_client_order_id") if name == "order" else ())


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_has_the_parameters_of_its_row(name):
    signature = inspect.signature(getattr(ExchangeClient, name))
    parameters = {key: value for key, value in signature.parameters.items() if key != "self"}
    assert {value.kind for value in parameters.values()} <= {inspect.Parameter.KEYWORD_ONLY}
    rows = {parameter.arg: parameter for parameter in OPERATIONS[name].parameters}
    if "cursor_id" in rows:
        rows["cursor"] = rows.pop("cursor_id")
        del rows["cursor_time"]
    assert set(parameters) - {"supported"} == set(rows)
    for key, row in rows.items():
        default = parameters[key].default
        if row.required:
            assert default is inspect.Parameter.empty
        elif default is not None and not isinstance(default, Omitted):
            assert default == row.default


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_says_what_it_does_and_weighs(name):
    text = inspect.getdoc(getattr(ExchangeClient, name))
    weight = OPERATIONS[name].weight
    assert len(text) > 40
    assert weight == 10 or f"eight {weight}" in text, "ten is said once, for the copy-trading group"


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_sandbox_serves_what_the_client_calls(name):
    row = OPERATIONS[name]
    served = OPENAPI["paths"][row.path][row.method.lower()]
    assert served["operationId"] == name
    assert served["x-weight"] == row.weight
    assert served["x-order-count"] == row.orders_10s
    assert (served["x-label"] or None, served["x-root"]) == (row.label, row.root)
    assert sent_names(served) >= {parameter.name for parameter in row.parameters}
    if row.method == "GET":
        assert sent_names(served) == {parameter.name for parameter in row.parameters}


def sent_names(served):
    if "requestBody" not in served:
        return {parameter["name"] for parameter in served.get("parameters", ())}
    schema = resolved(served["requestBody"]["content"]["application/json"]["schema"])
    parts = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    return {name for part in parts for name in resolved(part).get("properties", {})}


def resolved(schema):
    while "$ref" in schema:
        schema = OPENAPI["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def test_the_sandbox_serves_nothing_else():
    served = {
        (m.upper(), path) for path, methods in OPENAPI["paths"].items() for m in methods if m != "parameters"
    }
    ours = {(row.method, row.path) for row in OPERATIONS.values()}
    assert served - ours == {("GET", path) for path in SERVER_TIME.values()}
    assert ours <= served


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_running_sandbox_agrees_with_its_description(name, sandbox):
    rows = {row["name"]: row for row in sandbox.control("GET", "routes")["operations"]}
    row = OPERATIONS[name]
    assert (rows[name]["method"], rows[name]["path"], rows[name]["root"]) == (row.method, row.path, row.root)
    assert (rows[name]["weight"], rows[name]["orders"]) == (row.weight, row.orders_10s)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_sample_is_an_answer_by_the_sandboxs_schema(name):
    row = OPERATIONS[name]
    answer = OPENAPI["paths"][row.path][row.method.lower()]["responses"]["200"]
    schema = {**answer["content"]["application/json"]["schema"], "components": OPENAPI["components"]}
    jsonschema.Draft202012Validator(schema).validate(sample(name))


@pytest.mark.parametrize("name", OPERATIONS)
def test_records_know_the_same_fields_as_the_sandboxs_schema(name):
    row = OPERATIONS[name]
    answer = OPENAPI["paths"][row.path][row.method.lower()]["responses"]["200"]
    schema = resolved(answer["content"]["application/json"]["schema"])
    if row.rows:
        schema = resolved(schema["properties"][row.rows])
    if "items" in schema:
        schema = resolved(schema["items"])
    parts = [resolved(part) for part in (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))]
    assert {field for part in parts for field in part.get("properties", {})} == set(wire_names(row.answer))
