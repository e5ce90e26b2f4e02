"""What a summary is made of: everything that needs the copies, and nothing that hangs on the capital base.

Parts can be kept and turned into a summary later, when the capital base is known (summary.from_parts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

from .exact import EXACT, ZERO, total
from .exposure import holding, peak_margin, time_in_market
from .series import curve, longest_runs
from .types import Copy, Spread


@dataclass(frozen=True)
class BriefParts:
    """What the figures of one line of a table are made of. Names that Brief has too mean the same there.

    `won` and `lost` are sums of net above and below 0, both as numbers above 0. `falls`: pairs of a high
    point and the deepest fall below it, enough of them that the deepest fall in percent of any capital is
    among them. `provisional_from`: the true-up that the provisional part counts from.
    """

    closed_copies: int
    wins: int
    losses: int
    since: datetime | None
    until: datetime | None
    net_profit: Decimal
    won: Decimal
    lost: Decimal
    provisional_from: datetime
    provisional_copies: int
    provisional_net: Decimal
    peak_margin: Decimal
    max_drawdown: Decimal
    falls: tuple[tuple[Decimal, Decimal], ...]


@dataclass(frozen=True)
class Parts(BriefParts):
    """Sums and shapes of closed copies. Names that Summary has too mean the same there.

    `last_peak`: when the net profit was last at its highest, None without copies. `days`: the length of the daily
    series.
    """

    gross: Decimal
    open_fees: Decimal
    margin_turned_over: Decimal
    current_drawdown: Decimal
    last_peak: datetime | None
    days: int
    best_day: Decimal | None
    worst_day: Decimal | None
    holding: Spread
    holding_winners: Spread
    holding_losers: Spread
    time_in_market: Decimal | None
    longest_win_streak: int
    longest_loss_streak: int


def true_up_before(now: datetime) -> datetime:
    """The last true-up of the profit share: 00:00 UTC."""
    return datetime.combine(now.astimezone(UTC).date(), time(), UTC)


def parts_of(closed: Sequence[Copy], series: Sequence[tuple[date, Decimal]], now: datetime) -> Parts:
    """The parts of copies that are in order, with their daily series."""
    nets = [copy.net for copy in closed]
    true_up = true_up_before(now)
    recent = [copy.net for copy in closed if copy.close_time >= true_up]
    since = min((copy.open_time for copy in closed), default=None)
    current, last_peak, falls = _falls(closed, since)
    gains, losses = longest_runs(closed)
    return Parts(
        closed_copies=len(closed),
        wins=sum(net > 0 for net in nets),
        losses=sum(net < 0 for net in nets),
        since=since,
        until=closed[-1].close_time if closed else None,
        net_profit=total(nets),
        gross=total(copy.realized for copy in closed),
        open_fees=total(copy.open_fee for copy in closed),
        won=total(net for net in nets if net > 0),
        lost=EXACT.minus(total(net for net in nets if net < 0)),
        margin_turned_over=total(copy.margin for copy in closed),
        provisional_from=true_up,
        provisional_copies=len(recent),
        provisional_net=total(recent),
        peak_margin=peak_margin(closed),
        max_drawdown=max(falls.values(), default=ZERO),
        falls=tuple(falls.items()),
        current_drawdown=current,
        last_peak=last_peak,
        days=len(series),
        best_day=max((result for _, result in series), default=None),
        worst_day=min((result for _, result in series), default=None),
        holding=holding(closed),
        holding_winners=holding(copy for copy in closed if copy.net > 0),
        holding_losers=holding(copy for copy in closed if copy.net < 0),
        time_in_market=time_in_market(closed),
        longest_win_streak=gains,
        longest_loss_streak=losses,
    )


def _falls(
    closed: Sequence[Copy], since: datetime | None
) -> tuple[Decimal, datetime | None, dict[Decimal, Decimal]]:
    """How far below the high point now, when last at it, and the deepest fall below each high point."""
    current, last_peak, high, deepest = ZERO, since, ZERO, ZERO
    falls: dict[Decimal, Decimal] = {}
    for moment, so_far, below in curve(closed):
        current = below
        if not below:
            last_peak = moment
        if so_far > high:
            high, deepest = so_far, ZERO
        elif below > deepest:
            deepest = falls[high] = below
    return current, last_peak, falls
