"""What changed since a person was last here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from copytrade.asking import kept_cursor
from copytrade.models import User
from copytrade.rollups.counted import COUNTS
from copytrade.rollups.days import day_of, first_moment

# Whole days from the daily sums; the rest of the day of the last visit from its orders. So it is never long.
_SINCE = f"""
WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(user)s),
closed AS (
    SELECT n, net FROM copytrade_accountday WHERE account_id IN (TABLE mine) AND day > %(day)s
    UNION ALL
    SELECT count(*), coalesce(sum(o.net_profit), 0) FROM copytrade_trackingorder o
    WHERE o.account_id IN (TABLE mine) AND {COUNTS} AND o.close_time > %(since)s AND o.close_time < %(next)s
)
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM closed), (SELECT coalesce(sum(net), 0) FROM closed),
    (SELECT count(*) FROM copytrade_trackingorder WHERE account_id IN (TABLE mine) AND NOT closed
        AND missing_since IS NULL AND lost_since IS NULL AND open_time > %(since)s),
    (SELECT count(*) FILTER (WHERE first_seen_at > %(since)s) FROM copytrade_trader WHERE account_id IN (TABLE mine)),
    (SELECT count(*) FROM copytrade_trader WHERE account_id IN (TABLE mine) AND NOT copied AND left_at > %(since)s),
    (SELECT count(*) FROM copytrade_settingsversion v JOIN copytrade_trader t ON t.id = v.trader_id
        WHERE t.account_id IN (TABLE mine) AND v.author <> 'first' AND v.first_seen_at > %(since)s),
    trued.n, trued.net
FROM (
    SELECT count(*) AS n, coalesce(sum(
        (r.changed->'net_profit'->>1)::numeric - (r.changed->'net_profit'->>0)::numeric), 0) AS net
    FROM copytrade_orderrevision r JOIN copytrade_trackingorder o ON o.id = r.order_id
    WHERE o.account_id IN (TABLE mine) AND r.seen_at > %(since)s
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
    at = user.was_here_at or now - USUAL
    day = day_of(at, zone)
    values = {"user": user.pk, "since": at, "day": day, "next": first_moment(day + timedelta(days=1), zone)}
    with kept_cursor() as cursor:
        cursor.execute(_SINCE, values)
        return Since(at, *cursor.fetchone(), first=user.was_here_at is None)
