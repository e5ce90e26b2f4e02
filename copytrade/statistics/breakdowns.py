"""Where the result came from: the same copies, parted by symbol, side, weekday, leverage or holding time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, timedelta, tzinfo
from decimal import Decimal
from types import MappingProxyType

from .exact import EXACT, ratio_or_none, total
from .types import Copy, Row

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LEVERAGE_BANDS = ((3, "1-3"), (5, "4-5"), (10, "6-10"), (20, "11-20"), (50, "21-50"))
OVER_ALL_LEVERAGES = "over 50"
HOLDING_BANDS = (
    (timedelta(minutes=15), "under 15 min"),
    (timedelta(hours=1), "15 min to 1 h"),
    (timedelta(hours=4), "1 h to 4 h"),
    (timedelta(days=1), "4 h to 1 d"),
    (timedelta(days=7), "1 d to 7 d"),
)
HELD_LONGEST = "7 d or longer"

# What copies can be parted by, with the order of the lines; None: the best result first.
BREAKDOWNS: Mapping[str, tuple[str, ...] | None] = MappingProxyType(
    {
        "symbol": None,
        "side": ("LONG", "SHORT"),
        "weekday": WEEKDAYS,
        "leverage": (*(label for _, label in LEVERAGE_BANDS), OVER_ALL_LEVERAGES),
        "holding": (*(label for _, label in HOLDING_BANDS), HELD_LONGEST),
    }
)


def leverage_band(leverage: int) -> str:
    return next((label for top, label in LEVERAGE_BANDS if leverage <= top), OVER_ALL_LEVERAGES)


def holding_band(held: timedelta) -> str:
    """A time on a boundary belongs to the longer band: 15 minutes are not "under 15 min"."""
    return next((label for end, label in HOLDING_BANDS if held < end), HELD_LONGEST)


def breakdown(copies: Iterable[Copy], by: str, zone: tzinfo = UTC) -> list[Row]:
    """One row for each key that has copies. `by` is a key of BREAKDOWNS; the weekday is that of closing
    in `zone`. Raises ValueError for another `by`."""
    keys: dict[str, Callable[[Copy], str]] = {
        "symbol": lambda copy: copy.symbol,
        "side": lambda copy: copy.side,
        "weekday": lambda copy: WEEKDAYS[copy.close_time.astimezone(zone).weekday()],
        "leverage": lambda copy: leverage_band(copy.leverage),
        "holding": lambda copy: holding_band(copy.close_time - copy.open_time),
    }
    if by not in keys:
        raise ValueError(f"Copies cannot be parted by {by!r}: choose one of {', '.join(keys)}.")
    parts: dict[str, list[Decimal]] = {}
    for copy in copies:
        parts.setdefault(keys[by](copy), []).append(copy.net)
    rows = [_row(key, results) for key, results in parts.items()]
    order = BREAKDOWNS[by]
    if order is None:
        return sorted(rows, key=lambda row: (-row.net, row.key))
    place = {key: index for index, key in enumerate(order)}
    return sorted(rows, key=lambda row: (place.get(row.key, len(place)), row.key))


def _row(key: str, results: list[Decimal]) -> Row:
    wins = [result for result in results if result > 0]
    losses = [result for result in results if result < 0]
    reason = "" if losses else "no losses" if wins else "only break-even copies"
    return Row(
        key=key,
        n=len(results),
        net=total(results),
        win_rate=ratio_or_none(len(wins), len(wins) + len(losses)),
        profit_factor=ratio_or_none(total(wins), EXACT.minus(total(losses))),
        reason=reason,
    )
