"""Statements that the database keeps: written with `%s` or names as everywhere, sent with numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import DataError, connection

from copytrade.asking import kept_cursor, numbered

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("statement", "text", "names"),
    [
        ("SELECT 1", b"SELECT 1", ()),
        ("SELECT %s, %s", b"SELECT $1, $2", ("", "")),
        ("SELECT %(a)s, %(b)s, %(a)s", b"SELECT $1, $2, $1", ("a", "b")),
        ("SELECT 7 %% %s, 'a%%'", b"SELECT 7 % $1, 'a%'", ("",)),
        ("SELECT %s || '\u00e4'", "SELECT $1 || '\u00e4'".encode(), ("",)),
    ],
)
def test_each_place_gets_its_number_and_a_name_one_alone(
    statement: str, text: bytes, names: tuple[str, ...]
) -> None:
    assert numbered(statement) == (text, names)


VALUES: list[Any] = [
    2**62, "a '%s' b", Decimal("0.10000000000000000000000000001"), date(2026, 3, 29), None, True,
    datetime(2026, 3, 29, 1, 2, 3, 4, tzinfo=UTC), [1, 2], ["x", "y"],
]  # fmt: skip
TYPES = ["bigint", "text", "numeric", "date", "text", "bool", "timestamptz", "bigint[]", "text[]"]


def test_values_of_every_kind_come_back_as_they_do_by_the_usual_cursor() -> None:
    places = ", ".join(f"%s::{kind}" for kind in TYPES)
    with connection.cursor() as usual, kept_cursor() as kept:
        for _ in range(3):  # the second time the database has prepared it
            kept.execute(f"SELECT {places}, 7 %% 4", VALUES)
            usual.execute(f"SELECT {places}, 7 %% 4", VALUES)
            assert kept.fetchone() == usual.fetchone() == (*VALUES, 3)
        named = "SELECT %(b)s::text || %(a)s::text || %(b)s::text"
        kept.execute(named, {"a": "-", "b": "x", "not asked for": 1})
        assert kept.fetchone() == ("x-x",)
        kept.execute("SELECT 'no value, so 100% as it is'")
        assert kept.fetchone() == ("no value, so 100% as it is",)


def test_a_mistake_is_the_error_that_django_makes_of_it() -> None:
    with kept_cursor() as kept, pytest.raises(DataError):
        kept.execute("SELECT 1 / %s::int", [0])
