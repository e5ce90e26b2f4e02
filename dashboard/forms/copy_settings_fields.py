"""The fields of a trace config as a person sees them: one row each, the same for both modes.

Names of the exchange, and every rule, live in copytrade.rules; here are labels, units and hints only.
`inferred` marks what the exchange does not document (open-points.md, "Values and meanings").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from copytrade.rules import TraceConfig

from . import typed

Choices = tuple[tuple[str, str], ...]

TRACE_TYPES: Choices = (
    ("amount", "Fixed margin, in USDT"),
    ("percent", "Multiple of the trader's order"),
)
MARGIN_TYPES: Choices = (("trader", "As the trader"), ("cross", "Cross"), ("isolated", "Isolated"))
LEVERAGE_TYPES: Choices = (
    ("trader", "As the trader"),
    ("fixed", "Fixed, one for all symbols"),
    ("specify", "Fixed, one for each symbol"),
)


@dataclass(frozen=True)
class Spec:
    """One field: its name here, its name in the POST body, how it is shown and how it is sent."""

    name: str
    wire: str
    label: str
    shown: Callable[[Any], str] = typed.number_shown
    sent: Callable[[str], Any] = typed.number_sent
    unit: str = ""
    hint: str = ""
    inferred: str = ""
    choices: Choices = ()
    per_symbol_choices: Choices | None = None

    def read(self, config: TraceConfig) -> str:
        """The text of this field for a config: what its input shows."""
        return self.shown(attrgetter(self.name)(config))

    def choices_for(self, per_symbol: bool) -> Choices:
        return self.per_symbol_choices if per_symbol and self.per_symbol_choices else self.choices


def text(value: str | None) -> str:
    return value or ""


SPECS: tuple[Spec, ...] = (
    Spec(
        "trace_type",
        "traceType",
        "How a copy is sized",
        text,
        str,
        choices=TRACE_TYPES,
        inferred="That a multiple counts from the size of the trader's order is inferred.",
    ),
    Spec("trace_value", "traceValue", "Size of each copy", hint="Above 0."),
    Spec(
        "max_hold",
        "maxHoldQty",
        "Most held",
        unit="USDT",
        hint="10 to 100 000, or empty for none.",
        inferred="That this limits the margin held, in USDT, is inferred.",
    ),
    Spec(
        "take_profit",
        "stopProfitRatio",
        "Take profit",
        typed.percent_shown,
        typed.ratio_sent,
        unit="% of margin",
        hint="0 to 400, or empty for none.",
        inferred="That it counts from the margin, and that 0 means off, is inferred.",
    ),
    Spec(
        "stop_loss",
        "stopLossRatio",
        "Stop loss",
        typed.percent_shown,
        typed.ratio_sent,
        unit="% of margin",
        hint="0 to 400, or empty for none.",
        inferred="That it counts from the margin, and that 0 means off, is inferred.",
    ),
    Spec(
        "slippage",
        "slippageRatio",
        "Slippage",
        typed.percent_shown,
        typed.ratio_sent,
        unit="%",
        hint="0 for no limit, or 0.1 to 1.",
    ),
    Spec(
        "margin_type",
        "marginType",
        "Margin type",
        text,
        str,
        choices=MARGIN_TYPES,
        per_symbol_choices=MARGIN_TYPES[:1],
    ),
    Spec(
        "leverage_type",
        "leverageType",
        "Leverage type",
        text,
        str,
        choices=LEVERAGE_TYPES,
        per_symbol_choices=(LEVERAGE_TYPES[0], ("fixed", "Fixed")),
    ),
    Spec("long_leverage", "fixedLongLeverage", "Long leverage", sent=typed.integer_sent, unit="x"),
    Spec("short_leverage", "fixedShortLeverage", "Short leverage", sent=typed.integer_sent, unit="x"),
)
BY_NAME = {spec.name: spec for spec in SPECS}
LEVERAGES = ("long_leverage", "short_leverage")
REQUIRED_BY_SYMBOL = ("max_hold", "take_profit", "stop_loss", "slippage", "margin_type", "leverage_type")


@dataclass(slots=True)
class Field:
    """One input of the page: what was typed, what is wrong with it, and a worked example."""

    spec: Spec
    name: str
    id: str
    value: str
    choices: Choices = ()
    errors: tuple[str, ...] = ()
    example: str = ""
    label: str = ""
    unit: str = ""

    @property
    def note_id(self) -> str:
        return f"{self.id}-note"


def with_unknown(choices: Choices, value: str) -> Choices:
    """The choices, with an extra one for a value that none of them names: shown, marked, never dropped."""
    if any(value == known for known, _ in choices):
        return choices
    if value == "":
        return (("", "Not set"), *choices)
    return (*choices, (value, f"{value} (not known to this desk)"))
