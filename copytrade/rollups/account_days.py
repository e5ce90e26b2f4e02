"""The sums of a whole account's day: those of its traders and symbols added up, for pages over all traders."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.db import connection

from .counted import FIGURES

_NAMES = ", ".join(FIGURES)
_ADDED = ", ".join(f"sum({name}) AS {name}" for name in FIGURES)
_FRESH = ", ".join(f"f.{name}" for name in FIGURES)
_KEPT = ", ".join(f"d.{name}" for name in FIGURES)
_SET = ", ".join(f"{name} = EXCLUDED.{name}" for name in FIGURES)

# Parameters: account, account; {days} narrows both sides. Without a day on the left, it is to be removed.
_DIFFERING = f"""
WITH differing AS MATERIALIZED (
    SELECT day, {_FRESH}
    FROM (SELECT day, {_ADDED} FROM copytrade_dayresult WHERE account_id = %s {{days}} GROUP BY day) f
    FULL JOIN (SELECT * FROM copytrade_accountday WHERE account_id = %s {{days}}) d USING (day)
    WHERE ({_FRESH}) IS DISTINCT FROM ({_KEPT})
)"""
_REMAKE = f"""{_DIFFERING}, emptied AS (
    DELETE FROM copytrade_accountday WHERE account_id = %s AND day IN (SELECT day FROM differing WHERE n IS NULL)
)
INSERT INTO copytrade_accountday (account_id, day, {_NAMES})
SELECT %s, day, {_NAMES} FROM differing WHERE n IS NOT NULL
ON CONFLICT (account_id, day) DO UPDATE SET {_SET}
"""


def remake(account_pk: int, days: Iterable[date] | None = None) -> None:
    """Add up these days of an account (None: all) and write those that differ. One query."""
    narrowed = "" if days is None else "AND day = ANY(%s)"
    side = [account_pk] if days is None else [account_pk, sorted(set(days))]
    with connection.cursor() as cursor:
        cursor.execute(_REMAKE.format(days=narrowed), [*side, *side, account_pk, account_pk])


def differing(account_pk: int) -> int:
    """How many days of an account are not the sum of their traders and symbols. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERING.format(days="") + " SELECT count(*) FROM differing", [account_pk] * 2)
        return cursor.fetchone()[0]
