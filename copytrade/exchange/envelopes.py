"""The five envelopes, the bare list, and the other answers that are more than one record.

Source: interface.md "Pagination envelopes".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any, Generic, TypeVar

from copytrade import rules
from copytrade.rules import CopySettings

from .decoding import BadRecord, Drift, decode_each
from .errors import Malformed
from .jsontext import plain
from .kinds import BadValue, day, flag, integer, long
from .operations import Operation
from .records import BatchItem, DealData, SettingsItem

T = TypeVar("T")


@dataclass(frozen=True)
class Cursor:
    """nextKey of a history page: pass it on as it is."""

    id: int
    time_ms: int


@dataclass
class Page(Generic[T]):
    """A page of records. `bad`: those that could not be understood. `drift`: what was tolerated.
    `next`: the next page's number or Cursor, None when this is the last. `more`: what the answer says of
    further pages, None when it says nothing. total, pages: of all records, where the envelope tells."""

    records: list[T]
    bad: list[BadRecord] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    next: Any = None
    more: bool | None = None
    total: int | None = None
    pages: int | None = None

    @property
    def size(self) -> int:
        """How many records the exchange sent, good or bad."""
        return len(self.records) + len(self.bad)


@dataclass
class DealPage(Page[DealData]):
    """Deal data, with the dates that the exchange applied."""

    start: date | None = None
    end: date | None = None


@dataclass
class BatchResult:
    """One result per submitted order, in the order of the answer."""

    results: list[BatchItem]
    bad: list[BadRecord] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)


@dataclass
class SettingsAnswer:
    """The settings by which one trader is copied.

    items: the wire items, numbers as text or int. settings: the same, typed; None when there are none or they
    cannot be understood (`drift` says why). copy_enable: whether the trader is copied now, None when not told.
    """

    items: list[dict[str, Any]]
    settings: CopySettings | None
    copy_enable: bool | None
    drift: list[str] = field(default_factory=list)


class _Reader:
    """The counters of an envelope, tolerant, with notes."""

    def __init__(self, operation: Operation, data: Any) -> None:
        self.operation = operation
        self.drift = Drift()
        self.data = data

    def object(self) -> dict[str, Any]:
        if not isinstance(self.data, dict):
            raise malformed(self.operation, "the answer is not an object")
        return self.data

    def rows(self) -> list[Any]:
        items = self.data if self.operation.envelope == "list" else self.object().get(self.operation.rows)
        if not isinstance(items, list):
            what = f"{self.operation.rows} is" if self.operation.rows else "the answer is"
            raise malformed(self.operation, f"{what} not a list")
        return items

    def value(self, name: str, kind: Any) -> Any:
        try:
            return kind(self.object().get(name), lambda said: self.drift.update([f"{name}: {said}"]))
        except BadValue as bad:
            self.drift.update([f"{name}: {bad}"])
            return None


def page(operation: Operation, data: Any, number: int = 1, size: int = 0) -> Page[Any]:
    """A Page of any listing operation. `number`, `size`: what was asked for. Raises Malformed."""
    reader = _Reader(operation, data)
    rows = reader.rows()
    result: Page[Any] = Page(*decode_each(operation.answer, rows, reader.drift))
    {
        "list": _list, "page": _numbered, "items": _items, "sub": _numbered, "traders": _traders, "cursor": _cursor,
    }[operation.envelope](reader, result, number, size)  # fmt: skip
    result.drift = reader.drift.lines()
    return result


def _advance(result: Page[Any], number: int) -> None:
    if result.more and result.size:
        result.next = number + 1


def _list(reader: _Reader, result: Page[Any], number: int, size: int) -> None:
    """A bare list tells nothing; where it has pages at all, a full page may have a next one."""
    if any(parameter.arg == "page" for parameter in reader.operation.parameters) and 0 < size <= result.size:
        result.next = number + 1


def _numbered(reader: _Reader, result: Page[Any], number: int, size: int) -> None:
    result.total, result.pages = reader.value("total", long), reader.value("pages", integer)
    result.more = _more(number, result.pages, size, result.size)
    _advance(result, number)


def _items(reader: _Reader, result: Page[Any], number: int, size: int) -> None:
    result.total, result.pages = reader.value("total", long), reader.value("pages", integer)
    result.more = reader.value("hasNextPage", flag)
    if result.more is None:
        result.more = _more(number, result.pages, size, result.size)
    _advance(result, number)


def _traders(reader: _Reader, result: Page[Any], number: int, size: int) -> None:
    result.total, result.more = reader.value("total", integer), reader.value("nextFlag", flag)
    if result.more is None:
        result.more = 0 < size <= result.size
    _advance(result, number)


def _cursor(reader: _Reader, result: Page[Any], number: int, size: int) -> None:
    result.more = bool(reader.value("nextFlag", flag))
    key = reader.object().get("nextKey")
    if not result.more:
        return
    inner = _Reader(reader.operation, key)
    values = (
        (inner.value("nextKeyId", long), inner.value("nextKeyTime", long)) if isinstance(key, dict) else ()
    )
    reader.drift.update(inner.drift)
    if len(values) == 2 and None not in values:
        result.next = Cursor(*values)
    else:
        reader.drift.update(["nextKey: missing, though nextFlag says that there is more"])


def _more(number: int, pages: int | None, asked: int, got: int) -> bool:
    return number < pages if pages is not None else 0 < asked <= got


def deal(operation: Operation, data: Any) -> DealPage:
    """Deal data with the applied dates; raises Malformed."""
    reader = _Reader(operation, data)
    records, bad = decode_each(DealData, reader.rows(), reader.drift)
    start, end = reader.value("startTime", day), reader.value("endTime", day)
    return DealPage(records, bad, reader.drift.lines(), start=start, end=end)


def batch(operation: Operation, data: Any, submitted: int) -> BatchResult:
    """The results of a batch; raises Malformed."""
    reader = _Reader(operation, data)
    results, bad = decode_each(BatchItem, reader.rows(), reader.drift)
    if len(results) + len(bad) != submitted:
        reader.drift.update([f"orderList: {len(results) + len(bad)} results for {submitted} orders"])
    return BatchResult(results, bad, reader.drift.lines())


def settings(operation: Operation, data: Any) -> SettingsAnswer:
    """A settings answer; raises Malformed when it is not a list of objects."""
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise malformed(operation, "the answer is not a list of settings")
    drift = Drift()
    records, bad = decode_each(SettingsItem, data, drift)
    drift.update(record.reason for record in bad)
    items = [plain(item) for item in data]
    typed = None
    if items and not bad:
        try:
            typed = rules.from_answer(items)
        except (ValueError, KeyError, TypeError) as reason:
            drift.update([f"the settings cannot be understood: {reason}"])
    enabled = {record.copy_enable for record in records}
    return SettingsAnswer(items, typed, enabled.pop() if len(enabled) == 1 else None, drift.lines())


def malformed(operation: Operation, reason: str) -> Malformed:
    sentence = f"The exchange's answer cannot be understood: {reason}. Try again later."
    return Malformed(sentence, http_status=200, operation=operation.name)
