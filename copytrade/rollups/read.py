"""What pages read of the sums: one query each, whatever the number of orders. Money is exact Decimals.

Daily sums are never behind the ledger. Summaries may be, for the seconds until the chore has made them again:
`PeriodRow.stale` says so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.utils import timezone

from copytrade.asking import kept_cursor
from copytrade.models import Account, Trader, User
from copytrade.statistics import Brief, Summary, brief_from_parts, from_parts, summarise
from copytrade.together import Prepared, Query, Words, refer

from .counted import FIGURES
from .details import KEPT_OF_SYMBOL, READ_OF_SYMBOL, loaded
from .kept import brief_parts, capital_of, parts, returns
from .periods import PERIODS

_TOTALS = ", ".join(f"coalesce(sum(d.{name}), 0)" for name in FIGURES)


@dataclass(frozen=True)
class Totals:
    """Sums of closed copies. `won` and `lost`: of net above and below 0, both as numbers above 0. `close_fees`: as
    estimated, of all but the `unestimated` ones."""

    n: int
    wins: int
    losses: int
    net: Decimal
    gross: Decimal
    won: Decimal
    lost: Decimal
    open_fees: Decimal
    margin: Decimal
    close_fees: Decimal
    unestimated: int


@dataclass(frozen=True)
class DayRow(Totals):
    """The sums of one trader's copies that closed on a day of the owner's zone. Days without are not there."""

    trader: int
    day: date


SUMMARY = "s.closed_copies, s.net, s.net_before, s.figures, s.spark, s.computed_at"


@dataclass(frozen=True)
class KeptSummary:
    """What a page needs of a PeriodSummary, `figures` and `spark` as they are kept, or as text that is unread."""

    closed_copies: int
    net: Decimal
    net_before: Decimal
    figures: Any
    spark: Any
    computed_at: datetime


def kept_summary(row: Sequence[Any]) -> tuple[KeptSummary | None, Sequence[Any]]:
    """The columns of SUMMARY, None where there is no row, and those behind them."""
    return (None if row[0] is None else KeptSummary(*row[:6])), row[6:]


@dataclass(frozen=True)
class PeriodRow:
    """One trader in one period. `summary` is worked out when asked for: a page that sorts by net needs none.

    `kept` None: the summary was never made (the trader has just been found).
    """

    trader: Trader
    period: str
    kept: KeptSummary | None
    now: datetime

    @property
    def stale(self) -> bool:
        """A result changed since the summary was made, or a day began."""
        return self.kept is None or self.trader.summaries_stale_since is not None

    @property
    def computed_at(self) -> datetime | None:
        return None if self.kept is None else self.kept.computed_at

    @property
    def net(self) -> Decimal:
        return Decimal(0) if self.kept is None else self.kept.net

    @property
    def closed_copies(self) -> int:
        return 0 if self.kept is None else self.kept.closed_copies

    @cached_property
    def spark(self) -> list[Decimal]:
        """Cumulative net, at most 40 points, oldest first."""
        return [Decimal(0)] if self.kept is None else [Decimal(point) for point in loaded(self.kept.spark)]

    @cached_property
    def brief(self) -> Brief:
        """The figures of a line of a table, as the summary has them: a table of many lines needs no others."""
        if self.kept is None:
            return self.summary
        capital, label = capital_of(self.trader)
        return brief_from_parts(
            brief_parts(loaded(self.kept.figures)),
            capital=capital,
            capital_label=label,
            now=self.now,
            net_before=self.kept.net_before,
        )

    @cached_property
    def summary(self) -> Summary:
        """Every figure on today's capital base, without the daily series (see day_series).

        Sharpe and Sortino are None, with a reason, for the seconds after the base has changed."""
        capital, label = capital_of(self.trader)
        total = self.trader.trace_total_profit if PERIODS[self.period] is None else None
        if self.kept is None:
            return summarise([], capital=capital, capital_label=label, now=self.now, reported_total=total)
        figures = loaded(self.kept.figures)
        return from_parts(
            parts(figures),
            capital=capital,
            capital_label=label,
            now=self.now,
            net_before=self.kept.net_before,
            reported_total=total,
            returns=returns(figures),
        )


def period_rows(user: User, period: str, now: datetime | None = None) -> list[PeriodRow]:
    """A row for each trader of a person's connections, copied ones first, those without a summary too. One query.

    Traders of one account share its object. Raises KeyError for an unknown period.
    """
    PERIODS[period]
    return rows_of(_rows(owner=user.pk, period=period), period, now or timezone.now())


def rows_asked(owner: Any, period: Any) -> tuple[Query, Query, Query]:
    """What rows_of makes the rows of, for a page that asks for more at once: traders, accounts, summaries."""
    return (
        Trader.objects.filter(account__owner=owner).order_by("-copied", "name", "pk"),
        Account.objects.filter(owner=owner),
        Words(_SUMMARIES, owner=owner, period=period),
    )


_rows = Prepared(rows_asked)
# A row each, whose figures come as they are kept: what is exact in them is text already.
_SUMMARIES = """SELECT json_agg(json_build_array(s.trader_id, s.closed_copies, s.net::text, s.net_before::text,
    s.figures, s.spark, s.computed_at)) AS rows
