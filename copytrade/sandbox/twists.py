"""Faults in the rows of an answer that is otherwise right: doubled, reordered, incomplete, mistyped."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from .faults import Fault

_NUMBER_TEXT = re.compile(r"-?[0-9]+(\.[0-9]+)?")
# A decimal that is to be written as a bare JSON number travels through the encoder between these marks.
_MARKED = re.compile('"\ue000([^"]*)\ue001"')
UNHEARD_OF = "UNHEARD_OF"
PAGE_NUMBERS = ("page", "pageNo", "pageNum", "pageIndex")


def encode(value: Any) -> bytes:
    """JSON as the sandbox writes it."""
    return _MARKED.sub(r"\1", json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def twist(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    """The answer with the fault in it; the original is left alone."""
    answer = copy.deepcopy(answer)
    return _TWISTS[fault.kind](answer, fault, params)


def page_before(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a call, for the page before; a cursor goes back to the first page of its range."""
    before: dict[str, Any] = {name: None for name in ("nextKeyId", "nextKeyTime") if name in params}
    before |= {name: max(1, params[name] - 1) for name in PAGE_NUMBERS if params.get(name)}
    return params | before


def rows_of(answer: Any) -> list[Any]:
    """The rows of any envelope; the answer itself where it is a single record."""
    if isinstance(answer, list):
        return answer
    for name, value in answer.items():
        if isinstance(value, list) and name not in ("permissions",):
            return value
    return [answer]


def _duplicate(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    rows = rows_of(answer)
    rows.extend(copy.deepcopy(rows))
    return answer


def _reorder(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    rows_of(answer).reverse()
    return answer


def _cursor_loop(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    """The page says that there is more, and points to where the caller already stands."""
    if isinstance(answer, dict) and "nextKey" in answer:
        rows = answer["list"]
        first = rows[0] if rows else {"trackingNo": 1, "updateTime": 1}
        key_id, key_time = params["nextKeyId"], params["nextKeyTime"]
        if key_id is None:
            key_id, key_time = first["trackingNo"], int(first.get("closeTime") or first["updateTime"])
        answer |= {"nextFlag": True, "nextKey": {"nextKeyId": key_id, "nextKeyTime": key_time}}
    elif isinstance(answer, dict):
        answer |= {name: True for name in ("hasNextPage", "nextFlag") if name in answer}
        answer |= {"pages": 1_000_000} if "pages" in answer else {}
    return answer


def _unknown_status(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    for row in rows_of(answer):
        for name in ("status", "positionSide", "bizType", "productType", "settingMode"):
            if name in row:
                row[name] = UNHEARD_OF
                break
        if "sourceType" in row:
            row["sourceType"] = 99
    return answer


def _missing(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    for row in rows_of(answer):
        for name in fault.more.get("fields") or list(row)[-1:]:
            row.pop(name, None)
    return answer


def _extra(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    rows = rows_of(answer)
    for row in rows if isinstance(answer, list) else [answer, *rows]:
        row["addedLater"] = {"what": "a field of a later version", "values": [1, None, "2.50"]}
    return answer


def _numbers(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    def bare(value: Any) -> Any:
        if isinstance(value, str) and _NUMBER_TEXT.fullmatch(value) and not re.match(r"-?0[0-9]", value):
            return f"\ue000{value}\ue001"
        return value

    return _each(answer, bare)


def _strings(answer: Any, fault: Fault, params: dict[str, Any]) -> Any:
    return _each(answer, lambda value: str(value) if type(value) is int else value)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _each(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    return change(value)


_TWISTS: dict[str, Callable[[Any, Fault, dict[str, Any]], Any]] = {
    "duplicate_rows": _duplicate,
    "reorder_rows": _reorder,
    "cursor_loop": _cursor_loop,
    "unknown_status": _unknown_status,
    "missing_fields": _missing,
    "extra_fields": _extra,
    "numbers_for_strings": _numbers,
    "strings_for_numbers": _strings,
}
