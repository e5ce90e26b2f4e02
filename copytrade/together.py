"""The rows of several queries in one trip to the database: a page that shows a little of many tables asks once."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection, models
from django.db.models import Expression, Lookup, QuerySet
from django.db.models.base import ModelState

from copytrade.asking import kept_cursor

Read = Callable[[Any], Any]
_NAMED = re.compile(r"%\((\w+)\)s")


class Given(Expression):
    """In a prepared query, the place of a value that is known when it is asked; comparisons alone may hold it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


class Hidden(Given):
    """Such a place out of the planner's sight. A value that rows are compared with as earlier or later makes it expect
    more of them or fewer; it would plan anew for each, and all queries that are asked with that one."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(name)
        self._kind = kind

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        return f"(SELECT %s::{self._kind})", [self]


class Words:
    """A query in words of our own, beside those that Django writes: it gives one row at most.

    `values`: by the names that its `%(name)s` have, Given ones among them; any other per cent sign is doubled. Its row
    comes as a tuple of what JSON makes of its columns, so money and moments are told as text (`::text`) or come so
    anyway, and no float is made of them; () without a row.
    """

    def __init__(self, words: str, **values: Any) -> None:
        places: list[Any] = []

        def place(found: re.Match[str]) -> str:
            value = values[found[1]]
            sql, params = value.as_sql(None, None) if isinstance(value, Given) else ("%s", [value])
            places.extend(params)
            return sql

        self.sql, self.params = _NAMED.sub(place, words), places

    def rows(self, text: str | None) -> tuple[Any, ...]:
        return tuple(json.loads(text).values()) if text else ()


@models.Field.register_lookup
class OneOf(Lookup):
    """`pk__one_of=keys`: as `in`, but its text is the same for any number of keys."""

    lookup_name = "one_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        left, params = self.process_lhs(compiler, connection)
        right, more = self.process_rhs(compiler, connection)
        return f"{left} = ANY({right})", [*params, *more]

    def get_db_prep_lookup(self, value: Sequence[Any], connection: Any) -> tuple[str, list[Any]]:
        return "%s", [list(value)]


Query = QuerySet[Any] | Words


class Prepared:
    """Several queries that are asked as one, again and again: Django writes their text once and not at each page, and
    the database plans it once for each connection.

    `build` makes the queries from the values by name, each of which is a Given while the text is written: it may
    compare with it, and do nothing else. A list is compared by `one_of`. `names`: of the values, where they are not
    those of the parameters of `build`.
    """

    def __init__(self, build: Callable[..., Sequence[Query]], names: Iterable[str] = ()) -> None:
        self._build = build
        self._names = list(names) or list(inspect.signature(build).parameters)
        self._written: _Written | None = None

    def __call__(self, **values: Any) -> list[Any]:
        """The rows of each query, as together() gives them, and of Words their one row."""
        if self._written is None:
            self._written = _Written(self._build(**{name: Given(name) for name in self._names}))
        return self._written.rows(values, kept_cursor)


def together(*wanted: QuerySet[Any]) -> list[list[Any]]:
    """The rows of each query, in its order, as the query itself would give them.

    Plain rows of one model each: filter, order, slice, only() and annotate(), no select_related() or values().
    Numbers stay exact: the database writes them as text, and no float is made of them.
    """
    return _Written(wanted).rows({}, connection.cursor)


def refer(rows: Iterable[Any], name: str, known: Mapping[Any, Any]) -> None:
    """Give rows what their foreign key `name` means, by its key, as select_related() would."""
    for row in rows:
        row._state.fields_cache[name] = known[getattr(row, f"{name}_id")]


class _Written:
    """The text of the queries, and how the rows of each are read."""

    def __init__(self, queries: Sequence[Query]) -> None:
        parts, self._params = [], []
        for query in queries:
            sql, params = _told_as_json(query)
            parts.append(sql)
            self._params += params
        self._sql = f"SELECT {', '.join(parts)}"
        self._parts = [query if isinstance(query, Words) else _Part(query) for query in queries]

    def rows(self, values: dict[str, Any], cursor: Callable[[], Any]) -> list[Any]:
        params = [values[one.name] if isinstance(one, Given) else one for one in self._params]
        with cursor() as asked:
            asked.execute(self._sql, params)
            texts = asked.fetchone()
        return [part.rows(text) for part, text in zip(self._parts, texts, strict=True)]


def _told_as_json(query: Query) -> tuple[str, Sequence[Any]]:
    """(the text of a query, as one column that is JSON; what stands in it)."""
    if isinstance(query, Words):
        return f"(SELECT row_to_json(part) FROM ({query.sql}) part)::text", query.params  # noqa: S608
    try:
        sql, params = query.query.sql_with_params()
    except EmptyResultSet:  # Django can tell that there is nothing without asking
        return "NULL::text", ()
    return f"(SELECT json_agg(part) FROM ({sql}) part)::text", params  # noqa: S608 (Django compiled it)


class _Part:
    """How the rows of one query are made of their JSON."""

    def __init__(self, query: QuerySet[Any]) -> None:
        self._model = query.model
        self._annotated = {name: one.output_field for name, one in query.query.annotations.items()}
        self._plan: tuple[list[str], list[str], list[tuple[int, Read]], list[tuple[str, Read]]] | None = None

    def rows(self, text: str | None) -> list[Any]:
        found = json.loads(text, parse_float=Decimal) if text else []
        if not found:
            return []
        if self._plan is None:
            self._plan = self._planned(set(found[0]))
        columns, names, readers, added = self._plan
        made = []
        for row in found:
            values = [row[column] for column in columns]
            for place, read in readers:
                values[place] = read(values[place])
            instance = self._stored(names, values)
            for name, read in added:
                setattr(instance, name, read(row[name]))
            made.append(instance)
        return made

    def _stored(self, names: list[str], values: list[Any]) -> Any:
        """A row as Model.from_db makes it, which sets one field after the other and looks at each; what is not told is
        asked for when it is read, there as here."""
        made = self._model.__new__(self._model)
        made._state = ModelState()
        made._state.adding, made._state.db = False, connection.alias
        made.__dict__.update(zip(names, values, strict=True))
        return made

    def _planned(self, told: set[str]) -> Any:
        """What every row of the query has: columns, their names, the readers of those that need one, annotations."""
        if self._model.__init__ is not models.Model.__init__:  # _stored passes it by
            raise TypeError(
                f"{self._model.__name__} makes its rows itself: ask for them by a query of their own."
            )
        fields = [field for field in self._model._meta.concrete_fields if field.column in told]
        readers = [(place, _reader(field)) for place, field in enumerate(fields)]
        added = [(name, _reader(field)) for name, field in self._annotated.items() if name in told]
        return (
            [field.column for field in fields],
            [field.attname for field in fields],
            [(place, read) for place, read in readers if read is not _same],
            added,
        )


def _same(value: Any) -> Any:
    return value


def _reader(field: models.Field) -> Read:
    """From what JSON holds to what a row has."""
    if isinstance(field, models.ForeignKey):
        return _reader(field.target_field)
    if isinstance(field, models.JSONField):
        return lambda value: json.loads(json.dumps(value, default=float)) if value else value
    if isinstance(field, models.DateTimeField):
        return lambda value: value and datetime.fromisoformat(value)
    if isinstance(field, models.DecimalField):
        return lambda value: Decimal(value) if isinstance(value, int) else value
    if isinstance(field, models.BinaryField):
        return lambda value: value if value is None else bytes.fromhex(value[2:])  # after "\\x"
    if isinstance(field, models.CharField | models.TextField | models.IntegerField | models.BooleanField):
        return _same
    return lambda value: value if value is None else field.to_python(value)