FROM copytrade_periodsummary s
WHERE s.period = %(period)s AND s.account_id IN (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s)"""


def rows_of(found: Sequence[Any], period: str, now: datetime) -> list[PeriodRow]:
    """`found`: what rows_asked asked for, in its order."""
    traders, accounts, (summaries,) = found
    refer(traders, "account", {account.pk: account for account in accounts})
    kept = {
        key: KeptSummary(n, Decimal(net), Decimal(before), figures, spark, datetime.fromisoformat(at))
        for key, n, net, before, figures, spark, at in summaries or ()
    }
    return [PeriodRow(trader, period, kept.get(trader.pk), now) for trader in traders]


def day_series(traders: Iterable[int], since: date | None = None, until: date | None = None) -> list[DayRow]:
    """Each trader's days with closed copies between two days, both included, oldest first. One query."""
    with kept_cursor() as cursor:
        cursor.execute(
            f"""SELECT {_TOTALS}, d.trader_id, d.day FROM copytrade_traderresult d
            WHERE d.trader_id = ANY(%s) AND d.day >= %s AND d.day <= %s
            GROUP BY d.trader_id, d.day ORDER BY d.day, d.trader_id""",
            [list(traders), since or date.min, until or date.max],
        )
        return [DayRow(*row) for row in cursor.fetchall()]


def symbols(
    traders: Iterable[int], since: date | None = None, until: date | None = None
) -> dict[str, Totals]:
    """The sums by symbol, of closed copies between two days, both included. One query."""
    with kept_cursor() as cursor:
        cursor.execute(
            f"""SELECT d.symbol, {_TOTALS} FROM copytrade_dayresult d
            WHERE d.trader_id = ANY(%s) AND d.day >= %s AND d.day <= %s GROUP BY d.symbol ORDER BY d.symbol""",
            [list(traders), since or date.min, until or date.max],
        )
        return {symbol: Totals(*row) for symbol, *row in cursor.fetchall()}


def totals(accounts: Iterable[int], since: Mapping[str, date | None]) -> dict[str, Totals]:
    """The sums over all traders of these accounts, from each named day on (None: all). One query.

    totals(keys, {"today": today, "all": None})["today"].net
    """
    names = list(since)
    with kept_cursor() as cursor:
        cursor.execute(
            f"""SELECT p.name, {_TOTALS} FROM unnest(%s::text[], %s::date[]) AS p(name, since)
            LEFT JOIN copytrade_accountday d ON d.account_id = ANY(%s) AND d.day >= p.since GROUP BY p.name""",
            [names, [since[name] or date.min for name in names], list(accounts)],
        )
        return {name: Totals(*row) for name, *row in cursor.fetchall()}


# Results in one symbol of all time: rows to be added up. What was kept of a trader holds while he is not marked: each
# page of the ledger marks him in the transaction that changes his days. Where he is, or nothing was kept yet, his days
# are told. Marks, totals and days are read by one statement, and so are of one moment. Days come by their account, of
# which there is an index by symbol; LATERAL and OFFSET 0 keep that a walk of its own, and none where nobody needs it.
_OF_SYMBOL = f"""
    WITH known AS MATERIALIZED (
        SELECT t.id, t.account_id, k.symbols -> %(symbol)s::text AS kept,
            t.summaries_stale_since IS NULL AND k.symbols IS NOT NULL AS holds
        FROM copytrade_trader t LEFT JOIN copytrade_perioddetail k ON k.trader_id = t.id AND k.period = 'all'
        WHERE t.account_id IN (TABLE mine){{whose}}
    )
    SELECT {READ_OF_SYMBOL} FROM known WHERE holds AND kept IS NOT NULL
    UNION ALL SELECT d.*
    FROM (SELECT account_id, array_agg(id) AS traders FROM known WHERE NOT holds GROUP BY account_id) k
    CROSS JOIN LATERAL (
        SELECT {", ".join(KEPT_OF_SYMBOL)} FROM copytrade_dayresult
        WHERE account_id = k.account_id AND symbol = %(symbol)s::text AND trader_id = ANY(k.traders) OFFSET 0
    ) d"""


