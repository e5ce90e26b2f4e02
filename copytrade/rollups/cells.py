"""The daily sums: one row per (trader, day of closing, symbol), remade from the ledger whenever it is touched."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo

from django.db import connection

from copytrade.models import Account, User

from .counted import COUNTS, FIGURES, SUMS
from .days import day_of, first_moment, zone_of

# (our trader key, close time, symbol) of an order, before and after it was written.
Cell = tuple[int, datetime | None, str]
_DAY = timedelta(days=1)
_SET = ", ".join(f"{name} = EXCLUDED.{name}" for name in FIGURES)
_OLD = ", ".join(f"d.{name}" for name in FIGURES)
_NEW = ", ".join(f"EXCLUDED.{name}" for name in FIGURES)
_NAMES = ", ".join(FIGURES)

# One statement: the cells' sums, their rows written where they differ, emptied ones removed, and each
# trader whose orders were touched marked, with a moment that moves at every touch (summarise() relies on it).
_REFRESH = f"""
WITH cells AS (
    SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::timestamptz[], %s::timestamptz[])
        AS c(trader_id, day, symbol, start, until)
), fresh AS MATERIALIZED (
    SELECT c.trader_id, c.day, c.symbol, {SUMS}
    FROM cells c LEFT JOIN copytrade_trackingorder o
        ON o.trader_id = c.trader_id AND {COUNTS}
        AND o.close_time >= c.start AND o.close_time < c.until AND o.symbol = c.symbol
    GROUP BY c.trader_id, c.day, c.symbol
), emptied AS (
    DELETE FROM copytrade_dayresult d USING fresh f
    WHERE f.n = 0 AND d.trader_id = f.trader_id AND d.day = f.day AND d.symbol = f.symbol
), marked AS (
    UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id = ANY(%s)
)
INSERT INTO copytrade_dayresult AS d (account_id, trader_id, day, symbol, {_NAMES})
SELECT %s, trader_id, day, symbol, {_NAMES} FROM fresh WHERE n > 0
ON CONFLICT (trader_id, day, symbol) DO UPDATE SET {_SET}, account_id = EXCLUDED.account_id
WHERE ({_OLD}) IS DISTINCT FROM ({_NEW})
"""


def refresh_cells(account: Account, cells: Iterable[Cell]) -> None:
    """Remake the daily sums of these cells from the ledger, and mark their traders' summaries as stale.

    Call it in the transaction that wrote the orders, after the writing and under ledger.alone_with, with the
    cell of each written row before and after (a row without a close time has none and is passed over).
    Two queries, however many cells; none without.
    """
    touched = {(trader, closed, symbol) for trader, closed, symbol in cells if closed is not None}
    if not touched:
        return
    zone = zone_of_owner(account.pk)
    days = {(trader, day_of(closed, zone), symbol) for trader, closed, symbol in touched}
    rows = sorted(days)
    bounds = {day: _bounds(day, zone) for day in {day for _, day, _ in rows}}
    with connection.cursor() as cursor:
        cursor.execute(
            _REFRESH,
            [
                [trader for trader, _, _ in rows],
                [day for _, day, _ in rows],
                [symbol for _, _, symbol in rows],
                [bounds[day][0] for _, day, _ in rows],
                [bounds[day][1] for _, day, _ in rows],
                sorted({trader for trader, _, _ in rows}),
                account.pk,
            ],
        )


def zone_of_owner(account_pk: int) -> tzinfo:
    """The zone as it stands in the database now: the object at hand may be older than a change of it."""
    return zone_of(User.objects.only("zone").get(accounts=account_pk))


def _bounds(day, zone: tzinfo) -> tuple[datetime, datetime]:
    return first_moment(day, zone), first_moment(day + _DAY, zone)
