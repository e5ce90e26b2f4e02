"""Totals of all closed copies that filters match: from what is kept beside the ledger, or of the newest ones alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

from copytrade.models import User
from copytrade.rollups.days import day_of, first_moment
from copytrade.rollups.read import of_symbol
from copytrade.together import Words

from .orders import Filters
from .zones import zone_of

MOST_COUNTED = 1000  # where the daily sums do not help: a page must not wait for a million rows


@dataclass(frozen=True)
class HistoryTotals:
    """Of everything that the filters match, not of one page."""

    n: int
    net: Decimal
    gross: Decimal
    wins: int
    losses: int
    undated: int = 0  # closed copies without a closing time, in none of the other figures
    lost: int = 0  # closed beyond the exchange's history: without a time or a result
    newest: bool = False  # there are more, and these are the totals of the newest ones alone


_ROWS = """count(*) AS n, coalesce(sum(o.net_profit), 0) AS net,
        coalesce(sum(coalesce(o.realized_pnl, o.net_profit)), 0) AS gross,
        count(*) FILTER (WHERE o.net_profit > 0) AS wins, count(*) FILTER (WHERE o.net_profit < 0) AS losses"""
_SUMS = """coalesce(sum(d.n), 0)::bigint AS n, coalesce(sum(d.net), 0) AS net, coalesce(sum(d.gross), 0) AS gross,
        coalesce(sum(d.wins), 0)::bigint AS wins, coalesce(sum(d.losses), 0)::bigint AS losses"""
# Closed at a known time, and in no sum (rollups/counted.py).
_UNCOUNTED = "o.closed AND o.close_time IS NOT NULL AND (o.open_time IS NULL OR o.net_profit IS NULL)"
_LOST = "NOT o.closed AND o.lost_since IS NOT NULL"
_RESULTS = {"gain": "o.net_profit > 0", "loss": "o.net_profit < 0", "even": "o.net_profit = 0"}
# A walk over an index for each connection, newest first. Those of the first few are asked in turn for whichever copy
# comes next, so that together they go no further than they must (PostgreSQL merges walks that stand in the text, not
# those of a LATERAL); each of any others goes as far as if there were no other.
_TOGETHER = range(1, 5)
_IN_ORDER = f"ORDER BY o.close_time DESC, o.tracking_no DESC LIMIT {MOST_COUNTED + 1}"
_NTH = "(SELECT keys[{place}] FROM listed)"
_WALK = """SELECT o.close_time, o.tracking_no, o.net_profit, o.realized_pnl FROM copytrade_trackingorder o
        WHERE o.account_id = {account} AND o.closed AND o.close_time IS NOT NULL{which} {in_order}"""
_REST = """SELECT o.* FROM (SELECT unnest(keys[{after}:]) AS id FROM listed) a
        CROSS JOIN LATERAL ({walk}) o {in_order}"""
_NEWEST = """{rows} FROM (
        WITH listed AS MATERIALIZED (SELECT array_agg(id ORDER BY id) AS keys FROM mine)
        SELECT * FROM ({walks}) o {in_order}
    ) o"""
_TOTALS = """WITH mine AS MATERIALIZED ({mine})
SELECT s.n + r.n AS n, (s.net + r.net)::text AS net, (s.gross + r.gross)::text AS gross, s.wins + r.wins AS wins,
    s.losses + r.losses AS losses, u.n AS undated, l.n AS lost
FROM (SELECT {sums}) s,
    (SELECT {rows} FROM copytrade_trackingorder o WHERE o.account_id IN (TABLE mine) AND {uncounted}) r,
    (SELECT count(*) AS n FROM copytrade_trackingorder o WHERE o.account_id IN (TABLE mine) AND {undated}) u,
    (SELECT count(*) AS n FROM copytrade_trackingorder o WHERE o.account_id IN (TABLE mine) AND {lost}) l
