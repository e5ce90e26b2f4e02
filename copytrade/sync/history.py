"""The order history: first all of the past, backwards and resumable, then what is new, with an overlap.

What to ask for next, and when the walk has ended, is decided in steps/walk.py, which describes the cursor. Here the
pages are fetched, and several at a time are stored together with the cursor behind them: rows and cursor, or neither.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from copytrade import issues, ledger
from copytrade.exchange.envelopes import Cursor, Page
from copytrade.exchange.errors import ExchangeError, Malformed, Rejected
from copytrade.exchange.paging import cursored
from copytrade.exchange.records import FollowerOrder
from copytrade.locks import alone_with_ledger
from copytrade.models import BadRecord, CoverageGap, DataIssue, TrackingOrder
from copytrade.steps import walk
from copytrade.steps.passes import number_of

from .reading import Reading

# Pages that are stored in one transaction: a commit costs more than a page, and a lease has to be renewed.
PAGES_TOGETHER = 40
LOST_AT_ONCE = 500


def read(reading: Reading) -> None:
    """Go on with the walk where its cursor stands; `reading.more` when there is some left."""
    cursor = reading.job.cursor
    now = exchange_now(reading)
    walk.begin(cursor, now)
    walk.plan(cursor, now, _missing(reading))
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


def exchange_now(reading: Reading) -> datetime:
    """The exchange's time as far as it is known: its clock decides what is new."""
    return datetime.now(UTC) + timedelta(milliseconds=reading.client.clock_offset_ms)


def _missing(reading: Reading) -> list[walk.Missing]:
    """Orders that left the open list, are not in the history, and are not given up. Those without an opening time
    begin when they were first heard of."""
    rows = TrackingOrder.objects.filter(
        account=reading.account, closed=False, missing_since__isnull=False, lost_since=None
    )
    began = Coalesce(F("open_time"), F("created_time"), F("first_seen_at"))
    return [walk.Missing(since, opened) for since, opened in rows.values_list("missing_since", began)]


def _read_window(reading: Reading, asked: walk.Window) -> None:
    """Read a window from its cursor on, some pages at a time, to its end or until time is up."""
    gathered: list[Page[FollowerOrder]] = []
    began = time.monotonic()
    try:
        for page in _pages(reading, asked):
            gathered.append(page)
            last = not page.more
            if last or len(gathered) >= PAGES_TOGETHER or reading.time_is_up() or _long_since(began):
                _store(reading, asked, gathered)
                gathered, began = [], time.monotonic()
                if reading.time_is_up():
                    return
    except ExchangeError as error:
        if gathered:
            _store(reading, asked, gathered)
        if isinstance(error, Malformed):
            # A cursor that leads nowhere is not kept: the window is read again from its first page.
            walk.restart(reading.job.cursor, asked)
            with reading.fenced():
                pass
        raise


def _pages(reading: Reading, asked: walk.Window) -> Iterator[Page[FollowerOrder]]:
    resume = Cursor(*asked.next) if asked.next else None

    def fetch(cursor: Cursor | None) -> Page[FollowerOrder]:
        return reading.client.tracking_order_history(
            start_time=asked.start, end_time=asked.end, cursor=cursor or resume
        )

    return cursored(fetch, _identity)


def _identity(order: FollowerOrder) -> tuple[Hashable, ...]:
    return order.tracking_no, order.trader_id, order.symbol, order.position_side, order.open_time


def _long_since(began: float) -> bool:
    """Would one more call outlive the lease, which the next commit renews?"""
    return time.monotonic() - began > settings.SYNC_LEASE_SECONDS / 4


