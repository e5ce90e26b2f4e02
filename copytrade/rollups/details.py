"""What a trader's page draws of a period, from columns, and how it is kept: exact, as text."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar

from copytrade.statistics import BREAKDOWNS, Row, costs
from copytrade.statistics.breakdowns import HELD_LONGEST, HOLDING_BANDS, WEEKDAYS, leverage_band
from copytrade.statistics.exact import EXACT, HOUR, ZERO, ratio, ratio_or_none, total

from .counted import WHOLE
from .shape import Columns, Shape, moment
from .thin import CURVE_POINTS, STEP_POINTS, STILL_POINTS, cloud, places

_HELD = [end // timedelta(microseconds=1) for end, _ in HOLDING_BANDS]
_HOLDING = [*(label for _, label in HOLDING_BANDS), HELD_LONGEST]
_WIDTH = len(_HOLDING)


Point = TypeVar("Point")
Key = TypeVar("Key")
# A line that is drawn from few of its points, and read in all of them only where somebody asks for it.
Line = Literal["curve", "margin"]


class Tally(NamedTuple):
    """Results of some copies: how many, how many above and below 0, and their sums (`lost` above 0)."""

    n: int = 0
    wins: int = 0
    losses: int = 0
    net: Decimal = ZERO
    won: Decimal = ZERO
    lost: Decimal = ZERO


# What is kept of a symbol, in this order, and the columns of it that SQL makes of one symbol's, `kept`.
KEPT_OF_SYMBOL = ("n", "wins", "losses", "net", "gross")
READ_OF_SYMBOL = ", ".join(
    f"(kept ->> {place})::{'bigint' if name in WHOLE else 'numeric'} AS {name}"
    for place, name in enumerate(KEPT_OF_SYMBOL)
)
# By (side, leverage, holding band), and by symbol or weekday.
Tallies = dict[tuple[str, int, int], Tally]


def tallies(copies: Columns) -> Tallies:
    """Results by side, leverage and holding band."""
    found: dict[tuple[str, int, int], list[int]] = {}
    for side, leverage, opened, closed, net in zip(
        copies.sides, copies.leverages, copies.opened, copies.closed, copies.net, strict=True
    ):
        key = side, leverage, bisect_right(_HELD, closed - opened)
        if key in found:
            found[key].append(net)
        else:
            found[key] = [net]
    return {key: _tally(copies, nets) for key, nets in found.items()}


def _tally(copies: Columns, nets: Sequence[int]) -> Tally:
    wins, losses = [net for net in nets if net > 0], [net for net in nets if net < 0]
    won, lost = sum(wins), -sum(losses)
    money = copies.money
    return Tally(len(nets), len(wins), len(losses), money(won - lost), money(won), money(lost))


def summed(parts: Iterable[Tally]) -> Tally:
    columns = list(zip(*parts, strict=True))
    if not columns:
        return Tally()
    n, wins, losses, net, won, lost = columns
    return Tally(sum(n), sum(wins), sum(losses), total(net), total(won), total(lost))


def added(parts: Iterable[Mapping[Key, Tally]]) -> dict[Key, Tally]:
    """Tallies of several stretches of time together."""
    return joined(pair for part in parts for pair in part.items())


def breakdowns(by_trait: Tallies, by_symbol: Mapping[str, Tally], by_day: Mapping[date, Tally]) -> dict:
    """{by: rows}, each row kept as [key, n, wins, losses, net, won, lost]."""
    parted = {
        "symbol": by_symbol,
        "side": joined((side, tally) for (side, _, _), tally in by_trait.items()),
        "weekday": joined((WEEKDAYS[day.weekday()], tally) for day, tally in by_day.items()),
        "leverage": joined((leverage_band(lev), tally) for (_, lev, _), tally in by_trait.items()),
        "holding": joined((_HOLDING[band], tally) for (_, _, band), tally in by_trait.items()),
    }
    return {name: [_kept_tally(key, tally) for key, tally in rows.items()] for name, rows in parted.items()}


def kept_symbols(tallies: Mapping[str, Tally], gross: Mapping[str, Decimal]) -> dict:
    """{symbol: KEPT_OF_SYMBOL}, which READ_OF_SYMBOL reads."""
    return {
        symbol: [tally.n, tally.wins, tally.losses, str(tally.net), str(gross[symbol])]
        for symbol, tally in tallies.items()
    }


def joined(parts: Iterable[tuple[Key, Tally]]) -> dict[Key, Tally]:
    """The tallies of each key together."""
    found: dict[Key, list[Tally]] = {}
    for key, tally in parts:
        found.setdefault(key, []).append(tally)
    return {key: summed(tallies) if len(tallies) > 1 else tallies[0] for key, tallies in found.items()}


def _kept_tally(key: str, tally: Tally) -> list:
    return [key, tally.n, tally.wins, tally.losses, str(tally.net), str(tally.won), str(tally.lost)]


def read_breakdowns(kept: Mapping[str, list]) -> dict[str, list[Row]]:
    """The rows as statistics.breakdown gives them, in its order."""
    return {name: _ordered(name, [_row(*row) for row in kept.get(name, [])]) for name in BREAKDOWNS}


def _row(key: str, n: int, wins: int, losses: int, net: str, won: str, lost: str) -> Row:
    return Row(
        key=key,
        n=n,
        net=Decimal(net),
        win_rate=ratio_or_none(wins, wins + losses),
        profit_factor=ratio_or_none(Decimal(won), Decimal(lost)),
        reason="" if losses else "no losses" if wins else "only break-even copies",
    )


def _ordered(name: str, rows: list[Row]) -> list[Row]:
    order = BREAKDOWNS[name]
    if order is None:
        return sorted(rows, key=lambda row: (-row.net, row.key))
    place = {key: index for index, key in enumerate(order)}
    return sorted(rows, key=lambda row: (place.get(row.key, len(place)), row.key))


def lines(copies: Columns, figures: Shape) -> dict[str, Any]:
    """The columns of a PeriodDetail that hold lines: each line twice, in few points and in all that can be seen."""
    steps = _kept_margin(copies, figures, CURVE_POINTS)
    return {
        "still": _kept_curve(copies, figures, STILL_POINTS),
        "margin_still": _kept_margin(copies, figures, STEP_POINTS),
        "margin_steps": len(steps),
        "curve": _kept_curve(copies, figures, CURVE_POINTS),
        "margin": steps,
    }


def _kept_curve(copies: Columns, figures: Shape, limit: int) -> list:
    text = copies.text
    return [[at, text(net), text(below)] for at, net, below in _curve(copies, figures, limit)]


def _curve(copies: Columns, figures: Shape, limit: int) -> list[tuple[int, int, int]]:
    closed, sums, below = copies.closed, figures.sums, figures.below
    return [(closed[place], sums[place], below[place]) for place in places(closed, sums, below, limit)]


def _kept_margin(copies: Columns, figures: Shape, limit: int) -> list:
    return [[at, copies.text(in_use)] for at, in_use in _margin(copies, figures, limit)]


def _margin(copies: Columns, figures: Shape, limit: int) -> list[tuple[int, int]]:
    moments, in_use = figures.moments, figures.in_use
    return [(moments[place], in_use[place]) for place in places(moments, in_use, [], limit)]


def margin_steps(figures: Shape) -> int:
    """How many points the whole line of the margin has."""
    return len(places(figures.moments, figures.in_use, []))


def scatter(copies: Columns, figures: Shape) -> list:
    chosen = cloud(copies.net, figures.held)
    return [[figures.held[place], copies.text(copies.net[place]), copies.keys[place]] for place in chosen]


def loaded(column: Any) -> Any:
    """A JSON column as a bare cursor gives it: text under Django, which has its own reader of it."""
    return json.loads(column) if isinstance(column, str | bytes) else column


class Points(Sequence[Point]):
    """The points of a line as they are kept, each made exact when it is looked at: a picture shows few of them."""

    def __init__(self, kept: Sequence[Sequence[Any]], read: Callable[[Sequence[Any]], Point]) -> None:
        self._kept, self._read = kept, read

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, place: Any) -> Any:
        found = self._kept[place]
        return Points(found, self._read) if isinstance(place, slice) else self._read(found)

    def __iter__(self) -> Iterator[Point]:
        return map(self._read, self._kept)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None

    def heights(self, by: int = 1) -> list[float]:
        """How high each stands against the others, on a scale of its own: to choose some by, not to tell."""
        return [float(row[by]) for row in self._kept]


@dataclass(frozen=True)
class Unread(Sequence[Any]):
    """A line that nobody asked for. Its length is told where it is known (`n`); to look at a point is a mistake."""

    n: int | None = None

    def __len__(self) -> int:
        return self._missing() if self.n is None else self.n

    def __getitem__(self, place: Any) -> Any:
        self._missing()

    @staticmethod
    def _missing() -> NoReturn:
        raise LookupError("This line was not read: ask for it whole.")


def read_curve(kept: list) -> Points[tuple[datetime, Decimal, Decimal]]:
    return Points(kept, lambda row: (moment(row[0]), Decimal(row[1]), Decimal(row[2])))


def read_margin(kept: list) -> Points[tuple[datetime, Decimal]]:
    return Points(kept, lambda row: (moment(row[0]), Decimal(row[1])))


def curve_now(
    copies: Columns, figures: Shape, limit: int = CURVE_POINTS
) -> Points[tuple[datetime, Decimal, Decimal]]:
    """What read_curve makes of what is kept, without the way over texts."""
    money = copies.money
    return Points(_curve(copies, figures, limit), lambda row: (moment(row[0]), money(row[1]), money(row[2])))


def margin_now(
    copies: Columns, figures: Shape, limit: int = CURVE_POINTS
) -> Points[tuple[datetime, Decimal]]:
    """What read_margin makes of what is kept, likewise."""
    money = copies.money
    return Points(_margin(copies, figures, limit), lambda row: (moment(row[0]), money(row[1])))


def read_scatter(kept: list) -> list[tuple[Decimal, Decimal, int]]:
    return [(ratio(held, HOUR), Decimal(net), key) for held, net, key in kept]


def read_daily(kept: list) -> dict[date, Decimal]:
    return {date.fromisoformat(day): Decimal(net) for day, net in kept}


def stretches(starts: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
    """From each start to the next, the last to `end`. Starts rise."""
    return pairwise([*starts, end])


def kept_previous(first: date, last: date, tally: Tally, drawdown: Decimal) -> dict:
    return {
        "days": [first.isoformat(), last.isoformat()],
        "tally": _kept_tally("", tally)[1:],
        "drawdown": str(drawdown),
    }


def read_previous(kept: Mapping) -> tuple[date, date, Tally, Decimal] | None:
    """(first day, last day, results, max drawdown)."""
    if not kept:
        return None
    first, last = map(date.fromisoformat, kept["days"])
    n, wins, losses, *sums = kept["tally"]
    return first, last, Tally(n, wins, losses, *map(Decimal, sums)), Decimal(kept["drawdown"])


def kept_costs(days: Iterable, support: costs.Support | None) -> dict:
    """`support`: of the trader's newest copies, kept with one period only."""
    found: dict = {"months": kept_months(days)}
    if support is not None:
        found["support"] = [support.copies, support.agreeing]
    return found


