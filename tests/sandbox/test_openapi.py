"""The OpenAPI file against the routes, the interface's table, and the answers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
import requests
from openapi_spec_validator import validate

from copytrade.sandbox import catalogue, openapi
from tests.sandbox.paths import LIMIT_ORDER, ORDER, ROWS, Row
from tests.sandbox.signer import Caller, answer
from tests.support.sandbox_process import Sandbox

DOCUMENT = json.loads(openapi.FILE.read_text("utf-8"))


def test_the_file_is_what_the_catalogue_makes() -> None:
    assert openapi.FILE.read_text("utf-8") == openapi.text(), "run python -m copytrade.sandbox.openapi"


def test_the_file_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    validate(DOCUMENT)


def test_the_file_lists_exactly_the_operations_of_the_interface() -> None:
    listed = {
        (operation["operationId"], method.upper(), path, operation["x-weight"], operation["x-order-count"])
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
        if not operation["operationId"].startswith("server_time")
    }
    assert listed == {row[:5] for row in ROWS}
    assert len(listed) == 18


def test_the_routes_are_those_of_the_file(exchange: Sandbox) -> None:
    served = {(row["method"], row["path"]) for row in exchange.control("GET", "routes")["operations"]}
    times = {("GET", path) for path in exchange.control("GET", "routes")["time"]}
    written = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert served | times == written


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_every_path_answers_only_the_methods_of_the_file(exchange: Sandbox, path: str) -> None:
    written = {method.upper() for method in DOCUMENT["paths"][path]}
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        response = requests.request(method, exchange.url + path, timeout=5)
        supported = response.status_code != 405
        assert supported == (method in written), method
        if not supported:
            assert response.json()["code"] == -1150


def test_parameters_of_the_file_are_read(exchange: Sandbox) -> None:
    for row in exchange.control("GET", "routes")["operations"]:
        operation = DOCUMENT["paths"][row["path"]][row["method"].lower()]
        if row["method"] == "GET":
            names = [parameter["name"] for parameter in operation["parameters"]]
        else:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            names = list(schema["properties"])
        assert names == row["params"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_success_fits_its_schema_and_nothing_more(
    exchange: Sandbox, caller_of: Callable[[str], Caller], row: Row
) -> None:
    caller = caller_of(row.key)
    caller.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "probe"})  # for the operations that look at one
    response = caller.get(row.path, row.ask) if row.method == "GET" else caller.post(row.path, row.ask)
    schema = strict_schema(row.name)
    jsonschema.Draft202012Validator(schema).validate(answer(response))
    assert filled(answer(response)), "an empty answer proves nothing"


def test_a_failed_batch_item_fits_the_schema(follower: Caller) -> None:
    orders = [LIMIT_ORDER | {"quantity": "900000000"}, LIMIT_ORDER]
    found = answer(follower.post("/api/v3/order/batch", {"symbol": "BTCUSDT", "orderList": orders}))
    jsonschema.Draft202012Validator(strict_schema("place_orders")).validate(found)


@pytest.mark.parametrize("root", ["/api/v3/time", "/capi/v3/market/time"])
def test_server_time_is_public_and_fits(exchange: Sandbox, root: str) -> None:
    found = requests.get(exchange.url + root, timeout=5)
    assert list(found.json()) == ["serverTime"]
    assert found.headers["X-USED-WEIGHT-10S"] == "1"


def test_labels_are_those_of_the_interface() -> None:
    labels = {operation.name: operation.label for operation in catalogue.OPERATIONS}
    trading = {"place_order", "place_orders", "update_follower_settings"}
    unlabelled = {row.name for row in ROWS if row.key == "affiliate-key"}
    assert {name for name, label in labels.items() if label == "TRADE"} == trading
    assert {name for name, label in labels.items() if not label} == unlabelled
    assert set(labels.values()) == {"TRADE", "USER_DATA", ""}


def strict_schema(name: str) -> dict[str, Any]:
    """The schema of an operation's success in which no undeclared field is allowed."""
    components = copy.deepcopy(DOCUMENT["components"])
    for schema in components["schemas"].values():
        if schema["type"] == "object":
            schema["additionalProperties"] = False
    operation = next(
        operation
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
        if operation["operationId"] == name
    )
    reference = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    return {"$ref": reference, "components": components}


def filled(found: Any) -> bool:
    """Whether the main list, if there is one, has rows."""
    lists = [found] if isinstance(found, list) else [v for v in found.values() if isinstance(v, list)]
    return not lists or any(lists)
