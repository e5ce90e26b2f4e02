"""Any part of the optional fields missing, any word for a state or a kind: every record type is still read.

Absent is absent: None, never false, nought or an empty word of ours; an unknown word comes back as it was sent.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.exchange.decoding import decode_one, wire_names
from copytrade.exchange.jsontext import parse, storable
from copytrade.exchange.kinds import text
from copytrade.exchange.operations import OPERATIONS

from .samples import sample

WORDS = st.text(min_size=1, max_size=40).filter(lambda word: storable(word) == word)
RECORDS = {row.answer: name for name, row in OPERATIONS.items()}


def record_of(name: str) -> dict[str, Any]:
    answer, rows = sample(name), OPERATIONS[name].rows
    listed = answer[rows] if rows else answer
    return listed[0] if isinstance(listed, list) else listed


def fields_of(record: type, *, required: bool) -> list[str]:
    marked = [field.metadata for field in dataclasses.fields(record) if "wire" in field.metadata]
    return [meta["wire"] for meta in marked if meta["required"] == required]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
@given(data=st.data())
def test_any_optional_field_may_be_missing_and_any_word_unknown(record: type, data: st.DataObject) -> None:
    whole = record_of(RECORDS[record])
    optional = fields_of(record, required=False)
    gone = data.draw(st.sets(st.sampled_from(optional))) if optional else set()
    texts = {f.metadata["wire"] for f in dataclasses.fields(record) if f.metadata.get("kind") is text}
    words = {name: data.draw(WORDS) for name in sorted(texts - gone)}
    told = {name: value for name, value in (whole | words).items() if name not in gone}
    read = decode_one(record, parse(json.dumps(told)))
    names = wire_names(record)
    for name in gone:
        assert getattr(read, names[name]) in (None, (), {}), name
    for name, word in words.items():
        assert getattr(read, names[name]) == word, name


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_with_nothing_but_what_it_must_have_a_record_is_read(record: type) -> None:
    whole = record_of(RECORDS[record])
    least = {name: whole[name] for name in fields_of(record, required=True)}
    read = decode_one(record, least)
    names = wire_names(record)
    told = {name for name in names if getattr(read, names[name]) not in (None, (), {})}
    assert told == set(least)
