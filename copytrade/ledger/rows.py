"""How orders stand in the database: a few statements for a whole page, and none at all for one that brings nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from psycopg.types.datetime import TimestamptzLoader

from copytrade.models import Account
from copytrade.steps.merge import Identity, Observation, Row

from .told import AT, COLUMNS, OPENED, SYMBOL, TEXTS, TIMES, TYPES, columns

_WRITTEN = (
    "account_id",
    "trader_id",
    "tracking_no",
    "generation",
    "closed",
    "first_seen_at",
    "beneath",
    *COLUMNS,
)
# Numbers as text: exact, as they are compared, and no detour over Decimal.
_READ = ", ".join(
    f"o.{name}::text" if TYPES[name] in ("numeric", "jsonb") else f"o.{name}" for name in COLUMNS
)
_SELECT = f"""
SELECT o.id, o.tracking_no, o.generation, t.trader_id, o.trader_id, o.closed, o.missing_since, o.lost_since,
       o.beneath::text, {_READ}
FROM copytrade_trackingorder o JOIN copytrade_trader t ON t.id = o.trader_id
WHERE o.account_id = %s AND o.tracking_no = ANY(%s)
"""
_STILL_OPEN = """
SELECT o.id, o.missing_since, o.tracking_no, t.trader_id, o.symbol, o.position_side, o.open_time
FROM copytrade_trackingorder o JOIN copytrade_trader t ON t.id = o.trader_id
WHERE o.account_id = %s AND NOT o.closed AND o.first_seen_at < %s
"""
_TEXTS = slice(0, len(TEXTS))
_TIMES = slice(AT[TIMES[0]], AT[TIMES[-1]] + 1)
_PLAIN = slice(_TEXTS.stop, _TIMES.start)
_HEAD = 9  # columns of _SELECT before COLUMNS
_COPY = f"COPY copytrade_trackingorder ({', '.join(_WRITTEN)}) FROM STDIN"
_AT_ONCE = 100  # rows that are written together: the database takes them in while the next are spelt
# What COPY's text format gives a meaning of its own.
_SPECIAL = re.compile(r"[\\\n\r\t]").search
_ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_CHANGED = {
    "id": "bigint", "trader_id": "bigint", "generation": "bigint", "closed": "boolean", "beneath": "jsonb",
    "missing_since": "timestamptz", "lost_since": "timestamptz", **TYPES,
}  # fmt: skip
_UPDATE = f"""
UPDATE copytrade_trackingorder o SET {", ".join(f"{name} = u.{name}" for name in _CHANGED if name != "id")}
FROM unnest({", ".join(f"%s::{kind}[]" for kind in _CHANGED.values())}) AS u ({", ".join(_CHANGED)})
WHERE o.id = u.id
"""
_DEMOTE = """
UPDATE copytrade_trackingorder o SET generation = u.generation
FROM unnest(%s::bigint[], %s::bigint[]) AS u (id, generation) WHERE o.id = u.id
"""


@dataclass
class Stored:
    """A row as the database holds it."""

    row: Row
    trader: int  # our key
    missing_since: datetime | None
    lost_since: datetime | None


def stored_rows(account: Account, numbers: Iterable[int]) -> dict[int, list[Stored]]:
    """The rows of these tracking numbers. One query."""
    found: dict[int, list[Stored]] = {}
    with connection.cursor() as cursor:
        _read_times_quickly(cursor)
        cursor.execute(_SELECT, [account.pk, list(numbers)])
        for line in cursor.fetchall():
            key, number, generation, uid, trader, closed, missing, lost, beneath = line[:_HEAD]
            content = line[_HEAD:]
            if content[-1] != "{}":
                content = (*content[:-1], json.dumps(json.loads(content[-1]), sort_keys=True))
            kin, opened = (number, uid, content[SYMBOL], content[2]), content[OPENED]
            under = _from_json(kin, json.loads(beneath)) if beneath else None
            told = None if under and under.identity.opened else opened
            if told is not opened:
                content = (*content[:OPENED], None, *content[OPENED + 1 :])
            held = Observation(Identity(*kin, told), closed, content[-2], content)
            one = Stored(Row(key, generation, opened, held, under), trader, missing, lost)
            found.setdefault(number, []).append(one)
    return found


def still_open(account: Account, seen_before: datetime) -> dict[Identity, tuple[int, datetime | None]]:
    """The open orders that were known then, each with (our key, missing since). One query."""
    with connection.cursor() as cursor:
        _read_times_quickly(cursor)
        cursor.execute(_STILL_OPEN, [account.pk, seen_before])
        return {Identity(*found[2:]): (found[0], found[1]) for found in cursor.fetchall()}


def _read_times_quickly(cursor: Any) -> None:
    """Times by psycopg's own loader: Django's, which is Python, takes longer than all the rest of a row. The session's
    zone is UTC, so they are the same."""
    cursor.cursor.adapters.register_loader("timestamptz", TimestamptzLoader)


def insert(account: Account, rows: list[Row], traders: dict[int, int], seen_at: datetime) -> None:
    """New rows by COPY, the quickest way there is, in its text format: psycopg, asked for each value how it is
    written, takes twice as long for a row."""
    if not rows:
        return
    first_seen = seen_at.isoformat()
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for start in range(0, len(rows), _AT_ONCE):
            lines = [_line(account.pk, row, traders, first_seen) for row in rows[start : start + _AT_ONCE]]
            copy.write("".join(lines))


def _line(account: int, row: Row, traders: dict[int, int], first_seen: str) -> str:
    """A row as COPY reads it: a tab between values, a newline behind them."""
    identity, closed, _, _ = row.held
    told = columns(row)
    texts, extras, beneath = told[_TEXTS], told[-1], _to_json(row.beneath)
    if _SPECIAL(beneath or "") or _SPECIAL(extras) or _SPECIAL("".join(texts)):
        texts, extras = [text.translate(_ESCAPED) for text in texts], extras.translate(_ESCAPED)
        beneath = beneath and beneath.translate(_ESCAPED)
    known = [
        account, traders[identity.trader], identity.number, row.generation, closed, first_seen, beneath,
        *texts, *told[_PLAIN], *_spelt(told[_TIMES]), extras,
    ]  # fmt: skip
    return "\t".join(["\\N" if one is None else str(one) for one in known]) + "\n"


def _spelt(times: tuple[datetime | None, ...]) -> list[str | None]:
    """Times as text. An order is made when it opens, and a time is spelt slowly."""
    opened, closed, created, updated = [one and one.isoformat() for one in (*times[:2], None, times[3])]
    if (made := times[2]) is not None:
        created = opened if made == times[0] else made.isoformat()
    return [opened, closed, created, updated]


def overwrite(changed: list[tuple[Stored, Row, bool]], traders: dict[int, int]) -> None:
    """One statement for all rows; before it the ones that are no longer the first of their number step aside."""
    if not changed:
        return
    aside = [
        (row.key, row.generation)
        for before, row, _ in changed
        if row.generation not in (before.row.generation, 0)
    ]
    lines = [
        (
            row.key, traders[row.held.identity.trader], row.generation, row.held.closed, _to_json(row.beneath),
            None if back else before.missing_since, None if back else before.lost_since, *columns(row),
        )
        for before, row, back in changed
    ]  # fmt: skip
    with connection.cursor() as cursor:
        if aside:
            cursor.execute(_DEMOTE, [list(column) for column in zip(*aside, strict=True)])
        cursor.execute(_UPDATE, [list(column) for column in zip(*lines, strict=True)])


def _to_json(one: Observation | None) -> str | None:
    """An observation as the column `beneath` keeps it; trader, symbol and side are the row's own."""
    if one is None:
        return None
    content = [value.isoformat() if isinstance(value, datetime) else value for value in one.content]
    return json.dumps({"closed": one.closed, "content": content})


def _from_json(kin: tuple[int, int, str, str], told: dict[str, Any]) -> Observation:
    content = told["content"]
    for name in TIMES:
        if content[AT[name]] is not None:
            content[AT[name]] = datetime.fromisoformat(content[AT[name]]).astimezone(UTC)
    return Observation(
        Identity(*kin, content[OPENED]), told["closed"], content[AT["update_time"]], tuple(content)
    )
