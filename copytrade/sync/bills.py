"""Bills of the spot and of the funding wallet: what is new, then the past, backwards and resumable.

What to ask for next is decided in steps/bills.py; here answers are fetched, and stored together with the cursor.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from copytrade import own
from copytrade.exchange.errors import Rejected
from copytrade.models import Bill
from copytrade.steps import bills as walk

from .history import exchange_now
from .reading import Reading

LIMIT = 100  # the most that one answer holds (interface.md, "Limits")
TOO_FAR = -1170
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def read_spot(reading: Reading) -> None:
    _walk(reading, _spot)


def read_funding(reading: Reading) -> None:
    _walk(reading, _funding)


def _walk(reading: Reading, step: Callable[[Reading, walk.Ask], None]) -> None:
    """Go on with the walk where its cursor stands; `reading.more` when there is some of the past left."""
    cursor = reading.job.cursor
    walk.begin(cursor, (exchange_now(reading) - EPOCH) // MS)
    while (asked := walk.ask(cursor)) is not None:
        try:
            step(reading, asked)
        except Rejected as error:
            if error.code != TOO_FAR:
                raise
            with reading.fenced():
                within = walk.too_far(cursor, asked)
                _reach(reading)
            if not within:
                raise
        if reading.time_is_up():
            break
    reading.more = bool(cursor.get("span") or cursor.get("back"))


def _spot(reading: Reading, asked: walk.Ask) -> None:
    """One answer without pages. Whether `after` and `before` are part of it is not documented: one ms more."""
    page = reading.client.bills(after=_time(asked.low - 1), before=_time(asked.high + 1), limit=LIMIT)
    times = [None if one.created_time is None else (one.created_time - EPOCH) // MS for one in page.records]
    with reading.fenced():
        done = own.store_bills(reading.account, Bill.Wallet.SPOT, page.records, page.bad, reading.began)
        walk.took(reading.job.cursor, asked, times, page.size, LIMIT)
        _reach(reading)
    _count(reading, page.size, done)


def _funding(reading: Reading, asked: walk.Ask) -> None:
    start, end = _time(asked.low), _time(max(asked.high, asked.low + 1))
    page = reading.client.funding_bills(start_time=start, end_time=end, page=asked.page, page_size=LIMIT)
    wallet = Bill.Wallet.FUNDING
    with reading.fenced():
        done = own.store_bills(reading.account, wallet, page.records, page.bad, reading.began)
        have = Bill.objects.filter(account=reading.account, wallet=wallet, at__gte=start, at__lte=end).count()
        more = page.next is not None
        walk.took_page(reading.job.cursor, asked, page.size, done.bad, page.total, more, have)
        _reach(reading)
    _count(reading, page.size, done)


def _reach(reading: Reading) -> None:
    """What is stored is complete from here on, but for the gaps that the cursor names."""
    reading.job.complete_from = _time(reading.job.cursor["reach"])


def _count(reading: Reading, size: int, done: own.Stored) -> None:
    reading.pages += 1
    reading.seen += size
    reading.changed += done.added + done.changed
    reading.bad += done.bad


def _time(ms: int) -> datetime:
    return EPOCH + ms * MS
