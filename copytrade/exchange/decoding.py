"""From JSON values to typed records, tolerant of what is missing, unknown or in another form.

A record is a dataclass whose fields name their wire name and kind (`wire`). A value that cannot be understood
makes its record bad, and no other; the bad one is kept as it came.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from .errors import Malformed
from .jsontext import plain, to_text
from .kinds import ODD, BadValue, Note, quick, shown

R = TypeVar("R")


class Drift(Counter[str]):
    """Differences from the interface that were tolerated, each with how often it was seen."""

    def lines(self) -> list[str]:
        return [f"{note} ({times} times)" if times > 1 else note for note, times in self.items()]


def each(record: type[R]) -> Callable[[Any, Note], tuple[R, ...]]:
    """A list of records inside a record."""

    def kind(value: Any, note: Note) -> tuple[R, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            raise BadValue(f"{shown(value)} is not a list")
        return tuple(decode(record, item, note) for item in value)

    return kind


def wire(name: str, kind: Callable[[Any, Note], Any], *, required: bool = False, absent: bool = False) -> Any:
    """A dataclass field: its name in the interface and how it is read.

    required: without it the record means nothing and is bad. absent: may be left out without a note.
    """
    metadata = {"wire": name, "kind": kind, "required": required, "absent": absent}
    return dataclasses.field(default=None, metadata=metadata)


def wire_names(record: type) -> dict[str, str]:
    """{wire name: field name} of a record."""
    return {f.metadata["wire"]: f.name for f in dataclasses.fields(record) if "wire" in f.metadata}


class Plan:
    """How a kind of record is read, worked out once for all records of that kind.

    A page of 100 orders has 2,400 values, nearly all of them just as the interface says: those take the quick way
    of their kind (kinds.py), and only the odd ones the tolerant way with its notes.
    """

    def __init__(self, record: type) -> None:
        self.record = record
        marked = [field for field in dataclasses.fields(record) if "wire" in field.metadata]
        self.fields = tuple(
            (field.name, meta["wire"], quick(meta["kind"], meta["required"]), meta)
            for field in marked
            for meta in [field.metadata]
        )
        self.known = frozenset(field.metadata["wire"] for field in marked)

    def read(self, raw: dict[str, Any], note: Note) -> Any:
        """One record. Raises BadValue, naming the field."""
        values: dict[str, Any] = {"drift": []}
        for field, name, usual, meta in self.fields:
            value = usual(raw.get(name))
            values[field] = _read(meta, raw, note) if value is ODD else value
        values["extras"] = {} if raw.keys() <= self.known else self._extras(raw, note)
        # What __init__ of a frozen dataclass does one attribute after the other, at a third of the time.
        made: Any = object.__new__(self.record)
        made.__dict__.update(values)
        return made

    def _extras(self, raw: dict[str, Any], note: Note) -> dict[str, Any]:
        extras = {key: plain(value) for key, value in raw.items() if key not in self.known}
        for key in extras:
            note(f"{key}: not in the interface")
        return extras


plan_of = cache(Plan)


def decode(record: type[R], raw: Any, note: Note) -> R:
    """One record from its JSON object. Raises BadValue, naming the field."""
    if not isinstance(raw, dict):
        raise BadValue(f"{shown(raw)} is not an object")
    return plan_of(record).read(raw, note)  # type: ignore[arg-type, no-any-return]


def _read(meta: Any, raw: dict[str, Any], note: Note) -> Any:
    """The tolerant way of one field."""
    name = meta["wire"]
    if name not in raw and not meta["absent"] and not meta["required"]:
        note(f"{name}: missing")
    try:
        value = meta["kind"](raw.get(name), lambda said: note(f"{name}: {said}"))
    except BadValue as bad:
        reason = f"{name}: {bad}"
    else:
        if value is None and meta["required"]:
            reason = f"{name}: missing"
        else:
            return value
    raise BadValue(reason)


@dataclasses.dataclass(frozen=True)
class BadRecord:
    """A record of an answer that could not be understood: its JSON text and the reason."""

    raw: str
    reason: str


def decode_each(record: type[R], items: list[Any], drift: Drift) -> tuple[list[R], list[BadRecord]]:
    """Every record of a page; the bad ones apart, and the rest not lost."""
    good: list[R] = []
    bad: list[BadRecord] = []
    for raw in items:
        notes: list[str] = []
        try:
            good.append(decode(record, raw, notes.append))
            if notes:
                drift.update(notes)
        except BadValue as reason:
            bad.append(BadRecord(to_text(raw), str(reason)))
    return good, bad


def decode_one(record: type[R], raw: Any) -> R:
    """The record that is the whole answer; its drift is kept in `drift`. Raises Malformed."""
    drift = Drift()
    reason = ""
    try:
        value = decode(record, raw, lambda note: drift.update([note]))
    except BadValue as bad:
        reason = str(bad)
    if reason:
        raise Malformed(f"The exchange's answer cannot be understood: {reason}. Try again later.")
    return dataclasses.replace(value, drift=drift.lines())  # type: ignore[type-var]
