"""The ledger: observations of tracking orders become rows. What becomes of them is decided in steps/merge.py;
here is how orders are told apart from what the database holds, and how it is read and written: a few statements for
a whole page, and none at all for one that brings nothing new.

An order is closed by a history record alone (house.md, "Habits"): absence from the open list never closes
it, and no open record, however new, opens it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from psycopg.types.datetime import TimestamptzLoader

from . import issues
from .exchange.jsontext import storable
from .exchange.kinds import EPOCH
from .exchange.records import FollowerOrder
from .models import Account, DataIssue, OrderRevision, TrackingOrder, Trader
from .rollups import refresh_cells
from .steps.merge import Identity, Observation, Row, merged, same
from .steps.passes import Pass, absent

OPEN, HISTORY = "open", "history"
OPERATIONS = {OPEN: "open_tracking_orders", HISTORY: "tracking_order_history"}

# What an observation says of an order, as columns of TrackingOrder.
TEXTS = ("trader_name", "symbol", "position_side", "status")
IDS = ("open_order_id", "close_order_id")
NUMBERS = (
    "open_price_avg", "open_size", "open_fill_size", "open_fee", "open_margin_amount", "tp_trigger_price",
    "sl_trigger_price", "close_avg_price", "close_size", "realized_pnl", "profit_rate", "net_profit",
)  # fmt: skip
TIMES = ("open_time", "close_time", "created_time", "update_time")
COLUMNS = (*TEXTS, *IDS, "open_leverage", *NUMBERS, *TIMES, "extras")
# Changes of these are told as revisions; the others (a new name, a new updateTime alone) are not news.
TOLD = (
    *[name for name in TEXTS if name != "trader_name"],
    *IDS,
    "open_leverage",
    *NUMBERS,
    "open_time",
    "close_time",
)
LENGTHS = {"trader_name": 200, "symbol": 64, "position_side": 32, "status": 64}
INT32 = 2**31
MOST_DIGITS = 60
_USUAL = re.compile(r"-?[0-9.]{1,60}\Z").match
LEDGER_LOCK = 0x1ED6  # the first half of the advisory lock's number; the account is the second

_AT = {name: place for place, name in enumerate(COLUMNS)}
_OPENED, _CLOSED, _SYMBOL = _AT["open_time"], _AT["close_time"], _AT["symbol"]
_TYPES = (
    dict.fromkeys(TEXTS, "text") | dict.fromkeys(IDS, "bigint") | {"open_leverage": "integer"}
    | dict.fromkeys(NUMBERS, "numeric") | dict.fromkeys(TIMES, "timestamptz") | {"extras": "jsonb"}
)  # fmt: skip
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
    f"o.{name}::text" if _TYPES[name] in ("numeric", "jsonb") else f"o.{name}" for name in COLUMNS
)
_SELECT = f"""
SELECT o.id, o.tracking_no, o.generation, t.trader_id, o.trader_id, o.closed, o.missing_since, o.lost_since,
       o.beneath::text, {_READ}
FROM copytrade_trackingorder o JOIN copytrade_trader t ON t.id = o.trader_id
WHERE o.account_id = %s AND o.tracking_no = ANY(%s)
"""
_TRADERS = "SELECT id, trader_id, name FROM copytrade_trader WHERE account_id = %s AND trader_id = ANY(%s)"
_STILL_OPEN = """
SELECT o.id, o.missing_since, o.tracking_no, t.trader_id, o.symbol, o.position_side, o.open_time
FROM copytrade_trackingorder o JOIN copytrade_trader t ON t.id = o.trader_id
WHERE o.account_id = %s AND NOT o.closed AND o.first_seen_at < %s
"""
_HEAD = 9  # columns of _SELECT before COLUMNS
_COPY = f"COPY copytrade_trackingorder ({', '.join(_WRITTEN)}) FROM STDIN"
_CHANGED = {
    "id": "bigint", "trader_id": "bigint", "generation": "bigint", "closed": "boolean", "beneath": "jsonb",
    "missing_since": "timestamptz", "lost_since": "timestamptz", **_TYPES,
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
_KEEP_BAD = """
INSERT INTO copytrade_badrecord AS b (account_id, operation, fingerprint, raw, reason, first_seen_at, last_seen_at,
                                      times, tried_with)
