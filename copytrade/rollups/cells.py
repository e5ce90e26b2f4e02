"""The daily sums: one row per (trader, day of closing, symbol), remade from the ledger whenever it is touched."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo

from django.db import connection

from copytrade.models import Account, User

from . import whole_days
from .counted import COUNTS, FIGURES, SUMS
from .days import day_of, first_moment, zone_of

# (our trader key, close time, symbol) of an order, before and after it was written.
Cell = tuple[int, datetime | None, str]
_DAY = timedelta(days=1)
_SET = ", ".join(f"{name} = f.{name}" for name in FIGURES)
_FRESH = ", ".join(f"f.{name}" for name in FIGURES)
_KEPT = ", ".join(f"d.{name}" for name in FIGURES)
_NAMES = ", ".join(FIGURES)

# One statement: the sums of the touched days, those that differ written, emptied ones removed, and each trader
# whose orders were touched marked, with a moment that moves at every touch (summarise() relies on it).
# The account's ledger is locked and was before this statement began, so `kept` holds all sums that there are: what is
# not among them cannot be there, and is put in without asking (ON CONFLICT costs half of what a first reading's take).
# Traders are locked in the order of their keys, here as everywhere: nobody waits in a circle.
# LATERAL (and OFFSET 0, which keeps it so), so that each day is a walk of its own over an index, however the
# planner guesses.
_REFRESH = f"""
WITH days AS (
    SELECT * FROM unnest(%s::bigint[], %s::date[], %s::timestamptz[], %s::timestamptz[])
        AS c(trader_id, day, start, until)
), fresh AS MATERIALIZED (
    SELECT c.trader_id, c.day, f.*
    FROM days c CROSS JOIN LATERAL (
        SELECT o.symbol, {SUMS} FROM copytrade_trackingorder o
        WHERE o.trader_id = c.trader_id AND {COUNTS} AND o.close_time >= c.start AND o.close_time < c.until
        GROUP BY o.symbol
    ) f
), kept AS MATERIALIZED (
    SELECT d.* FROM days c CROSS JOIN LATERAL (
        SELECT * FROM copytrade_dayresult r WHERE r.trader_id = c.trader_id AND r.day = c.day OFFSET 0
    ) d
), emptied AS (
    DELETE FROM copytrade_dayresult WHERE id IN (
        SELECT d.id FROM kept d LEFT JOIN fresh f USING (trader_id, day, symbol) WHERE f.n IS NULL
    )
), changed AS (
    UPDATE copytrade_dayresult r SET {_SET} FROM kept d JOIN fresh f USING (trader_id, day, symbol)
    WHERE r.id = d.id AND ({_FRESH}) IS DISTINCT FROM ({_KEPT})
), marked AS (
    UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id IN (
        SELECT id FROM copytrade_trader WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE
    )
)
INSERT INTO copytrade_dayresult (account_id, trader_id, day, symbol, {_NAMES})
SELECT %s, trader_id, day, symbol, {_FRESH} FROM fresh f LEFT JOIN kept d USING (trader_id, day, symbol)
WHERE d.id IS NULL
"""


def refresh_cells(account: Account, cells: Iterable[Cell]) -> None:
    """Remake the daily sums of these cells from the ledger, and mark their traders' summaries as stale.

    Call it in the transaction that wrote the orders, after the writing and under locks.alone_with_ledger, with the
    cell of each written row before and after (a row without a close time has none and is passed over).
    Four queries, however many cells; none without. The other symbols of the same days are remade along.
    """
    touched = {(trader, closed) for trader, closed, _ in cells if closed is not None}
    if not touched:
        return
    zone = zone_of_owner(account.pk)
    rows = sorted({(trader, day_of(closed, zone)) for trader, closed in touched})
    bounds = {day: _bounds(day, zone) for day in {day for _, day in rows}}
    with connection.cursor() as cursor:
        cursor.execute(
            _REFRESH,
            [
                [trader for trader, _ in rows],
                [day for _, day in rows],
                [bounds[day][0] for _, day in rows],
                [bounds[day][1] for _, day in rows],
                sorted({trader for trader, _ in rows}),
                account.pk,
            ],
        )
    whole_days.remake(account.pk, rows)


def zone_of_owner(account_pk: int) -> tzinfo:
    """The zone as it stands in the database now: the object at hand may be older than a change of it."""
    return zone_of(User.objects.only("zone").get(accounts=account_pk))


def _bounds(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    return first_moment(day, zone), first_moment(day + _DAY, zone)
