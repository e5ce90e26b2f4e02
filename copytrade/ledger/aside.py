"""Records that do not fit are set aside as they came, each with an issue (quarantine.py tries them again)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from copytrade import issues
from copytrade.models import Account, DataIssue

from .told import OPEN, OPERATIONS

# What makes one and the same order of the open list, however its price and profit move from poll to poll.
_SAME = ("trackingNo", "traderID", "symbol", "positionSide", "openTime")
_KEPT = """
SELECT fingerprint, raw FROM copytrade_badrecord WHERE account_id = %s AND operation = %s AND fingerprint = ANY(%s)
"""
_KEEP_BAD = """
INSERT INTO copytrade_badrecord AS b (account_id, operation, fingerprint, raw, reason, first_seen_at, last_seen_at,
                                      times, tried_with)
SELECT %s, %s, u.fingerprint, u.raw, u.reason, %s, %s, u.times, ''
FROM unnest(%s::text[], %s::text[], %s::text[], %s::int[]) AS u (fingerprint, raw, reason, times)
ON CONFLICT (account_id, operation, fingerprint) DO UPDATE
SET times = b.times + EXCLUDED.times, last_seen_at = greatest(b.last_seen_at, EXCLUDED.last_seen_at), read_at = NULL,
    raw = EXCLUDED.raw, tried_with = CASE WHEN b.raw = EXCLUDED.raw THEN b.tried_with ELSE '' END
RETURNING b.fingerprint, b.reason, xmax = 0
"""


def keep_bad(
    account: Account, operation: str, records: Sequence[tuple[str, str]], seen_at: datetime | None = None
) -> int:
    """Set aside (raw text, reason) pairs and raise an issue for each new one; the same record again only counts.
    How many there were.

    An open order that cannot be read is one record, whatever its profit is at the moment; its latest text is kept.
    """
    if not records:
        return 0
    seen_at = seen_at or timezone.now()
    found: dict[str, list] = {}
    for raw, reason in records:
        raw = raw.replace("\x00", "\\u0000")
        mark = _mark(operation, raw, reason)
        one = found.setdefault(mark, [raw, reason[:500], 0])
        one[0], one[2] = max(one[0], raw, key=_age), one[2] + 1
    marks = sorted(found)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_KEPT, [account.pk, operation, marks])
        for mark, raw in cursor.fetchall():
            found[mark][0] = max(found[mark][0], raw, key=_age)
        columns = [[found[mark][place] for mark in marks] for place in range(3)]
        cursor.execute(_KEEP_BAD, [account.pk, operation, seen_at, seen_at, marks, *columns])
        for mark, reason in [(mark, reason) for mark, reason, new in cursor.fetchall() if new]:
            tell_bad(account, operation, mark, reason, seen_at)
    return len(records)


def _mark(operation: str, raw: str, reason: str) -> str:
    """What tells a record from others: its text, or of the open list the order that it is about and what is wrong."""
    subject = raw
    if operation == OPERATIONS[OPEN] and (told := _object(raw)).get("trackingNo"):
        subject = json.dumps([*(str(told.get(name)) for name in _SAME), reason])
    return hashlib.sha256(subject.encode()).hexdigest()


def _age(raw: str) -> tuple[int, str]:
    """Later texts of a record are larger; the same in whichever order they come."""
    told = str(_object(raw).get("updateTime"))
    return (int(told) if told.isascii() and told.isdigit() and len(told) < 19 else 0), raw


def _object(raw: str) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def tell_bad(account: Account, operation: str, mark: str, reason: str, at: datetime) -> None:
    """The issue of a record that could not be read; its subject is the record's fingerprint."""
    sentence = (
        f"A record could not be understood ({reason[:300]}) It is kept as it came, and left out of every figure. "
        "It is tried again after every upgrade of Copydesk."
    )
    issues.tell(account, DataIssue.Kind.BAD_RECORD, mark, sentence, {"operation": operation}, at)
