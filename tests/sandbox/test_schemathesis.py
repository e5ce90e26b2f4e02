"""Schemathesis at the sandbox's own OpenAPI file: no 5xx, and no answer that the file does not describe.

Every operation is asked with data that the file allows and with data that it forbids, by a key that may call it,
signed byte for byte as it is sent. In CI always the same questions. For a longer search:

    SANDBOX_EXAMPLES=500 python -m pytest tests/sandbox/test_schemathesis.py --hypothesis-seed=7
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from copytrade.sandbox import openapi, schemas
from tests.sandbox.paths import LIMIT_ORDER, ORDER, ROWS, STRANGER, TRADER, Row
from tests.sandbox.signer import Caller
from tests.support.sandbox_process import Sandbox

POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
EXAMPLES = int(os.environ.get("SANDBOX_EXAMPLES", "15"))
SEARCHING = "SANDBOX_EXAMPLES" in os.environ
ANSWERS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=EXAMPLES,
    derandomize=not SEARCHING,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


# What exists in the sandbox's world, for free text of the file: without it every allowed order would be a 404.
SYMBOL = {"type": "string", "enum": ["BTCUSDT", "ETHUSDT"]}
LEVERAGE = {"type": "integer", "minimum": 1, "maximum": 100}
EXISTING: dict[str, Any] = {
    "symbol": SYMBOL,
    "symbols": {"type": "array", "items": SYMBOL, "minItems": 1, "uniqueItems": True},
    "traderId": {"type": "integer", "enum": [TRADER, STRANGER]},
    "origClientOrderId": {"type": "string", "enum": ["probe", "desk-1"]},
    "quantity": {"type": "string", "pattern": r"^0\.00[1-9]$"},
    "price": {"type": "string", "pattern": "^[1-9][0-9]{2,4}$"},
    "traceValue": {"type": "string", "pattern": "^[1-9]$"},
    "maxHoldQty": {"type": "string", "pattern": "^[1-9][0-9]{1,3}$"},
    "stopProfitRatio": {"type": "string", "pattern": r"^0\.[0-9]$"},
    "stopLossRatio": {"type": "string", "pattern": r"^0\.[0-9]$"},
    "slippageRatio": {"type": "string", "pattern": r"^0\.00[1-9]$"},
    "settingType": {"type": "string", "enum": ["unified"]},
    "unifiedTraceConfig": {"$ref": "#/components/schemas/UnifiedTraceConfig"},
    "symbolTraceConfigs": {"type": "null"},
    "leverageType": {"type": "string", "enum": ["trader", "fixed"]},
    **dict.fromkeys(("fixedLongLeverage", "fixedShortLeverage", "longLeverage", "shortLeverage"), LEVERAGE),
}


@cache
def operation_of(name: str, mode: GenerationMode) -> Any:
    document = json.loads(openapi.FILE.read_text("utf-8"))
    if mode is POSITIVE:
        with_what_exists(document)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.generation.update(with_security_parameters=False)  # the caller signs
    return schema.find_operation_by_id(name)


def with_what_exists(document: dict[str, Any]) -> None:
    """Narrow what is asked, never what is answered."""
    asked = [document["components"]["schemas"][name]["properties"] for name in schemas.BODIES]
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                parameter["schema"] = EXISTING.get(parameter["name"], parameter["schema"])
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if body:
                asked.append(body["schema"]["properties"])
                wanted = {"unifiedTraceConfig"} & body["schema"]["properties"].keys()
                body["schema"]["required"] = [*body["schema"].get("required", []), *wanted]
    for properties in asked:
        properties.update({name: EXISTING[name] for name in properties if name in EXISTING})


def sent(caller: Caller, case: Case) -> requests.Response:
    """The case as Schemathesis would send it, with the signature of exactly these bytes."""
    kwargs = case.as_transport_kwargs(base_url=caller.url)
    request = requests.Request(
        kwargs["method"],
        kwargs["url"],
        **{k: v for k, v in kwargs.items() if k in ("params", "json", "data")},
    ).prepare()
    assert request.method and request.path_url
    headers = caller.headers(request.method, request.path_url, request.body or b"", int(time.time() * 1000))
    request.headers.update(headers | {"Content-Type": "application/json"})
    return caller.session.send(request, timeout=10)


@pytest.mark.parametrize(
    ("row", "mode"),
    [
        pytest.param(row, mode, id=f"{row.name}-{'forbidden' if mode is NEGATIVE else 'allowed'}")
        for row in ROWS
        for mode in (POSITIVE, NEGATIVE)
        if row.name != "account" or mode is POSITIVE  # it takes nothing that could be wrong
    ],
)
def test_every_answer_is_one_that_the_file_describes(
    sandbox_process: Sandbox, caller_of: Callable[[str], Caller], row: Row, mode: GenerationMode
) -> None:
    sandbox_process.reset()
    caller = caller_of(row.key)
    caller.post(ORDER, LIMIT_ORDER | {"newClientOrderId": "probe"})
    operation = operation_of(row.name, mode)
    statuses: set[int] = set()

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        response = sent(caller, case)
        case.validate_response(response, checks=[*ANSWERS, negative_data_rejection])
        assert response.headers["Content-Type"] == "application/json"
        statuses.add(response.status_code)

    ask()
    wanted = 200 if mode is POSITIVE else 400
    assert wanted in statuses, "all were answered alike: this proves nothing"