SELECT %s, %s, u.fingerprint, u.raw, u.reason, %s, %s, u.times, ''
FROM unnest(%s::text[], %s::text[], %s::text[], %s::int[]) AS u (fingerprint, raw, reason, times)
ON CONFLICT (account_id, operation, fingerprint) DO UPDATE
SET times = b.times + EXCLUDED.times, last_seen_at = greatest(b.last_seen_at, EXCLUDED.last_seen_at), read_at = NULL
RETURNING b.fingerprint, b.reason, xmax = 0
"""


@dataclass
class Merged:
    """What a merge did: records seen, rows added, rows changed, rows newly closed, records set aside, and the UIDs
    of the traders whose copies were closed by it."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    closed: int = 0
    bad: int = 0
    closed_traders: set[int] = field(default_factory=set)

    def add(self, other: Merged) -> None:
        """Count another page."""
        for name in ("seen", "added", "changed", "closed", "bad"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.closed_traders |= other.closed_traders


@dataclass(frozen=True)
class Unstorable(Exception):
    """A record that decodes but does not fit the ledger; `reason` is a sentence."""

    reason: str


@dataclass
class Observed:
    """Records made ready for the ledger: by tracking number, and (raw text, reason) of those that do not fit."""

    source: str
    orders: dict[int, list[Observation]]
    unfit: list[tuple[str, str]]
    seen: int


@dataclass
class _Stored:
    """A row as the database holds it."""

    row: Row
    trader: int  # our key
    missing_since: datetime | None
    lost_since: datetime | None


def observed(records: Iterable[FollowerOrder], source: str, bad: Sequence[tuple[str, str]] = ()) -> Observed:
    """Records of one answer (OPEN or HISTORY) as observations. `bad`: what the decoder could not read."""
    orders: dict[int, list[Observation]] = {}
    unfit, seen = list(bad), len(bad)
    for record in records:
        seen += 1
        try:
            one = observation(record, source)
            orders.setdefault(record.tracking_no, []).append(one)
        except Unstorable as problem:
            unfit.append((raw_of(record), problem.reason))
    return Observed(source, orders, unfit, seen)


def merge(
    account: Account,
    records: Iterable[FollowerOrder] | Observed,
    *,
    source: str = OPEN,
    seen_at: datetime | None = None,
    now: bool = True,
) -> Merged:
    """Merge the records of one answer, or of several pages, into the ledger; a few queries, in one transaction.

    `source`: OPEN or HISTORY, the operation that answered (an Observed knows). Records that do not fit become
    BadRecord rows. `now`: False for what was told a while ago, which says nothing of what is open at present.
    """
    seen_at = seen_at or timezone.now()
    ready = records if isinstance(records, Observed) else observed(records, source)
    done = Merged(seen=ready.seen)
    with transaction.atomic():
        done.bad = keep_bad(account, OPERATIONS[ready.source], ready.unfit, seen_at)
        if ready.orders:
            alone_with(account)
            _store(account, ready, seen_at, done, present=now and ready.source == OPEN)
    return done


def says_nothing_new(account: Account, ready: Observed) -> bool:
    """Whether merging these would write nothing at all. One query, no lock: a poll that finds everything as it was
    leaves no trace."""
    if ready.unfit:
        return False
    stored = _stored(account, ready.orders)
    if len(stored) < len(ready.orders):
        return False
    new: list[Row] = []
    changed: list[tuple[_Stored, Row, bool]] = []
    for number, orders in ready.orders.items():
        _against(stored[number], orders, new, changed, present=ready.source == OPEN)
    return not new and not changed


def keep_bad(
    account: Account, operation: str, records: Sequence[tuple[str, str]], seen_at: datetime | None = None
) -> int:
    """Set aside (raw text, reason) pairs and raise an issue for each new one; the same record again only counts.
    How many there were."""
    if not records:
        return 0
    seen_at = seen_at or timezone.now()
    found: dict[str, list] = {}
    for raw, reason in records:
        raw = raw.replace("\x00", "\\u0000")
        mark = hashlib.sha256(raw.encode()).hexdigest()
        found.setdefault(mark, [raw, reason[:500], 0])[2] += 1
    marks = sorted(found)
    columns = [[found[mark][place] for mark in marks] for place in range(3)]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_KEEP_BAD, [account.pk, operation, seen_at, seen_at, marks, *columns])
        for mark, reason in [(mark, reason) for mark, reason, new in cursor.fetchall() if new]:
            tell_bad(account, operation, mark, reason, seen_at)
    return len(records)


