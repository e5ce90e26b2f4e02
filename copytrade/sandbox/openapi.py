"""The OpenAPI 3.1 file, made from the catalogue. `python -m copytrade.sandbox.openapi` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .catalogue import INT_MAX, OPERATIONS, TIME_ROUTES, Operation, Param
from .errors import CATALOGUE
from .schemas import components

FILE = Path(__file__).with_name("openapi.json")
Schema = dict[str, Any]

ABOUT = (
    "Spot orders and account data, affiliate reports, and copy-trading follower and trader data. "
    "Every operation is signed: see the security schemes. A failed call answers with an HTTP status other than "
    "200 and a negative number in `code`."
)
SIGNING = (
    "Base64 of HMAC-SHA256, keyed with the secret, over timestamp + METHOD + path + (? + query) + body, "
    "each exactly as sent."
)
HEADERS = {
    "ACCESS-KEY": "The API key.",
    "ACCESS-SIGN": SIGNING,
    "ACCESS-PASSPHRASE": "The passphrase of the key.",
    "ACCESS-TIMESTAMP": "Unix milliseconds, 13 digits, within 30 s of the server's time.",
}
COUNTERS = {
    "X-USED-WEIGHT-1M": "Weight used in this minute by this address.",
    "X-USED-WEIGHT-10S": "Weight used in these 10 s by this address.",
    "X-REMAINING-WEIGHT-10S": "Weight left in these 10 s; absent when the limit is switched off.",
}
ORDER_COUNTERS = {
    "X-ORDER-COUNT-10S": "Orders placed in these 10 s by this account.",
    "X-ORDER-COUNT-1M": "Orders placed in this minute by this account.",
}
ITEMS = {"orderList": "OrderItem", "symbolTraceConfigs": "SymbolTraceConfig"}


def document() -> Schema:
    """The whole file as JSON values, the same every time."""
    paths: dict[str, Schema] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    for path, root in TIME_ROUTES.items():
        paths[path] = {"get": _server_time(root)}
    schemes = {
        name: {"type": "apiKey", "in": "header", "name": name, "description": about}
        for name, about in HEADERS.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Spot, affiliate and copy-trading account API",
            "version": "3",
            "description": ABOUT,
        },
        "servers": [
            {"url": "http://localhost:9100", "description": "The sandbox exchange: both roots on one port"}
        ],
        "security": [{name: [] for name in HEADERS}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in OPERATIONS)],
        "paths": paths,
        "components": {"schemas": components(), "securitySchemes": schemes},
    }


def text() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def _operation(operation: Operation) -> Schema:
    counters = COUNTERS | (ORDER_COUNTERS if operation.orders else {})
    found: Schema = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": _description(operation),
        "x-weight": operation.weight,
        "x-order-count": operation.orders,
        "x-label": operation.label,
        "x-root": operation.root,
        "responses": {
            "200": {
                "description": "Success",
                "headers": {name: _counter(about) for name, about in counters.items()},
                "content": _json({"$ref": f"#/components/schemas/{operation.answer}"}),
            },
            **_failures(operation),
        },
    }
    if operation.method == "GET":
        found["parameters"] = [_parameter(param) for param in operation.params]
    else:
        found["requestBody"] = {
            "required": any(param.required for param in operation.params),
            "content": _body(operation),
        }
    return found


def _description(operation: Operation) -> str:
    words = [f"Needs the permission {operation.needs}."]
    if operation.only:
        words.append(f"For {operation.only} {'keys' if operation.only == 'copy-trade' else 'accounts'} only.")
    if operation.also_slash:
        words.append("A trailing slash is accepted too; it changes the signature.")
    return " ".join(words)


def _failures(operation: Operation) -> Schema:
    statuses = {400, 401, 403, 429, 500} | (
        {404} if operation.name in ("place_order", "place_orders", "order") else set()
    )
    return {
        str(status): {
            "description": "Refused: "
            + ", ".join(str(code) for code, (http, _) in CATALOGUE.items() if http == status),
            "content": _json({"$ref": "#/components/schemas/Error"}),
        }
        for status in sorted(statuses)
    }


def _body(operation: Operation) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {param.name: _body_field(param) for param in operation.params},
    }
    required = [param.name for param in operation.params if param.required]
    return _json(schema | ({"required": required} if required else {}))


def _body_field(param: Param) -> Schema:
    if param.kind == "object":
        return {"$ref": "#/components/schemas/UnifiedTraceConfig"}
    schema = _schema(param)
    return schema if param.required else {"anyOf": [schema, {"type": "null"}]}


def _parameter(param: Param) -> Schema:
    found: Schema = {"name": param.name, "in": "query", "required": param.required, "schema": _schema(param)}
    if param.about:
        found["description"] = param.about
    if param.kind == "longs":
        found |= {"style": "form", "explode": True}
    return found


def _schema(param: Param) -> Schema:
    kinds: dict[str, Schema] = {
        "long": {"type": "integer", "format": "int64"},
        "int": {"type": "integer", "format": "int32"},
        "text": {"type": "string", "minLength": 1},
        "choice": {"type": "string", "enum": list(param.choices)},
        "decimal": {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"},
        "date": {"type": "string", "format": "date"},
        "longs": {"type": "array", "items": {"type": "integer", "format": "int64"}},
        "objects": {"type": "array", "items": {"$ref": f"#/components/schemas/{ITEMS.get(param.name)}"}},
    }
    found = kinds[param.kind]
    low, high = ("minItems", "maxItems") if param.kind == "objects" else ("minimum", "maximum")
    if param.low is not None:
        found[low] = param.low
    if param.high not in (None, INT_MAX):
        found[high] = param.high
    return found | ({} if param.default is None else {"default": param.default})


def _server_time(root: str) -> Schema:
    return {
        "operationId": f"server_time_{root}",
        "summary": "Server time",
        "description": "Public: no key, no signature.",
        "x-weight": 1,
        "x-root": root,
        "security": [],
        "responses": {
            "200": {"description": "Success", "content": _json({"$ref": "#/components/schemas/ServerTime"})}
        },
    }


def _counter(about: str) -> Schema:
    return {"description": about, "schema": {"type": "integer"}}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
