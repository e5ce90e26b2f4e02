"""Local checks: from a method's arguments to what is sent, or a LocalRefusal that names parameter and bound.

Source: interface.md "Endpoints" (rules of each parameter) and "Limits"; the readings of "3 months" and "past
month" in open-points.md.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from copytrade import rules
from copytrade.rules import CopySettings, Violation

from .errors import LocalRefusal
from .kinds import EPOCH, INT32, INT64
from .operations import ORDER_PARAMETERS, Operation, Parameter, Span


class Omitted:
    """The argument was not given at all; for parameters that may also be sent as null."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED = Omitted()


@dataclass(frozen=True)
class NewOrder:
    """One order of a batch. LIMIT needs `time_in_force` and `price`."""

    side: str
    type: str
    quantity: Decimal
    time_in_force: str | None = None
    price: Decimal | None = None
    new_client_order_id: str | None = None


@dataclass
class _Request:
    """The wire values so far, and what is wrong with them."""

    values: dict[str, Any] = field(default_factory=dict)
    wrong: list[Violation] = field(default_factory=list)

    def refuse(self, name: str, code: str, message: str) -> None:
        self.wrong.append(Violation(name, code, message))


def prepare(operation: Operation, arguments: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The wire parameters {name: value} of a call, in the table's order; raises LocalRefusal.

    Times become Unix ms, dates yyyy-MM-dd, decimals text. What was left out is left out.
    """
    request = _Request()
    for parameter in operation.parameters:
        _take(request, parameter, arguments.get(parameter.arg), arguments)
    if operation.one_of and not any(arguments.get(arg) not in (None, "") for arg in operation.one_of):
        names = " or ".join(p.name for p in operation.parameters if p.arg in operation.one_of)
        request.refuse(names, "missing", f"{names} is needed; give one of the two.")
    start, end = arguments.get("start_time"), arguments.get("end_time")
    if not request.wrong:
        if operation.span is not None:
            _check_span(request, operation.span, _given(start), _given(end), now)
        elif isinstance(start, date) and isinstance(end, date) and start > end:
            request.refuse("endTime", "range", "endTime must not be before startTime.")
    if request.wrong:
        raise LocalRefusal(request.wrong, operation=operation.name)
    return request.values


def settings_body(
    trader_id: int, settings: CopySettings, supported: Collection[str] | None
) -> dict[str, Any]:
    """The body of a settings update, held against every rule of ours; raises LocalRefusal."""
    body = rules.to_body(trader_id, settings)
    wrong = rules.check_body(body, supported=supported, ours=True)
    if wrong:
        raise LocalRefusal(wrong, operation="update_follower_settings")
    return body


def _given(value: Any) -> datetime | None:
    return value if isinstance(value, datetime) else None


# --- one value ----------------------------------------------------------------------------------------------


def _take(request: _Request, parameter: Parameter, value: Any, others: Mapping[str, Any]) -> None:
    if value is None and parameter.nullable:
        request.values[parameter.name] = None
        return
    if value is None or isinstance(value, Omitted):
        if parameter.required:
            request.refuse(parameter.name, "missing", f"{parameter.name} is required.")
        elif parameter.when and others.get(parameter.when[0]) == parameter.when[1]:
            said = f"{parameter.name} is required when {parameter.when[0]} is {parameter.when[1]}."
            request.refuse(parameter.name, "missing", said)
        return
    sent = KINDS[parameter.kind](request, parameter, value)
    if sent is not None:
        request.values[parameter.name] = sent


def _whole(bounds: range) -> Callable[[_Request, Parameter, Any], int | None]:
    def take(request: _Request, parameter: Parameter, value: Any) -> int | None:
        name = parameter.name
        if isinstance(value, bool) or not isinstance(value, int) or value not in bounds:
            request.refuse(name, "type", f"{name} must be a whole number.")
        elif parameter.least is not None and value < parameter.least:
            request.refuse(name, "range", f"{name} must be {parameter.least} or more; {value} is too small.")
        elif parameter.most is not None and value > parameter.most:
            request.refuse(name, "range", f"{name} must be at most {parameter.most}; {value} is too large.")
        else:
            return value
        return None

    return take


def _text(request: _Request, parameter: Parameter, value: Any) -> str | None:
    if not isinstance(value, str) or not value or not value.isprintable():
        request.refuse(parameter.name, "type", f"{parameter.name} must be printable text that is not empty.")
    elif parameter.choices and value not in parameter.choices:
        allowed = ", ".join(parameter.choices)
        request.refuse(parameter.name, "choice", f"{parameter.name} must be one of {allowed}.")
    else:
        return value
    return None


def _decimal(request: _Request, parameter: Parameter, value: Any) -> str | None:
    number = Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(number, Decimal) or not number.is_finite() or abs(number.adjusted()) > 30:
        request.refuse(parameter.name, "type", f"{parameter.name} must be an exact decimal.")
    elif number <= 0:
        request.refuse(parameter.name, "range", f"{parameter.name} must be more than 0.")
    else:
        return format(number, "f")
    return None


def _time(request: _Request, parameter: Parameter, value: Any) -> int | None:
    if not isinstance(value, datetime) or value.tzinfo is None:
        request.refuse(parameter.name, "type", f"{parameter.name} must be a time with its zone.")
        return None
    return to_ms(value)


def _date(request: _Request, parameter: Parameter, value: Any) -> str | None:
    if not isinstance(value, date) or isinstance(value, datetime):
        request.refuse(parameter.name, "type", f"{parameter.name} must be a UTC date.")
        return None
    return value.isoformat()


def _longs(request: _Request, parameter: Parameter, value: Any) -> list[int] | None:
    ids = [value] if isinstance(value, int) else list(value)
    if any(isinstance(item, bool) or not isinstance(item, int) or item not in INT64 for item in ids):
        request.refuse(parameter.name, "type", f"{parameter.name} must be whole numbers.")
        return None
    return ids or None


def _orders(request: _Request, parameter: Parameter, value: Any) -> list[dict[str, Any]] | None:
    orders = list(value)
    if not 1 <= len(orders) <= (parameter.most or len(orders)):
        said = f"{parameter.name} must hold 1 to {parameter.most} orders; it holds {len(orders)}."
        request.refuse(parameter.name, "range", said)
        return None
    bodies = []
    for number, order in enumerate(orders):
        one = _Request()
        given = vars(order) if isinstance(order, NewOrder) else {}
        for item in ORDER_PARAMETERS[1:]:
            _take(one, item, given.get(item.arg), given)
        for wrong in one.wrong:
            request.refuse(f"{parameter.name}[{number}].{wrong.field}", wrong.code, wrong.message)
        bodies.append(one.values)
    return bodies


def _settings(request: _Request, parameter: Parameter, value: Any) -> str | None:
    if not isinstance(value, CopySettings):
        request.refuse(parameter.name, "type", "Copy settings are needed.")
        return None
    return value.mode


KINDS: dict[str, Callable[[_Request, Parameter, Any], Any]] = {
    "long": _whole(INT64),
    "integer": _whole(INT32),
    "text": _text,
    "decimal": _decimal,
    "time": _time,
    "date": _date,
    "longs": _longs,
    "orders": _orders,
    "settings": _settings,
}


# --- times --------------------------------------------------------------------------------------------------


def to_ms(moment: datetime) -> int:
    """Unix ms of an aware datetime, exact, rounded down."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def _check_span(
    request: _Request, span: Span, start: datetime | None, end: datetime | None, now: datetime
) -> None:
    """The window's bounds. A side that was left out counts only where the interface states its default."""
    if span.back_days is not None:
        _check_reach(request, span, start, end, now)
    if start is None and span.default_days is not None:
        anchor = end if span.default_from == "end" else now
        start = anchor - timedelta(days=span.default_days) if anchor else None
    if end is None and span.end_is_now:
        end = now
    if start is None or end is None:
        return
    if start > end or (span.strict and start == end):
        later = "later than startTime" if span.strict else "no earlier than startTime"
        request.refuse("endTime", "range", f"endTime must be {later}.")
    elif span.days is not None and end - start > timedelta(days=span.days):
        request.refuse("startTime", "range", f"startTime to endTime may span at most {span.days} days.")
    elif span.months is not None and end > add_months(start, span.months):
        request.refuse("startTime", "range", f"startTime to endTime may span at most {span.months} months.")


def _check_reach(
    request: _Request, span: Span, start: datetime | None, end: datetime | None, now: datetime
) -> None:
    oldest = now - timedelta(days=span.back_days or 0)
    checked = [("startTime", start)] + ([("endTime", end)] if span.both_back else [])
    for name, moment in checked:
        if moment is not None and moment < oldest:
            request.refuse(name, "range", f"{name} must be within the last {span.back_days} days.")


def add_months(moment: datetime, months: int) -> datetime:
    """The same day and time so many calendar months later; the month's last day where there is no such day."""
    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))
