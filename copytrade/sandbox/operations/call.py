"""A checked call on its way to its handler, and the envelopes that handlers answer with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copytrade.sandbox.keys import Key
from copytrade.sandbox.venue import Venue

Row = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """Who asks what, when. `params` are converted, with defaults; `body` is the JSON as it came."""

    venue: Venue
    key: Key
    params: dict[str, Any]
    body: dict[str, Any]
    now_ms: int

    @property
    def account(self) -> str:
        return self.key.account

    def __getitem__(self, name: str) -> Any:
        return self.params[name]


def part(rows: list[Row], page: int, size: int) -> list[Row]:
    """One page of the rows; empty beyond the last."""
    return rows[(page - 1) * size : page * size]


def pages(total: int, size: int) -> int:
    return -(-total // size)


def page_number_envelope(name: str, rows: list[Row], page: int, size: int) -> Row:
    return {
        "pages": pages(len(rows), size),
        "pageSize": size,
        "total": len(rows),
        name: part(rows, page, size),
    }


def items_envelope(rows: list[Row], page: int, size: int) -> Row:
    total = pages(len(rows), size)
    return {
        "total": len(rows),
        "pageSize": size,
        "pages": total,
        "page": page,
        "hasNextPage": page < total,
        "items": part(rows, page, size),
    }


def sub_affiliate_envelope(rows: list[Row], page: int, size: int) -> Row:
    return {
        "records": part(rows, page, size),
        "total": len(rows),
        "size": size,
        "current": page,
        "pages": pages(len(rows), size),
    }
