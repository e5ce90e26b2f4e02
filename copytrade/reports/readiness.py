"""The facts of the copy-readiness check, for one trader or all of a person's, in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from copytrade import readiness, versions
from copytrade.models import Account, Trader
from copytrade.readiness import Readiness
from copytrade.together import Prepared, Query, Words

LATELY = timedelta(days=90)
# Copies closed last that are looked at, of each trader: as many as an index hands over without a scan.
MOST = 50

# Of the copies closed last: the newest opening of each symbol, and the margins under the settings in force.
_FACTS = f"""
SELECT json_agg(json_build_array(t.id, v.told,
       (SELECT json_agg(json_build_array(o.symbol, o.margin::text, o.opened))
          FROM (SELECT symbol, sum(open_margin_amount) AS margin, max(open_time) AS opened
                  FROM copytrade_trackingorder
                 WHERE trader_id = t.id AND NOT closed AND missing_since IS NULL AND lost_since IS NULL
                 GROUP BY symbol) o),
       c.traded,
       (SELECT j.last_success_at FROM copytrade_syncjob j WHERE j.account_id = t.account_id AND j.kind = 'traders')
       )) AS rows
  FROM copytrade_trader t
  LEFT JOIN LATERAL (
       SELECT v.first_seen_at AS since, json_build_array(v.copy_enable, v.first_seen_at, v.answer) AS told
         FROM copytrade_settingsversion v WHERE v.trader_id = t.id ORDER BY v.first_seen_at DESC, v.id DESC LIMIT 1
       ) v ON TRUE
 CROSS JOIN LATERAL (
       SELECT json_agg(json_build_array(x.symbol, x.sizes, x.opened)) AS traded
         FROM (SELECT symbol, max(open_time) AS opened,
                      json_agg(margin::text) FILTER (WHERE margin IS NOT NULL AND open_time >= v.since) AS sizes
                 FROM (SELECT symbol, open_margin_amount AS margin, open_time FROM copytrade_trackingorder
                        WHERE trader_id = t.id AND closed ORDER BY close_time DESC, tracking_no DESC LIMIT {MOST}) last
                GROUP BY symbol) x
       ) c
 WHERE """  # noqa: S608 (our own words)


def ready(traders: Sequence[Trader], now: datetime | None = None) -> Mapping[int, Readiness]:
    """By our trader key, what would keep or shrink the next copy. Each trader comes with his account. One query."""
    if not traders:
        return {}
    (found,) = _of_these(traders=[trader.pk for trader in traders])
    return ready_of(found, traders, now or timezone.now())


@Prepared
def _of_these(traders: Any) -> Sequence[Query]:
    return (Words(f"{_FACTS} t.id = ANY(%(traders)s)", traders=traders),)


def facts_asked(owner: Any) -> Words:
    """What ready_of judges by, of all traders of a person's connections, for a page that asks for more at once."""
    return Words(
        f"{_FACTS} t.account_id IN (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s)",  # noqa: S608
        owner=owner,
    )


def facts_of(trader: Any) -> Words:
    """The same of one trader, by our key."""
    return Words(f"{_FACTS} t.id = %(trader)s", trader=trader)


def ready_of(found: Sequence[Any], traders: Sequence[Trader], now: datetime) -> Mapping[int, Readiness]:
    """`found`: what facts_asked asked for; `traders`: each with his account."""
    facts = {key: rest for key, *rest in found[0] or ()}
    return {
        trader.pk: readiness.judge(_facts(trader, facts[trader.pk], now))
        for trader in traders
        if trader.pk in facts
    }


def _facts(trader: Trader, row: Sequence[Any], now: datetime) -> readiness.Facts:
    told, opened, closed, read_at = row
    enable, since, answer = told or (None, None, [])
    opened, closed, account = opened or [], closed or [], trader.account
    return readiness.Facts(
        now=now,
        copied=trader.copied,
        copy_enable=enable,
        settings=versions.understood(answer) if since else None,
        available=trader.available_balance,
        read_at=read_at and datetime.fromisoformat(read_at),
        held={symbol: Decimal(margin) for symbol, margin, _ in opened if margin is not None},
        traded=_traded([*opened, *closed], now),
        sizes=[Decimal(margin) for _, margins, _ in closed for margin in margins or ()],
        refused=account.state_reason if account.state == Account.State.REFUSED else "",
    )


def _traded(rows: Sequence[Sequence[Any]], now: datetime) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    first = now - LATELY
    for symbol, _, at in rows:
        when = datetime.fromisoformat(at) if at else None
        if when and when >= found.get(symbol, first):
            found[symbol] = when
    return found
