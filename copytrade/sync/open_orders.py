"""Open tracking orders: every page into the ledger, then who is missing. Nothing is closed here.

Which pages to ask for, and when to believe an absence, is decided in steps/passes.py. A reading that finds the list
as it was writes nothing.
"""

from __future__ import annotations

import json
from datetime import datetime

from django.utils import timezone

from copytrade import issues, ledger
from copytrade.intervals import is_at_cap
from copytrade.models import DataIssue, SyncJob, TrackingOrder
from copytrade.steps.passes import Pass, Verdict, judge

from .reading import Reading


def read(reading: Reading) -> None:
    """Pass over the open list, again where it did not hold still. An order that left it makes the history due: it
    has probably closed."""
    passes: list[Pass] = []
    before = reading.job.cursor.get("digest")
    while True:
        began = timezone.now() if passes else reading.began
        passes.append(_pass(reading, began))
        gone = ledger.absent_rows(reading.account, passes[-1], began)
        verdict = judge(passes, before, missing=bool(gone))
        if verdict != Verdict.AGAIN:
            break
    fresh = [order for order in gone if order.missing_since is None] if verdict == Verdict.AGREED else []
    _settle(reading, passes[-1], verdict, fresh, began)
    if fresh:
        reading.changed += len(fresh)
        reading.pay()


def _pass(reading: Reading, began: datetime) -> Pass:
    """One pass over the list, each page stored as it comes."""
    done, number = Pass(), 1
    while True:
        page = reading.client.open_tracking_orders(page=number)
        bad = [(record.raw, record.reason) for record in page.bad]
        ready = ledger.observed(page.records, ledger.OPEN, bad)
        if ledger.says_nothing_new(reading.account, ready):
            merged = ledger.Merged(seen=ready.seen)
        else:
            with reading.fenced():
                merged = ledger.merge(reading.account, ready, seen_at=began)
        reading.count(merged)
        seen = [one.identity for orders in ready.orders.values() for one in orders]
        if not done.take(seen, [_number(raw) for raw, _ in ready.unfit], full=page.next is not None):
            return done
        number += 1


def _settle(
    reading: Reading, last: Pass, verdict: Verdict, fresh: list[TrackingOrder], began: datetime
) -> None:
    """Store what the passes said, where that is anything new: who is missing, and whether the list was whole."""
    job = reading.job
    digest = last.digest() if last.pages > 1 else None
    partial = verdict == Verdict.PARTIAL
    if not fresh and digest == job.cursor.get("digest") and partial == (job.partial_since is not None):
        return
    with reading.fenced():
        job.cursor.pop("digest", None)
        if digest:
            job.cursor["digest"] = digest
        if fresh:
            ledger.mark_missing(reading.account, fresh, began)
            reading.owe(*_told_by_a_close(job))
        if partial != (job.partial_since is not None):
            _note_partial(reading, began if partial else None)


def _told_by_a_close(job: SyncJob) -> list[str]:
    """What to read once an order has left the list: where it went, and what it has brought."""
    if is_at_cap(job.account.venue, job.kind, job.interval):
        # Where even this list is read as seldom as may be, weight is too short for the traders' new totals.
        return [SyncJob.Kind.HISTORY]
    return [SyncJob.Kind.HISTORY, SyncJob.Kind.TRADERS]


def _note_partial(reading: Reading, since: datetime | None) -> None:
    """Say that the list could not be read whole, or that it could."""
    job = reading.job
    job.partial_since = since
    SyncJob.objects.filter(pk=job.pk).update(partial_since=since)
    if since is None:
        issues.heal(reading.account, DataIssue.Kind.PARTIAL_OPEN, "open")
        return
    sentence = (
        "The list of open orders is longer than a page and changed while it was read, or did not end. What is shown as "
        "open may have closed a moment ago. It is read again; nothing needs to be done."
    )
    issues.tell(reading.account, DataIssue.Kind.PARTIAL_OPEN, "open", sentence)


def _number(raw: str) -> int | None:
    """The tracking number of a record that could not be understood, if it shows one."""
    try:
        number = json.loads(raw).get("trackingNo")
        return int(number)
    except (ValueError, TypeError, AttributeError):
        return None
