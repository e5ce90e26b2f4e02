"""Daily sums against the ledger: all of an account's at once, compared, and remade where they differ."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from copytrade import issues
from copytrade.locks import alone_with_ledger
from copytrade.models import Account, DataIssue, Trader, User

from . import whole_days
from .cells import zone_of_owner
from .counted import COUNTS, FIGURES, SUMS
from .days import day_sql
from .details import KEPT_OF_SYMBOL, READ_OF_SYMBOL
from .room import roomy
from .summaries import ClockTimestamp

SUBJECT = "daily sums"
SAMPLE = 20
EVERY = timedelta(hours=1)
_NAMES = ", ".join(FIGURES)
_FRESH = ", ".join(f"f.{name}" for name in FIGURES)
_KEPT = ", ".join(f"d.{name}" for name in FIGURES)
_BOTH = ", ".join(f"f.{name}, d.{name} AS old_{name}" for name in FIGURES)
_SET = ", ".join(f"{name} = EXCLUDED.{name}" for name in FIGURES)
_SHOWN = """
SELECT trader_id, day, symbol, old_n, n, old_net, net, count(*) OVER ()
FROM differing ORDER BY 1, 2, 3 LIMIT %s"""

# Parameters of both: those of the day, account, account. What differs, with both sets of figures.
_DIFFERING = f"""
WITH fresh AS MATERIALIZED (
    SELECT o.trader_id, {{day}} AS day, o.symbol, {SUMS}
    FROM copytrade_trackingorder o WHERE o.account_id = %s AND {COUNTS} GROUP BY 1, 2, 3
), differing AS MATERIALIZED (
    SELECT trader_id, day, symbol, {_BOTH}
    FROM fresh f FULL JOIN (SELECT * FROM copytrade_dayresult WHERE account_id = %s) d
        USING (trader_id, day, symbol)
    WHERE ({_FRESH}) IS DISTINCT FROM ({_KEPT})
)"""
_REMAKE = f"""{_DIFFERING}, emptied AS (
    DELETE FROM copytrade_dayresult d USING differing x
    WHERE x.n IS NULL AND d.trader_id = x.trader_id AND d.day = x.day AND d.symbol = x.symbol
), written AS (
    INSERT INTO copytrade_dayresult (account_id, trader_id, day, symbol, {_NAMES})
    SELECT %s, trader_id, day, symbol, {_NAMES} FROM differing WHERE n IS NOT NULL
    ON CONFLICT (trader_id, day, symbol) DO UPDATE SET {_SET}
), marked AS (
    UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id IN (
        SELECT id FROM copytrade_trader WHERE id IN (SELECT trader_id FROM differing) ORDER BY id FOR NO KEY UPDATE
    )
)
{_SHOWN}"""

# Of a trader `t` and what is kept of him, `k`: symbols whose totals are not those of his days.
_WRONG_SYMBOLS = f"""
    SELECT FROM (
        SELECT symbol, {", ".join(f"sum({name}) AS {name}" for name in KEPT_OF_SYMBOL)}
        FROM copytrade_dayresult WHERE trader_id = t.id GROUP BY symbol
    ) f
    FULL JOIN (SELECT e.symbol, {READ_OF_SYMBOL} FROM jsonb_each(k.symbols) AS e(symbol, kept)) d USING (symbol)
    WHERE ({", ".join(f"f.{name}" for name in KEPT_OF_SYMBOL)})
        IS DISTINCT FROM ({", ".join(f"d.{name}" for name in KEPT_OF_SYMBOL)})"""


@dataclass(frozen=True)
class Differences:
    """How many daily sums differed, and the first of them: {trader, day, symbol, kept, right} as text."""

    n: int
    sample: list[dict]


def rebuild(account: Account) -> Differences:
    """Remake all daily sums of an account in its owner's zone, and mark its traders' summaries as stale.

    For a change of zone: call it in the transaction that stores the new one. It waits until no page of the
    account is being merged, and pages wait until it is over. Writes only what differs.
    """
    with transaction.atomic():
        alone_with_ledger(account.pk)
        traders = Trader.objects.filter(account=account)
        list(traders.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        found = _remake(account)
        traders.update(summaries_stale_since=ClockTimestamp())
    return found


def rebuild_all_of(owner: User) -> None:
    """rebuild() for every account of a person, in one order, so that two calls cannot wait for each other."""
    with transaction.atomic():
        for account in Account.objects.filter(owner=owner).order_by("pk"):
            rebuild(account)


def verify(account: Account) -> Differences:
    """Hold the daily sums, and the summaries' totals, against the orders; remake and tell what differs.

    The comparison locks nothing: orders and sums are committed together. Only what
    differs is looked at again, and remade, with the ledger standing still.
    """
    found = _differing(account)
    if found.n:
        with transaction.atomic():
            alone_with_ledger(account.pk)
            found = _remake(account)
            if found.n:
                _tell(account, found)
    if not found.n:
        issues.heal(account, DataIssue.Kind.ROLLUP, SUBJECT)
    _mark_wrong_totals(account)
    Account.objects.filter(pk=account.pk).update(sums_checked_at=timezone.now())
    return found


def verify_some(seconds: float = 2.0, every: timedelta = EVERY, now: datetime | None = None) -> int:
    """verify() the accounts that were not looked at for longest, for about so long; how many.

    An account is due again after `every`. Any number of workers may do so at once.
    """
    until, done = time.monotonic() + seconds, 0
    while (account := _next(now or timezone.now(), every)) is not None:
        verify(account)
        done += 1
        if time.monotonic() >= until:
            break
    return done


def _next(now: datetime, every: timedelta) -> Account | None:
    """Claimed by its stamp, before the work: an account that cannot be verified stops no other."""
    with transaction.atomic():
        due = Account.objects.filter(Q(sums_checked_at=None) | Q(sums_checked_at__lt=now - every))
        ordered = due.order_by(F("sums_checked_at").asc(nulls_first=True), "pk")
        account = ordered.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
        if account is not None:
            Account.objects.filter(pk=account.pk).update(sums_checked_at=now)
        return account


def _differing(account: Account) -> Differences:
    day, values = day_sql("o.close_time", zone_of_owner(account.pk))
    found = _run(_DIFFERING.format(day=day) + _SHOWN, [*values, account.pk, account.pk, SAMPLE])
    return Differences(found.n + whole_days.differing(account.pk)[0], found.sample)


def _remake(account: Account) -> Differences:
    day, values = day_sql("o.close_time", zone_of_owner(account.pk))
    found = _run(_REMAKE.format(day=day), [*values, account.pk, account.pk, account.pk, SAMPLE])
    added, traders = whole_days.differing(account.pk)
    whole_days.remake(account.pk)
    _mark(traders)
    # A whole day differs already where one of its parts did: only others count.
    return found if found.n else Differences(added, [])


def _mark(traders: list[int]) -> None:
    """Their summaries are made of days that were wrong."""
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id IN (
                SELECT id FROM copytrade_trader WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE)""",
            [traders],
        )