def read_support(kept: Iterable[list | None]) -> costs.Support:
    """What all traders of an account tell together."""
    return costs.joined(costs.Support(*one) for one in kept if one)


def kept_months(days: Iterable) -> list:
    """[month, gap, opening fees, estimated closing fees, unestimated] of daily sums, oldest first."""
    found: dict[date, list] = {}
    for day in days:
        found.setdefault(day.day.replace(day=1), []).append(day)
    return [
        [
            month.isoformat(),
            str(EXACT.subtract(total(d.gross for d in own), total(d.net for d in own))),
            str(total(d.open_fees for d in own)),
            str(total(d.close_fees for d in own)),
            sum(d.unestimated for d in own),
        ]
        for month, own in sorted(found.items())
    ]


def read_months(kept: list, decided: str | None) -> list[tuple[date, costs.Costs]]:
    return [
        (
            date.fromisoformat(month),
            costs.parts(Decimal(gap), Decimal(opening), Decimal(closing), unestimated, decided),
        )
        for month, gap, opening, closing, unestimated in kept
    ]


def read_costs(kept: list, decided: str | None) -> costs.Costs:
    """All months together."""
    gaps, opening, closing = (total(Decimal(row[place]) for row in kept) for place in (1, 2, 3))
    return costs.parts(gaps, opening, closing, sum(row[4] for row in kept), decided)
