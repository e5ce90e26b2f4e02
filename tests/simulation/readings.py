"""The readings, step by step: what sync/{open_orders,history,traders}.py and ledger/ do around copytrade.steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING

from copytrade.exchange.envelopes import Cursor, Page
from copytrade.exchange.errors import Rejected
from copytrade.exchange.records import FollowerOrder
from copytrade.steps import merge, passes, walk

from .desk import Desk, Steps
from .truth import DAY, moment, ms_of
from .world import TOO_FAR

if TYPE_CHECKING:
    from .workers import Reading

OPEN, HISTORY, TRADERS = "open", "history", "traders"
# Everything that a record tells, beside its own identity.
COLUMNS = (
    "trader_name", "status", "open_order_id", "close_order_id", "open_leverage", "open_price_avg", "open_size",
    "open_fill_size", "open_fee", "open_margin_amount", "tp_trigger_price", "sl_trigger_price", "close_avg_price",
    "close_size", "realized_pnl", "profit_rate", "net_profit", "close_time", "created_time", "update_time",
)  # fmt: skip
# A daily sum: account, trader, day, symbol.
Cell = tuple[int, int, int, str]
CONTENT = attrgetter(*COLUMNS)
NET_PROFIT, CLOSE_TIME = COLUMNS.index("net_profit"), COLUMNS.index("close_time")


@dataclass(frozen=True)
class Stored:
    """A row of the ledger, with what the ledger keeps beside it; times by the desk's clock."""

    account: int
    row: merge.Row
    first_seen: int
    missing_since: int | None = None
    lost_since: int | None = None


def identity(record: FollowerOrder) -> merge.Identity:
    return merge.Identity(
        record.tracking_no, record.trader_id, record.symbol, record.position_side, record.open_time
    )


def observation(desk: Desk, record: FollowerOrder, source: str) -> merge.Observation:
    content = CONTENT(record)
    if "money is a float" in desk.bugs:
        content = tuple(float(value) if isinstance(value, Decimal) else value for value in content)
    closed = source == HISTORY and record.close_time is not None
    return merge.Observation(identity(record), closed, record.update_time, content)


# ---- the ledger ----------------------------------------------------------------------------------------------


def store_page(reading: Reading, page: Page[FollowerOrder], source: str) -> int:
    """Merge a page into the ledger, daily sums and all, within the caller's transaction; how many rows are new."""
    desk, store, account = reading.desk, reading.desk.store, reading.account.key
    if "a record that does not parse is dropped" not in desk.bugs:
        for bad in page.bad:
            store.put("bad", (account, source, bad.raw), desk.now())
    told: dict[int, list[merge.Observation]] = {}
    for record in page.records:
        told.setdefault(record.tracking_no, []).append(observation(desk, record, source))
    cells: set[Cell] = set()
    added = 0
    for number, observations in told.items():
        keys: tuple[int, ...] = store["numbers"].get((account, number), ())
        held: dict[int | None, Stored] = {key: store["orders"][key] for key in keys}
        for row in merge.merged([stored.row for stored in held.values()], observations):
            before = held.get(row.key)
            back = before is not None and _is_back(before, row, observations if source == OPEN else [])
            if before is None or before.row != row or back:
                cells |= _put(reading, before, row, back=back)
                added += before is None
    if "the daily sums are made later" not in desk.bugs:
        refresh(desk, cells)
    return added


def _is_back(before: Stored, row: merge.Row, present: list[merge.Observation]) -> bool:
    """Has an order that was missing, or given up, been found again: closed, or among those `present`?"""
    if before.missing_since is None and before.lost_since is None:
        return False
    return row.held.closed or any(merge.same(row.identity, one.identity) for one in present)


def _put(reading: Reading, before: Stored | None, row: merge.Row, *, back: bool) -> set[Cell]:
    """Write one row; the daily sums that it has to do with, before and after."""
    desk, store, account = reading.desk, reading.desk.store, reading.account.key
    cells: set[Cell] = set()
    if before is None:
        row = row._replace(key=next(desk.tokens))
        after = Stored(account, row, desk.now())
        place = (account, row.identity.number)
        store.put("numbers", place, (*store["numbers"].get(place, ()), row.key))
    else:
        after = replace(before, row=row)
        if back:
            after = replace(after, missing_since=None, lost_since=None)
        if "the daily sum that an order left is not remade" not in desk.bugs:
            cells |= cell_of(before)
    store.put("orders", row.key, after)
    reading.changed += 1
    if row.held.closed and not (before and before.row.held.closed):
        reading.closed_traders.add(row.held.identity.trader)
    return cells | cell_of(after)


