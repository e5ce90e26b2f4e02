"""The ledger merge: observations of tracking orders become rows, in any order and any number of times.

Every observation has a rank: (it closes the order, its updateTime, its own text). A row always holds the
observation with the highest rank seen so far. Taking the highest of a set is commutative, associative and
idempotent, and so is the merge: pages may overlap, repeat, arrive late or out of order.

An order is closed by a history record alone (house.md, "Habits"): absence from the open list never closes
it, and no open record, however new, opens it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from django.db import connection, transaction
from django.utils import timezone

from .exchange.jsontext import storable
from .exchange.records import FollowerOrder
from .models import Account, BadRecord, OrderRevision, TrackingOrder, Trader

OPEN, HISTORY = "open", "history"
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
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
LEDGER_LOCK = 0x1ED6  # the first half of the advisory lock's number; the account is the second


@dataclass
class Merged:
    """What a merge did: records seen, rows added, rows changed, rows newly closed, records set aside."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    closed: int = 0
    bad: int = 0
    numbers: set[int] = field(default_factory=set)

    def add(self, other: Merged) -> None:
        """Count another page."""
        for name in ("seen", "added", "changed", "closed", "bad"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.numbers |= other.numbers


@dataclass(frozen=True)
class Unstorable(Exception):
    """A record that decodes but does not fit the ledger; `reason` is a sentence."""

    reason: str


def merge(
    account: Account, records: Iterable[FollowerOrder], *, source: str, seen_at: datetime | None = None
) -> Merged:
    """Merge the records of one answer into the ledger; four to six queries, in one transaction.

    `source`: OPEN or HISTORY, the operation that answered. Records that do not fit become BadRecord rows.
    """
    seen_at, done = seen_at or timezone.now(), Merged()
    best: dict[int, dict] = {}
    unfit: list[tuple[str, str]] = []
    for record in records:
        done.seen += 1
        try:
            found = observation(record, source)
        except Unstorable as problem:
            unfit.append((_raw(record), problem.reason))
            continue
        held = best.get(record.tracking_no)
        if held is None or rank(found) > rank(held):
            best[record.tracking_no] = found
    done.numbers = set(best)
    with transaction.atomic():
        done.bad = keep_bad(account, OPERATIONS[source], unfit, seen_at)
        if best:
            _store(account, best, seen_at, done)
    return done


def keep_bad(
    account: Account, operation: str, records: Sequence[tuple[str, str]], seen_at: datetime | None = None
) -> int:
    """Set aside (raw text, reason) pairs; the same record again only counts. How many there were."""
    seen_at = seen_at or timezone.now()
    for raw, reason in records:
        raw = raw.replace("\x00", "\\u0000")
        mark = hashlib.sha256(raw.encode()).hexdigest()
        row, made = BadRecord.objects.get_or_create(
            account=account,
            operation=operation,
            fingerprint=mark,
            defaults={"raw": raw, "reason": reason[:500], "first_seen_at": seen_at, "last_seen_at": seen_at},
        )
        if not made:
            BadRecord.objects.filter(pk=row.pk).update(times=row.times + 1, last_seen_at=seen_at)
    return len(records)


def note_absent(account: Account, present: set[int], pass_began: datetime) -> list[TrackingOrder]:
    """After a complete pass of the open list: mark orders that it no longer holds; those newly missing.

    Orders first seen after the pass began are left alone. Nothing is closed here.
    """
    absent = list(
        TrackingOrder.objects.filter(account=account, closed=False, first_seen_at__lt=pass_began)
        .exclude(tracking_no__in=present)
        .only("pk", "missing_since", "open_time")
    )
    fresh = [order for order in absent if order.missing_since is None]
    TrackingOrder.objects.filter(pk__in=[order.pk for order in fresh], closed=False).update(
        missing_since=pass_began
    )
    return fresh


def observation(record: FollowerOrder, source: str) -> dict:
    """The columns that a record speaks of, with `closed`. Raises Unstorable where it does not fit."""
    values: dict = {name: getattr(record, name) for name in COLUMNS}
    for name in TEXTS:
        text = (values[name] or "").replace("\x00", "")
        if len(text) > LENGTHS[name]:
            raise Unstorable(f"{name} is longer than {LENGTHS[name]} characters.")
        values[name] = text
    for name in NUMBERS:
        values[name] = _exact(values[name])
    leverage = values["open_leverage"]
    if leverage is not None and not -INT32 <= leverage < INT32:
        raise Unstorable("openLeverage is too large to be a leverage.")
    values["extras"] = jsonable(values["extras"])
    values["trader_id"] = record.trader_id
    closing = values["close_time"] is not None or values["status"] == "CLOSED"
    values["source"] = source
    values["closed"] = source == HISTORY and closing
    return values


def alone_with(account: Account) -> None:
    """Wait until nobody else writes this account's orders or traders; held to the end of the transaction.

    Two readings may meet the same new trader, or the same new order, at the same moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LEDGER_LOCK, account.pk % INT32])


def jsonable(extras: dict) -> dict:
    """What a JSON column can hold: numbers that JSON has not (Decimal) as text, and no NUL characters."""
    return storable(json.loads(json.dumps(extras, default=str)))


def rank(values: dict) -> tuple:
    """The order in which observations win: closing, then newer, then (a tie) by their own text."""
    return (values["closed"], values["update_time"] or BEGINNING, _text(values))


def _store(account: Account, best: dict[int, dict], seen_at: datetime, done: Merged) -> None:
    """One select, then one insert and one update for all of them, alone at this account's ledger."""
    alone_with(account)
    traders = _traders(account, best)
    uids = {trader.pk: uid for uid, trader in traders.items()}
    rows = TrackingOrder.objects.filter(account=account, tracking_no__in=best)
    stored = {row.tracking_no: row for row in rows}
    new, changed, revisions = [], [], []
    for number, values in sorted(best.items()):
        trader = traders[values["trader_id"]]
        if number not in stored:
            row = TrackingOrder(account=account, tracking_no=number, first_seen_at=seen_at)
            _write(row, values, trader)
            new.append(row)
            continue
        row = stored[number]
        before = _values(row, uids.get(row.trader_id, 0))
        if rank(values) > rank(before):
            _write(row, values, trader)
            done.closed += values["closed"] and not before["closed"]
            changed.append(row)
            if told := differences(before, values):
                revisions.append(
                    OrderRevision(order=row, seen_at=seen_at, update_time=values["update_time"], changed=told)
                )
        elif row.missing_since is not None and (row.closed or values["source"] == OPEN):
            row.missing_since = None
            changed.append(row)
    done.added, done.changed = len(new), len(changed)
    done.closed += sum(row.closed for row in new)
    TrackingOrder.objects.bulk_create(new)
    _overwrite(changed)
    OrderRevision.objects.bulk_create(revisions)


def _overwrite(rows: list[TrackingOrder]) -> None:
    """One statement for all of them; bulk_update would spell out a CASE for every cell."""
    if rows:
        TrackingOrder.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["account", "tracking_no", "generation"],
            update_fields=[*COLUMNS, "trader", "closed", "missing_since"],
        )


