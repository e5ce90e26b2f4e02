"""Open tracking orders: every page into the ledger, then who is missing. Nothing is closed here."""

from __future__ import annotations

import json

from copytrade import ledger
from copytrade.models import SyncJob

from .leases import make_due
from .reading import Reading


def read(reading: Reading) -> None:
    """One pass over the open list. An order that left it makes the history due: it has probably closed."""
    present: set[int] = set()
    unnamed = False
    for page in reading.client.iter_open_tracking_orders():
        bad = [(record.raw, record.reason) for record in page.bad]
        with reading.fenced():
            merged = ledger.merge(reading.account, page.records, source=ledger.OPEN, seen_at=reading.began)
            merged.bad += ledger.keep_bad(reading.account, ledger.OPERATIONS[ledger.OPEN], bad, reading.began)
        merged.seen += len(bad)
        reading.count(merged)
        present |= {record.tracking_no for record in page.records}
        names = [_number(raw) for raw, _ in bad]
        present |= {number for number in names if number is not None}
        unnamed = unnamed or None in names
    if unnamed:
        return  # the record that could not be read may be any of ours: nobody is missing for sure
    with reading.fenced():
        missing = ledger.note_absent(reading.account, present, reading.began)
    if missing:
        reading.changed += len(missing)
        make_due(reading.account, SyncJob.Kind.HISTORY, SyncJob.Kind.TRADERS)


def _number(raw: str) -> int | None:
    """The tracking number of a record that could not be understood, if it shows one."""
    try:
        number = json.loads(raw).get("trackingNo")
        return int(number)
    except (ValueError, TypeError, AttributeError):
        return None
