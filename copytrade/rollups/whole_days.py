"""The sums of whole days, for what asks for no part of them: a trader's over symbols, an account's over its traders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from django.db import connection

from .counted import FIGURES

_NAMES = ", ".join(FIGURES)
_ADDED = ", ".join(f"sum({name}) AS {name}" for name in FIGURES)
_FRESH = ", ".join(f"f.{name}" for name in FIGURES)
_KEPT = ", ".join(f"d.{name}" for name in FIGURES)
_SET = ", ".join(f"{name} = EXCLUDED.{name}" for name in FIGURES)

# Parameters: account, account; {narrowed} narrows both sides. Without figures on the left, the row is to be removed.
_DIFFERING = f"""
WITH differing AS MATERIALIZED (
    SELECT {{keys}}, {_FRESH}
    FROM (SELECT {{keys}}, {_ADDED} FROM {{parts}} WHERE account_id = %s {{narrowed}} GROUP BY {{keys}}) f
    FULL JOIN (SELECT * FROM {{table}} WHERE account_id = %s {{narrowed}}) d USING ({{keys}})
    WHERE ({_FRESH}) IS DISTINCT FROM ({_KEPT})
)"""
_REMAKE = f"""{_DIFFERING}, emptied AS (
    DELETE FROM {{table}} WHERE account_id = %s AND ({{keys}}) IN (SELECT {{keys}} FROM differing WHERE n IS NULL)
)
INSERT INTO {{table}} (account_id, {{keys}}, {_NAMES})
SELECT %s, {{keys}}, {_NAMES} FROM differing WHERE n IS NOT NULL
ON CONFLICT ({{unique}}) DO UPDATE SET {_SET}
"""


@dataclass(frozen=True)
class _Level:
    """Sums in `table`, by `keys` within an account, of the rows of `parts`; `narrowed` picks some of both."""

    table: str
    parts: str
    keys: str
    unique: str
    narrowed: str

    def remake(self, account_pk: int, *some: list) -> None:
        """Add up and write what differs; with values for `narrowed`, of those alone. One query."""
        side = [account_pk, *some]
        with connection.cursor() as cursor:
            cursor.execute(self._sql(_REMAKE, bool(some)), [*side, *side, account_pk, account_pk])

    def differing(self, account_pk: int) -> list[tuple]:
        """The keys of the rows that are not the sum of their parts."""
        with connection.cursor() as cursor:
            cursor.execute(
                f"{self._sql(_DIFFERING, False)} SELECT {self.keys} FROM differing", [account_pk] * 2
            )
            return cursor.fetchall()

    def _sql(self, statement: str, some: bool) -> str:
        return statement.format(**vars(self) | {"narrowed": self.narrowed if some else ""})


_OF_TRADERS = _Level(
    "copytrade_traderresult", "copytrade_dayresult", "trader_id, day", "trader_id, day",
    "AND trader_id = ANY(%s) AND day = ANY(%s)",
)  # fmt: skip
_OF_ACCOUNTS = _Level(
    "copytrade_accountday", "copytrade_traderresult", "day", "account_id, day", "AND day = ANY(%s)"
)
# Held against the smallest parts: a wrong day of a trader does not make the account's wrong.
_HELD = (_OF_TRADERS, replace(_OF_ACCOUNTS, parts=_OF_TRADERS.parts))


def remake(account_pk: int, cells: Iterable[tuple[int, date]] | None = None) -> None:
    """Add up the days of these traders of an account (None: all), and those days of the account, and write those that
    differ. Two queries."""
    if cells is None:
        _OF_TRADERS.remake(account_pk)
        _OF_ACCOUNTS.remake(account_pk)
        return
    traders, days = (sorted(set(column)) for column in zip(*cells, strict=True))
    _OF_TRADERS.remake(account_pk, traders, days)
    _OF_ACCOUNTS.remake(account_pk, days)


def differing(account_pk: int) -> tuple[int, list[int]]:
    """(how many days, of traders and of the account, are not the sum of their parts; whose they are). Two queries."""
    of_traders, of_account = (level.differing(account_pk) for level in _HELD)
    return len(of_traders) + len(of_account), sorted({trader for trader, _ in of_traders})