def tell_bad(account: Account, operation: str, mark: str, reason: str, at: datetime) -> None:
    """The issue of a record that could not be read; its subject is the record's fingerprint."""
    sentence = (
        f"A record could not be understood ({reason[:300]}) It is kept as it came, and left out of every figure. "
        "It is tried again after every upgrade of Copydesk."
    )
    issues.tell(account, DataIssue.Kind.BAD_RECORD, mark, sentence, {"operation": operation}, at)


def note_absent(account: Account, seen: Pass | set[int], pass_began: datetime) -> list[TrackingOrder]:
    """After a pass of the open list that can be relied on: mark orders that it no longer holds; those newly missing.

    `seen`: the pass, or just the tracking numbers that it held. Orders first seen after the pass began are left
    alone. Nothing is closed here.
    """
    gone = [order for order in absent_rows(account, seen, pass_began) if order.missing_since is None]
    mark_missing(account, gone, pass_began)
    return gone


def mark_missing(account: Account, orders: Sequence[TrackingOrder], since: datetime) -> None:
    """These left the open list. One that closed meanwhile, or was just seen open, is left alone."""
    if orders:
        alone_with(account)
        rows = TrackingOrder.objects.filter(pk__in=[order.pk for order in orders], closed=False)
        rows.filter(missing_since=None).update(missing_since=since)


def absent_rows(account: Account, seen: Pass | set[int], pass_began: datetime) -> list[TrackingOrder]:
    """The open orders that a pass left out, missing already or not. One query."""
    if not isinstance(seen, Pass):
        seen = Pass(numbers=set(seen))
    with connection.cursor() as cursor:
        _read_times_quickly(cursor)
        cursor.execute(_STILL_OPEN, [account.pk, pass_began])
        known = {Identity(*found[2:]): found for found in cursor.fetchall()}
    return [
        TrackingOrder(
            pk=known[one][0], missing_since=known[one][1], open_time=one.opened, tracking_no=one.number
        )
        for one in absent(known, seen)
    ]


def observation(record: FollowerOrder, source: str) -> Observation:
    """What a record says, each value in its only spelling: numbers as text without exponent or minus zero, extras as
    sorted JSON, nothing that the database would change. Raises Unstorable where it does not fit."""
    told = vars(record)
    extras = told["extras"]
    texts = [_fitting(name, told[name]) for name in TEXTS]
    if len(texts[0]) > LENGTHS["trader_name"]:
        # A long name is no reason to lose an order: cut where it is shown, whole among the extras.
        extras = {**extras, "traderName": texts[0]}
        texts[0] = texts[0][: LENGTHS["trader_name"]]
    leverage = told["open_leverage"]
    if leverage is not None and not -INT32 <= leverage < INT32:
        raise Unstorable("openLeverage is too large to be a leverage.")
    content = (
        *texts, *(told[name] for name in IDS), leverage, *(_spelt(told[name]) for name in NUMBERS),
        *(told[name] for name in TIMES), json.dumps(jsonable(extras), sort_keys=True) if extras else "{}",
    )  # fmt: skip
    closed = source == HISTORY and (told["close_time"] is not None or texts[3] == "CLOSED")
    identity = Identity(record.tracking_no, record.trader_id, texts[1], texts[2], told["open_time"])
    return Observation(identity, closed, told["update_time"], content)


def alone_with(account: Account) -> None:
    """Wait until nobody else writes this account's orders or traders; held to the end of the transaction.

    Two readings may meet the same new trader, or the same new order, at the same moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LEDGER_LOCK, account.pk % INT32])


def jsonable(extras: dict) -> dict:
    """What a JSON column can hold: numbers that JSON has not (Decimal) as text, and no NUL characters."""
    return storable(json.loads(json.dumps(extras, default=str)))


def differences(before: Row, after: Row) -> dict[str, list[str | None]]:
    """{column: [before, after]} as text, of the columns that are told; equal numbers are no difference."""
    old, new = _columns(before), _columns(after)
    if old == new:
        return {}
    told = {}
    for name in TOLD:
        one, other = old[_AT[name]], new[_AT[name]]
        if one != other and not (
            _TYPES[name] == "numeric" and one and other and Decimal(one) == Decimal(other)
        ):
            told[name] = [_shown(one), _shown(other)]
    return told


def raw_of(record: FollowerOrder) -> str:
    """A record that was understood, back in the exchange's words: what quarantine.py reads again later."""
    wire = dict(record.extras)
    for one in fields(record):
        value = getattr(record, one.name)
        if "wire" not in one.metadata or value is None:
            continue
        if isinstance(value, datetime):
            value = round((value - EPOCH).total_seconds() * 1000)
        wire[one.metadata["wire"]] = str(value) if isinstance(value, Decimal) else value
    return json.dumps(wire, default=str, sort_keys=True)


