"""Records that could not be read: kept as they came (ledger.keep_bad), shown, and tried again after an upgrade.

Trying again reads the raw text with the exchange's own decoder and merges what it says. That is safe at any time:
the merge does not care when, how often or in which order it hears of an order.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from . import exchange, issues, ledger
from .exchange.decoding import Drift, decode_each
from .exchange.jsontext import parse
from .exchange.operations import OPERATIONS
from .exchange.records import FollowerOrder
from .models import BadRecord, DataIssue

READERS = ("kinds.py", "records.py", "decoding.py", "jsontext.py")
SOURCES = {operation: source for source, operation in ledger.OPERATIONS.items()}


@cache
def reader_version() -> str:
    """Which reader this is: another text of what decodes and stores records is another reader. Nobody has to
    remember to count it up."""
    mark = hashlib.sha256()
    folder = Path(exchange.__file__).parent
    for path in [*(folder / name for name in READERS), *sorted(Path(ledger.__file__).parent.glob("*.py"))]:
        mark.update(path.read_bytes())
    return mark.hexdigest()[:16]


def retry(record: BadRecord) -> bool:
    """Try a record again; True when it could be read. An order is then in the ledger, and the issue closes.

    A record of another kind (a trader's balances) is only marked as readable: the next reading brings it anew.
    """
    records, reason = _decoded(record)
    now = timezone.now()
    with transaction.atomic():
        if not reason and record.operation in SOURCES:
            reason = _merged(record, records)
        if reason:
            BadRecord.objects.filter(pk=record.pk).update(tried_with=reader_version(), reason=reason[:500])
            return False
        BadRecord.objects.filter(pk=record.pk).update(tried_with=reader_version(), read_at=now)
        issues.heal(record.account, DataIssue.Kind.BAD_RECORD, record.fingerprint, at=now)
    return True


def retry_all(limit: int = 500) -> int:
    """Try those that this reader has not tried yet; how many could be read. Cheap when there are none."""
    waiting = BadRecord.objects.filter(read_at=None).exclude(tried_with=reader_version())
    return sum(retry(record) for record in waiting.select_related("account").order_by("pk")[:limit])


def _decoded(record: BadRecord) -> tuple[list, str]:
    """The record as its operation's answer holds it, or why it still cannot be read."""
    operation = OPERATIONS.get(record.operation)
    if operation is None or operation.answer is None:
        return [], "No operation has records of this kind any more."
    try:
        good, bad = decode_each(operation.answer, [parse(record.raw)], Drift())
    except ValueError as error:
        return [], f"It is not JSON: {error}"
    return good, bad[0].reason if bad else ""


def _merged(record: BadRecord, records: list[FollowerOrder]) -> str:
    """Store the orders; why they do not fit, or ""."""
    ready = ledger.observed(records, SOURCES[record.operation])
    if ready.unfit:
        return ready.unfit[0][1]
    ledger.merge(record.account, ready, seen_at=timezone.now(), now=False)
    return ""
