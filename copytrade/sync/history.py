"""The order history: first all of the past, backwards and resumable, then what is new, with an overlap.

Which of an order's times the history filters on, its order and its reach are not documented
(open-points.md, "Values and meanings"), so nothing here rests on them: windows are walked whole, overlap,
and reach back to the opening of every order that has gone missing.

`SyncJob.cursor`:
    back   {start, end, next, days, empty, found, seen}  the walk through the past; absent once it is done
    walk   {start, end, next}                            a walk of what is new, while it is under way
    until  the end of the last complete walk: everything before it has been read once
    deep   when the long overlap was last read
    swept  when the last 90 days were last read whole
`next` is [id, ms] of the next page in this window, stored with the rows of the page before it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from copytrade import ledger
from copytrade.exchange.envelopes import Cursor
from copytrade.exchange.errors import Malformed, Rejected
from copytrade.exchange.paging import cursored
from copytrade.models import TrackingOrder

from .reading import Reading

WINDOW_DAYS = 90.0
SHORTEST_WINDOW_DAYS = 1.0
EMPTY_WINDOWS = 4
TOO_FAR = -1170
OVERLAP = timedelta(minutes=15)
# Results are trued up after 00:00 UTC: the last two days are read again every few minutes and after midnight.
DEEP_OVERLAP, DEEP_EVERY = timedelta(days=2), timedelta(minutes=5)
SWEEP_EVERY = timedelta(days=1)
# Orders missing for longer are left to the daily sweep.
LOOK_FOR_MISSING = timedelta(hours=1)


def read(reading: Reading) -> None:
    """Go on with the walk where its cursor stands; `reading.more` when there is some left."""
    cursor = reading.job.cursor
    if not cursor.get("until"):
        _begin(reading)
    if not cursor.get("walk") and not _recent_enough(reading):
        _plan(reading)
    if cursor.get("walk"):
        _forward(reading)
    if cursor.get("back") and not cursor.get("walk"):
        _backward(reading)
    reading.more = bool(cursor.get("walk") or cursor.get("back"))


def exchange_now(reading: Reading) -> datetime:
    """The exchange's time as far as it is known: its clock decides what is new."""
    return datetime.now(UTC) + timedelta(milliseconds=reading.client.clock_offset_ms)


def _begin(reading: Reading) -> None:
    """The first time ever: the past lies behind this moment, the new before it."""
    now = exchange_now(reading)
    _set(reading, until=_iso(now), deep=_iso(now), swept=_iso(now))
    reading.job.cursor["back"] = {
        "end": _iso(now), "start": _iso(now - timedelta(days=WINDOW_DAYS)), "next": None,
        "days": WINDOW_DAYS, "empty": 0, "found": 0, "seen": 0,
    }  # fmt: skip


def _recent_enough(reading: Reading) -> bool:
    """While the past is being read, what is new is looked at only now and then."""
    if not reading.job.cursor.get("back"):
        return False
    return exchange_now(reading) - _time(reading.job.cursor["until"]) < timedelta(seconds=30)


def _plan(reading: Reading) -> None:
    """The next walk of what is new: from the overlap, or further back for a reason, until now."""
    cursor, now = reading.job.cursor, exchange_now(reading)
    start = _time(cursor["until"]) - OVERLAP
    deep = _time(cursor["deep"])
    if now - deep > DEEP_EVERY or deep.date() != now.date():
        start = min(start, now - DEEP_OVERLAP)
        cursor["deep"] = _iso(now)
    if now - _time(cursor["swept"]) > SWEEP_EVERY:
        start = min(start, now - timedelta(days=WINDOW_DAYS))
        cursor["swept"] = _iso(now)
    missing = TrackingOrder.objects.filter(
        account=reading.account,
        closed=False,
        missing_since__gt=now - LOOK_FOR_MISSING,
        open_time__isnull=False,
    ).order_by("open_time")
    for opened in missing.values_list("open_time", flat=True)[:1]:
        start = min(start, opened - OVERLAP)
    cursor["walk"] = {"from": _iso(min(start, now)), "end": _iso(now), "to": _iso(now), "next": None}


def _forward(reading: Reading) -> None:
    """Walk what is new, newest window first; `until` moves on when all of it has been read."""
    cursor = reading.job.cursor
    while (walk := cursor.get("walk")) is not None:
        end, first = _time(walk["end"]), _time(walk["from"])
        start = max(first, end - timedelta(days=WINDOW_DAYS))
        for last in _pages(reading, walk, start, end):
            if last and start <= first:
                cursor["until"] = walk["to"]
                del cursor["walk"]
            elif last:
                walk["end"], walk["next"] = _iso(start), None
        if reading.time_is_up():
            return


def _backward(reading: Reading) -> None:
    """Walk the past, window by window, until four in a row are empty or the exchange goes back no further."""
    cursor = reading.job.cursor
    while (back := cursor.get("back")) is not None:
        try:
            for last in _pages(reading, back, _time(back["start"]), _time(back["end"])):
                if last:
                    _next_window(reading, back)
        except Rejected as error:
            if error.code != TOO_FAR:
                raise
            with reading.fenced():
                _shorter_window(reading, back)
        if reading.time_is_up():
            return


def _pages(reading: Reading, window: dict, start: datetime, end: datetime):
    """Read a window from its cursor on. Yields inside each page's transaction: True for the last page.

    What the caller does with the cursor then is stored together with the rows.
    """
    resume = Cursor(*window["next"]) if window.get("next") else None

    def fetch(cursor: Cursor | None):
        return reading.client.tracking_order_history(start_time=start, end_time=end, cursor=cursor or resume)

    try:
        for page in cursored(fetch, lambda order: order.tracking_no):
            with reading.fenced():
                _store(reading, page, window)
                window["next"] = [page.next.id, page.next.time_ms] if page.more and page.next else None
                yield not page.more
    except Malformed:
        # A cursor that leads nowhere is not kept: the window is read again from its first page.
        window["next"] = None
        with reading.fenced():
            pass
        raise


def _store(reading: Reading, page, window: dict) -> None:
    bad = [(record.raw, record.reason) for record in page.bad]
    merged = ledger.merge(reading.account, page.records, source=ledger.HISTORY, seen_at=reading.began)
    merged.bad += ledger.keep_bad(reading.account, ledger.OPERATIONS[ledger.HISTORY], bad, reading.began)
    merged.seen += len(bad)
    reading.count(merged)
    if "found" in window:
        window["found"] += merged.seen
        window["seen"] += merged.seen


def _next_window(reading: Reading, back: dict) -> None:
    """This window is done: the ledger is complete from its start on. The next one ends there."""
    reading.job.complete_from = _time(back["start"])
    back["empty"] = 0 if back["found"] else back["empty"] + 1
    if back["empty"] >= EMPTY_WINDOWS:
        del reading.job.cursor["back"]
        return
    back |= {"end": back["start"], "next": None, "found": 0}
    back["start"] = _iso(_time(back["end"]) - timedelta(days=back["days"]))


def _shorter_window(reading: Reading, back: dict) -> None:
    """The exchange does not go back that far: try half of it, down to a day, then the past has ended."""
    days = back["days"] / 2
    if days < SHORTEST_WINDOW_DAYS:
        del reading.job.cursor["back"]
        return
    back |= {"days": days, "next": None, "found": 0}
    back["start"] = _iso(_time(back["end"]) - timedelta(days=days))


def _set(reading: Reading, **values: str) -> None:
    reading.job.cursor.update(values)


def _iso(moment: datetime) -> str:
    return moment.isoformat()


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
