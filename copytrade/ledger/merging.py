"""Observations and rows together: what is new, what changed, and what that means for sums and issues."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from copytrade import issues
from copytrade.exchange.records import FollowerOrder
from copytrade.locks import alone_with_ledger
from copytrade.models import Account, DataIssue, OrderRevision, Trader
from copytrade.rollups import refresh_cells
from copytrade.steps.merge import Observation, Row, merged, same

from .aside import keep_bad
from .rows import Stored, insert, overwrite, stored_rows
from .told import CLOSED, OPEN, OPERATIONS, Observed, differences, observed

_TRADERS = "SELECT id, trader_id, name FROM copytrade_trader WHERE account_id = %s AND trader_id = ANY(%s)"


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
            alone_with_ledger(account.pk)
            _store(account, ready, seen_at, done, present=now and ready.source == OPEN)
    return done


def says_nothing_new(account: Account, ready: Observed) -> bool:
    """Whether merging these would write nothing at all. One query, no lock: a poll that finds everything as it was
    leaves no trace."""
    if ready.unfit:
        return False
    stored = stored_rows(account, ready.orders)
    if len(stored) < len(ready.orders):
        return False
    new: list[Row] = []
    changed: list[tuple[Stored, Row, bool]] = []
    for number, orders in ready.orders.items():
        _against(stored[number], orders, new, changed, present=ready.source == OPEN)
    return not new and not changed


def _store(account: Account, ready: Observed, seen_at: datetime, done: Merged, *, present: bool) -> None:
    """One select, then one COPY and one update for all of them, alone at this account's ledger."""
    stored = stored_rows(account, ready.orders)
    new: list[Row] = []
    changed: list[tuple[Stored, Row, bool]] = []
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
    overwrite(changed, traders)  # first: a new row may take the place of the earliest of its number
    insert(account, new, traders, seen_at)
    _tell(account, new, changed, traders, seen_at, done)
    for number in sorted(reused):
        _tell_reused(account, number, seen_at)


def _against(
    held: list[Stored], orders: list[Observation], new: list[Row], changed: list, *, present: bool
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


def _back(before: Stored, row: Row, present: bool, orders: list[Observation]) -> bool:
    """Has an order that was missing, or given up as lost, been found again: open or closed?"""
    if before.missing_since is None and before.lost_since is None:
        return False
    return row.held.closed or (present and any(same(row.identity, one.identity) for one in orders))


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
    return traders[row.held.identity.trader], row.held.content[CLOSED], row.held.identity.symbol


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
        trader, name = row.held.identity.trader, row.held.content[0]
        if trader not in names or name > names[trader]:
            names[trader] = name
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