def _store(account: Account, ready: Observed, seen_at: datetime, done: Merged, *, present: bool) -> None:
    """One select, then one COPY and one update for all of them, alone at this account's ledger."""
    stored = _stored(account, ready.orders)
    new: list[Row] = []
    changed: list[tuple[_Stored, Row, bool]] = []
    reused: set[int] = set()
    for number, orders in ready.orders.items():
        held = stored.get(number)
        if held is None:
            made = merged((), orders)
            new += made
        else:
            made = _against(held, orders, new, changed, present=present)
        if len(made) > 1 and len(made) > len(held or ()):
            reused.add(number)
    if not new and not changed:
        return
    traders = _traders(account, new, changed)
    _overwrite(changed, traders)  # first: a new row may take the place of the earliest of its number
    _insert(account, new, traders, seen_at)
    _tell(account, new, changed, traders, seen_at, done)
    for number in sorted(reused):
        _tell_reused(account, number, seen_at)


def _against(
    held: list[_Stored], orders: list[Observation], new: list[Row], changed: list, *, present: bool
) -> list[Row]:
    """Merge the observations of one number with its rows; what is to be written is added to `new` and `changed`."""
    by_key = {one.row.key: one for one in held}
    made = merged([one.row for one in held], orders)
    for row in made:
        before = by_key.get(row.key)
        if before is None:
            new.append(row)
        elif (back := _back(before, row, present, orders)) or row != before.row:
            changed.append((before, row, back))
    return made


def _back(before: _Stored, row: Row, present: bool, orders: list[Observation]) -> bool:
    """Has an order that was missing, or given up as lost, been found again: open or closed?"""
    if before.missing_since is None and before.lost_since is None:
        return False
    return row.held.closed or (present and any(same(row.identity, one.identity) for one in orders))


def _stored(account: Account, numbers: Iterable[int]) -> dict[int, list[_Stored]]:
    """The rows of these tracking numbers. One query."""
    found: dict[int, list[_Stored]] = {}
    with connection.cursor() as cursor:
        _read_times_quickly(cursor)
        cursor.execute(_SELECT, [account.pk, list(numbers)])
        for line in cursor.fetchall():
            key, number, generation, uid, trader, closed, missing, lost, beneath = line[:_HEAD]
            content = line[_HEAD:]
            if content[-1] != "{}":
                content = (*content[:-1], json.dumps(json.loads(content[-1]), sort_keys=True))
            kin, opened = (number, uid, content[_SYMBOL], content[2]), content[_OPENED]
            under = _from_json(kin, json.loads(beneath)) if beneath else None
            told = None if under and under.identity.opened else opened
            if told is not opened:
                content = (*content[:_OPENED], None, *content[_OPENED + 1 :])
            held = Observation(Identity(*kin, told), closed, content[-2], content)
            one = _Stored(Row(key, generation, opened, held, under), trader, missing, lost)
            found.setdefault(number, []).append(one)
    return found


def _read_times_quickly(cursor: Any) -> None:
    """Times by psycopg's own loader: Django's, which is Python, takes longer than all the rest of a row. The session's
    zone is UTC, so they are the same."""
    cursor.cursor.adapters.register_loader("timestamptz", TimestamptzLoader)


def _columns(row: Row) -> tuple[Any, ...]:
    """What a row shows: the observation that it holds, with the opening time that the order is known by."""
    content = row.held.content
    return content if row.opened is None else (*content[:_OPENED], row.opened, *content[_OPENED + 1 :])


def _insert(account: Account, rows: list[Row], traders: dict[int, int], seen_at: datetime) -> None:
    """New rows by COPY, the quickest way there is."""
    if not rows:
        return
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for row in rows:
            identity, closed, _, _ = row.held
            copy.write_row(
                (
                    account.pk, traders[identity.trader], identity.number, row.generation, closed, seen_at,
                    _to_json(row.beneath), *_columns(row),
                )
            )  # fmt: skip


def _overwrite(changed: list[tuple[_Stored, Row, bool]], traders: dict[int, int]) -> None:
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
            None if back else before.missing_since, None if back else before.lost_since, *_columns(row),
        )
        for before, row, back in changed
    ]  # fmt: skip
    with connection.cursor() as cursor:
        if aside:
            cursor.execute(_DEMOTE, [list(column) for column in zip(*aside, strict=True)])
        cursor.execute(_UPDATE, [list(column) for column in zip(*lines, strict=True)])


