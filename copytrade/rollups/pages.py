"""One trader's stored period with everything that his page draws: one query, however many copies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from copytrade.asking import kept_cursor
from copytrade.models import Trader
from copytrade.statistics import Row
from copytrade.statistics.costs import Costs, Support

from . import details
from .details import Line, Tally, Unread, loaded
from .periods import PERIODS
from .read import SUMMARY, KeptSummary, PeriodRow, kept_summary

# A row from before there were stills is drawn from its whole lines. Otherwise those are touched only where they are
# asked for: by a value and not by another text, so that there is one plan.
_DETAIL = """coalesce(d.still, d.curve), coalesce(d.margin_still, d.margin),
    coalesce(d.margin_steps, jsonb_array_length(d.margin)),
    CASE WHEN %s THEN d.curve END, CASE WHEN %s THEN d.margin END,
    d.daily, d.breakdowns, d.scatter, d.costs, d.previous"""
# An open order that the exchange still tells: neither gone from its list nor lost.
PRESENT = "o.missing_since IS NULL AND o.lost_since IS NULL"
# "all" holds what does not hang on the period: how much there is, since when, and what the account tells. The traders'
# keys stand in a subquery: PostgreSQL takes a list that it sees for one of other lengths, and would plan at each view.
_PAGE = f"""
SELECT t.id, {SUMMARY}, {_DETAIL}, a.closed_copies, a.net, a.figures -> 'since',
    (SELECT json_agg(x.costs -> 'support') FROM copytrade_perioddetail x
        WHERE x.account_id = t.account_id AND x.period = 'all'),
    o.n, o.margin, o.missing
FROM copytrade_trader t
LEFT JOIN copytrade_periodsummary s ON s.trader_id = t.id AND s.period = %s
LEFT JOIN copytrade_perioddetail d ON d.trader_id = t.id AND d.period = %s
LEFT JOIN copytrade_periodsummary a ON a.trader_id = t.id AND a.period = 'all'
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE {PRESENT}) AS n,
        coalesce(sum(o.open_margin_amount) FILTER (WHERE {PRESENT}), 0) AS margin,
        count(*) FILTER (WHERE o.missing_since IS NOT NULL AND o.lost_since IS NULL) AS missing
    FROM copytrade_trackingorder o WHERE o.trader_id = t.id AND NOT o.closed
) o
WHERE t.id = ANY((SELECT %s::bigint[])::bigint[])
"""


class KeptDetail(NamedTuple):
    """What a PeriodDetail holds, unread. `curve` and `margin` are None where nobody asked for them."""

    still: Any
    margin_still: Any
    margin_steps: int
    curve: Any
    margin: Any
    daily: Any
    breakdowns: Any
    scatter: Any
    costs: Any
    previous: Any


_NOTHING = KeptDetail([], [], 0, [], [], [], {}, [], {}, {})


@dataclass(frozen=True)
class PageRow(PeriodRow):
    """A period as a trader's page shows it. Each picture is read when it is asked for. `all_*`: of the whole ledger.

    `still` and `margin_still`: the lines `curve` and `margin` in few points; in more for a row that is older than they
    are. `curve`, `margin`: in up to 800, Unread unless asked for; how many steps `margin` has is known either way."""

    detail: KeptDetail
    all_copies: int
    all_net: Decimal
    first_open: datetime | None
    support: Support
    open_count: int
    open_margin: Decimal
    missing: int

    @cached_property
    def still(self) -> Sequence[tuple[datetime, Decimal, Decimal]]:
        return details.read_curve(loaded(self.detail.still))

    @cached_property
    def margin_still(self) -> Sequence[tuple[datetime, Decimal]]:
        return details.read_margin(loaded(self.detail.margin_still))

    @cached_property
    def curve(self) -> Sequence[tuple[datetime, Decimal, Decimal]]:
        kept = self.detail.curve
        return Unread() if kept is None else details.read_curve(loaded(kept))

    @cached_property
    def margin(self) -> Sequence[tuple[datetime, Decimal]]:
        kept = self.detail.margin
        return Unread(self.detail.margin_steps) if kept is None else details.read_margin(loaded(kept))

    @cached_property
    def daily(self) -> dict[date, Decimal]:
        """Of days with closed copies."""
        return details.read_daily(loaded(self.detail.daily))

    @cached_property
    def breakdowns(self) -> dict[str, list[Row]]:
        return details.read_breakdowns(loaded(self.detail.breakdowns))

    @cached_property
    def scatter(self) -> list[tuple[Decimal, Decimal, int]]:
        return details.read_scatter(loaded(self.detail.scatter))

    @cached_property
    def costs_by_month(self) -> list[tuple[date, Costs]]:
        return details.read_months(self._months, self.support.decided)

    @cached_property
    def costs(self) -> Costs:
        return details.read_costs(self._months, self.support.decided)

    @cached_property
    def _months(self) -> list:
        return loaded(self.detail.costs).get("months", [])

    @cached_property
    def previous(self) -> tuple[date, date, Tally, Decimal] | None:
        return details.read_previous(loaded(self.detail.previous))


def page_rows(
    traders: Iterable[Trader], period: str, now: datetime, whole: Collection[Line] = ()
) -> list[PageRow]:
    """One for each of these traders, in their order. `whole`: the lines to read in all their points. Raises KeyError
    for a period that is none, and Trader.DoesNotExist for one who was removed meanwhile."""
    PERIODS[period]
    found = list(traders)
    with kept_cursor() as cursor:
        asked = ["curve" in whole, "margin" in whole]
        cursor.execute(_PAGE, [*asked, period, period, [trader.pk for trader in found]])
        rows = {row[0]: row[1:] for row in cursor.fetchall()}
    if not all(trader.pk in rows for trader in found):
        raise Trader.DoesNotExist("A trader was removed a moment ago.")
    return [_row(trader, period, now, rows[trader.pk]) for trader in found]


def _row(trader: Trader, period: str, now: datetime, row: Sequence[Any]) -> PageRow:
    kept: KeptSummary | None
    kept, rest = kept_summary(row)
    *detail, copies, net, since, support, count, margin, missing = rest
    made = detail[0] is not None
    return PageRow(
        trader=trader,
        period=period,
        kept=kept,
        now=now,
        detail=KeptDetail(*detail) if made else _NOTHING,
        all_copies=copies or 0,
        all_net=Decimal(0) if net is None else net,
        first_open=_moment(since),
        support=details.read_support(loaded(support) or []),
        open_count=count,
        open_margin=margin,
        missing=missing,
    )


def _moment(text: str | None) -> datetime | None:
    told = loaded(text)
    return told and datetime.fromisoformat(told)