"""


def days_of(user: User, filters: Filters) -> tuple[date | None, date | None] | None:
    """The first and the last day that the filters let through; None where the daily sums do not tell the totals: they
    know neither sides nor results, and no part of a day."""
    if filters.side or filters.result:
        return None
    zone, bounds = zone_of(user), []
    for moment in (filters.since, filters.until):
        try:
            day = None if moment is None else day_of(moment, zone)
            # In UTC: Python calls no times of two zones equal where a clock skips or repeats one of them.
            if day and moment and first_moment(day, zone) != moment.astimezone(UTC):
                return None
        except OverflowError:  # before the first day that there is, seen from a zone that is ahead
            return None
        bounds.append(day)
    return bounds[0], bounds[1] and bounds[1] - timedelta(days=1)


def totals_asked(filters: Filters, days: tuple[bool, ...] | None, **values: Any) -> Words:
    """What totals_told makes the totals of. `days`: whether days_of has a first and a last one; `values`: the `user`,
    and these days as `first` and `last`. Any of them may be a Given, and so may what the filters hold."""
    mine, whose = _narrowed(filters)
    lost = whose + (" AND o.position_side = %(side)s" if filters.side else "")
    which = lost + (" AND o.close_time >= %(since)s" if filters.since else "")
    which += " AND o.close_time < %(until)s" if filters.until else ""
    which += f" AND {_RESULTS[filters.result]}" if filters.result in _RESULTS else ""
    if days is None:
        sums, uncounted = _newest(which), "false"
    else:
        sums, uncounted = _kept(filters, days, whose), _UNCOUNTED + which
    text = _TOTALS.format(
        mine=mine,
        rows=_ROWS,
        sums=sums,
        uncounted=uncounted,
        undated=f"o.closed AND o.close_time IS NULL{which}",
        lost=_LOST + lost,
    )
    return Words(text, **vars(filters), **values)


def totals_told(found: Sequence[Any], *, by_days: bool) -> HistoryTotals:
    """`found`: what totals_asked asked for."""
    n, net, gross, *others = found
    return HistoryTotals(n, Decimal(net), Decimal(gross), *others, newest=not by_days and n > MOST_COUNTED)


def _narrowed(filters: Filters) -> tuple[str, str]:
    """The connections that count, and what is asked of the rows `o` of theirs."""
    mine, whose = "SELECT id FROM copytrade_account WHERE owner_id = %(user)s", ""
    if filters.account is not None:
        mine += " AND id = %(account)s"
    if filters.trader is not None:
        mine += " AND id IN (SELECT account_id FROM copytrade_trader WHERE id = %(trader)s)"
        whose += " AND o.trader_id = %(trader)s"
    return mine, whose + (" AND o.symbol = %(symbol)s" if filters.symbol else "")


def _kept(filters: Filters, days: tuple[bool, ...], whose: str) -> str:
    """What is in the sums beside the ledger; a symbol's are kept for all time, too."""
    if filters.symbol and not any(days):
        own = "" if filters.trader is None else " AND t.id = %(trader)s"
        return f"{_SUMS} FROM ({of_symbol(own)}) d"
    table = "dayresult" if filters.symbol else "accountday" if filters.trader is None else "traderresult"
    within = " AND d.day >= %(first)s" if days[0] else ""
    within += " AND d.day <= %(last)s" if days[1] else ""
    within += whose.replace(" o.", " d.")
    return f"{_SUMS} FROM copytrade_{table} d WHERE d.account_id IN (TABLE mine){within}"


def _newest(which: str) -> str:
    """The newest orders that the filters match, one by one."""

    def walk(account: str) -> str:
        return _WALK.format(account=account, which=which, in_order=_IN_ORDER)

    walks = [walk(_NTH.format(place=place)) for place in _TOGETHER]
    walks.append(_REST.format(after=_TOGETHER[-1] + 1, walk=walk("a.id"), in_order=_IN_ORDER))
    every = " UNION ALL ".join(f"({one})" for one in walks)
    return _NEWEST.format(rows=_ROWS, walks=every, in_order=_IN_ORDER)