def _tell(
    account: Account, new: list[Row], changed: list, traders: dict[int, int], seen_at: datetime, done: Merged
) -> None:
    """Count what happened, note the revisions, close the issues of lost orders, and remake the daily sums."""
    cells, revisions, found = set(), [], []
    for row in new:
        _count_closed(row, done)
        if row.held.closed:
            cells.add(_cell(row, traders))
    for before, row, back in changed:
        was = before.row
        if row.held.closed and not was.held.closed:
            _count_closed(row, done)
        if row != was and (row.held.closed or was.held.closed):
            cells |= {_cell(row, traders), _cell(was, traders)}
        if told := differences(was, row):
            revisions.append(
                OrderRevision(order_id=row.key, seen_at=seen_at, update_time=row.held.updated, changed=told)
            )
        if before.lost_since is not None and back:
            found.append(str(row.held.identity.number))
    done.added, done.changed = len(new), len(changed)
    if revisions:
        OrderRevision.objects.bulk_create(revisions)
    if found:
        issues.heal(account, DataIssue.Kind.LOST_WINDOW, *found, at=seen_at)
    refresh_cells(account, cells)


def _count_closed(row: Row, done: Merged) -> None:
    if row.held.closed:
        done.closed += 1
        done.closed_traders.add(row.held.identity.trader)


def _cell(row: Row, traders: dict[int, int]) -> tuple[int, datetime | None, str]:
    return traders[row.held.identity.trader], row.held.content[_CLOSED], row.held.identity.symbol


def _tell_reused(account: Account, number: int, at: datetime) -> None:
    sentence = (
        f"The exchange used the tracking number {number} for different orders. Each is kept as an order of its own, "
        "and nothing was overwritten. Compare them with the exchange's own list."
    )
    issues.tell(account, DataIssue.Kind.GENERATION, str(number), sentence, {"tracking_no": str(number)}, at)


def _traders(account: Account, new: list[Row], changed: list) -> dict[int, int]:
    """{UID: our key}, with a row made for each trader that only an order has told of, and a name for the nameless."""
    names: dict[int, str] = {}
    for row in [*new, *(row for _, row, _ in changed)]:
        name = row.held.content[0]
        names[row.held.identity.trader] = max(name, names.get(row.held.identity.trader, ""))
    with connection.cursor() as cursor:
        cursor.execute(_TRADERS, [account.pk, list(names)])
        known = {uid: (key, name) for key, uid, name in cursor.fetchall()}
    made = [
        Trader(account=account, trader_id=uid, name=names[uid]) for uid in sorted(names) if uid not in known
    ]
    keys = {uid: key for uid, (key, _) in known.items()}
    if made:
        keys |= {trader.trader_id: trader.pk for trader in Trader.objects.bulk_create(made)}
    for uid, (key, name) in known.items():
        if not name and names[uid]:
            Trader.objects.filter(pk=key).update(name=names[uid])
    return keys


def _fitting(name: str, value: str | None) -> str:
    text = value or ""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if len(text) > LENGTHS[name] and name != "trader_name":
        raise Unstorable(f"{name} is longer than {LENGTHS[name]} characters.")
    return text


def _spelt(number: Decimal | None) -> str | None:
    """A number as PostgreSQL spells it back: no exponent, no minus zero."""
    if number is None:
        return None
    text = str(number)
    if _USUAL(text) and (text[0] != "-" or number):
        return text
    if (
        not number.is_finite()
        or abs(number.adjusted()) > MOST_DIGITS
        or len(number.as_tuple().digits) > MOST_DIGITS
    ):
        raise Unstorable("A number is out of any range that money has.")
    return format(abs(number) if number.is_zero() else number, "f")


def _shown(value: object) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _to_json(one: Observation | None) -> str | None:
    """An observation as the column `beneath` keeps it; trader, symbol and side are the row's own."""
    if one is None:
        return None
    content = [value.isoformat() if isinstance(value, datetime) else value for value in one.content]
    return json.dumps({"closed": one.closed, "content": content})


def _from_json(kin: tuple[int, int, str, str], told: dict[str, Any]) -> Observation:
    content = told["content"]
    for name in TIMES:
        if content[_AT[name]] is not None:
            content[_AT[name]] = datetime.fromisoformat(content[_AT[name]]).astimezone(UTC)
    return Observation(
        Identity(*kin, content[_OPENED]), told["closed"], content[_AT["update_time"]], tuple(content)
    )