def of_symbol(whose: str = "") -> str:
    """Words for KEPT_OF_SYMBOL of the symbol `%(symbol)s`, in rows to be added up, where `mine` names the
    accounts; `whose` narrows their traders `t`."""
    return _OF_SYMBOL.format(whose=whose)


def symbols_asked(owner: Any) -> Words:
    """What symbols_told makes its names of, for a page that asks for more at once."""
    return Words(_SYMBOLS, owner=owner)


_SYMBOLS = """WITH mine AS MATERIALIZED (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s)
SELECT json_agg(s.symbol ORDER BY s.symbol) AS symbols FROM (
    SELECT row ->> 0 AS symbol FROM copytrade_perioddetail d, jsonb_array_elements(d.breakdowns -> 'symbol') row
    WHERE d.account_id IN (TABLE mine) AND d.period = 'all'
    UNION SELECT symbol FROM copytrade_trackingorder WHERE account_id IN (TABLE mine) AND NOT closed
) s"""


def symbols_told(found: Sequence[Any]) -> list[str]:
    """`found`: what symbols_asked asked for. A symbol without a name is none."""
    (symbols,) = found
    return [symbol for symbol in symbols or () if symbol]


def symbols_of(user: User) -> list[str]:
    """The symbols of a person's copies, closed (as last summed up) and open. One query."""
    return symbols_told(*_symbols(owner=user.pk))


_symbols = Prepared(lambda owner: [symbols_asked(owner)])


def account_series(
    accounts: Iterable[int], since: date | None = None, until: date | None = None
) -> list[tuple[date, Totals]]:
    """Days with closed copies, over all traders of these accounts together, oldest first. One query."""
    with kept_cursor() as cursor:
        cursor.execute(
            f"""SELECT d.day, {_TOTALS} FROM copytrade_accountday d
            WHERE d.account_id = ANY(%s) AND d.day >= %s AND d.day <= %s GROUP BY d.day ORDER BY d.day""",
            [list(accounts), since or date.min, until or date.max],
        )
        return [(day, Totals(*row)) for day, *row in cursor.fetchall()]


@dataclass(frozen=True)
class DayNets:
    """The days of the owner's zone with closed copies, oldest first, a column each: the day, how many copies, their
    net."""

    days: Sequence[date] = ()
    n: Sequence[int] = ()
    net: Sequence[Decimal] = ()

    def part(self, first: date | None, last: date | None = None) -> DayNets:
        """From one day to another, both included; None: without a bound."""
        start = 0 if first is None else bisect_left(self.days, first)
        end = len(self.days) if last is None else bisect_right(self.days, last)
        return DayNets(self.days[start:end], self.n[start:end], self.net[start:end])


def days_asked(owner: Any) -> Words:
    """What day_nets makes the days of, over all traders of a person's connections, for a page that asks for more at
    once. Days come as texts, a column in one piece: that is read in a third of the time that rows take."""
    return Words(_DAYS, owner=owner)


_DAYS = """SELECT string_agg(d.day::text, ',' ORDER BY d.day) AS days, string_agg(d.n::text, ',' ORDER BY d.day) AS n,
    string_agg(d.net::text, ',' ORDER BY d.day) AS net
FROM (SELECT day, sum(n) AS n, sum(net) AS net FROM copytrade_accountday
    WHERE account_id IN (SELECT id FROM copytrade_account WHERE owner_id = %(owner)s) GROUP BY day) d"""


def day_nets(found: Sequence[str | None]) -> DayNets:
    """`found`: what days_asked asked for."""
    days, n, net = (column.split(",") if column else () for column in found)
    return DayNets(list(map(date.fromisoformat, days)), list(map(int, n)), list(map(Decimal, net)))


def accounts_of(user: User) -> list[int]:
    return list(Account.objects.filter(owner=user).values_list("pk", flat=True))


assert [field.name for field in fields(Totals)] == list(FIGURES)  # columns are read by their place
