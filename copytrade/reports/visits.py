"""What changed since a person was last here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from copytrade.models import User
from copytrade.rollups.counted import COUNTS
from copytrade.rollups.days import day_of, first_moment
from copytrade.together import Prepared, Query, Words

# The connections' keys as a list, so that each part looks for its rows by them, and not at everybody's.
_MINE = "account_id = ANY(ARRAY(TABLE mine))"
# Values as subqueries: plans for any values and for these are the same then, so that the database keeps one. From its
# statistics it would expect less of these, and plan anew at each view.
_VISIT, _ENDS = "(SELECT %(visit)s::timestamptz)", "(SELECT %(visit_day_ends)s::timestamptz)"
_DAY = "(SELECT %(visit_day)s::date)"
# Whole days from the daily sums; the rest of the day of the last visit from its orders. So it is never long.
_SINCE = f"""
WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s),
closed AS (
    SELECT n, net FROM copytrade_accountday WHERE {_MINE} AND day > {_DAY}
    UNION ALL
    SELECT count(*), coalesce(sum(o.net_profit), 0) FROM copytrade_trackingorder o
    WHERE o.{_MINE} AND {COUNTS} AND o.close_time > {_VISIT} AND o.close_time < {_ENDS}
)
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM closed) AS closed,
    (SELECT coalesce(sum(net), 0)::text FROM closed) AS net,
    (SELECT count(*) FROM copytrade_trackingorder WHERE {_MINE} AND NOT closed
        AND missing_since IS NULL AND lost_since IS NULL AND open_time > {_VISIT}) AS opened,
    (SELECT count(*) FILTER (WHERE first_seen_at > {_VISIT}) FROM copytrade_trader WHERE {_MINE}) AS joined,
    (SELECT count(*) FROM copytrade_trader WHERE {_MINE} AND NOT copied AND left_at > {_VISIT}) AS "left",
    (SELECT count(*) FROM copytrade_settingsversion v JOIN copytrade_trader t ON t.id = v.trader_id
        WHERE t.{_MINE} AND v.author <> 'first' AND v.first_seen_at > {_VISIT}) AS settings,
    trued.n AS revisions, trued.net::text AS revised
FROM (
    SELECT count(*) AS n, coalesce(sum(
        (r.changed->'net_profit'->>1)::numeric - (r.changed->'net_profit'->>0)::numeric), 0) AS net
    FROM copytrade_orderrevision r JOIN copytrade_trackingorder o ON o.id = r.order_id
    WHERE o.{_MINE} AND r.seen_at > {_VISIT}
        AND r.changed ? 'net_profit' AND NOT r.changed ? 'close_time'
) trued
"""  # noqa: S608 (our own words)
USUAL = timedelta(days=1)


@dataclass(frozen=True)
class Since:
    """Since `at`, over all connections. `closed` copies and their `net` (USDT); `opened` ones that are still open;
    traders that `joined` or `left`; `settings`: versions that are new; `revisions`: results that the exchange
    changed after the close, by `revised` USDT together. `first`: nobody was here before, and `at` is a day ago."""

    at: datetime
    closed: int
    net: Decimal
    opened: int
    joined: int
    left: int
    settings: int
    revisions: int
    revised: Decimal
    first: bool

    @property
    def nothing(self) -> bool:
        return not any((self.closed, self.opened, self.joined, self.left, self.settings, self.revisions))


def since_last_visit(user: User, zone: tzinfo, now: datetime) -> Since:
    """What is new since the last page of the visit before this one. One query, however long ago that was."""
    (row,) = _news(owner=user.pk, **visit(user, zone, now))
    return since_of(user, now, row)


def visit(user: User, zone: tzinfo, now: datetime) -> dict[str, Any]:
    """When the visit before this one ended, and the day of that: the values that news_asked compares with."""
    at = last_visit(user, now)
    day = day_of(at, zone)
    return {"visit": at, "visit_day": day, "visit_day_ends": first_moment(day + timedelta(days=1), zone)}


def last_visit(user: User, now: datetime) -> datetime:
    return user.was_here_at or now - USUAL


def news_asked(owner: Any, visit: Any, visit_day: Any, visit_day_ends: Any) -> Words:
    """What since_of tells from, for a page that asks for more at once."""
    return Words(_SINCE, owner=owner, visit=visit, visit_day=visit_day, visit_day_ends=visit_day_ends)


@Prepared
def _news(owner: Any, visit: Any, visit_day: Any, visit_day_ends: Any) -> Sequence[Query]:
    return (news_asked(owner, visit, visit_day, visit_day_ends),)


def since_of(user: User, now: datetime, row: Sequence[Any]) -> Since:
    """`row`: what news_asked asked for."""
    closed, net, opened, joined, left, settings, revisions, revised = row
    return Since(
        last_visit(user, now),
        closed,
        Decimal(net),
        opened,
        joined,
        left,
        settings,
        revisions,
        Decimal(revised),
        first=user.was_here_at is None,
    )