def _store(reading: Reading, asked: walk.Window, pages: list[Page[FollowerOrder]]) -> None:
    """These pages, the cursor behind them, and what follows from it, in one transaction."""
    records = [record for page in pages for record in page.records]
    bad = [(record.raw, record.reason) for page in pages for record in page.bad]
    ready = ledger.observed(records, ledger.HISTORY, bad)
    strays = sum(walk.stray(asked, _times(record)) for record in records) if asked.part == walk.BACK else 0
    after = pages[-1].next if pages[-1].more else None

    def step(done: ledger.Merged) -> walk.Outcome:
        return walk.took(
            reading.job.cursor, asked, seen=done.seen, added=done.added, strays=strays,
            mark=walk.mark_of(ready.orders), next_page=(after.id, after.time_ms) if after else None,
            last=not pages[-1].more,
        )  # fmt: skip

    is_short = asked.part == walk.WALK and len(pages) == 1 and after is None
    if is_short and ledger.says_nothing_new(reading.account, ready):
        # No rows that the cursor has to go with: it is stored as the job is handed back.
        done = ledger.Merged(seen=ready.seen)
        outcome = step(done)
        if outcome.stores:
            with reading.fenced():
                _keep(reading, outcome)
    else:
        with reading.fenced():
            done = ledger.merge(reading.account, ready, seen_at=reading.began)
            _keep(reading, step(done))
    reading.count(done, pages=len(pages))


def _times(record: FollowerOrder) -> tuple[datetime | None, ...]:
    return record.open_time, record.close_time, record.created_time, record.update_time


def _keep(reading: Reading, outcome: walk.Outcome) -> None:
    """What a step of the walk has found out about the reach of the ledger."""
    if outcome.complete_from:
        reading.job.complete_from = outcome.complete_from
    if outcome.gap:
        _note_gap(reading, outcome.gap)
    if outcome.read:
        _give_up(reading, outcome.read)


def _note_gap(reading: Reading, gap: walk.Gap) -> None:
    """A stretch that cannot be read: a row for the coverage, and an issue for the person."""
    CoverageGap.objects.get_or_create(
        account=reading.account, start=gap.start, end=gap.end, defaults={"reason": gap.reason}
    )
    stretch = f"before {_day(gap.end)}" if gap.start is None else f"from {_day(gap.start)} to {_day(gap.end)}"
    sentence = (
        f"{gap.reason} Orders that closed {stretch} may be absent here. "
        "Compare the figures of that time with the exchange's own."
    )
    subject = f"{gap.start.isoformat() if gap.start else ''}/{gap.end.isoformat()}"
    issues.tell(reading.account, DataIssue.Kind.GAP, subject, sentence)


def _give_up(reading: Reading, read: walk.Read) -> None:
    """After a sweep: orders that are missing still, though everything they could be in has been read since. They
    are neither closed nor forgotten; one that turns up after all is healed by the ledger."""
    alone_with_ledger(reading.account.pk)
    began = Coalesce(F("open_time"), F("created_time"), F("first_seen_at"))
    rows = TrackingOrder.objects.filter(
        account=reading.account, closed=False, missing_since__isnull=False, lost_since=None
    )
    told = rows.order_by("pk").values_list("pk", "tracking_no", "symbol", "missing_since", began)
    now = timezone.now()
    unread = _unread_numbers(reading)
    gone = [
        line for line in told if line[1] not in unread and walk.lost(walk.Missing(line[3], line[4]), read)
    ]
    for _, number, symbol, since, _ in gone[:LOST_AT_ONCE]:
        sentence = (
            f"The order {number} ({symbol}) left the open list on {_day(since)} and is nowhere in the history that the "
            "exchange gives. How it ended is not known; it is left out of every figure. Look it up at the exchange."
        )
        details = {"tracking_no": str(number), "symbol": symbol, "missing_since": since.isoformat()}
        issues.tell(reading.account, DataIssue.Kind.LOST_WINDOW, str(number), sentence, details, now)
    TrackingOrder.objects.filter(pk__in=[line[0] for line in gone[:LOST_AT_ONCE]]).update(lost_since=now)


def _unread_numbers(reading: Reading) -> set[int]:
    """Tracking numbers on records that could not be read: their orders are not lost, only not understood."""
    kept = BadRecord.objects.filter(account=reading.account, read_at=None).values_list("raw", flat=True)
    return {number for raw in kept.iterator() if (number := number_of(raw)) is not None}


def _day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%d %b %Y %H:%M} UTC"
