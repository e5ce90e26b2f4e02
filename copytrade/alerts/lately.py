"""How often the last week had what a rule is about, for kinds whose past is in the ledger: an aid for choosing."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import connection

from copytrade.models import Account, Alert, User

WEEK = timedelta(days=7)
Kind = Alert.Kind

_COUNTS = """
WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s),
lately AS MATERIALIZED (
    SELECT o.open_time, o.net_profit FROM mine CROSS JOIN LATERAL (
        SELECT * FROM copytrade_trackingorder o WHERE o.account_id = mine.id AND o.closed
           AND o.close_time > %(since)s AND o.close_time <= %(now)s) o
)
SELECT (SELECT count(*) FROM lately WHERE open_time > %(since)s)
     + (SELECT count(*) FROM copytrade_trackingorder WHERE account_id IN (TABLE mine) AND NOT closed
           AND open_time > %(since)s),
       (SELECT count(*) FROM lately),
       (SELECT count(*) FROM lately WHERE net_profit <= %(most)s),
       (SELECT count(*) FROM copytrade_settingsversion v JOIN copytrade_trader t ON t.id = v.trader_id
         WHERE t.account_id IN (TABLE mine) AND v.author = 'outside' AND v.first_seen_at > %(since)s),
       (SELECT count(*) FROM copytrade_trader WHERE account_id IN (TABLE mine) AND NOT copied AND left_at > %(since)s)
"""


def of_the_week(user: User, loss: Decimal | None, now: datetime) -> dict[str, str]:
    """{kind: sentence} of the last 7 days, for the person's connections. `loss`: the limit to count by. One query."""
    if not Account.objects.filter(owner=user).exists():
        return {}
    values = {"owner": user.pk, "since": now - WEEK, "now": now, "most": None if loss is None else -loss}
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, values)
        opened, closed, lost, changed, left = cursor.fetchone()
    said = {
        Kind.OPENED: f"{_n(opened, 'copy', 'copies')} opened in the last 7 days.",
        Kind.CLOSED: f"{_n(closed, 'copy', 'copies')} closed in the last 7 days.",
        Kind.SETTINGS_OUTSIDE: f"{_n(changed, 'such change', 'such changes')} in the last 7 days.",
        Kind.GONE: f"{_n(left, 'trader', 'traders')} left in the last 7 days.",
    }
    if loss is not None:
        said[Kind.LOSS] = f"{_n(lost, 'copy', 'copies')} reached this limit in the last 7 days."
    return said


def _n(number: int, one: str, many: str) -> str:
    return f"{number or 'No'} {one if number == 1 else many}"
