"""The 18 operations as the sandbox serves them: path, label, weight, parameters with their bounds.

Written from interface.md, apart from the client's own table; a test holds the two together.
"""

from __future__ import annotations

from . import affiliate, copying, spot
from .rows import CONTRACT_ROOT, INT_MAX, LONG_MAX, SPOT_ROOT, Operation, Param
from .spot import ORDER_FIELDS

OPERATIONS: tuple[Operation, ...] = (*affiliate.OPERATIONS, *spot.OPERATIONS, *copying.OPERATIONS)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
TIME_ROUTES = {"/api/v3/time": SPOT_ROOT, "/capi/v3/market/time": CONTRACT_ROOT}


def _routes() -> dict[str, dict[str, Operation]]:
    routes: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        for path in [operation.path] + [operation.path + "/"] * operation.also_slash:
            routes.setdefault(path, {})[operation.method] = operation
    return routes


ROUTES = _routes()

__all__ = [
    "BY_NAME",
    "INT_MAX",
    "LONG_MAX",
    "OPERATIONS",
    "ORDER_FIELDS",
    "ROUTES",
    "TIME_ROUTES",
    "Operation",
    "Param",
]
