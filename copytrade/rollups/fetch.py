"""Closed copies as columns: the database sorts and strings them, and they come in one piece each."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from sys import byteorder
from typing import Any

import psycopg
from django.db import connection

from copytrade.statistics.exact import EXACT

from .counted import COUNTS, MARGIN
from .shape import Columns

PLACES = 8  # of money that fits into eight bytes; an exchange that sends more is read as text, more slowly
MOST = 9_000_000_000
LONG, SHORT, OTHER = 0, 1, 2
_SIDES = ("LONG", "SHORT")
_ORDER = 'o.close_time, o.tracking_no, o.open_time, o.symbol COLLATE "C", o.net_profit'


def _strung(cell: str, zero: str = "''::bytea") -> str:
    return f"string_agg({cell}, {zero} ORDER BY {_ORDER})"


def _whole(value: str) -> str:
    """Eight bytes of a number in its smallest part; 0 where it does not fit, which `narrow` tells."""
    return f"int8send(CASE WHEN abs({value}) < {MOST} THEN ({value} * {10**PLACES})::int8 ELSE 0 END)"


def _fits(value: str) -> str:
    return f"scale({value}) <= {PLACES} AND abs({value}) < {MOST}"


_SIDE = r"CASE o.position_side WHEN 'LONG' THEN '\x00'::bytea WHEN 'SHORT' THEN '\x01' ELSE '\x02' END"
_FROM = f"""FROM copytrade_trackingorder o WHERE o.trader_id = ANY(%s::bigint[]) AND {COUNTS}
    AND o.close_time >= %s AND o.close_time < %s GROUP BY o.trader_id"""
# What `made` makes columns of, selected from orders `o` of one trader.
CELLS = f"""bool_and({_fits("o.net_profit")} AND {_fits(MARGIN)}),
    {_strung("timestamptz_send(o.open_time)")}, {_strung("timestamptz_send(o.close_time)")},
    {_strung(_whole("o.net_profit"))}, {_strung(_whole(MARGIN))},
    {_strung(_SIDE)}, {_strung("int4send(coalesce(o.open_leverage, 0))")}, {_strung("int8send(o.id)")}"""
SIDES_CELL, N_CELLS = 5, 8
_COLUMNS = f"SELECT o.trader_id, {CELLS} {_FROM}"
_TEXTS = f"""
SELECT o.trader_id, {_strung("o.net_profit::text", "','")}, {_strung(f"({MARGIN})::text", "','")}
{_FROM}"""
_OTHERS = f"SELECT o.trader_id, array_agg(o.position_side ORDER BY {_ORDER}) {_FROM}"
EVER = (datetime.fromisoformat("0001-01-02T00:00:00Z"), datetime.fromisoformat("9999-12-30T00:00:00Z"))


def columns(traders: Sequence[int], between: tuple[datetime, datetime] = EVER) -> dict[int, Columns]:
    """Trader key -> the copies that closed from the one moment to before the other, in order. One query; two more
    for traders whose numbers are longer than usual, or whose sides are neither long nor short."""
    with bytes_cursor() as cursor:
        rows = cursor.execute(_COLUMNS, [list(traders), *between], binary=True).fetchall()
        return made(cursor, {key: cells for key, *cells in rows}, between)


def bytes_cursor() -> psycopg.Cursor[Any]:
    """A cursor of its own kind: columns come as bytes, not as their digits."""
    connection.ensure_connection()
    return _Bytes(connection.connection)


class _Bytes(psycopg.Cursor[Any]):
    """Past Django, but not past those who count its queries."""

    def execute(self, query: Any, *values: Any, **more: Any) -> Any:
        if connection.queries_logged:
            connection.queries_log.append({"sql": str(query), "time": ""})
        return super().execute(query, *values, **more)


def made(
    cursor: psycopg.Cursor[Any], cells: Mapping[int, Sequence[Any]], between: tuple[datetime, datetime]
) -> dict[int, Columns]:
    """Columns of CELLS, by trader; what they cannot hold is asked for by the same cursor."""
    long = [key for key, (fits, *_) in cells.items() if not fits]
    odd = [key for key, of_one in cells.items() if OTHER in of_one[SIDES_CELL]]
    texts = {key: rest for key, *rest in cursor.execute(_TEXTS, [long, *between])} if long else {}
    names = dict(cursor.execute(_OTHERS, [odd, *between])) if odd else {}
    return {key: _columns(texts.get(key), names.get(key), *rest) for key, (_, *rest) in cells.items()}


def _columns(
    texts: Sequence[str] | None,
    names: Sequence[str] | None,
    opened: bytes,
    closed: bytes,
    net: bytes,
    margin: bytes,
    sides: bytes,
    leverages: bytes,
    keys: bytes,
) -> Columns:
    if texts is None:
        places, nets, margins = PLACES, _numbers(net), _numbers(margin)
    else:
        places, nets, margins = _long(*texts)
    return Columns(
        _numbers(opened), _numbers(closed), nets, margins, places,
        names or [_SIDES[side] for side in sides], _numbers(leverages, "i"), _numbers(keys),
    )  # fmt: skip


def _long(nets: str, margins: str) -> tuple[int, list[int], list[int]]:
    """Numbers of any length, in the smallest part that any of them has."""
    columns = [[Decimal(text) for text in column.split(",")] for column in (nets, margins)]
    places = max(0, *(-int(number.as_tuple().exponent) for column in columns for number in column))
    whole = [[int(EXACT.scaleb(number, places)) for number in column] for column in columns]
    return places, whole[0], whole[1]


def _numbers(raw: bytes, kind: str = "q") -> list[int]:
    """Signed numbers of eight bytes ("q") or four ("i"), the highest byte first."""
    found = array(kind)
    found.frombytes(raw)
    if byteorder == "little":
        found.byteswap()
    return found.tolist()
