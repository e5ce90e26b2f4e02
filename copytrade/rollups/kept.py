"""How the parts of a summary are kept in PeriodSummary.figures: exact, as text, and read back the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from copytrade.models import Trader
from copytrade.statistics import BriefParts, Parts, Returns, Spread

_COUNTS = {"closed_copies", "wins", "losses", "provisional_copies", "days"} | {
    "longest_win_streak",
    "longest_loss_streak",
}
_MOMENTS = {"since", "until", "provisional_from", "last_peak"}
_SPREADS = {"holding", "holding_winners", "holding_losers"}
_NAMES = [field.name for field in fields(Parts)]


def capital_of(trader: Trader) -> tuple[Decimal | None, str]:
    """The capital base for ROI and the words for it; (None, "") leaves the peak margin to statistics."""
    if trader.capital_base:
        return trader.capital_base, "on the capital you entered"
    if trader.total_investment:
        return trader.total_investment, "on money invested today"
    return None, ""


def keep(parts: Parts, returns: Returns | None) -> dict:
    """What JSON can hold of them. Sharpe and Sortino come with the capital that they are on."""
    figures: dict = {}
    for name in _NAMES:
        value = getattr(parts, name)
        if name in _SPREADS:
            figures[name] = [value.n, _text(value.mean), _text(value.median), _text(value.p90)]
        elif name == "falls":
            figures[name] = [[str(peak), str(fall)] for peak, fall in value]
        elif name in _MOMENTS:
            figures[name] = value and value.isoformat()
        else:
            figures[name] = value if name in _COUNTS else _text(value)
    if returns is not None:
        figures["returns"] = {
            "capital": _text(returns.capital),
            "sharpe": _text(returns.sharpe),
            "sharpe_reason": returns.sharpe_reason,
            "sortino": _text(returns.sortino),
            "sortino_reason": returns.sortino_reason,
        }
    return figures


def parts(figures: dict) -> Parts:
    """What `keep` kept."""
    return Parts(**{name: read(figures[name]) for name, read in _ALL})


def brief_parts(figures: dict) -> BriefParts:
    """Of that, what a line of a table is made of: the rest is left unread."""
    return BriefParts(**{name: read(figures[name]) for name, read in _BRIEF})


def returns(figures: dict) -> Returns | None:
    """Sharpe and Sortino as kept; None where there were too few days or copies for them."""
    found = figures.get("returns")
    if found is None:
        return None
    return Returns(
        _number(found["capital"]),
        _number(found["sharpe"]),
        found["sharpe_reason"],
        _number(found["sortino"]),
        found["sortino_reason"],
    )


def _reader(name: str) -> Callable[[Any], Any]:
    if name in _COUNTS:
        return int
    if name in _SPREADS:
        return lambda value: Spread(value[0], *map(_number, value[1:]))
    if name == "falls":
        return lambda value: tuple([(Decimal(peak), Decimal(fall)) for peak, fall in value])
    if name in _MOMENTS:
        return lambda value: value and datetime.fromisoformat(value)
    return _number


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


_ALL = [(name, _reader(name)) for name in _NAMES]
_BRIEF = [(field.name, _reader(field.name)) for field in fields(BriefParts)]
