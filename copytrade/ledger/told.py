"""What a record of the exchange says of an order, each value in its only spelling. No query is made here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any

from copytrade.exchange.jsontext import storable
from copytrade.exchange.kinds import EPOCH
from copytrade.exchange.records import FollowerOrder
from copytrade.steps.merge import Identity, Observation, Row

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
# What is usual is told from one look at all texts of a record, and one at all its numbers: a look at each value takes
# longer than all the rest. No groups, which would make it slow.
_USUAL = re.compile(r"-?[0-9.]{1,60}\Z").match
_USUAL_NUMBERS = re.compile(r"\|".join(["-?[0-9.]{0,60}"] * len(NUMBERS)) + r"\Z").match
_USUAL_TEXTS = re.compile("\x00".join(rf"[^\x00]{{0,{LENGTHS[name]}}}" for name in TEXTS) + r"\Z").match

_TEXTS_OF, _IDS_OF = itemgetter(*TEXTS), itemgetter(*IDS)
_NUMBERS_OF, _TIMES_OF = itemgetter(*NUMBERS), itemgetter(*TIMES)

AT = {name: place for place, name in enumerate(COLUMNS)}
OPENED, CLOSED, SYMBOL = AT["open_time"], AT["close_time"], AT["symbol"]
TYPES = (
    dict.fromkeys(TEXTS, "text") | dict.fromkeys(IDS, "bigint") | {"open_leverage": "integer"}
    | dict.fromkeys(NUMBERS, "numeric") | dict.fromkeys(TIMES, "timestamptz") | {"extras": "jsonb"}
)  # fmt: skip


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


def observation(record: FollowerOrder, source: str) -> Observation:
    """What a record says, each value in its only spelling: numbers as text without exponent or minus zero, extras as
    sorted JSON, nothing that the database would change. Raises Unstorable where it does not fit."""
    told = vars(record)
    extras, texts = told["extras"], _TEXTS_OF(told)
    if None in texts or not _USUAL_TEXTS("\x00".join(texts)):
        texts = tuple(map(_fitting, TEXTS, texts))
        if len(texts[0]) > LENGTHS["trader_name"]:
            # A long name is no reason to lose an order: cut where it is shown, whole among the extras.
            extras = {**extras, "traderName": texts[0]}
            texts = (texts[0][: LENGTHS["trader_name"]], *texts[1:])
    leverage = told["open_leverage"]
    if leverage is not None and not -INT32 <= leverage < INT32:
        raise Unstorable("openLeverage is too large to be a leverage.")
    content = (
        *texts, *_IDS_OF(told), leverage, *_spelt_each(_NUMBERS_OF(told)), *_TIMES_OF(told),
        json.dumps(jsonable(extras), sort_keys=True) if extras else "{}",
    )  # fmt: skip
    closed = source == HISTORY and (told["close_time"] is not None or texts[3] == "CLOSED")
    identity = Identity(record.tracking_no, record.trader_id, texts[1], texts[2], told["open_time"])
    return Observation(identity, closed, told["update_time"], content)


def columns(row: Row) -> tuple[Any, ...]:
    """What a row shows: the observation that it holds, with the opening time that the order is known by."""
    content = row.held.content
    if row.opened is None or content[OPENED] is row.opened:
        return content
    return (*content[:OPENED], row.opened, *content[OPENED + 1 :])


def differences(before: Row, after: Row) -> dict[str, list[str | None]]:
    """{column: [before, after]} as text, of the columns that are told; equal numbers are no difference."""
    old, new = columns(before), columns(after)
    if old == new:
        return {}
    told = {}
    for name in TOLD:
        one, other = old[AT[name]], new[AT[name]]
        if one != other and not (
            TYPES[name] == "numeric" and one and other and Decimal(one) == Decimal(other)
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


def jsonable(extras: dict) -> dict:
    """What a JSON column can hold: numbers that JSON has not (Decimal) as text, and no NUL characters."""
    return storable(json.loads(json.dumps(extras, default=str)))


def _fitting(name: str, value: str | None) -> str:
    text = value or ""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if len(text) > LENGTHS[name] and name != "trader_name":
        raise Unstorable(f"{name} is longer than {LENGTHS[name]} characters.")
    return text


def _spelt_each(numbers: Sequence[Decimal | None]) -> list[str | None]:
    """The numbers of a record as PostgreSQL spells them back: no exponent, no minus zero."""
    told = ["" if number is None else str(number) for number in numbers]
    joined = "|".join(told)
    if _USUAL_NUMBERS(joined) and "-0" not in joined:
        return [text or None for text in told]
    return [None if number is None else _spelt(number) for number in numbers]


def _spelt(number: Decimal) -> str:
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
