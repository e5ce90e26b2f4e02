"""The facts of the copy-readiness check, for one trader or all of a person's, in one query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from copytrade import readiness, versions
from copytrade.asking import kept_cursor
from copytrade.models import Account, Trader
from copytrade.readiness import Readiness

LATELY = timedelta(days=90)
# Copies closed last that are looked at, of each trader: as many as an index hands over without a scan.
MOST = 50

# Of the copies closed last: the newest opening of each symbol, and the margins under the settings in force.
_FACTS = """
SELECT t.id, v.told::text,
       (SELECT json_agg(json_build_array(o.symbol, o.margin::text, o.opened))
          FROM (SELECT symbol, sum(open_margin_amount) AS margin, max(open_time) AS opened
                  FROM copytrade_trackingorder
                 WHERE trader_id = t.id AND NOT closed AND missing_since IS NULL AND lost_since IS NULL
                 GROUP BY symbol) o)::text,
       c.traded::text, c.sizes::text,
       (SELECT j.last_success_at FROM copytrade_syncjob j WHERE j.account_id = t.account_id AND j.kind = 'traders')
  FROM copytrade_trader t
  LEFT JOIN LATERAL (
       SELECT v.first_seen_at AS since, json_build_array(v.copy_enable, v.first_seen_at, v.answer) AS told
         FROM copytrade_settingsversion v WHERE v.trader_id = t.id ORDER BY v.first_seen_at DESC, v.id DESC LIMIT 1
       ) v ON TRUE
 CROSS JOIN LATERAL (
       WITH last AS MATERIALIZED (
            SELECT symbol, open_margin_amount AS margin, open_time FROM copytrade_trackingorder
             WHERE trader_id = t.id AND closed ORDER BY close_time DESC, tracking_no DESC LIMIT %(most)s)
       SELECT (SELECT json_agg(json_build_array(x.symbol, NULL, x.opened))
                 FROM (SELECT symbol, max(open_time) AS opened FROM last GROUP BY symbol) x) AS traded,
              (SELECT json_agg(margin::text) FROM last WHERE margin IS NOT NULL AND open_time >= v.since) AS sizes
       ) c
 WHERE t.id = ANY(%(traders)s)
"""


def ready(traders: Sequence[Trader], now: datetime | None = None) -> Mapping[int, Readiness]:
    """By our trader key, what would keep or shrink the next copy. Each trader comes with his account. One query."""
    now, whose = now or timezone.now(), {trader.pk: trader for trader in traders}
    if not whose:
        return {}
    with kept_cursor() as cursor:
        cursor.execute(_FACTS, {"most": MOST, "traders": list(whose)})
        rows = cursor.fetchall()
    return {row[0]: readiness.judge(_facts(whose[row[0]], row, now)) for row in rows}


def _facts(trader: Trader, row: Sequence[Any], now: datetime) -> readiness.Facts:
    enable, since, answer = json.loads(row[1]) if row[1] else (None, None, [])
    opened, closed, sizes = (json.loads(column or "[]") for column in row[2:5])
    account = trader.account
    return readiness.Facts(
        now=now,
        copied=trader.copied,
        copy_enable=enable,
        settings=versions.understood(answer) if since else None,
        available=trader.available_balance,
        read_at=row[5],
        held={symbol: Decimal(margin) for symbol, margin, _ in opened if margin is not None},
        traded=_traded([*opened, *closed], now),
        sizes=[Decimal(margin) for margin in sizes],
        refused=account.state_reason if account.state == Account.State.REFUSED else "",
    )


def _traded(rows: Sequence[Sequence[Any]], now: datetime) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for symbol, _, at in rows:
        when = datetime.fromisoformat(at) if at else None
        if when and now - when <= LATELY and when > found.get(symbol, now - LATELY - timedelta(1)):
            found[symbol] = when
    return found