def _write(row: TrackingOrder, values: dict, trader: Trader) -> None:
    for name in COLUMNS:
        setattr(row, name, values[name])
    row.trader, row.closed, row.missing_since = trader, values["closed"], None


def _values(row: TrackingOrder, uid: int) -> dict:
    """A stored row as the observation that it holds."""
    return {name: getattr(row, name) for name in COLUMNS} | {"trader_id": uid, "closed": row.closed}


def differences(before: dict, after: dict) -> dict[str, list[str | None]]:
    """{column: [before, after]} as text, of the columns that are told; equal numbers are no difference."""
    return {name: [_shown(before[name]), _shown(after[name])] for name in TOLD if before[name] != after[name]}


def _traders(account: Account, best: dict[int, dict]) -> dict[int, Trader]:
    """The account's traders by UID, with a row made for each that only an order has told of."""
    names = {values["trader_id"]: values["trader_name"] for _, values in sorted(best.items())}
    known = {trader.trader_id: trader for trader in Trader.objects.filter(account=account)}
    made = [
        Trader(account=account, trader_id=uid, name=name)
        for uid, name in sorted(names.items())
        if uid not in known
    ]
    for trader in Trader.objects.bulk_create(made):
        known[trader.trader_id] = trader
    for uid, name in names.items():
        if name and not known[uid].name:
            known[uid].name = name
            known[uid].save(update_fields=["name"])
    return known


def _exact(number: Decimal | None) -> Decimal | None:
    """The number as PostgreSQL gives it back: no exponent, no minus zero."""
    if number is None:
        return None
    if (
        not number.is_finite()
        or abs(number.adjusted()) > MOST_DIGITS
        or len(number.as_tuple().digits) > MOST_DIGITS
    ):
        raise Unstorable("A number is out of any range that money has.")
    return abs(number) if number.is_zero() else Decimal(format(number, "f"))


def _shown(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _text(values: dict) -> str:
    """One text per different observation, the same from a record as from the stored row."""
    shown = {name: _shown(values[name]) for name in COLUMNS if name != "extras"}
    return json.dumps([shown, values["extras"], values["trader_id"]], sort_keys=True)


def _raw(record: FollowerOrder) -> str:
    return json.dumps(asdict(record), default=str, sort_keys=True)
