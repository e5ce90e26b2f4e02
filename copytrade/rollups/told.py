"""What an account's own copies tell of its exchange's realizedPnl: the newest of each trader, kept with his page."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from copytrade.statistics.costs import Fill

from .counted import COUNTS, SIZE

# Enough to decide (statistics.costs.LEAST_COPIES), and the newest: an exchange may change what it reports.
NEWEST = 500
_FILLS = f"""
SELECT t.id, o.* FROM unnest(%s::bigint[]) AS t(id) CROSS JOIN LATERAL (
    SELECT o.position_side, o.open_price_avg, {SIZE}, o.open_fee, o.close_avg_price, o.close_size, o.realized_pnl,
        o.net_profit
    FROM copytrade_trackingorder o WHERE o.trader_id = t.id AND {COUNTS}
    ORDER BY o.close_time DESC, o.tracking_no DESC LIMIT %s
) o
"""


def newest_fills(traders: Sequence[int]) -> dict[int, list[Fill]]:
    """Trader key -> what the costs of his newest copies are told from. One query."""
    found: dict[int, list[Fill]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_FILLS, [list(traders), NEWEST])
        for key, *fill in cursor.fetchall():
            found.setdefault(key, []).append(Fill(*fill))
    return found
