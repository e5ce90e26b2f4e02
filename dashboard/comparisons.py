"""A trader's figures beside those of the period before, and the words where there is nothing to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from copytrade.reports import TraderPage
from copytrade.rollups.days import first_moment
from copytrade.statistics.exact import EXACT


@dataclass(frozen=True)
class Against:
    """`words`: what is compared with ("the 90 days before"). `change`: figure -> now minus then, for those that both
    periods have. `before`: figure -> then. `why_not`: why there is nothing to compare with; "" where nothing is needed.
    `partly`: the ledger does not hold all of the period before."""

    words: str = ""
    change: dict[str, Decimal] = field(default_factory=dict)
    before: dict[str, Decimal] = field(default_factory=dict)
    why_not: str = ""
    partly: bool = False


COMPARED = ("net_profit", "closed_copies", "win_rate", "max_drawdown", "profit_factor", "expectancy")


def against(page: TraderPage, zone: tzinfo) -> Against:
    """The comparison of a page's period with the one of the same length before it."""
    if page.first_day is None:
        return Against()
    days = (page.last_day - page.first_day).days + 1
    words = "the day before" if days == 1 else f"the {days} days before"
    partly = not _whole_since(page, first_moment(page.first_day - timedelta(days=days), zone))
    if page.previous is None:
        return Against(words, why_not=_why_not(page, words, partly, first_moment(page.first_day, zone)))
    before, change = {}, {}
    for name in COMPARED:
        then, now = getattr(page.previous, name), getattr(page.summary, name)
        if then is not None:
            before[name] = Decimal(then)
            if now is not None:
                change[name] = EXACT.subtract(Decimal(now), Decimal(then))
    return Against(words, change, before, partly=partly)


def _whole_since(page: TraderPage, moment: datetime) -> bool:
    """Whether the ledger holds every copy of this trader from then on. One whose first copy was opened after the
    ledger begins to be complete has none before."""
    reach = page.reach.complete_from
    if page.reach.walking or reach is None:
        return False
    return reach <= moment or (page.first_open is not None and reach <= page.first_open)


def _why_not(page: TraderPage, words: str, partly: bool, start: datetime) -> str:
    if page.reach.walking:
        return "the past is still being read"
    if partly:
        return f"{words} are not all in the ledger"
    if page.first_open is None or page.first_open >= start:
        return "there was no copy before"
    return f"no copy closed in {words}"
