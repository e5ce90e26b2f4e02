"""No file is ever whole in memory: rows come from the database a few at a time, each is written before the next are
asked for, what grows goes to the disk, and from there it is sent part by part.

A file is complete on the disk before its first part is sent (a fault gives an error page, never half a file). So what
the database has handed over is counted while the file is written, and what the browser has got while it is sent.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.http import FileResponse
from django.test import RequestFactory

from copytrade import audit
from copytrade.models import AffiliateRow, AuditEntry, Balance, Bill, LeadOrder, TrackingOrder, Trader, User
from dashboard import exports
from dashboard.exports import Column
from tests.support.addresses import Address, addresses
from tests.support.ledger_rows import closed_copy
from tests.support.signed_in import signed_in
from tests.support.whole_world import rows_of, values_for, words_of

ROWS, AT_ONCE, MOST_BYTES = 40, 5, 64
FILES = [address for address in addresses() if address.ours and "form" in address.parameters]
# Of the rows that are read for a file: their table, which of them, and what is different in each.
READ_FOR_IT: dict[str, tuple[type[Model], dict[str, Any], str]] = {
    "history_export": (TrackingOrder, {"closed": True}, "tracking_no"),
    "open_orders_export": (TrackingOrder, {"closed": False}, "tracking_no"),
    "audit_export": (AuditEntry, {}, "subject"),
    "balances_export": (Balance, {}, "asset"),
    "bills_export": (Bill, {}, "bill_id"),
    "lead_export": (LeadOrder, {}, "tracking_no"),
    "affiliate_export": (AffiliateRow, {}, "position"),
}
# Tables that the page makes anyway, of the figures that are kept: no rows are read while they are written.
MADE_ANYWAY = {"traders_export", "trader_export"}


class Watched(SpooledTemporaryFile):
    """Notes of each piece, as it is written, how many lines stood before it and how many rows had been handed over."""

    def __init__(self, handed_over: Callable[[], int]) -> None:
        super().__init__(max_size=exports.IN_MEMORY)
        self.handed_over, self.at_first = handed_over, handed_over()
        self.text = b""
        self.pieces: list[tuple[int, int, int]] = []  # lines before it, its own, rows handed over

    def write(self, piece: Any) -> int:
        handed_over, before = self.handed_over() - self.at_first, self.text.count(b"\n")
        self.text += bytes(piece)
        self.pieces.append((before, self.text.count(b"\n") - before, handed_over))
        return super().write(piece)

    def ahead(self, heading: int) -> int:
        """The most rows that had been handed over and were not written yet; a file begins with `heading` lines."""
        return max(rows - max(0, lines - heading) for lines, _, rows in self.pieces)


class Trace:
    """How many rows the database has sent on this connection, by the trace that its own library keeps."""

    def __init__(self, path: Path) -> None:
        self.path, self.read, self.rows = path, 0, 0

    def __call__(self) -> int:
        ctypes.CDLL(None).fflush(None)  # the library writes through C's buffers
        with self.path.open("rb") as file:
            file.seek(self.read)
            new = file.read()
        self.read += len(new)
        self.rows += sum(new.count(b"\t%s\t" % kind) for kind in (b"DataRow", b"CopyData"))
        return self.rows


@pytest.fixture
def trace(db: None, tmp_path: Path) -> Iterator[Trace]:
    connection.ensure_connection()
    file = os.open(tmp_path / "trace", os.O_WRONLY | os.O_CREAT)
    connection.connection.pgconn.trace(file)
    yield Trace(tmp_path / "trace")
    connection.connection.pgconn.untrace()
    os.close(file)


Begin = Callable[[Callable[[], int]], list[Watched]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Begin:
    """watch(handed_over) is the list of files begun from then on. A few rows are many in them: of so few bytes may be
    a part, or a file in memory, and so few rows are asked for at once."""

    def begin(handed_over: Callable[[], int]) -> list[Watched]:
        begun: list[Watched] = []

        def new_file() -> Watched:
            begun.append(Watched(handed_over))
            return begun[-1]

        monkeypatch.setattr(exports, "new_file", new_file)
        return begun

    monkeypatch.setattr(exports, "ROWS_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(exports, "IN_MEMORY", MOST_BYTES)
    monkeypatch.setattr(FileResponse, "block_size", MOST_BYTES)
    return begin


def asked(alice: User, address: Address, form: str) -> Any:
    """The answer to alice, who has ROWS more of what the file is about."""
    rows = rows_of(alice, "alices")
    audit.note(alice, AuditEntry.Action.EXPORTED, subject="another file")
    if address.name in READ_FOR_IT:
        model, which, different = READ_FOR_IT[address.name]
        multiply(model.objects.filter(**which).latest("pk"), different)
    else:
        multiply(Trader.objects.get(), "trader_id")
        closed_copy(Trader.objects.earliest("pk"), 3, days_ago=40)
    values = values_for(address, rows) | {"form": form}
    query = f"?report={rows['report']}" if address.name == "affiliate_export" else ""
    return signed_in(alice).get(address.at(values) + query)


def multiply(row: Model, different: str) -> None:
    twins = []
    for number in range(1, ROWS + 1):
        twin, was = copy(row), getattr(row, different)
        twin.pk = None
        setattr(twin, different, was + 10 * number if isinstance(was, int) else f"{was} {number}")
        twins.append(twin)
    type(row).objects.bulk_create(twins)  # type: ignore[attr-defined]


def forms_of(*names: str) -> list[Any]:
    chosen = [address for address in FILES if not names or address.name in names]
    return [
        pytest.param(address, form, id=f"{address.name}-{form}")
        for address in chosen
        for form in words_of(address, "form")
    ]


def test_every_file_is_either_read_for_or_of_a_table_made_anyway() -> None:
    assert {address.name for address in FILES} == READ_FOR_IT.keys() | MADE_ANYWAY
    assert {form for _, form in (one.values for one in forms_of())} == exports.FORMATS.keys()


@pytest.mark.parametrize(("address", "form"), forms_of())
def test_a_file_is_written_line_by_line_to_the_disk_and_sent_part_by_part(
    alice: User, watch: Begin, address: Address, form: str
) -> None:
    begun = watch(lambda: 0)
    answer = asked(alice, address, form)
    assert answer.status_code == 200 and answer.streaming
    (file,) = begun
    assert len(file.pieces) > 1
    assert max(lines for _, lines, _ in file.pieces) <= (2 if form == "csv" else 1), (
        "a heading and a row at most"
    )
    assert file.name is not None, "on the disk: in memory it has no name"
    assert file.tell() == 0, "none of it was read again before it is sent"
    first = next(answer.streaming_content)
    assert len(first) == MOST_BYTES == file.tell(), "the rest is still on the disk"
    assert first + b"".join(answer.streaming_content) == file.text


@pytest.mark.parametrize(("address", "form"), forms_of(*READ_FOR_IT))
def test_what_is_read_for_a_file_is_written_before_more_of_it_is_fetched(
    alice: User, watch: Begin, trace: Trace, address: Address, form: str
) -> None:
    begun = watch(trace)
    answer = asked(alice, address, form)
    (file,) = begun
    heading, most = (1, 1) if form == "csv" else (0, AT_ONCE)
    assert file.text.count(b"\n") - heading == file.pieces[-1][2] > ROWS, "each row was seen on its way"
    assert file.ahead(heading) <= most
    assert file.pieces[heading][2] <= most, "the first row is written when no more than one fetch was made"
    b"".join(answer.streaming_content)


@pytest.mark.parametrize("form", exports.FORMATS)
def test_the_rows_of_a_table_are_taken_one_by_one(alice: User, watch: Begin, form: str) -> None:
    taken = 0

    def rows() -> Iterator[tuple[str, int]]:
        nonlocal taken
        for number in range(ROWS):
            taken += 1
            yield f"the row with the number {number}", number

    (request := RequestFactory().get("/")).user = alice
    begun = watch(lambda: taken)
    answer = exports.of_rows(
        request, form, "Rows", [Column("row", "text"), Column("number", "number")], rows()
    )
    (file,) = begun
    assert file.ahead(form == "csv") == 1 and taken == ROWS
    assert b"".join(answer.streaming_content) == file.text


def test_a_file_goes_to_the_disk_as_soon_as_it_is_large() -> None:
    with exports.new_file() as kept:
        kept.write(b"1" * exports.IN_MEMORY)
        assert kept.name is None, "in memory while it is small"
        kept.write(b"2")
        assert kept.name is not None
