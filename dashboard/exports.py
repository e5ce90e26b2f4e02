"""What a page shows, as a file: CSV for a spreadsheet, JSON Lines for a program. Never whole in memory.

Numbers are written as they are stored, digit by digit, and stay numbers; times are UTC. Text that a spreadsheet
would take for a formula gets an apostrophe in front, in CSV alone: JSON has no such readers.

There are two ways to the same lines: `of_rows` for tables that a page has made anyway, and `of_query` for the
ledger, where PostgreSQL writes them (a hundred thousand rows in a second, and a test holds both ways equal).
A file is written to disk before it is sent: a fault gives an error page, never half a file.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest
from django.utils import timezone
from django.utils.text import slugify

from copytrade import audit
from copytrade.models import AuditEntry
from dashboard import access

FORMATS = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
FORMAT_NAMES = {"csv": "CSV", "jsonl": "JSON Lines"}
ROWS_AT_ONCE = 2000
IN_MEMORY = 1 << 20  # bytes; a larger file goes to the disk
BYTE_ORDER_MARK = "\ufeff"  # without it a spreadsheet guesses the encoding of a CSV file
# What spreadsheets read as the start of a formula: signs, their full-width twins, and blanks before either.
FORMULA = "-=+@|% \t\r\n\u00a0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u3000\uff1d\uff0b\uff0d\uff20"
# Control characters, marks that turn the direction of writing, and those without a width: they only hide things.
HIDDEN = "\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_STARTS_FORMULA, _HIDES = re.compile(f"[{FORMULA}]"), re.compile(f"[{HIDDEN}]")


@dataclass(frozen=True)
class Column:
    """A column of a file. `kind`: "text", "id" (exact 64-bit, a string in JSON), "number" or "time"."""

    name: str
    kind: str


def of_rows(
    request: HttpRequest, form: str, name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]
) -> FileResponse:
    """A file of rows with one value a column; None is an empty cell, and null in JSON. `form`: a key of FORMATS."""
    lines = csv_lines(columns, rows) if form == "csv" else json_lines(columns, rows)
    kept, written = new_file(), 0
    for line in lines:
        kept.write(line.encode())
        written += 1
    return _sent(request, form, name, kept, written - (form == "csv"))  # the last of CSV's is an empty rest


def of_query(
    request: HttpRequest, form: str, name: str, columns: Sequence[Column], rows: QuerySet
) -> FileResponse:
    """A file of a `values_list` with one field a column, in the query's own order."""
    kept = new_file()
    write = copy_csv if form == "csv" else fetch_json
    return _sent(request, form, name, kept, write(kept, columns, *rows.query.sql_with_params()))


def _sent(request: HttpRequest, form: str, name: str, kept: IO[bytes], rows: int) -> FileResponse:
    """The file on its way, written down in the audit log: which, of what, how many rows."""
    asked = request.GET.urlencode()[:500]
    subject = f"{name} as {FORMAT_NAMES[form]}, {rows:,} row{'' if rows == 1 else 's'}"
    details = {"filters": asked, "rows": rows}
    audit.note(access.person(request), AuditEntry.Action.EXPORTED, subject=subject, details=details)
    kept.seek(0)
    file_name = f"copydesk-{slugify(name)[:60]}-{timezone.localdate():%Y-%m-%d}.{form}"
    response = FileResponse(kept, as_attachment=True, filename=file_name)
    response.headers["Content-Type"] = f"{FORMATS[form]}; charset=utf-8"
    return response


def new_file() -> IO[bytes]:
    """Where a file is gathered: in memory while it is small, then on the disk; gone when it is closed."""
    return SpooledTemporaryFile(max_size=IN_MEMORY)


def copy_csv(kept: IO[bytes], columns: Sequence[Column], sql: str, params: Sequence[Any]) -> int:
    """Write the rows of a statement by COPY, whose quoting is that of csv.writer; lines end with LF. How many."""
    kept.write((BYTE_ORDER_MARK + ",".join(column.name for column in columns) + "\n").encode())
    cells = ", ".join(_CSV_SQL[column.kind].format(f"c{place}") for place, column in enumerate(columns))
    whole = f"COPY (SELECT {cells} FROM ({sql}) r({_names(columns)})) TO STDOUT (FORMAT csv)"  # noqa: S608 (our own names)
    connection.ensure_connection()
    with connection.connection.cursor() as cursor:
        with cursor.copy(whole, params) as parts:
            for part in parts:
                kept.write(part)
        return cursor.rowcount


def fetch_json(kept: IO[bytes], columns: Sequence[Column], sql: str, params: Sequence[Any]) -> int:
    """One text a row, from a cursor on the server: COPY would escape JSON's backslashes once more. How many."""
    pairs = ", ".join(
        f"'{column.name}', " + _JSON_SQL[column.kind].format(f"c{place}")
        for place, column in enumerate(columns)
    )
    whole = f"SELECT json_build_object({pairs})::text FROM ({sql}) r({_names(columns)})"  # noqa: S608
    with transaction.atomic(), connection.connection.cursor(name="export") as cursor:
        cursor.itersize = ROWS_AT_ONCE
        cursor.execute(whole, params)
        written = 0
        for (line,) in cursor:
            kept.write(line.encode() + b"\n")
            written += 1
        return written


def csv_lines(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A heading, then a line a row (UTF-8 with its mark)."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)  # with CR LF: only then a lone CR is quoted
    shapes = [_CSV[column.kind] for column in columns]
    buffer.write(BYTE_ORDER_MARK)
    writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow(
            ["" if value is None else shape(value) for shape, value in zip(shapes, row, strict=True)]
        )
        yield _taken(buffer)
    yield _taken(buffer)


def json_lines(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """An object a line. Decimals are JSON numbers with every digit they have."""
    heads = [f"{json.dumps(column.name)}: " for column in columns]
    shapes = [_JSON[column.kind] for column in columns]
    for row in rows:
        cells = [
            head + ("null" if value is None else shape(value))
            for head, shape, value in zip(heads, shapes, row, strict=True)
        ]
        yield "{" + ", ".join(cells) + "}\n"


def safe_text(value: object) -> str:
    """Text that no spreadsheet evaluates, without characters that only hide things."""
    text = _HIDES.sub("", str(value).replace("\x00", ""))
    return f"'{text}" if _STARTS_FORMULA.match(text) else text


def moment(value: datetime | date) -> str:
    """ISO 8601 in UTC, to the millisecond that the exchange gives; a day stays a day."""
    if not isinstance(value, datetime):
        return value.isoformat()
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def digits(value: Decimal | int) -> str:
    """A number without exponent."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _quoted(shape: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: f'"{shape(value)}"'


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(f"c{place}" for place in range(len(columns)))


_CSV: dict[str, Callable[[Any], str]] = {"text": safe_text, "id": str, "number": digits, "time": moment}
_JSON: dict[str, Callable[[Any], str]] = {
    "text": lambda value: json.dumps(str(value), ensure_ascii=False),
    "id": _quoted(str),
    "number": digits,
    "time": _quoted(moment),
}
# The same in SQL. Percent signs are doubled because the statement is given parameters.
_ISO_SQL = """to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
_SHOWN_SQL = f"regexp_replace({{0}}, '[{HIDDEN}]', '', 'g')"
_CSV_SQL = {
    "text": f"regexp_replace({_SHOWN_SQL}, '^([{FORMULA}])', '''\\1')".replace("%", "%%"),
    "id": "{0}",
    "number": "{0}",
    "time": _ISO_SQL,
}
_JSON_SQL = {"text": "{0}", "id": "{0}::text", "number": "{0}", "time": _ISO_SQL}
