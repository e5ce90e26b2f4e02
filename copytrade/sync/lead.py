"""A lead trader's own history: only a copy-trade key may ask for it. Walked as the follower's (steps/walk.py).

How a key is known to be one: the operation answers. Where it says that it is not (-3236), that is remembered with
the key, and asked again only when another one was entered.
"""

from __future__ import annotations

from datetime import datetime

from copytrade import own
from copytrade.exchange.envelopes import Cursor, Page
from copytrade.exchange.errors import Malformed, Rejected
from copytrade.exchange.paging import cursored
from copytrade.exchange.records import LeadOrder
from copytrade.steps import walk

from .history import exchange_now
from .reading import Reading

NOT_A_COPY_TRADE_KEY = -3236


def read(reading: Reading) -> None:
    """Go on with the walk; nothing is asked with a key of which is known that it may not."""
    cursor, key = reading.job.cursor, reading.account.key_set_at.isoformat()
    if cursor.get("not_lead") == key:
        return
    try:
        _walk(reading)
    except Rejected as error:
        if error.code != NOT_A_COPY_TRADE_KEY:
            raise
        reading.pages += 1
        with reading.fenced():
            cursor["not_lead"] = key
    else:
        if cursor.pop("not_lead", None):
            with reading.fenced():
                pass


def _walk(reading: Reading) -> None:
    cursor, now = reading.job.cursor, exchange_now(reading)
    walk.begin(cursor, now)
    walk.plan(cursor, now)
    while (asked := walk.window(cursor)) is not None:
        try:
            _read_window(reading, asked)
        except Rejected as error:
            if error.code != walk.TOO_FAR:
                raise
            with reading.fenced():
                outcome = walk.too_far(cursor, asked)
                _keep(reading, outcome)
            if outcome.refused:
                raise
        if reading.time_is_up():
            break
    reading.more = walk.window(cursor) is not None


def _read_window(reading: Reading, asked: walk.Window) -> None:
    resume = Cursor(*asked.next) if asked.next else None

    def fetch(cursor: Cursor | None) -> Page[LeadOrder]:
        return reading.client.lead_order_history(
            start_time=asked.start, end_time=asked.end, cursor=cursor or resume
        )

    try:
        for page in cursored(fetch, lambda order: order.tracking_no):
            _store(reading, asked, page)
            if reading.time_is_up():
                return
    except Malformed:
        # A cursor that leads nowhere is not kept: the window is read again from its first page.
        walk.restart(reading.job.cursor, asked)
        with reading.fenced():
            pass
        raise


def _store(reading: Reading, asked: walk.Window, page: Page[LeadOrder]) -> None:
    bad = [(one.raw, one.reason) for one in page.bad]
    strays = sum(walk.stray(asked, _times(one)) for one in page.records) if asked.part == walk.BACK else 0
    after = page.next if page.more else None
    with reading.fenced():
        done = own.store_lead(reading.account, page.records, bad, reading.began)
        outcome = walk.took(
            reading.job.cursor, asked, seen=page.size, added=done.added, strays=strays,
            mark=walk.mark_of(one.tracking_no for one in page.records),
            next_page=(after.id, after.time_ms) if after else None, last=not page.more,
        )  # fmt: skip
        _keep(reading, outcome)
    reading.pages += 1
    reading.seen += page.size
    reading.changed += done.added + done.changed
    reading.bad += done.bad


def _times(record: LeadOrder) -> tuple[datetime | None, ...]:
    return record.open_time, record.created_time, record.update_time


def _keep(reading: Reading, outcome: walk.Outcome) -> None:
    if outcome.complete_from:
        reading.job.complete_from = outcome.complete_from
    if outcome.gap:
        start = outcome.gap.start.isoformat() if outcome.gap.start else None
        gap = [start, outcome.gap.end.isoformat(), outcome.gap.reason]
        gaps = reading.job.cursor.get("gaps", [])
        reading.job.cursor["gaps"] = gaps if gap in gaps else [*gaps, gap]