def cell_of(stored: Stored) -> set[Cell]:
    """The daily sum that an order belongs to, if it is closed."""
    held = stored.row.held
    closed = held.content[CLOSE_TIME]
    if not held.closed or closed is None:
        return set()
    return {(stored.account, held.identity.trader, ms_of(closed) // DAY, held.identity.symbol)}


def refresh(desk: Desk, cells: Iterable[Cell]) -> None:
    """Remake these daily sums from the ledger."""
    for cell in cells:
        rows = [stored for stored in desk.store["orders"].values() if cell in cell_of(stored)]
        money = sum((Decimal(str(stored.row.held.content[NET_PROFIT] or 0)) for stored in rows), Decimal(0))
        desk.store.put("cells", cell, (len(rows), money))


# ---- open orders ---------------------------------------------------------------------------------------------


def read_open(reading: Reading) -> Steps:
    """Passes over the open list until one can be believed; who is absent from it is looked for in the history."""
    desk, world = reading.desk, reading.desk.world
    before: str | None = desk.store["digests"].get(reading.account.key)
    made: list[passes.Pass] = []
    while True:
        began = desk.now()
        seen = passes.Pass()
        while True:
            number = seen.pages + 1
            page = yield from reading.call(lambda number=number: world.open_orders(reading.account, number))
            with reading.fenced():
                store_page(reading, page, OPEN)
            bad = [number_of(record.raw) for record in page.bad]
            if not seen.take(map(identity, page.records), bad, full=page.next is not None):
                break
            world.jostle(reading.account)
        made.append(seen)
        gone = absent(reading, seen, began)
        verdict = passes.judge(made, before, missing=bool(gone))
        desk.note(
            "open list of",
            reading.account.key,
            len(seen.present),
            "orders,",
            len(gone),
            "gone:",
            verdict.value,
        )
        if verdict is not passes.Verdict.AGAIN:
            break
    note_pass(reading, seen, gone if verdict is passes.Verdict.AGREED else {}, began)


def absent(reading: Reading, seen: passes.Pass, began: int) -> dict[int, Stored]:
    """The rows that should be open, were known before this pass, and are not on it."""
    known = {
        key: stored
        for key, stored in reading.desk.store["orders"].items()
        if stored.account == reading.account.key and not stored.row.held.closed and stored.first_seen < began
    }
    gone = set(passes.absent([stored.row.identity for stored in known.values()], seen))
    return {key: stored for key, stored in known.items() if stored.row.identity in gone}


def note_pass(reading: Reading, seen: passes.Pass, gone: dict[int, Stored], began: int) -> None:
    """Mark who is missing, keep what the next reading compares with, and have the history looked at."""
    desk, store, key = reading.desk, reading.desk.store, reading.account.key
    fresh = [order for order, stored in gone.items() if stored.missing_since is None]
    with reading.fenced():
        for order in fresh:
            now_held: Stored = store["orders"][order]
            if now_held.row.held.closed:
                continue
            if "absence means closed" in desk.bugs:
                held = now_held.row.held
                store.put(
                    "orders",
                    order,
                    replace(now_held, row=now_held.row._replace(held=held._replace(closed=True))),
                )
            else:
                store.put("orders", order, replace(now_held, missing_since=began))
        digest = seen.digest() if seen.pages > 1 else None
        if store["digests"].get(key) != digest:
            store.put("digests", key, digest)
    if fresh:
        reading.changed += len(fresh)
        reading.worker.hint(key, HISTORY, TRADERS)


def number_of(raw: str) -> int | None:
    """The tracking number of a record that does not parse, where it shows one."""
    number = json.loads(raw).get("trackingNo")
    return number if isinstance(number, int) else None


# ---- history -------------------------------------------------------------------------------------------------


def read_history(reading: Reading) -> Steps:
    """Go on with the walk where its cursor stands; more is left when the time is up first."""
    desk, cursor = reading.desk, reading.cursor
    now = moment(desk.exchange_now())
    under_way = walk.WALK in cursor
    walk.begin(cursor, now)
    walk.plan(cursor, now, missing_of(reading))
    if walk.WALK in cursor and not under_way:
        desk.watch.walk_begins(reading.account.key)
        desk.note(
            "history of", reading.account.key, "from", cursor["walk"]["from"], "to", cursor["walk"]["to"]
        )
    while (asked := walk.window(cursor)) is not None:
        yield from ask(reading, asked)
        if reading.time_is_up():
            break
    reading.more = walk.window(cursor) is not None
    if not reading.more:
        with reading.fenced():
            pass


def ask(reading: Reading, asked: walk.Window) -> Steps:
    """One page of a window into the ledger, the cursor with it."""
    world, cursor = reading.desk.world, reading.cursor
    start, end = ms_of(asked.start), ms_of(asked.end)
    place = Cursor(*asked.next) if asked.next else None
    try:
        page = yield from reading.call(lambda: world.history(reading.account, start, end, place))
    except Rejected as error:
        if error.code != TOO_FAR:
            raise
        with reading.fenced():
            outcome = walk.too_far(cursor, asked)
            apply(reading, outcome)
        if outcome.refused:
            raise
        return
    world.jostle(reading.account)
    if "the cursor before the rows" in reading.desk.bugs:
        with reading.fenced():
            after_page(reading, asked, page, len(page.records))
        yield 0
        with reading.fenced():
            store_page(reading, page, HISTORY)
        return
    with reading.fenced():
        after_page(reading, asked, page, store_page(reading, page, HISTORY))


def after_page(reading: Reading, asked: walk.Window, page: Page[FollowerOrder], added: int) -> None:
    strays = sum(
        walk.stray(asked, (one.open_time, one.close_time, one.created_time, one.update_time))
        for one in page.records
    )
    outcome = walk.took(
        reading.cursor,
        asked,
        seen=page.size,
        added=added,
        strays=strays,
        mark=walk.mark_of(record.tracking_no for record in page.records),
        next_page=(page.next.id, page.next.time_ms) if page.next else None,
        last=not page.more,
    )
    apply(reading, outcome)


def apply(reading: Reading, outcome: walk.Outcome) -> None:
    """What the walk says beside its cursor: from when the ledger is complete, what cannot be read, who is lost."""
    store, key = reading.desk.store, reading.account.key
    if outcome.complete_from is not None:
        store.put("complete", key, ms_of(outcome.complete_from))
    if outcome.gap is not None:
        start = ms_of(outcome.gap.start) if outcome.gap.start else None
        store.put("gaps", (key, start, ms_of(outcome.gap.end)), outcome.gap.reason)
        reading.desk.note("gap of", key, outcome.gap)
    if outcome.read is None:
        return
    for order, stored in list(store["orders"].items()):
        one = as_missing(stored) if stored.account == key and not stored.lost_since else None
        if one and walk.lost(one, outcome.read):
            store.put("orders", order, replace(stored, lost_since=reading.desk.now()))


def as_missing(stored: Stored) -> walk.Missing | None:
    if stored.row.held.closed or stored.missing_since is None or stored.row.opened is None:
        return None
    return walk.Missing(moment(stored.missing_since), stored.row.opened)


def missing_of(reading: Reading) -> list[walk.Missing]:
    """The account's orders that have gone missing and are not given up."""
    rows = reading.desk.store["orders"].values()
    mine = (row for row in rows if row.account == reading.account.key and row.lost_since is None)
    return [one for row in mine if (one := as_missing(row)) is not None]


# ---- traders -------------------------------------------------------------------------------------------------


def read_traders(reading: Reading) -> Steps:
    """Each trader's total: another one makes the history due."""
    desk, key = reading.desk, reading.account.key
    totals = yield from reading.call(lambda: desk.world.totals(reading.account))
    if desk.store["totals"].get(key) == totals:
        return
    with reading.fenced():
        desk.store.put("totals", key, totals)
    reading.changed += 1
    reading.worker.hint(key, HISTORY)


READERS: dict[str, Callable[[Reading], Steps]] = {
    OPEN: read_open,
    HISTORY: read_history,
    TRADERS: read_traders,
}