def _run(statement: str, values: list) -> Differences:
    with transaction.atomic(), connection.cursor() as cursor:
        roomy(cursor)
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    sample = [
        {
            "trader": trader,
            "day": day.isoformat(),
            "symbol": symbol,
            "kept": None if old_n is None else {"n": old_n, "net": str(old_net)},
            "right": None if n is None else {"n": n, "net": str(net)},
        }
        for trader, day, symbol, old_n, n, old_net, net, _ in rows
    ]
    return Differences(rows[0][-1] if rows else 0, sample)


def _tell(account: Account, found: Differences) -> None:
    issues.tell(
        account,
        DataIssue.Kind.ROLLUP,
        SUBJECT,
        f"{found.n} daily {'sum' if found.n == 1 else 'sums'} did not equal the orders and were made again. "
        "The figures are right now. If this comes back, please report it with these details.",
        {"n": found.n, "cells": found.sample},
    )


def _mark_wrong_totals(account: Account) -> None:
    """A summary whose count or net is not that of the daily sums is made again, and one whose totals by symbol are not.
    None are kept by the release before: that is no mistake, and read.of_symbol passes them over."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE copytrade_trader SET summaries_stale_since = clock_timestamp() WHERE id IN (
                SELECT t.id FROM copytrade_trader t JOIN copytrade_periodsummary s ON s.trader_id = t.id
                LEFT JOIN copytrade_perioddetail k ON k.trader_id = t.id AND k.period = 'all'
                LEFT JOIN (
                    SELECT trader_id, sum(n) AS n, sum(net) AS net FROM copytrade_dayresult
                    WHERE account_id = %s GROUP BY trader_id
                ) d ON d.trader_id = t.id
                WHERE t.account_id = %s AND t.summaries_stale_since IS NULL AND s.period = 'all'
                    AND ((s.closed_copies, s.net) IS DISTINCT FROM (coalesce(d.n, 0), coalesce(d.net, 0))
                        OR k.symbols IS NOT NULL AND EXISTS ({_WRONG_SYMBOLS}))
                ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)
            """,
            [account.pk, account.pk],
        )
